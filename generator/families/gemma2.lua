--- Gemma 2 in Hugging Face transformers: soft-capped scores, a scale of its own, norms before and
-- after the attention with the factor 1 + weight, a sliding window in every second layer.

local llama = require "families.llama"
local windows = require "import.windows"

local function slides(layer) return layer % 2 == 0 end

local function spec(values, choice)
  local fields, limits = llama.spec(values)
  if not fields then return nil, limits end
  local window, complaint = windows.of(values, values.num_hidden_layers, choice.layer, slides)
  if not window then return nil, complaint end
  fields.mask[2] = window.window and window or nil
  fields.scale = 1 / math.sqrt(values.query_pre_attn_scalar)
  fields.softcap = values.attn_logit_softcapping
  local function norm(place)
    return { kind = "rms", eps = values.rms_norm_eps, place = place, plus_one = true }
  end
  fields.norm = { norm("input"), norm("output") }
  return fields, limits
end

local list = table.move(llama.tensors.self.list, 1, #llama.tensors.self.list, 1, {})
list[#list + 1] = { "output_gamma", "post_attention_layernorm.weight" }

return {
  name = "gemma2",
  title = "Gemma 2 (Hugging Face transformers)",
  module = "Gemma2Attention in Gemma2DecoderLayer",
  model_types = { "gemma2" },
  layers = "num_hidden_layers",
  keys = {
    { "num_attention_heads", "count", 8, fills = { "heads" } },
    { "num_key_value_heads", "count", 4, fills = { "kv_heads" } },
    { "hidden_size", "count", 2304, fills = { "d" } },
    { "head_dim", "count", 256, fills = { "p_v" } },
    { "attention_bias", "boolean", false, fills = { "bias" } },
    { "query_pre_attn_scalar", "positive", 256, fills = { "scale" } },
    { "attn_logit_softcapping", "positive", 50.0, fills = { "softcap" } },
    { "sliding_window", "count", 4096, also = { "sliding_window_size" }, fills = { "mask" } },
    { "layer_types", "list", nil, fills = { "mask" } },
    { "sliding_window_pattern", "count", nil, fills = { "mask" } },
    { "use_bidirectional_attention", "boolean", nil, only = false },
    { "rope_theta", "positive", 10000.0, fills = { "position" } },
    { "rope_scaling", "object", nil, fills = { "position" } },
    { "rope_parameters", "object", nil, fills = { "position" } },
    { "rms_norm_eps", "positive", 1e-6, fills = { "norm" } },
    { "max_position_embeddings", "count", 8192, fills = { "tokens", "past" } },
    { "num_hidden_layers", "count", 26 },
  },
  ignored = { "attention_dropout", "final_logit_softcapping" },
  spec = spec,
  tensors = {
    self = {
      prefix = llama.tensors.self.prefix, layout = "out_in",
      scope = { "self_attn.", "input_layernorm.", "post_attention_layernorm." },
      list = list, ignored = llama.tensors.self.ignored,
    },
  },
}
