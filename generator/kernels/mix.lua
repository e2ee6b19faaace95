--- Weighted values of a tile of queries: out[r] = sum over keys of weight[r][key] * value[key], one
-- chain over keys ascending; partner of templates/product.c.in and templates/attend/careful.c.in.
-- One block of keys goes straight to the head outputs; several add up in `mixed`, which a new
-- block first fades to its own largest score.

local plan_module = require "plan"
local product = require "kernels.product"
local scores = require "kernels.scores"

local mix = {}

local PARAMETERS <const> = {
  { "const float *", "scores" }, { "const float *", "values" }, { "size_t", "first" },
  { "size_t", "stop" }, { "const float *", "fade" }, { "const float *", "share" },
  { "int", "masked" }, { "float *", "mixed" }, { "float *", "out" },
}

--- Floats from the first row of the tile's head outputs to row r.
local function row_offset(context, r)
  local s, heads = context.spec, context.plan.attention.heads
  return r // heads * s.heads * s.p_v + r % heads * s.p_v
end

--- How a tile's sums begin and end, for one block of keys and for several.
local function ends_of(context, part, load, store)
  local a, c, lanes = context.plan.attention, context.c, context.lanes
  local opens, closes = not part or part.from == 0, not part or part.to == part.most
  local function out(r, v) return c.offset("out", row_offset(context, r) + v * lanes) end
  local function mixed(r, v) return c.offset("mixed", r * a.value_width + v * lanes) end
  if a.single then
    return function(r, v)
      return opens and "vec_zero()" or ("vec_%s(%s)"):format(load(v), out(r, v))
    end, function(r, v, sum)
      if closes then sum = ("vec_mul(%s, vec_splat(share[%d]))"):format(sum, r) end
      return ("vec_%s(%s, %s);"):format(store(v), out(r, v), sum)
    end
  end
  return function(r, v)
    local stands = ("vec_load(%s)"):format(mixed(r, v))
    return opens and ("vec_mul(%s, vec_splat(fade[%d]))"):format(stands, r) or stands
  end, function(r, v, sum)
    return ("vec_store(%s, %s);"):format(mixed(r, v), sum)
  end
end

--- Defines a tile: rows of weights times the values from column `column` on.
-- @tparam table part nil, or the keys from .. to - 1 that a written-out tile holds
local function define_tile(context, rows, column, suffix, part)
  local a, s, c, lanes = context.plan.attention, context.spec, context.c, context.lanes
  local width = math.min(s.p_v - column, a.mix_panels * 16)
  local vectors = (width + lanes - 1) // lanes
  local rest = width % lanes
  local function word(stem)
    return function(v) return v == vectors - 1 and rest > 0 and stem .. "_" .. rest or stem end
  end
  local load, store = word "load", word "store"
  local open, close = ends_of(context, part, load, store)
  return product.define(context, {
    name = ("mix_%dx%d%s%s"):format(rows, vectors * lanes,
      rest > 0 and "_last" .. rest or "", suffix),
    title = ("Weights of %s times values, %s."):format(context.counted(rows, "row", "rows"),
      context.counted(width, "column", "columns")),
    parameters = PARAMETERS, rows = rows, vectors = vectors, check = context.layer.masked,
    open = open, close = close,
    depth = function()
      if not part then return context.loop("key", "first", "stop") end
      if part.static then return context:span("key", part.from, part.to, 1, part.to, part.from) end
      return context:span("key", "first", "stop", 1, part.to, part.from)
    end,
    value_a = function(r, key) return c.index("scores", key, r * a.block) end,
    load_b = function(key, v)
      return ("vec_%s(%s)"):format(load(v), c.offset("values", c.mul(key, s.p_v), v * lanes))
    end,
  })
end

