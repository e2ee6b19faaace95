--- A layer on a target: tiles, blocks, unrolling and what they count to. Plain data, printable.
-- In: a layer and a target. Out: the plan that the kernels follow. Knows no text.

local cost = require "cost"
local layer_module = require "layer"
local tiles = require "plan.tiles"

local plan = {}

local round_up <const> = layer_module.round_up
local PANEL <const> = layer_module.PANEL

plan.STATEMENTS_A_FUNCTION = 4096
plan.STATEMENTS_A_LAYER = 131072

--- What softmax keeps of a row: top, largest, total, fade, share.
plan.NUMBERS_A_ROW = 5

--- Keys of a block of the softmax: one block where that is affordable, since it needs no rescaling.
local BLOCK <const> = 256

local FLT_MAX <const> = 0x1.fffffep127

--- Vectors a panel of 16 columns takes.
local function split(target) return PANEL // target.lanes end

--- Scores in units of ln 2, which spare the exponential a step: { log2, unit, exponential }. Scores
-- that are shown, or that a step may take as low as f32 goes, stay as they are.
local function units(s)
  local largest = math.max(math.abs(s.scale), s.softcap or 0.0)
  for _, slope in ipairs(s.position.alibi and s.position.alibi.slopes or {}) do
    largest = math.max(largest, math.abs(slope))
  end
  local unit = 1 / math.log(2)
  if s.return_scores or s.mask.additive or largest * unit > FLT_MAX then
    return { unit = 1.0, exponential = "vec_exp" }
  end
  return { log2 = true, unit = unit, exponential = "vec_exp2" }
end

--- The tile of attention: positions x heads of one group, key panels at once, value panels at once;
-- the block of keys of its softmax; whether scores are in units of ln 2.
local function attention(l, target, full)
  local s = l.spec
  local keys = round_up(math.max(l.keys_max, 1), PANEL)
  local single = s.return_weights or keys <= BLOCK
  local block = single and keys or BLOCK
  -- written out, rows that a call may not have are tiles of their own
  local one_position = full and not s.tokens.fixed
  local tile = tiles.attention(target, {
    heads = s.heads, group = l.group, positions = one_position and 1 or s.tokens.max,
    panels = block // PANEL, p_q = s.p_q, p_v = s.p_v, tokens = s.tokens.max,
    tokens_fixed = s.tokens.fixed, keys = l.keys_max,
  })
  local value_width = round_up(s.p_v, PANEL)
  local rows_of_4, in_units = round_up(tile.rows, 4), units(s)
  return {
    log2 = in_units.log2, unit = in_units.unit, exponential = in_units.exponential,
    positions = tile.positions, heads = tile.heads, rows = tile.rows, rows_of_4 = rows_of_4,
    parts = l.group // tile.heads, block = block, single = single, panels = tile.panels,
    mix_panels = tile.mix_panels, value_width = value_width,
    query_row = round_up(s.heads * s.p_q, PANEL),
    -- scores, bits of masks, sums of a block; a vector a row to fold; numbers of rows
    scratch_floats = tile.rows * (2 * block + (single and 0 or value_width))
      + rows_of_4 * (target.lanes + plan.NUMBERS_A_ROW),
  }
end

--- Vector multiply-adds of one call at the largest counts, as the text of a full layer holds them.
local function statements(l, target)
  local s, lanes = l.spec, target.lanes
  local function vectors(columns) return (columns + lanes - 1) // lanes end
  local t, f, n = s.tokens.max, l.fresh_max, l.keys_max
  local count = { q = 0, k = 0, v = 0, scores = 0, position = 0, mix = 0, o = 0 }
  if s.project.q then count.q = t * s.d_q * vectors(s.heads * s.p_q) end
  if s.project.k then count.k = f * s.d_k * vectors(s.kv_heads * s.p_q) end
  if s.project.v then count.v = f * s.d_v * vectors(s.kv_heads * s.p_v) end
  if s.attention then
    local relative = s.position.relative
    count.scores = t * s.heads * s.p_q * vectors(n)
    count.mix = t * s.heads * n * vectors(s.p_v)
    if relative then
      count.position = count.scores * (relative.kind == "key_query" and 2 or 1)
    end
  end
  if s.project.o then
    count.o = t * s.heads * s.p_v * vectors(s.p_o)
  end
  count.total = count.q + count.k + count.v + count.scores + count.position + count.mix
    + count.o
  return count
