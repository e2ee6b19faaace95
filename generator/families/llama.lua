--- Llama in Hugging Face transformers: grouped heads, rotary positions, no biases unless stated.

local heads = require "import.heads"
local rotary = require "import.rotary"

local function spec(values)
  local width, complaint = heads.stated_width(values)
  if not width then return nil, complaint end
  local groups, rope, frequencies
  groups, complaint = heads.grouped(values)
  if not groups then return nil, complaint end
  rope, frequencies = rotary.of(values, width)
  if not rope then return nil, frequencies end
  return {
    heads = values.num_attention_heads, kv_heads = groups, d = values.hidden_size, p_v = width,
    bias = values.attention_bias, mask = { "causal" }, position = { rope = rope },
    residual = true,
    norm = { kind = "rms", eps = values.rms_norm_eps, place = "input" },
  }, { tokens = values.max_position_embeddings, frequencies = frequencies }
end

return {
  name = "llama",
  title = "Llama (Hugging Face transformers)",
  module = "LlamaAttention in LlamaDecoderLayer",
  model_types = { "llama" },
  layers = "num_hidden_layers",
  keys = {
    { "num_attention_heads", "count", 32, fills = { "heads" } },
    { "num_key_value_heads", "count", nil, fills = { "kv_heads" } },
    { "hidden_size", "count", 4096, fills = { "d", "p_v" } },
    { "head_dim", "count", nil, fills = { "p_v" } },
    { "attention_bias", "boolean", false, fills = { "bias" } },
    { "rope_theta", "positive", 10000.0, fills = { "position" } },
    { "rope_scaling", "object", nil, fills = { "position" } },
    { "rope_parameters", "object", nil, fills = { "position" } },
    { "partial_rotary_factor", "number", nil, only = 1.0 },
    { "rope_interleaved", "boolean", false, only = false },
    { "rms_norm_eps", "positive", 1e-6, fills = { "norm" } },
    { "max_position_embeddings", "count", 2048, fills = { "tokens", "past" } },
    { "num_hidden_layers", "count", 32 },
  },
  ignored = { "attention_dropout", "mlp_bias", "pretraining_tp" },
  spec = spec,
  tensors = {
    self = {
      prefix = { "model.layers.{layer}.", "layers.{layer}." },
      scope = { "self_attn.", "input_layernorm." }, layout = "out_in",
      list = {
        { "wq", "self_attn.q_proj.weight" }, { "bq", "self_attn.q_proj.bias" },
        { "wk", "self_attn.k_proj.weight" }, { "bk", "self_attn.k_proj.bias" },
        { "wv", "self_attn.v_proj.weight" }, { "bv", "self_attn.v_proj.bias" },
        { "wo", "self_attn.o_proj.weight" }, { "bo", "self_attn.o_proj.bias" },
        { "input_gamma", "input_layernorm.weight" },
      },
      ignored = { "self_attn.rotary_emb.inv_freq" },
    },
  },
}
