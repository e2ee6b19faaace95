--- MPT in Hugging Face transformers: ALiBi, query, key and value fused one after the other, no
-- biases anywhere, not even in the layer norm.

local heads = require "import.heads"
local slopes = require "import.slopes"

local function spec(values)
  local width, complaint = heads.width("d_model", values.d_model, "n_heads", values.n_heads)
  if not width then return nil, complaint end
  return {
    heads = values.n_heads, d = values.d_model, p_v = width, bias = false,
    scale = values["attn_config.softmax_scale"], mask = { "causal" },
    position = {
      alibi = { slopes = slopes.mpt(values.n_heads, values["attn_config.alibi_bias_max"]) },
    },
    residual = true,
    norm = { kind = "layer", eps = values.layer_norm_epsilon, place = "input" },
  }, { tokens = values.max_seq_len }
end

return {
  name = "mpt",
  title = "MPT (Hugging Face transformers)",
  module = "MptAttention in MptBlock",
  model_types = { "mpt" },
  layers = "n_layers",
  inside = "attn_config",
  keys = {
    { "n_heads", "count", 16, also = { "num_attention_heads" },
      fills = { "heads", "p_v", "position" } },
    { "d_model", "count", 2048, also = { "hidden_size" }, fills = { "d", "p_v" } },
    { "attn_config.alibi", "boolean", true, only = true, fills = { "position" } },
    { "attn_config.alibi_bias_max", "positive", 8, fills = { "position" } },
    { "attn_config.softmax_scale", "number", nil, fills = { "scale" } },
    { "attn_config.attn_type", "string", "multihead_attention", only = "multihead_attention" },
    { "attn_config.clip_qkv", "number", nil, only = 0 },
    { "attn_config.prefix_lm", "boolean", false, only = false },
    { "attn_config.qk_ln", "boolean", false, only = false },
    { "attn_config.attn_uses_sequence_id", "boolean", false, only = false },
    { "no_bias", "boolean", true, only = true, fills = { "bias" } },
    { "norm_type", "string", "low_precision_layernorm", fills = { "norm" },
      one_of = { "low_precision_layernorm", "layernorm" } },
    { "layer_norm_epsilon", "positive", 1e-5, fills = { "norm" } },
    { "max_seq_len", "count", 2048, fills = { "tokens", "past" } },
    { "n_layers", "count", 24, also = { "num_hidden_layers" } },
  },
  ignored = {
    "attn_config.attn_pdrop", "attn_config.attn_impl", "attn_config.model_type", "learned_pos_emb",
    "logit_scale",
  },
  spec = spec,
  tensors = {
    self = {
      prefix = { "transformer.blocks.{layer}.", "blocks.{layer}." },
      scope = { "attn.", "norm_1." }, layout = "out_in",
      list = {
        { { "wq", "wk", "wv" }, "attn.Wqkv.weight", split = "blocks" },
        { "wo", "attn.out_proj.weight" },
        { "input_gamma", "norm_1.weight" },
        { "input_beta", "norm_1.bias", absent = 0.0 },
      },
    },
  },
}
