--- gpt-oss in Hugging Face transformers: biases everywhere, a learnt sink a head, a sliding
-- window in every second layer, rotary positions stretched by YaRN.

local json = require "read.json"
local llama = require "families.llama"
local windows = require "import.windows"

local function slides(layer) return layer % 2 == 0 end

local function spec(values, choice)
  local fields, limits = llama.spec(values)
  if not fields then return nil, limits end
  local window, complaint = windows.of(values, values.num_hidden_layers, choice.layer, slides)
  if not window then return nil, complaint end
  fields.mask[2] = window.window and window or nil
  fields.sinks = true
  return fields, limits
end

local stretched = json.decode([[{ "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0,
  "beta_slow": 1.0, "truncate": false, "original_max_position_embeddings": 4096 }]], "gpt_oss")

local list = table.move(llama.tensors.self.list, 1, #llama.tensors.self.list, 1, {})
list[#list + 1] = { "sinks", "self_attn.sinks" }

return {
  name = "gpt_oss",
  title = "gpt-oss (Hugging Face transformers)",
  module = "GptOssAttention in GptOssDecoderLayer",
  model_types = { "gpt_oss" },
  layers = "num_hidden_layers",
  keys = {
    { "num_attention_heads", "count", 64, fills = { "heads" } },
    { "num_key_value_heads", "count", 8, fills = { "kv_heads" } },
    { "hidden_size", "count", 2880, fills = { "d" } },
    { "head_dim", "count", 64, fills = { "p_v" } },
    { "attention_bias", "boolean", true, fills = { "bias" } },
    { "sliding_window", "count", 128, fills = { "mask" } },
    { "layer_types", "list", nil, fills = { "mask" } },
    { "rope_theta", "positive", 150000.0, fills = { "position" } },
    { "rope_scaling", "object", stretched, fills = { "position" }, unless = "rope_parameters" },
    { "rope_parameters", "object", nil, fills = { "position" } },
    { "rms_norm_eps", "positive", 1e-5, fills = { "norm" } },
    { "max_position_embeddings", "count", 131072, fills = { "tokens", "past" } },
    { "num_hidden_layers", "count", 36 },
  },
  ignored = { "attention_dropout", "initial_context_length" },
  spec = spec,
  tensors = {
    self = {
      prefix = llama.tensors.self.prefix, scope = llama.tensors.self.scope, layout = "out_in",
      list = list, ignored = llama.tensors.self.ignored,
    },
  },
}
