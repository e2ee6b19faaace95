--- Bloom in Hugging Face transformers: ALiBi, and query, key and value fused head by head.

local heads = require "import.heads"
local slopes = require "import.slopes"

local function spec(values)
  local width, complaint = heads.width("hidden_size", values.hidden_size, "n_head", values.n_head)
  if not width then return nil, complaint end
  return {
    heads = values.n_head, d = values.hidden_size, p_v = width, mask = { "causal" },
    position = { alibi = { slopes = slopes.bloom(values.n_head) } },
    residual = true,
    norm = { kind = "layer", eps = values.layer_norm_epsilon, place = "input" },
  }, { tokens = values.seq_length }
end

return {
  name = "bloom",
  title = "Bloom (Hugging Face transformers)",
  module = "BloomAttention in BloomBlock",
  model_types = { "bloom" },
  layers = "n_layer",
  keys = {
    { "n_head", "count", 8, also = { "num_attention_heads" },
      fills = { "heads", "p_v", "position" } },
    { "hidden_size", "count", 64, also = { "n_embed" }, fills = { "d", "p_v" } },
    { "apply_residual_connection_post_layernorm", "boolean", false, only = false },
    { "layer_norm_epsilon", "positive", 1e-5, fills = { "norm" } },
    { "seq_length", "count", 2048, fills = { "tokens", "past" } },
    { "n_layer", "count", 2, also = { "num_hidden_layers" } },
  },
  ignored = {
    "attention_dropout", "attention_softmax_in_fp32", "masked_softmax_fusion",
    "bias_dropout_fusion",
    "skip_bias_add", "skip_bias_add_qkv", "offset_alibi", "slow_but_exact", "pretraining_tp",
  },
  spec = spec,
  tensors = {
    self = {
      prefix = { "transformer.h.{layer}.", "h.{layer}." },
      scope = { "self_attention.", "input_layernorm." }, layout = "out_in",
      list = {
        { { "wq", "wk", "wv" }, "self_attention.query_key_value.weight", split = "per_head" },
        { { "bq", "bk", "bv" }, "self_attention.query_key_value.bias", split = "per_head" },
        { "wo", "self_attention.dense.weight" }, { "bo", "self_attention.dense.bias" },
        { "input_gamma", "input_layernorm.weight" }, { "input_beta", "input_layernorm.bias" },
      },
    },
  },
}
