--- The original BERT (google-research/bert): bert_config.json, kernels stored [in][out].

local heads = require "import.heads"

local function spec(values)
  local width, complaint = heads.width("hidden_size", values.hidden_size, "num_attention_heads",
    values.num_attention_heads)
  if not width then return nil, complaint end
  return {
    heads = values.num_attention_heads, d = values.hidden_size, p_v = width,
    mask = { "padding" },
    residual = true,
    norm = { kind = "layer", eps = 1e-12, place = "after" },
  }, { tokens = values.max_position_embeddings }
end

return {
  name = "tf_bert",
  title = "BERT (google-research/bert)",
  module = "attention_layer of modeling.py, then the dense layer, residual and layer norm of "
    .. "transformer_model",
  model_types = {},
  recognised = { "type_vocab_size", "num_attention_heads", "hidden_size" },
  layers = "num_hidden_layers",
  keys = {
    { "num_attention_heads", "count", 12, fills = { "heads", "p_v" } },
    { "hidden_size", "count", 768, fills = { "d", "p_v" } },
    { "max_position_embeddings", "count", 512, fills = { "tokens" } },
    { "num_hidden_layers", "count", 12 },
  },
  ignored = { "attention_probs_dropout_prob", "pooler_num_attention_heads",
    "pooler_size_per_head" },
  spec = spec,
  tensors = {
    self = {
      prefix = { "bert/encoder/layer_{layer}/", "encoder/layer_{layer}/" },
      scope = { "attention/" }, layout = "in_out",
      list = {
        { "wq", "attention/self/query/kernel" }, { "bq", "attention/self/query/bias" },
        { "wk", "attention/self/key/kernel" }, { "bk", "attention/self/key/bias" },
        { "wv", "attention/self/value/kernel" }, { "bv", "attention/self/value/bias" },
        { "wo", "attention/output/dense/kernel" }, { "bo", "attention/output/dense/bias" },
        { "gamma", "attention/output/LayerNorm/gamma" },
        { "beta", "attention/output/LayerNorm/beta" },
      },
      ignored_endings = { "/adam_m", "/adam_v" },
    },
  },
}
