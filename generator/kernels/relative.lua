--- The relative term of a row of scores as a pass of its own, for layers that are written out: its
-- multiply-adds belong to one row and one block, and are cut into functions like any other sum's;
-- partner of templates/attend/relative.c.in. In a loop the term is a step of the row (soften.lua).

local plan_module = require "plan"
local product = require "kernels.product"
local scores = require "kernels.scores"

local relative = {}

--- The C that adds the relative term to one row of scores.
-- @tparam table context of the file
-- @tparam table at { place, static } of the tile
-- @tparam table given the arguments of the row's soften function; block is a literal
-- @treturn string calls, one a line
function relative.calls(context, at, given)
  local s, l, w, lanes = context.spec, context.layer, context.writer, context.lanes
  local vectors = (scores.keys_of(context, given.block) + lanes - 1) // lanes
  local a_vector = s.p_q * (s.position.relative.kind == "key_query" and 2 or 1) + 1
  local lines = {}
  local parts = product.parts(vectors, a_vector, plan_module.STATEMENTS_A_FUNCTION)
  for _, part in ipairs(parts) do
    local name = ("relative%s_%d_b%d_k%d"):format(at.place, given.r, given.block, part.from * lanes)
    w:define(name, {
      title = "Adds the relative term to a row of scores.",
      parameters = {
        { "const " .. l.name .. "_rooms *", "rooms" }, { "const float *", "packed" },
        { "const float *", "query" }, { "const float *", "keys" }, { "size_t", "position" },
        { "size_t", "first" }, { "size_t", "last" }, { "float *", "scores" },
      },
      body = context:render("attend/relative.c.in", {
        from = part.from * lanes, to = part.to * lanes, block = given.block,
        first = at.static and part.from * lanes or "first",
        last = at.static and part.to * lanes or "last",
        render = function(key)
          return context:render("scores/relative.c.in", { key = key, step = {} })
        end,
      }),
    })
    lines[#lines + 1] = w:call(name, given) .. ";"
  end
  return table.concat(lines, "\n")
end

return relative
