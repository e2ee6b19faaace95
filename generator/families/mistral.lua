--- Mistral in Hugging Face transformers: Llama's attention with a sliding window in every layer.

local llama = require "families.llama"
local windows = require "import.windows"

local function slides() return true end

local function spec(values, choice)
  local fields, limits = llama.spec(values)
  if not fields then return nil, limits end
  local window, complaint = windows.of(values, values.num_hidden_layers, choice.layer, slides)
  if not window then return nil, complaint end
  fields.bias = false
  fields.mask[2] = window.window and window or nil
  return fields, limits
end

return {
  name = "mistral",
  title = "Mistral (Hugging Face transformers)",
  module = "MistralAttention in MistralDecoderLayer",
  model_types = { "mistral" },
  layers = "num_hidden_layers",
  keys = {
    { "num_attention_heads", "count", 32, fills = { "heads" } },
    { "num_key_value_heads", "count", 8, fills = { "kv_heads" } },
    { "hidden_size", "count", 4096, fills = { "d", "p_v" } },
    { "head_dim", "count", nil, fills = { "p_v" } },
    { "attention_bias", "boolean", false, only = false },
    { "sliding_window", "count", 4096, fills = { "mask" } },
    { "layer_types", "list", nil, fills = { "mask" } },
    { "rope_theta", "positive", 10000.0, fills = { "position" } },
    { "rope_scaling", "object", nil, fills = { "position" } },
    { "rope_parameters", "object", nil, fills = { "position" } },
    { "rms_norm_eps", "positive", 1e-6, fills = { "norm" } },
    { "max_position_embeddings", "count", 131072, fills = { "tokens", "past" } },
    { "num_hidden_layers", "count", 32 },
  },
  ignored = { "attention_dropout" },
  spec = spec,
  tensors = llama.tensors,
}
