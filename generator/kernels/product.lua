--- A tile of sums of products held in registers, rows x vectors; partner of
-- templates/product.c.in.
-- All multiply-adds of a layer's matrices, scores and weighted values are this kernel's.

local product = {}

--- The parts a sum of `depth` terms is cut into, so that no written-out function is over budget.
-- @treturn table list of { from, to }
function product.parts(depth, multiply_adds_a_term, budget)
  local most = math.max(1, budget // multiply_adds_a_term)
  local list = {}
  for from = 0, math.max(depth - 1, 0), most do
    list[#list + 1] = { from = from, to = math.min(depth, from + most) }
  end
  return list
end

--- Defines the static function of a tile.
-- @tparam table context of the file (see kernels/context.lua)
-- @tparam table tile { name, title, parameters, rows, vectors, depth = iterator maker over k,
--   value_a(r, k), load_b(k, v), open(r, v), close(r, v, sum): C text; setup = lines;
--   check: return 0 and store nothing where a sum is not finite }
-- @treturn string the name
function product.define(context, tile)
  local w = context.writer
  if w.functions[tile.name] then return tile.name end
  local body = context:render("product.c.in", {
    setup = tile.setup or {}, check = tile.check or false, rows = tile.rows, vectors = tile.vectors,
    holds = tile.rows > 1 and context.target.words.held ~= nil,
    depth = tile.depth, value_a = tile.value_a, load_b = tile.load_b, open = tile.open,
    close = tile.close,
  })
  if body:find("w_0 = ", 1, true) and not body:find("const vec w_0", 1, true) then
    local list = { "a" }
    for v = 0, tile.vectors - 1 do list[#list + 1] = "w_" .. v end
    body = "vec " .. table.concat(list, ", ") .. ";\n" .. body
  end
  return w:define(tile.name, {
    title = tile.title, result = tile.check and "int" or "void", parameters = tile.parameters,
    body = body,
  })
end

return product
