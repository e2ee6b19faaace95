--- Scores of a tile of queries against panels of keys; partner of templates/product.c.in.
-- scores[r][key] = sum over p of query r [p] * key [p], one chain over p ascending.

local plan_module = require "plan"
local product = require "kernels.product"

local scores = {}

local PARAMETERS <const> = {
  { "const float *", "q" }, { "const float *", "k" }, { "float *", "scores" },
}

--- Keys of the block that begins at `at`, at the most.
function scores.keys_of(context, at)
  return math.max(0, math.min(context.plan.attention.block, context.layer.keys_max - at))
end

--- Defines one tile, in parts where it is written out and deep.
-- @treturn table the names of its functions, to be called one after the other
local function define_tile(context, positions, columns, suffix)
  local a, s, c, lanes = context.plan.attention, context.spec, context.c, context.lanes
  local rows = positions * a.heads
  local vectors = (columns + lanes - 1) // lanes
  local parts = { { from = 0, to = s.p_q } }
  if context.full then
    parts = product.parts(s.p_q, rows * vectors, plan_module.STATEMENTS_A_FUNCTION)
  end
  local function at(r, v) return c.offset("scores", r * a.block + v * lanes) end
  local names = {}
  for _, part in ipairs(parts) do
    names[#names + 1] = product.define(context, {
      name = ("scores_%dx%d%s%s"):format(rows, vectors * lanes, suffix,
        #parts > 1 and "_p" .. part.from or ""),
      title = ("Scores of %s and %d keys."):format(context.counted(rows, "query", "queries"),
        vectors * lanes),
      parameters = PARAMETERS, rows = rows, vectors = vectors,
      depth = function() return context.loop("p", part.from, part.to) end,
      value_a = function(r, p)
        return c.index("q", p, r // a.heads * a.query_row + r % a.heads * s.p_q)
      end,
      load_b = function(p, v)
        local panel, lane = v * lanes // 16, v * lanes % 16
        return ("vec_load(%s)"):format(c.offset("k", c.mul(p, 16), panel * 16 * s.p_q + lane))
      end,
      open = function(r, v)
        return part.from == 0 and "vec_zero()" or ("vec_load(%s)"):format(at(r, v))
      end,
      close = function(r, v, sum) return ("vec_store(%s, %s);"):format(at(r, v), sum) end,
    })
  end
  return names
end

--- A function that calls the tile for the positions at hand, or that of the row alone.
local function define_switch(context, at, panels)
  local w, a = context.writer, context.plan.attention
  if at.alone then return define_tile(context, 1, panels * 16, "")[1] end
  return context:switch("scores_" .. panels * 16, {
    title = ("Scores of a tile and %d keys."):format(panels * 16), parameters = PARAMETERS,
    most = a.positions,
    call = function(count) return w:call(define_tile(context, count, panels * 16, "")[1], {}) end,
  })
end

--- The C that makes a tile's scores for the panels from `first` to `last`.
-- @tparam table at { positions, place } of the tile; place names it where the layer is written out
-- @treturn function of(block, slot): block begins at key `block`, kept at `slot`
function scores.maker(context, at)
  local w, c, s, a = context.writer, context.c, context.spec, context.plan.attention
  local function call(name, slot, key)
    return w:call(name, {
      q = "q", k = c.offset("keys", c.mul(c.add(slot, key), s.p_q)),
      scores = c.offset("scores", key), positions = at.positions,
    }) .. ";"
  end
  if context.full then
    return function(block, slot)
      -- where a call may have fewer keys, each panel is behind a branch of its own
      local lines, step = {}, at.static and a.panels * 16 or 16
      for key = 0, scores.keys_of(context, block) - 1, step do
        local columns = math.min(step, scores.keys_of(context, block) - key)
        if not at.static then
          lines[#lines + 1] = ("if (first < %d && last > %d) {"):format(key + step, key)
        end
        local suffix = at.place .. "_k" .. block + key
        for _, name in ipairs(define_tile(context, at.positions, columns, suffix)) do
          lines[#lines + 1] = call(name, slot, key)
        end
        if not at.static then lines[#lines + 1] = "}" end
      end
      return table.concat(lines, "\n")
    end
  end
  local wide = a.panels > 1 and define_switch(context, at, a.panels)
  local narrow = define_switch(context, at, 1)
  return function(_, slot)
    local one, step = call(narrow, slot, "key"), a.panels * 16
    if not wide then
      return "for (size_t key = first; key < last; key += 16) {\n" .. one .. "\n}"
    end
    return ("{\nsize_t key = first;\nfor (; key + %d <= last; key += %d) {\n%s\n}\n"
      .. "for (; key < last; key += 16) {\n%s\n}\n}"):format(step, step,
      call(wide, slot, "key"), one)
  end
end

return scores
