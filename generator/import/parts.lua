--- What of a block a spec covers: the fields of a part out of those of the whole.
-- In: the raw fields of the attention half of a block. Out: those of one part. Knows no family.

local parts = {}

local shape_fields <const> = {
  module = {
    "heads", "kv_heads", "d", "d_q", "d_k", "d_v", "p_q", "p_v", "p_o", "tokens", "context",
    "cache", "past", "align", "bias", "scale", "softcap", "sinks", "qk_norm", "position", "mask",
  },
  output = { "heads", "p_v", "p_o", "tokens", "bias", "residual" },
}

local function picked(fields, keys)
  local part = {}
  for _, key in ipairs(keys) do part[key] = fields[key] end
  return part
end

local function bias_without(bias, absent)
  if type(bias) ~= "table" then return bias end
  local rest = {}
  for _, which in ipairs({ "q", "k", "v", "o" }) do
    if not absent[which] then rest[which] = bias[which] end
  end
  return rest
end

--- The whole half of the block.
function parts.block(fields) return fields end

--- The four projections and the attention, without norms and residual.
function parts.module(fields) return picked(fields, shape_fields.module) end

--- The same without the output projection.
function parts.attention(fields)
  local part = picked(fields, shape_fields.module)
  part.project = { "q", "k", "v" }
  part.bias = bias_without(part.bias, { o = true })
  part.p_o = nil
  return part
end

--- Only what follows the heads.
function parts.output(fields)
  local part = picked(fields, shape_fields.output)
  part.attention, part.project = false, { "o" }
  part.bias = bias_without(part.bias, { q = true, k = true, v = true })
  part.p_o = part.p_o or fields.d or fields.d_q
  for _, norm in ipairs(fields.norm.kind and { fields.norm } or fields.norm) do
    if norm.place ~= "input" then part.norm = norm end
  end
  return part
end

return parts
