--- Phi (1, 1.5, 2) in Hugging Face transformers: a part of each head is rotated, biases
-- everywhere. The feed-forward half of the block reads the same normed input; it is not part of
-- the layer.

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
    mask = { "causal" }, position = { rope = rope },
    residual = true,
    norm = { kind = "layer", eps = values.layer_norm_eps, place = "input" },
  }, { tokens = values.max_position_embeddings, frequencies = frequencies }
end

return {
  name = "phi",
  title = "Phi (Hugging Face transformers)",
  module = "PhiAttention in PhiDecoderLayer",
  model_types = { "phi" },
  layers = "num_hidden_layers",
  keys = {
    { "num_attention_heads", "count", 32, fills = { "heads", "p_v" } },
    { "num_key_value_heads", "count", nil, fills = { "kv_heads" } },
    { "hidden_size", "count", 2048, fills = { "d", "p_v" } },
    { "head_dim", "count", nil, fills = { "p_v" } },
    { "partial_rotary_factor", "positive", 0.5, fills = { "position" } },
    { "rope_theta", "positive", 10000.0, fills = { "position" } },
    { "rope_scaling", "object", nil, fills = { "position" } },
    { "rope_parameters", "object", nil, fills = { "position" } },
    { "qk_layernorm", "boolean", false, only = false },
    { "layer_norm_eps", "positive", 1e-5, fills = { "norm" } },
    { "max_position_embeddings", "count", 2048, fills = { "tokens", "past" } },
    { "num_hidden_layers", "count", 24 },
  },
  ignored = { "attention_dropout" },
  spec = spec,
  tensors = {
    self = {
      prefix = { "model.layers.{layer}.", "layers.{layer}." },
      scope = { "self_attn.", "input_layernorm." }, layout = "out_in",
      list = {
        { "wq", "self_attn.q_proj.weight" }, { "bq", "self_attn.q_proj.bias" },
        { "wk", "self_attn.k_proj.weight" }, { "bk", "self_attn.k_proj.bias" },
        { "wv", "self_attn.v_proj.weight" }, { "bv", "self_attn.v_proj.bias" },
        { "wo", "self_attn.dense.weight" }, { "bo", "self_attn.dense.bias" },
        { "input_gamma", "input_layernorm.weight" }, { "input_beta", "input_layernorm.bias" },
      },
      ignored = { "self_attn.rotary_emb.inv_freq" },
    },
  },
}
