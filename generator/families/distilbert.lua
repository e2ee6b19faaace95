--- DistilBERT in Hugging Face transformers: all four projections are in one module; residual and
-- norm stand in its TransformerBlock.

local heads = require "import.heads"

local function spec(values)
  local width, complaint = heads.width("dim", values.dim, "n_heads", values.n_heads)
  if not width then return nil, complaint end
  return {
    heads = values.n_heads, d = values.dim, p_v = width,
    mask = { "padding" },
    residual = true,
    norm = { kind = "layer", eps = 1e-12, place = "after" },
  }, { tokens = values.max_position_embeddings }
end

return {
  name = "distilbert",
  title = "DistilBERT (Hugging Face transformers)",
  module = "DistilBertSelfAttention (earlier MultiHeadSelfAttention) in TransformerBlock",
  model_types = { "distilbert" },
  layers = "n_layers",
  keys = {
    { "n_heads", "count", 12, also = { "num_attention_heads" }, fills = { "heads", "p_v" } },
    { "dim", "count", 768, also = { "hidden_size" }, fills = { "d", "p_v" } },
    { "pruned_heads", "object", nil, fills = { "heads" } },
    { "max_position_embeddings", "count", 512, fills = { "tokens" } },
    { "n_layers", "count", 6, also = { "num_hidden_layers" } },
  },
  ignored = { "attention_dropout", "sinusoidal_pos_embds", "tie_weights_" },
  spec = spec,
  tensors = {
    self = {
      prefix = { "distilbert.transformer.layer.{layer}.", "transformer.layer.{layer}." },
      scope = { "attention.", "sa_layer_norm." }, layout = "out_in",
      list = {
        { "wq", "attention.q_lin.weight" }, { "bq", "attention.q_lin.bias" },
        { "wk", "attention.k_lin.weight" }, { "bk", "attention.k_lin.bias" },
        { "wv", "attention.v_lin.weight" }, { "bv", "attention.v_lin.bias" },
        { "wo", "attention.out_lin.weight" }, { "bo", "attention.out_lin.bias" },
        { "gamma", "sa_layer_norm.weight" }, { "beta", "sa_layer_norm.bias" },
      },
    },
  },
}
