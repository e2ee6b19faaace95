--- Qwen3 in Hugging Face transformers: Llama's attention with an RMS norm over each query and key
-- head.

local llama = require "families.llama"
local windows = require "import.windows"

local function spec(values, choice)
  local fields, limits = llama.spec(values)
  if not fields then return nil, limits end
  if not values.use_sliding_window then values.sliding_window = nil end
  local window, complaint = windows.of(values, values.num_hidden_layers, choice.layer,
    function(layer) return layer >= values.max_window_layers end)
  if not window then return nil, complaint end
  fields.mask[2] = window.window and window or nil
  fields.qk_norm = { kind = "rms", eps = values.rms_norm_eps }
  return fields, limits
end

local list = table.move(llama.tensors.self.list, 1, #llama.tensors.self.list, 1, {})
list[#list + 1] = { "q_norm", "self_attn.q_norm.weight" }
list[#list + 1] = { "k_norm", "self_attn.k_norm.weight" }

return {
  name = "qwen3",
  title = "Qwen3 (Hugging Face transformers)",
  module = "Qwen3Attention in Qwen3DecoderLayer",
  model_types = { "qwen3" },
  layers = "num_hidden_layers",
  keys = {
    { "num_attention_heads", "count", 32, fills = { "heads" } },
    { "num_key_value_heads", "count", 32, fills = { "kv_heads" } },
    { "hidden_size", "count", 4096, fills = { "d" } },
    { "head_dim", "count", 128, fills = { "p_v" } },
    { "attention_bias", "boolean", false, fills = { "bias" } },
    { "use_sliding_window", "boolean", false, fills = { "mask" } },
    { "sliding_window", "count", 4096, fills = { "mask" } },
    { "max_window_layers", "index", 28, fills = { "mask" } },
    { "layer_types", "list", nil, fills = { "mask" } },
    { "rope_theta", "positive", 10000.0, fills = { "position" } },
    { "rope_scaling", "object", nil, fills = { "position" } },
    { "rope_parameters", "object", nil, fills = { "position" } },
    { "rms_norm_eps", "positive", 1e-6, fills = { "qk_norm", "norm" } },
    { "max_position_embeddings", "count", 32768, fills = { "tokens", "past" } },
    { "num_hidden_layers", "count", 32 },
  },
  ignored = { "attention_dropout" },
  spec = spec,
  tensors = {
    self = {
      prefix = llama.tensors.self.prefix, scope = llama.tensors.self.scope, layout = "out_in",
      list = list, ignored = llama.tensors.self.ignored,
    },
  },
}
