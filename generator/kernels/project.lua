--- A projection: rows of an input times packed panels of weights, bias first, one chain over k.
-- y[row][column] = scale * (b[column] + sum over k of x[row][k] * w[column][k]), k ascending.

local plan_module = require "plan"
local product = require "kernels.product"

local project = {}

local BLOCK_FLOATS <const> = 65536   -- 256 KB of input rows

local PARAMETERS <const> = {
  { "const float *", "x" }, { "ptrdiff_t", "x_row" }, { "const float *", "w" }, { "const float *", "b" },
  { "float", "scale" }, { "float *", "y" }, { "ptrdiff_t", "y_row" },
}

--- The columns of a tile: how many vectors, and how many floats the last one holds.
local function columns_of(context, m, panels, panel)
  local lanes = context.lanes
  local columns = math.min(panels * 16, m.columns - (math.type(panel) == "integer" and panel * 16 or 0))
  local vectors = (columns + lanes - 1) // lanes
  local partial = m.exact and columns % lanes or 0
  return vectors, partial, columns
end

--- Defines the tile of `rows` rows and `vectors` vectors for terms from .. to - 1 of the sums.
local function define_tile(context, m, rows, vectors, partial, part, suffix)
  local c, depth, lanes = context.c, m.depth, context.lanes
  local whole = part.from == 0 and part.to == depth
  local first, last = part.from == 0, part.to == depth
  local function at_y(r, v)
    return c.offset(r == 0 and "y" or "y_" .. r, v * lanes)
  end
  local function word(kind, v) return v == vectors - 1 and partial > 0 and kind .. "_" .. partial or kind end
  local setup = {}
  for r = 1, rows - 1 do
    local times = r == 1 and "" or r .. " * "
    setup[#setup + 1] = ("const float *x_%d = x + %sx_row; float *y_%d = y + %sy_row;"):format(r, times, r, times)
  end
  local name = ("%s_%dx%d%s%s"):format(m.tile_name, rows, vectors * lanes,
    partial > 0 and "_last" .. partial or "", suffix)
  if not whole then name = name .. "_k" .. part.from end
  local panel_stride = depth * 16
  return product.define(context, {
    name = name, parameters = PARAMETERS, rows = rows, vectors = vectors, setup = setup,
    title = ("%d x %d sums over k = %d..%d"):format(rows, vectors * lanes, part.from, part.to - 1),
    depth = function() return context.loop("k", part.from, part.to) end,
    value_a = function(r, k) return c.index(r == 0 and "x" or "x_" .. r, k) end,
    load_b = function(k, v)
      local panel, lane = v * lanes // 16, v * lanes % 16
      return ("vec_load(%s)"):format(c.offset("w", c.mul(k, 16), panel * panel_stride + lane))
    end,
    open = function(r, v)
      if not first then return ("vec_%s(%s)"):format(word("load", v), at_y(r, v)) end
      if not m.bias then return "vec_zero()" end
      return ("vec_load(%s)"):format(c.offset("b", v * lanes))
    end,
    close = function(r, v, sum)
      if m.scaled and last then sum = ("vec_mul(%s, vec_splat(scale))"):format(sum) end
      return ("vec_%s(%s, %s);"):format(word("store", v), at_y(r, v), sum)
    end,
  })
end

--- The C that computes a projection for rows from .. to - 1.
-- @tparam table m { role, tile_name, tile (of the plan), columns, depth, bias = role or nil, x, x_row,
--   y, y_row = C expressions, scaled = float literal or nil, exact: y has no room beyond its columns,
--   rows = {most, fixed} }
-- @treturn string statements
function project.statements(context, m)
  local c = context.c
  local w_at = context.names.part(m.role)
  local b_at = m.bias and context.names.part(m.bias)
  local panels = (m.columns + 15) // 16
  local text = {}
  -- Rows in blocks that stay in the second-level cache beside a group of columns.
  local block = math.max(m.tile.rows, BLOCK_FLOATS // m.depth // m.tile.rows * m.tile.rows)
  local blocked = not context.full and m.rows.most > block
  local from, to = blocked and "block" or "from", blocked and "end" or "to"
  local function tiles(panel, across)
    local vectors, partial = columns_of(context, m, across, panel)
    return context:row_tiles({ tile = m.tile.rows, most = m.rows.most, from = from, to = to },
      function(count, row)
        local calls = {}
        local function at_row(stride)
          return c.mul(type(stride) == "string" and row == "row" and "(ptrdiff_t)row" or row, stride)
        end
        local suffix = context.full and ("_r%d_c%d"):format(row, panel * 16) or ""
        for _, part in ipairs(context.full
          and product.parts(m.depth, count * vectors, plan_module.STATEMENTS_A_FUNCTION)
          or { { from = 0, to = m.depth } }) do
          local name = define_tile(context, m, count, vectors, partial, part, suffix)
          calls[#calls + 1] = context.writer:call(name, {
            x = c.offset(m.x, at_row(m.x_row)), x_row = m.x_row, w = "w", b = "b", scale = m.scaled,
            y = c.offset("y", at_row(m.y_row)), y_row = m.y_row,
          }) .. ";"
        end
        return table.concat(calls, "\n")
      end)
  end
  local function column_group(panel, across)
    local body = tiles(panel, across)
    local lines = { ("const float *w = %s;"):format(c.offset("packed", w_at, c.mul(panel, m.depth * 16))) }
    if b_at then
      lines[#lines + 1] = ("const float *b = %s;"):format(c.offset("packed", b_at, c.mul(panel, 16)))
    end
    lines[#lines + 1] = ("float *y = %s;"):format(c.offset(m.y, c.mul(panel, 16)))
    return table.concat(lines, "\n") .. "\n" .. body
  end
  local across = math.min(m.tile.panels, panels)
  local whole = panels // across * across
  -- the last columns of an exact output are a tile of their own
  if m.exact and m.columns % 16 ~= 0 then whole = (panels - 1) // across * across end
  if context.full then
    for panel = 0, panels - 1, across do
      text[#text + 1] = "{\n" .. column_group(panel, math.min(across, panels - panel)) .. "}\n"
    end
    return table.concat(text)
  end
  if whole > across then
    text[#text + 1] = ("for (size_t panel = 0; panel < %d; panel += %d) {\n"):format(whole, across)
      .. column_group("panel", across) .. "}\n"
  elseif whole > 0 then
    text[#text + 1] = "{\n" .. column_group(0, across) .. "}\n"
  end
  if whole < panels then
    text[#text + 1] = "{\n" .. column_group(whole, panels - whole) .. "}\n"
  end
  if blocked then
    table.insert(text, 1, ("for (size_t block = from; block < to; block += %d) {\n"):format(block)
      .. ("const size_t end = to - block < %d ? to : block + %d;\n"):format(block, block))
    text[#text + 1] = "}\n"
  end
  return table.concat(text)
end

return project
