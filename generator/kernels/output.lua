--- The third stage: the output projection, output norm, residual and norm after; partner of
-- templates/rows/finish.c.in. BERT's BertSelfOutput is this stage alone.

local project = require "kernels.project"
local rows = require "kernels.rows"

local output = {}

local function round_up(n, to) return (n + to - 1) // to * to end

--- The output projection, straight to y where nothing follows it.
local function projection(context)
  local s, p = context.spec, context.plan
  local x, x_row = "rooms->heads", s.heads * s.p_v
  if not s.attention then x, x_row = "call->o", "call->o_row" end
  local y, y_row = "rooms->sum", round_up(s.p_o, 16)
  if p.direct then y, y_row = "call->y", "call->y_row" end
  return project.statements(context, {
    role = "wo", tile = p.o, columns = s.p_o, depth = s.heads * s.p_v,
    bias = s.bias.o and "bo", x = x, x_row = x_row, y = y, y_row = y_row, exact = p.direct,
    most = s.tokens.max,
  })
end

--- Norms and residual, row by row.
local function finish(context)
  local s, p, w = context.spec, context.plan, context.writer
  if s.norms.output then
    rows.define_norm(context, "norm_output", "Norm of what the output projection gives.",
      s.norms.output, s.p_o)
  end
  if s.norms.after then
    rows.define_norm(context, "norm_after", "Norm of the sum with the residual.",
      s.norms.after, s.p_o)
  end
  rows.define(context, "finish", "finish",
    "Row `row`: norms and residual as the layer has them, then out to y.",
    { residual_by_heads = context.layer.residual_by_heads })
  return rows.each(context, s.tokens.max, p.o and p.o.rows or 1, function(row)
    return w:call("finish", { row = row }) .. ";\n"
  end)
end

--- Writes the stage into the context's writer.
-- @treturn table list of { name, body } of the stage functions
function output.write(context)
  local text = context.spec.project.o and projection(context) or ""
  if not context.plan.direct then text = text .. finish(context) end
  return { { name = "output", body = text } }
end

return output
