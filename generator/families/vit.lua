--- ViT in Hugging Face transformers: as many positions as the picture has patches, and one more.

local heads = require "import.heads"

local function spec(values)
  local width, complaint = heads.width("hidden_size", values.hidden_size, "num_attention_heads",
    values.num_attention_heads)
  if not width then return nil, complaint end
  local patches = values.image_size // values.patch_size
  local fused = values.qkv_bias
  return {
    heads = values.num_attention_heads, d = values.hidden_size, p_v = width,
    bias = { q = fused, k = fused, v = fused, o = true },
    residual = true,
    norm = { kind = "layer", eps = values.layer_norm_eps, place = "input" },
  }, { tokens = patches * patches + 1, tokens_fixed = true }
end

return {
  name = "vit",
  title = "ViT (Hugging Face transformers)",
  module = "ViTAttention in ViTLayer",
  model_types = { "vit" },
  layers = "num_hidden_layers",
  keys = {
    { "num_attention_heads", "count", 12, fills = { "heads", "p_v" } },
    { "hidden_size", "count", 768, fills = { "d", "p_v" } },
    { "pruned_heads", "object", nil, fills = { "heads" } },
    { "qkv_bias", "boolean", true, fills = { "bias" } },
    { "layer_norm_eps", "positive", 1e-12, fills = { "norm" } },
    { "image_size", "count", 224, fills = { "tokens" } },
    { "patch_size", "count", 16, fills = { "tokens" } },
    { "num_hidden_layers", "count", 12 },
  },
  ignored = { "attention_probs_dropout_prob" },
  spec = spec,
  tensors = {
    self = {
      prefix = {
        "vit.encoder.layer.{layer}.", "encoder.layer.{layer}.", "vit.layers.{layer}.",
        "layers.{layer}.",
      },
      scope = { "attention.", "layernorm_before." }, layout = "out_in",
      list = {
        { "wq", "attention.attention.query.weight", "attention.q_proj.weight" },
        { "bq", "attention.attention.query.bias", "attention.q_proj.bias" },
        { "wk", "attention.attention.key.weight", "attention.k_proj.weight" },
        { "bk", "attention.attention.key.bias", "attention.k_proj.bias" },
        { "wv", "attention.attention.value.weight", "attention.v_proj.weight" },
        { "bv", "attention.attention.value.bias", "attention.v_proj.bias" },
        { "wo", "attention.output.dense.weight", "attention.o_proj.weight" },
        { "bo", "attention.output.dense.bias", "attention.o_proj.bias" },
        { "input_gamma", "layernorm_before.weight" }, { "input_beta", "layernorm_before.bias" },
      },
    },
  },
}