--- The calls of a group of columns; where one says that a sum is not finite, each row again with
-- care, since a value may be NaN where its key is dropped.
local function with_care(context, column, values, rows, calls)
  local a, s, c, w = context.plan.attention, context.spec, context.c, context.writer
  if not context.layer.masked then return table.concat(calls, ";\n") .. ";" end
  local width = math.min(s.p_v - column, a.mix_panels * 16)
  local name = w:define("mix_careful_" .. width, {
    title = "One row, element by element: dropped keys, whose values may be NaN, are left out.",
    parameters = {
      { "const float *", "scores" }, { "const int32_t *", "keep" }, { "const float *", "values" },
      { "size_t", "first" }, { "size_t", "stop" }, { "const float *", "fade" },
      { "const float *", "share" }, { "float *", "mixed" }, { "float *", "out" },
    },
    body = context:render("attend/careful.c.in", {
      width = width, single = a.single, block = a.block,
    }),
  })
  local function row(r, out)
    return w:call(name, {
      scores = c.offset("scores", c.mul(r, a.block)), keep = c.offset("keep", c.mul(r, a.block)),
      values = c.offset(values, column), fade = c.offset("fade", r), share = c.offset("share", r),
      mixed = c.offset("mixed", c.mul(r, a.value_width), column),
      out = c.offset("out", out, column),
    }) .. ";"
  end
  local lines = { "if (!" .. table.concat(calls, " || !") .. ") {" }
  if context.full then
    for r = 0, rows - 1 do lines[#lines + 1] = row(r, row_offset(context, r)) end
  else
    local out = c.mul("r", s.heads * s.p_v)
    if a.heads > 1 then
      out = ("r / %d * %d + r %% %d * %d"):format(a.heads, s.heads * s.p_v, a.heads, s.p_v)
    end
    lines[#lines + 1] = ("for (size_t r = 0; r < %s; r++) {\n%s\n}"):format(rows, row("r", out))
  end
  lines[#lines + 1] = "}"
  return table.concat(lines, "\n")
end

--- A function that calls the tile for the positions at hand, or that of the row alone.
local function define_switch(context, at, column, width)
  local w, a = context.writer, context.plan.attention
  if at.alone then return define_tile(context, 1, column, "") end
  return context:switch("mix_" .. width, {
    title = ("Weighted values of a tile, %d columns."):format(width), parameters = PARAMETERS,
    most = a.positions, result = context.layer.masked and "int" or nil,
    call = function(count) return w:call(define_tile(context, count * a.heads, column, ""), {}) end,
  })
end

--- The C that makes a tile's weighted values for the keys from `first` to `stop` - 1.
-- @tparam table at { positions, place, static } of the tile
-- @treturn function of(block, slot): block begins at key `block`, kept at `slot`
function mix.maker(context, at)
  local a, s, c, w = context.plan.attention, context.spec, context.c, context.writer
  local step = a.mix_panels * 16
  local switches = {}
  if not context.full then
    for column = 0, s.p_v - 1, step do
      switches[column] = define_switch(context, at, column, math.min(step, s.p_v - column))
    end
  end
  local function calls_of(column, block, given)
    if switches[column] then return { w:call(switches[column], given) } end
    local rows, keys = at.positions * a.heads, scores.keys_of(context, block)
    local vectors = (math.min(step, s.p_v - column) + context.lanes - 1) // context.lanes
    local calls = {}
    for _, part in ipairs(product.parts(keys, rows * vectors, plan_module.STATEMENTS_A_FUNCTION)) do
      part.static, part.most = at.static, keys
      local suffix = ("%s_b%d_c%d_k%d"):format(at.place, block, column, part.from)
      calls[#calls + 1] = w:call(define_tile(context, rows, column, suffix, part), given)
    end
    return calls
  end
  return function(block, slot)
    local values, lines = c.offset("values", c.mul(slot, s.p_v)), {}
    for column = 0, s.p_v - 1, step do
      local calls = calls_of(column, block, {
        values = c.offset(values, column), mixed = c.offset("mixed", column),
        out = c.offset("out", column), positions = at.positions,
      })
      lines[#lines + 1] = with_care(context, column, values, c.mul(at.positions, a.heads), calls)
    end
    return table.concat(lines, "\n")
  end
end

return mix
