--- BERT in Hugging Face transformers: BertAttention = BertSelfAttention + BertSelfOutput.

local heads = require "import.heads"

local relative = { relative_key = "key", relative_key_query = "key_query" }

local function spec(values, choice)
  local width, complaint = heads.width("hidden_size", values.hidden_size, "num_attention_heads",
    values.num_attention_heads)
  if not width then return nil, complaint end
  if choice.cross and not values.add_cross_attention then
    return nil, "add_cross_attention: false: the model has no cross-attention"
  end
  local kind = not choice.cross and relative[values.position_embedding_type]
  local most = values.max_position_embeddings
  return {
    heads = values.num_attention_heads, d = values.hidden_size, p_v = width,
    mask = { values.is_decoder and not choice.cross and "causal" or "padding" },
    position = kind and { relative = { kind = kind, max = most } } or nil,
    residual = true,
    norm = { kind = "layer", eps = values.layer_norm_eps, place = "after" },
  }, { tokens = most, context = most }
end

local function attention(self, output)
  return {
    { "wq", self .. "query.weight" }, { "bq", self .. "query.bias" },
    { "wk", self .. "key.weight" }, { "bk", self .. "key.bias" },
    { "wv", self .. "value.weight" }, { "bv", self .. "value.bias" },
    { "wo", output .. "dense.weight" }, { "bo", output .. "dense.bias" },
    { "gamma", output .. "LayerNorm.weight", output .. "LayerNorm.gamma" },
    { "beta", output .. "LayerNorm.bias", output .. "LayerNorm.beta" },
    { "relative", self .. "distance_embedding.weight" },
  }
end

return {
  name = "bert",
  title = "BERT (Hugging Face transformers)",
  module = "BertAttention: BertSelfAttention, then BertSelfOutput",
  model_types = { "bert" },
  layers = "num_hidden_layers",
  has_cross = true,
  keys = {
    { "num_attention_heads", "count", 12, fills = { "heads", "p_v" } },
    { "hidden_size", "count", 768, fills = { "d", "p_v" } },
    { "pruned_heads", "object", nil, fills = { "heads" } },
    { "layer_norm_eps", "positive", 1e-12, fills = { "norm" } },
    { "max_position_embeddings", "count", 512, fills = { "tokens", "context", "position" } },
    { "position_embedding_type", "string", "absolute", fills = { "position" },
      one_of = { "absolute", "relative_key", "relative_key_query" } },
    { "is_decoder", "boolean", false, fills = { "mask" } },
    { "add_cross_attention", "boolean", false },
    { "num_hidden_layers", "count", 12 },
  },
  ignored = { "attention_probs_dropout_prob", "pooler_num_attention_heads",
    "pooler_size_per_head" },
  spec = spec,
  tensors = {
    self = {
      prefix = { "bert.encoder.layer.{layer}.", "encoder.layer.{layer}." },
      scope = { "attention." }, layout = "out_in",
      list = attention("attention.self.", "attention.output."),
    },
    cross = {
      prefix = { "bert.encoder.layer.{layer}.", "encoder.layer.{layer}." },
      scope = { "crossattention." }, layout = "out_in",
      list = attention("crossattention.self.", "crossattention.output."),
    },
  },
}
