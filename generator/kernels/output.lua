--- The third stage: the output projection, output norm, residual and norm after; partner of
-- templates/rows/finish.c.in. BERT's BertSelfOutput is this stage alone.

local project = require "kernels.project"
local qkv = require "kernels.qkv"

local output = {}

local function round_up(n, to) return (n + to - 1) // to * to end

--- Writes the stage into the context's writer.
-- @treturn table list of { name, body } of the stage functions
function output.write(context)
  local s, p, c, w = context.spec, context.plan, context.c, context.writer
  local text = {}
  if s.project.o then
    local x, x_row = "rooms->heads", s.heads * s.p_v
    if not s.attention then x, x_row = "call->o", "call->o_row" end
    text[1] = project.statements(context, {
      role = "wo", tile_name = "project_o", tile = p.o, columns = s.p_o, depth = s.heads * s.p_v,
      bias = s.bias.o and "bo", x = x, x_row = x_row,
      y = p.direct and "call->y" or "rooms->sum", y_row = p.direct and "call->y_row" or round_up(s.p_o, 16),
      exact = p.direct, rows = { most = s.tokens.max },
    })
  end
  if p.direct then return { { name = "output", body = text[1] } } end
  if s.norms.output then
    qkv.define_norm(context, "norm_output", "Norm of what the output projection gives.", s.norms.output, s.p_o)
  end
  if s.norms.after then
    qkv.define_norm(context, "norm_after", "Norm of the sum with the residual.", s.norms.after, s.p_o)
  end
  w:define("finish", {
    title = "Row `row`: norms and residual as the layer has them, then out to y.",
    parameters = {
      { "const " .. context.layer.name .. "_call *", "call" },
      { "const " .. context.layer.name .. "_rooms *", "rooms" }, { "const float *", "packed" },
      { "size_t", "row" },
    },
    body = context:render("rows/finish.c.in", { call = function(...) return w:call(...) end }),
  })
  text[#text + 1] = qkv.each_row(context, s.tokens.max, p.o and p.o.rows or 1, function(row)
    return w:call("finish", { row = row }) .. ";\n"
  end)
  return { { name = "output", body = table.concat(text) } }
end

return output
