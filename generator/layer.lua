--- A completed spec as a layer: its tensors, its call, its packed form, its rooms, its counts.
-- In: a spec from spec.complete. Out: plain data. Knows nothing of C targets, tiles or text.

local spec_module = require "spec"

local layer = {}

--- The interface and the packed form; only a new number may change either.
layer.FORMAT = 1
layer.PANEL = 16        -- output columns, or key positions, that stand side by side
layer.HEADER = 64       -- bytes in front of the packed weights
layer.ALIGN = 64

local PANEL <const> = layer.PANEL

local function round_up(n, to) return (n + to - 1) // to * to end
layer.round_up = round_up

-- ---- Weights as they come in --------------------------------------------------------------------

local function matrix(role, heads, rows, cols, shape)
  return { role = role, kind = "matrix", heads = heads, rows = rows, cols = cols, shape = shape }
end

local function vector(role, ...)
  return { role = role, kind = "vector", shape = { ... } }
end

--- The weights in the order of the struct: {role, kind, shape [out][in], and of a matrix heads, rows, cols}.
local function weights_of(s)
  local list = {}
  local function add(condition, weight) if condition then list[#list + 1] = weight end end
  local input, output, after = s.norms.input, s.norms.output, s.norms.after
  local h, kv, p_q, p_v = s.heads, s.kv_heads, s.p_q, s.p_v
  add(s.project.q, matrix("wq", h, p_q, s.d_q, { h * p_q, s.d_q }))
  add(s.project.k, matrix("wk", kv, p_q, s.d_k, { kv * p_q, s.d_k }))
  add(s.project.v, matrix("wv", kv, p_v, s.d_v, { kv * p_v, s.d_v }))
  add(s.project.o, matrix("wo", h, p_v, s.p_o, { s.p_o, h * p_v }))
  add(s.bias.q, vector("bq", h * p_q))
  add(s.bias.k, vector("bk", kv * p_q))
  add(s.bias.v, vector("bv", kv * p_v))
  add(s.bias.o, vector("bo", s.p_o))
  add(input, vector("input_gamma", s.d_q))
  add(input and input.kind == "layer", vector("input_beta", s.d_q))
  add(s.qk_norm, vector("q_norm", p_q))
  add(s.qk_norm, vector("k_norm", p_q))
  local rope, relative, bias = s.position.rope, s.position.relative, s.position.bias
  add(rope and rope.frequencies, vector("rope_frequencies", rope and rope.dim // 2))
  add(relative, vector("relative", relative and relative.left + relative.right + 1, p_q))
  add(bias, vector("bias_table", bias and bias.buckets, h))
  add(s.sinks, vector("sinks", h))
  add(output, vector("output_gamma", s.p_o))
  add(output and output.kind == "layer", vector("output_beta", s.p_o))
  add(after, vector("gamma", s.p_o))
  add(after and after.kind == "layer", vector("beta", s.p_o))
  return list
end

-- ---- Weights as they are packed -----------------------------------------------------------------

--- How far from the query each table of distances reaches; further keys share its ends.
local function reach_of(s, keys)
  local relative, bias, reach = s.position.relative, s.position.bias, {}
  if relative then reach.relative = { left = relative.left, right = relative.right } end
  if bias then
    local most = math.min(bias.max_distance, keys)
    reach.bias_table = { left = most, right = bias.bidirectional and most or 0 }
  end
  return reach
end

--- The parts of the blob in order, each at a multiple of 64 bytes:
-- panels [columns/16][depth][16], a vector, or a table [rows][width] by distance: column
-- distance + left + 15 holds key place - query place = distance, and 15 copies of the ends stand on
-- each side, so that 16 neighbouring keys are always one load.
local function packed_of(s, weights, reach)
  local parts, at = {}, layer.HEADER
  local function add(part, floats)
    part.offset, part.floats = at, floats
    at = at + round_up(4 * floats, layer.ALIGN)
    parts[#parts + 1] = part
    parts[part.role] = part
  end
  local plus_one = {
    gamma = s.norms.after and s.norms.after.plus_one,
    input_gamma = s.norms.input and s.norms.input.plus_one,
    output_gamma = s.norms.output and s.norms.output.plus_one,
  }
  for _, w in ipairs(weights) do
    local part = { role = w.role }
    if w.kind == "matrix" then
      part.form = "panels"
      part.across = w.role == "wo" and "cols" or "rows"       -- which side becomes the columns
      part.columns = w.role == "wo" and w.cols or w.heads * w.rows
      part.depth = w.role == "wo" and w.heads * w.rows or w.cols
      part.panels = round_up(part.columns, PANEL) // PANEL
      add(part, part.panels * part.depth * PANEL)
    elseif reach[w.role] then
      local far = reach[w.role]
      part.form = "distances"
      part.rows, part.left, part.right = w.shape[2], far.left, far.right
      part.width = round_up(far.left + far.right + 1 + 2 * (PANEL - 1), PANEL)
      add(part, part.rows * part.width)
    else
      part.form = "vector"
      part.count = w.shape[1]
      part.plus_one = plus_one[w.role] or false
      add(part, round_up(part.count, PANEL))
    end
  end
  return { parts = parts, bytes = at, header = layer.HEADER, format = layer.FORMAT, form = 1 }
end

-- ---- The call -----------------------------------------------------------------------------------

local function inputs_of(s, one_input)
  local list = {}
  local function input(field, role, rows, heads, p, width, projected, optional)
    local strides = { field .. "_row" }
    if not projected then strides[2] = field .. "_head" end
    list[#list + 1] = {
      field = field, role = role, ctype = "const float *", rows = rows, width = width, heads = heads,
      part = p, strides = strides, shape = { rows, width }, optional = optional,
    }
  end
  if not s.attention then
    input("o", "o", "tokens", 1, s.heads * s.p_v, s.heads * s.p_v, true)
  elseif one_input then
    input("x", "q", "tokens", 1, s.d_q, s.d_q, true)
  else
    local fresh = s.context and "context" or "tokens"
    input("q", "q", "tokens", s.heads, s.p_q, s.d_q, s.project.q)
    input("k", "k", fresh, s.kv_heads, s.p_q, s.d_k, s.project.k)
    input("v", "v", fresh, s.kv_heads, s.p_v, s.d_v, s.project.v, s.d_k == s.d_v)
  end
  return list
end

--- The fields of the call struct in order.
local function call_of(s, one_input)
  local list = {}
  local function add(condition, field) if condition then list[#list + 1] = field end end
  local function count(field) return { field = field, ctype = "size_t", strides = {} } end
  add(not s.tokens.fixed, count("tokens"))
  add(s.context and not s.context.fixed, count("context"))
  add(not s.past.fixed, count("past"))
  add(s.context_length, count("context_length"))
  add(s.cache, { field = "cache", ctype = "cache", role = "cache", strides = {} })
  for _, input in ipairs(inputs_of(s, one_input)) do list[#list + 1] = input end
  add(s.residual, {
    field = "residual", role = "residual", ctype = "const float *", rows = "tokens", width = s.p_o,
    strides = { "residual_row" }, shape = { "tokens", s.p_o }, optional = s.attention and s.d_q == s.p_o,
  })
  local function map(field, ctype, heads)
    return {
      field = field, role = field, ctype = ctype, strides = { field .. "_row", field .. "_head" },
      shape = { heads, "tokens", "keys" }, optional = true, heads = heads,
    }
  end
  local function heads_of(mask) return mask == "per_head" and s.heads or 1 end
  local mask = s.mask
  add(mask.padding, {
    field = "padding", role = "padding", ctype = "const uint8_t *", strides = {}, shape = { "keys" },
    optional = true,
  })
  add(mask.boolean, map("boolean", "const uint8_t *", heads_of(mask.boolean)))
  add(mask.additive, map("additive", "const float *", heads_of(mask.additive)))
  add(s.head_mask, {
    field = "head_mask", role = "head_mask", ctype = "const float *", strides = {}, shape = { s.heads },
    optional = true,
  })
  add(true, {
    field = "y", role = "y", ctype = "float *", rows = "tokens", width = s.p_o,
    heads = s.project.o and 1 or s.heads, part = s.project.o and s.p_o or s.p_v,
    strides = s.project.o and { "y_row" } or { "y_row", "y_head" }, shape = { "tokens", s.p_o },
  })
  add(s.return_weights, map("weights", "float *", s.heads))
  add(s.return_scores, map("scores", "float *", s.heads))
  return list
end

-- ---- Counts -------------------------------------------------------------------------------------

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
  counts.total = counts.q + counts.k + counts.v + counts.scores + counts.position + counts.mix + counts.o
  return counts
end

--- Rooms of the workspace in order: {name, rows = a count's name, width in floats of one row, text}.
local function rooms_of(s, l)
  local list = {}
  local function add(condition, name, rows, width, text)
    if condition then list[#list + 1] = { name = name, rows = rows, width = width, text = text } end
  end
  local fresh = s.context and "context" or "tokens"
  if s.attention then
    local q, k, v = s.heads * s.p_q, s.kv_heads * s.p_q, s.kv_heads * s.p_v
    -- first, so that their places do not depend on tokens: calls with the same context reuse them
    add(not s.cache, "keys", "panels", PANEL * k, "keys [kv_head][panel][p_q][16]")
    add(not s.cache, "values", "positions", v, "values [kv_head][position][p_v]")
    add(s.norms.input, "normed_q", "tokens", s.d_q, "input norm of the query rows")
    add(s.norms.input and l.one_input, "normed_kv", "tokens", s.d_q, "the same, made by project_kv")
    add(true, "q", "tokens", round_up(q, PANEL), "queries, scaled")
    add(s.project.k or s.qk_norm or s.position.rope, "k_rows", fresh, round_up(k, PANEL), "projected keys, row by row")
    add(s.project.v, "v_rows", fresh, round_up(v, PANEL), "projected values, row by row")
    add(true, "heads", "tokens", s.heads * s.p_v, "head outputs, side by side")
  end
  local direct = not (s.residual or s.norms.output or s.norms.after)
  add(s.project.o and not direct or not s.attention and not s.project.o, "sum", "tokens",
    round_up(s.p_o, PANEL), "output projection before residual and norm")
  return list
end

--- Derives the layer of a spec.
-- @tparam table s a completed spec
-- @treturn table plain data: spec, name, upper, hash, weights, call, packed, rooms, counts, limits
function layer.of(s)
  local l = { spec = s, name = s.name, upper = s.name:upper(), hash = spec_module.hash(s) }
  l.one_input = s.attention and not s.context and s.project.q and s.project.k and s.project.v
    and s.d_q == s.d_k and s.d_k == s.d_v
  l.fresh_max = s.context and s.context.max or s.tokens.max
  l.fresh_fixed = s.context and s.context.fixed or not s.context and s.tokens.fixed
  l.keys_max = s.past.max + l.fresh_max
  l.keys_fixed = l.fresh_fixed and s.past.fixed and not s.context_length
  l.group = s.heads // s.kv_heads
  -- a residual that is left out is the query input, whose heads may then lie apart
  l.residual_by_heads = s.residual and s.attention and not s.project.q and s.d_q == s.p_o
  l.reach = reach_of(s, l.keys_max)
  l.masked = s.mask.padding or s.mask.causal or s.mask.boolean or s.mask.additive or s.mask.window
  l.masked = l.masked and true or false
  l.place_masked = (s.mask.causal or s.mask.window) and true or false
  l.weights = weights_of(s)
  l.packed = packed_of(s, l.weights, l.reach)
  l.call = call_of(s, l.one_input)
  l.multiply_adds = multiply_adds(s, l)
  l.rooms = rooms_of(s, l)
  return l
end

return layer
