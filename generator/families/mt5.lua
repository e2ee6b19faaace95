--- mT5 in Hugging Face transformers: T5's attention with other defaults.

local t5 = require "families.t5"

local defaults = { num_heads = 6, num_layers = 8 }

local keys = {}
for index, entry in ipairs(t5.keys) do
  local key = entry[1]
  keys[index] = { key, entry[2], defaults[key] or entry[3], also = entry.also, fills = entry.fills }
end

return {
  name = "mt5",
  title = "mT5 (Hugging Face transformers)",
  module = "MT5Attention in MT5LayerSelfAttention or MT5LayerCrossAttention",
  model_types = { "mt5" },
  layers = t5.layers,
  stacks = t5.stacks,
  has_cross = true,
  keys = keys,
  ignored = t5.ignored,
  spec = t5.spec,
  tensors = t5.tensors,
}
