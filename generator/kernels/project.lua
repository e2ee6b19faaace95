--- A projection: rows of an input times packed panels of weights, bias first, one chain over k.
-- y[row][column] = scale * (b[column] + sum over k of x[row][k] * w[column][k]), k ascending.

local plan_module = require "plan"
local product = require "kernels.product"

local project = {}

local BLOCK_FLOATS <const> = 65536   -- 256 KB of input rows

local PARAMETERS <const> = {
  { "const float *", "x" }, { "ptrdiff_t", "x_row" }, { "const float *", "w" },
  { "const float *", "b" }, { "float", "scale" }, { "float *", "y" }, { "ptrdiff_t", "y_row" },
}

--- What a tile's name says of it: tiled, two projections of one depth and form share their tiles.
local function stem_of(context, m)
  if context.full then return m.role:gsub("^w", "project_") end
  return ("project_k%d%s%s"):format(m.depth, m.bias and "" or "_no_bias",
    m.scaled and "_scaled" or "")
end

--- Pointers to the rows of a tile behind its first.
local function row_pointers(rows)
  local lines = {}
  for r = 1, rows - 1 do
    local times = r == 1 and "" or r .. " * "
    lines[r] = ("const float *x_%d = x + %sx_row; float *y_%d = y + %sy_row;"):format(r, times,
      r, times)
  end
  return lines
end

--- Defines the tile of `rows` rows for terms from .. to - 1 of the sums.
-- @tparam table columns { vectors, partial = floats of the last one or 0 }
local function define_tile(context, m, rows, columns, part, suffix)
  local c, lanes = context.c, context.lanes
  local vectors, partial = columns.vectors, columns.partial
  local first, last = part.from == 0, part.to == m.depth
  local function at_y(r, v) return c.offset(r == 0 and "y" or "y_" .. r, v * lanes) end
  local function word(stem, v)
    return v == vectors - 1 and partial > 0 and stem .. "_" .. partial or stem
  end
  return product.define(context, {
    name = ("%s_%dx%d%s%s%s"):format(stem_of(context, m), rows, vectors * lanes,
      partial > 0 and "_last" .. partial or "", suffix,
      first and last and "" or "_k" .. part.from),
    title = ("%d x %d sums over k = %d..%d."):format(rows, vectors * lanes, part.from, part.to - 1),
    parameters = PARAMETERS, rows = rows, vectors = vectors, setup = row_pointers(rows),
    depth = function() return context.loop("k", part.from, part.to) end,
    value_a = function(r, k) return c.index(r == 0 and "x" or "x_" .. r, k) end,
    load_b = function(k, v)
      local panel, lane = v * lanes // 16, v * lanes % 16
      return ("vec_load(%s)"):format(c.offset("w", c.mul(k, 16), panel * m.depth * 16 + lane))
    end,
    open = function(r, v)
      if not first then return ("vec_%s(%s)"):format(word("load", v), at_y(r, v)) end
      return m.bias and ("vec_load(%s)"):format(c.offset("b", v * lanes)) or "vec_zero()"
    end,
    close = function(r, v, sum)
      if m.scaled and last then sum = ("vec_mul(%s, vec_splat(scale))"):format(sum) end
      return ("vec_%s(%s, %s);"):format(word("store", v), at_y(r, v), sum)
    end,
  })
end

--- The calls that compute `count` rows from `row` on, for a group of columns.
local function tile_calls(context, m, columns, count, row)
  local c, parts = context.c, { { from = 0, to = m.depth } }
  local suffix = ""
  if context.full then
    suffix = ("_r%d_c%d"):format(row, columns.from)
    parts = product.parts(m.depth, count * columns.vectors, plan_module.STATEMENTS_A_FUNCTION)
  end
  local function at_row(stride)
    if math.type(row) or type(stride) ~= "string" then return c.mul(row, stride) end
    return c.mul(row:find(" ") and "(ptrdiff_t)(" .. row .. ")" or "(ptrdiff_t)" .. row, stride)
  end
  local calls = {}
  for i, part in ipairs(parts) do
    local name = define_tile(context, m, count, columns, part, suffix)
    calls[i] = context.writer:call(name, {
      x = c.offset(m.x, at_row(m.x_row)), x_row = m.x_row, scale = m.scaled,
      y = c.offset("y", at_row(m.y_row)), y_row = m.y_row,
    }) .. ";"
  end
  return table.concat(calls, "\n")