end

--- Which stages are written out. `auto` does so where counts are fixed, so that tiles stay whole.
local function full_stages(l, target, count)
  local s = l.spec
  local fixed = s.tokens.fixed and l.keys_fixed
  -- tiles pass over keys that these drop
  local trims = s.mask.padding or s.mask.causal or s.mask.window
  local function written_out(n, depth)
    return s.unroll == "full"
      or s.unroll == "auto" and fixed and cost.writes_out(target, n, depth)
  end
  return {
    qkv = written_out(count.q + count.k + count.v, math.max(s.d_q, s.d_k, s.d_v)),
    attention = (s.unroll == "full" or not trims)
      and written_out(count.scores + count.position + count.mix, s.p_q),
    output = written_out(count.o, s.heads * s.p_v),
  }
end

--- The tiles of the four projections, nil where one is absent.
local function projections(l, target, p)
  local s = l.spec
  local function tile(role, columns, depth, most, fixed, stage)
    if not s.project[role] then return end
    -- written out, rows that a call may not have are tiles of their own
    local one_row = p.full[stage] and not fixed
    local chosen = tiles.projection(target, {
      panels = round_up(columns, PANEL) // PANEL, depth = depth, bytes = l.packed.bytes,
      most = most, fixed = fixed, rows_most = one_row and 1 or math.max(most, 1),
    })
    chosen.vectors = chosen.panels * split(target)
    p[role] = chosen
  end
  local fresh_fixed = l.fresh_fixed and not s.context_length
  tile("q", s.heads * s.p_q, s.d_q, s.tokens.max, s.tokens.fixed, "qkv")
  tile("k", s.kv_heads * s.p_q, s.d_k, l.fresh_max, fresh_fixed, "qkv")
  tile("v", s.kv_heads * s.p_v, s.d_v, l.fresh_max, fresh_fixed, "qkv")
  tile("o", s.p_o, s.heads * s.p_v, s.tokens.max, s.tokens.fixed, "output")
  if p.k and p.v then   -- rows of both go into their places together
    local rows = math.min(p.k.rows, p.v.rows)
    p.k.rows, p.v.rows = rows, rows
  end
end

--- Plans a layer on a target.
-- @tparam table l a layer
-- @tparam table target a target of generator/targets/
-- @treturn table the plan, or nil and a complaint where a full layer is over the budget
function plan.of(l, target)
  local s = l.spec
  local count = statements(l, target)
  if s.unroll == "full" and count.total > plan.STATEMENTS_A_LAYER then
    return nil, ("unroll: full: the layer has %d vector multiply-adds on %s, the budget is %d; use "
      .. '"tile" or "auto"'):format(count.total, target.name, plan.STATEMENTS_A_LAYER)
  end
  local p = {
    target = target, lanes = target.lanes, split = split(target), statements = count,
    direct = s.project.o and not (s.residual or s.norms.output or s.norms.after),
    full = full_stages(l, target, count),
  }
  projections(l, target, p)
  if s.attention then
    p.attention = attention(l, target, p.full.attention)
    p.query_scale = s.scale * (s.softcap and 1.0 or p.attention.unit)
  end
  return p
end

--- The plan as one line for a banner.
-- @tparam table p a plan
-- @treturn string
function plan.text(p)
  local list = {}
  local function stage(name) return p.full[name] and "written out" or "tiles" end
  local function projection(role, name)
    local t = p[role]
    if not t then return end
    local alone = t.single and (" or 1 x %d"):format(t.single.panels * 16) or ""
    list[#list + 1] = ("%s %d x %d%s (%s)"):format(role, t.rows, t.panels * 16, alone, stage(name))
  end
  for _, role in ipairs { "q", "k", "v" } do projection(role, "qkv") end
  local a = p.attention
  if a then
    list[#list + 1] = ("attention %d queries x %d keys (%s), %s of %d keys"):format(a.rows,
      a.panels * 16, stage("attention"), a.single and "one block" or "blocks", a.block)
  end
  projection("o", "output")
  return table.concat(list, ", ")
end

return plan
