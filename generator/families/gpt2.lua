--- GPT-2 in Hugging Face transformers: matrices stored [in][out], query, key and value side by
-- side.

local heads = require "import.heads"

local function spec(values, choice)
  local width, complaint = heads.width("n_embd", values.n_embd, "n_head", values.n_head)
  if not width then return nil, complaint end
  if choice.cross and not values.add_cross_attention then
    return nil, "add_cross_attention: false: the model has no cross-attention"
  end
  local scale
  if not values.scale_attn_weights then scale = 1.0 end
  if values.scale_attn_by_inverse_layer_idx then
    if not choice.layer then
      return nil, "scale_attn_by_inverse_layer_idx: true: layers differ, so a layer must be given"
    end
    scale = (scale or 1 / math.sqrt(width)) / (choice.layer + 1)
  end
  return {
    heads = values.n_head, d = values.n_embd, p_v = width, scale = scale,
    mask = { choice.cross and "padding" or "causal" },
    residual = true,
    norm = { kind = "layer", eps = values.layer_norm_epsilon, place = "input" },
  }, { tokens = values.n_positions, context = values.n_positions }
end

return {
  name = "gpt2",
  title = "GPT-2 (Hugging Face transformers)",
  module = "GPT2Attention in GPT2Block",
  model_types = { "gpt2" },
  layers = "n_layer",
  has_cross = true,
  keys = {
    { "n_head", "count", 12, also = { "num_attention_heads" }, fills = { "heads", "p_v" } },
    { "n_embd", "count", 768, also = { "hidden_size" }, fills = { "d", "p_v" } },
    { "pruned_heads", "object", nil, fills = { "heads" } },
    { "scale_attn_weights", "boolean", true, fills = { "scale" } },
    { "scale_attn_by_inverse_layer_idx", "boolean", false, fills = { "scale" } },
    { "layer_norm_epsilon", "positive", 1e-5, fills = { "norm" } },
    { "n_positions", "count", 1024, also = { "max_position_embeddings" },
      fills = { "tokens", "context", "past" } },
    { "add_cross_attention", "boolean", false },
    { "n_layer", "count", 12, also = { "num_hidden_layers" } },
  },
  ignored = { "n_ctx", "attn_pdrop", "reorder_and_upcast_attn" },
  spec = spec,
  tensors = {
    self = {
      prefix = { "transformer.h.{layer}.", "h.{layer}." },
      scope = { "attn.", "ln_1." }, layout = "in_out",
      list = {
        { { "wq", "wk", "wv" }, "attn.c_attn.weight", split = "blocks" },
        { { "bq", "bk", "bv" }, "attn.c_attn.bias", split = "blocks" },
        { "wo", "attn.c_proj.weight" }, { "bo", "attn.c_proj.bias" },
        { "input_gamma", "ln_1.weight" }, { "input_beta", "ln_1.bias" },
      },
      ignored = { "attn.bias", "attn.masked_bias" },
    },
    cross = {
      prefix = { "transformer.h.{layer}.", "h.{layer}." },
      scope = { "crossattention.", "ln_cross_attn." }, layout = "in_out",
      list = {
        { "wq", "crossattention.q_attn.weight" }, { "bq", "crossattention.q_attn.bias" },
        { { "wk", "wv" }, "crossattention.c_attn.weight", split = "blocks" },
        { { "bk", "bv" }, "crossattention.c_attn.bias", split = "blocks" },
        { "wo", "crossattention.c_proj.weight" }, { "bo", "crossattention.c_proj.bias" },
        { "input_gamma", "ln_cross_attn.weight" }, { "input_beta", "ln_cross_attn.bias" },
      },
      ignored = { "crossattention.bias", "crossattention.masked_bias" },
    },
  },
}
