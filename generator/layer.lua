--- A completed spec as a layer: its tensors, its call, its packed form, its rooms, its counts.
-- In: a spec from spec.complete. Out: plain data. Knows nothing of C targets, tiles or text.

local call = require "layer.call"
local form = require "layer.form"
local packed = require "layer.packed"
local spec_module = require "spec"
local weights = require "layer.weights"

local layer = { PANEL = form.PANEL, round_up = form.round_up }

local PANEL <const> = form.PANEL
local round_up <const> = form.round_up

--- Multiply-adds of one call with the largest counts, stage by stage.
local function multiply_adds(s, l)
  local t, f, n = s.tokens.max, l.fresh_max, l.keys_max
  local counts = { q = 0, k = 0, v = 0, scores = 0, position = 0, mix = 0, o = 0 }
  if s.project.q then counts.q = t * s.d_q * s.heads * s.p_q end
  if s.project.k then counts.k = f * s.d_k * s.kv_heads * s.p_q end
  if s.project.v then counts.v = f * s.d_v * s.kv_heads * s.p_v end
  if s.attention then
    counts.scores = t * n * s.heads * s.p_q
    counts.mix = t * n * s.heads * s.p_v
    local relative = s.position.relative
    if relative then
      counts.position = t * n * s.heads * s.p_q * (relative.kind == "key_query" and 2 or 1)
    end
  end
  if s.project.o then counts.o = t * s.heads * s.p_v * s.p_o end
  counts.total = counts.q + counts.k + counts.v + counts.scores + counts.position + counts.mix
    + counts.o
  return counts
end

--- Rooms of the workspace in order: {name, rows = a count's name, width of a row in floats, text}.
local function rooms_of(s, one_input)
  local list = {}
  local function add(condition, name, rows, width, text)
    if condition then list[#list + 1] = { name = name, rows = rows, width = width, text = text } end
  end
  local fresh = s.context and "context" or "tokens"
  local q, k, v = s.heads * s.p_q, s.kv_heads * s.p_q, s.kv_heads * s.p_v
  local norms, key_rows = s.norms, s.project.k or s.qk_norm or s.position.rope
  if s.attention then
    -- first, so that their places do not depend on tokens: calls with the same context reuse them
    add(not s.cache, "keys", "panels", PANEL * k, "keys [kv_head][panel][p_q][16]")
    add(not s.cache, "values", "positions", v, "values [kv_head][position][p_v]")
    add(norms.input, "normed_q", "tokens", s.d_q, "input norm of the query rows")
    add(norms.input and one_input, "normed_kv", "tokens", s.d_q, "the same, made by project_kv")
    add(true, "q", "tokens", round_up(q, PANEL), "queries, scaled")
    add(key_rows, "k_rows", fresh, round_up(k, PANEL), "projected keys, row by row")
    add(s.project.v, "v_rows", fresh, round_up(v, PANEL), "projected values, row by row")
    add(true, "heads", "tokens", s.heads * s.p_v, "head outputs, side by side")
  end
  local finished = not s.attention      -- in a step of its own
  if s.project.o then finished = s.residual or norms.output or norms.after end
  add(finished, "sum", "tokens", round_up(s.p_o, PANEL),
    "output projection before residual and norm")
  return list
end

--- Whether query, key and value are projected from one input.
local function has_one_input(s)
  local project = s.project
  return s.attention and not s.context and project.q and project.k and project.v
    and s.d_q == s.d_k and s.d_k == s.d_v
end

--- Adds whether keys are masked, by their places or at all.
local function add_masking(l, mask)
  l.place_masked = (mask.causal or mask.window) and true or false
  l.masked = (l.place_masked or mask.padding or mask.boolean or mask.additive) and true or false
end

--- Adds the largest counts, and whether they are fixed.
local function add_limits(l, s)
  local fresh = s.context or s.tokens
  l.fresh_max, l.fresh_fixed = fresh.max, fresh.fixed
  l.keys_max = s.past.max + l.fresh_max
  l.keys_fixed = l.fresh_fixed and s.past.fixed and not s.context_length
  l.group = s.heads // s.kv_heads
end

--- Derives the layer of a spec.
-- @tparam table s a completed spec
-- @treturn table plain data: spec, name, upper, hash, weights, call, packed, rooms, counts, limits
function layer.of(s)
  local l = { spec = s, name = s.name, upper = s.name:upper(), hash = spec_module.hash(s) }
  l.one_input = has_one_input(s)
  -- a residual that is left out is the query input, whose heads may then lie apart
  l.residual_by_heads = s.residual and s.attention and not s.project.q and s.d_q == s.p_o
  add_limits(l, s)
  add_masking(l, s.mask)
  l.reach = packed.reach(s)
  l.weights = weights.of(s)
  l.packed = packed.of(s, l.weights, l.reach)
  l.call = call.of(s, l.one_input)
  l.multiply_adds = multiply_adds(s, l)
  l.rooms = rooms_of(s, l.one_input)
  return l
end

return layer
