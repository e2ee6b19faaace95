--- RoBERTa in Hugging Face transformers: the attention of BERT, other defaults and names.

local bert = require "families.bert"

-- Positions are counted from behind the padding token's, so the table has more rows than
-- positions.
local function spec(values, choice)
  local fields, limits = bert.spec(values, choice)
  if not fields then return nil, limits end
  local most = math.max(values.max_position_embeddings - (values.pad_token_id or 0) - 1, 1)
  return fields, { tokens = most, context = most }
end

local function renamed(group)
  return {
    prefix = { "roberta.encoder.layer.{layer}.", "encoder.layer.{layer}." },
    scope = group.scope, layout = group.layout, list = group.list,
  }
end

return {
  name = "roberta",
  title = "RoBERTa (Hugging Face transformers)",
  module = "RobertaAttention: RobertaSelfAttention, then RobertaSelfOutput",
  model_types = { "roberta" },
  layers = "num_hidden_layers",
  has_cross = true,
  keys = table.move({ { "pad_token_id", "index", 1, fills = { "tokens", "context" } } }, 1, 1,
    #bert.keys + 1, table.move(bert.keys, 1, #bert.keys, 1, {})),
  ignored = bert.ignored,
  spec = spec,
  tensors = { self = renamed(bert.tensors.self), cross = renamed(bert.tensors.cross) },
}