end

--- Statements for the columns of `across` panels from `panel` on, a literal or a loop's variable.
local function column_group(context, m, rows, panel, across)
  local c, lanes, names = context.c, context.lanes, context.names
  local width = across * 16
  if math.type(panel) then width = math.min(width, m.columns - panel * 16) end
  local columns = {
    vectors = (width + lanes - 1) // lanes, partial = m.exact and width % lanes or 0,
    from = math.type(panel) and panel * 16,
  }
  local text = {}
  local function pointer(declared, base, ...)
    text[#text + 1] = ("%s = %s;\n"):format(declared, c.offset(base, ...))
  end
  pointer("const float *w", "packed", names.part(m.role), c.mul(panel, m.depth * 16))
  if m.bias then pointer("const float *b", "packed", names.part(m.bias), c.mul(panel, 16)) end
  pointer("float *y", m.y, c.mul(panel, 16))
  if rows.alone then
    text[#text + 1] = tile_calls(context, m, columns, 1, rows.from) .. "\n"
  else
    text[#text + 1] = context:row_tiles(rows, function(count, row)
      return tile_calls(context, m, columns, count, row)
    end)
  end
  return "{\n" .. table.concat(text) .. "}\n"
end

--- The groups of columns, one after the other, as loops and what is left.
local function looped_groups(context, m, rows, across)
  local panels, text = (m.columns + 15) // 16, {}
  across = math.min(across, panels)
  local function group(panel, count)
    text[#text + 1] = column_group(context, m, rows, panel, count)
  end
  -- the last columns of an exact output are a tile of their own
  local whole = panels // across * across
  if m.exact and m.columns % 16 ~= 0 then whole = (panels - 1) // across * across end
  if whole > across then
    text[#text + 1] = ("for (size_t panel = 0; panel < %d; panel += %d) "):format(whole, across)
    group("panel", across)
  elseif whole > 0 then
    group(0, across)
  end
  if whole < panels then group(whole, panels - whole) end
  return table.concat(text)
end

--- Every group of columns by itself.
local function written_out(context, m, rows)
  local panels, text = (m.columns + 15) // 16, {}
  for panel = 0, panels - 1, m.tile.panels do
    text[#text + 1] = column_group(context, m, rows, panel,
      math.min(m.tile.panels, panels - panel))
  end
  return table.concat(text)
end

--- The C that computes a projection for rows from .. to - 1.
-- @tparam table context
-- @tparam table m { role, tile (of the plan), columns, depth, bias = role or nil; x, x_row, y,
--   y_row = C expressions; scaled = float literal or nil; exact: y has no room beyond its columns;
--   most = largest count of rows }
-- @treturn string statements
function project.statements(context, m)
  local rows = { tile = m.tile.rows, most = m.most, from = "from", to = "to" }
  if context.full then return written_out(context, m, rows) end
  local text = {}
  local function line(format, ...) text[#text + 1] = format:format(...) end
  local single = m.tile.single
  if single then
    -- the sums of a lone row wait for their terms: more columns at once
    line("if (to - from == 1) {\n%s} else {\n",
      looped_groups(context, m, { alone = true, from = "from" }, single.panels))
  end
  -- rows in blocks that stay in the second-level cache beside a group of columns
  local block = math.max(rows.tile, BLOCK_FLOATS // m.depth // rows.tile * rows.tile)
  local blocked = m.most > block
  if blocked then
    rows.from, rows.to = "block", "end"
    line("for (size_t block = from; block < to; block += %d) {\n", block)
    line("const size_t end = to - block < %d ? to : block + %d;\n", block, block)
  end
  line("%s", looped_groups(context, m, rows, m.tile.panels))
  if blocked then line("}\n") end
  if single then line("}\n") end
  return table.concat(text)
end

return project
