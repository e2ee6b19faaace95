--- GPT-J in Hugging Face transformers: neighbouring components are rotated as pairs. The
-- feed-forward half of the block reads the same normed input; it is not part of the layer.

local heads = require "import.heads"

local function spec(values)
  local width, complaint = heads.width("n_embd", values.n_embd, "n_head", values.n_head)
  if not width then return nil, complaint end
  local dim = values.rotary_dim
  if not dim or dim % 2 ~= 0 or dim > width then
    return nil, ("rotary_dim: %s: must be even and from 2 to the head's %d"):format(
      dim or "null", width)
  end
  return {
    heads = values.n_head, d = values.n_embd, p_v = width, bias = false, mask = { "causal" },
    position = { rope = { base = 10000.0, dim = dim, interleaved = true } },
    residual = true,
    norm = { kind = "layer", eps = values.layer_norm_epsilon, place = "input" },
  }, { tokens = values.n_positions }
end

return {
  name = "gptj",
  title = "GPT-J (Hugging Face transformers)",
  module = "GPTJAttention in GPTJBlock",
  model_types = { "gptj" },
  layers = "n_layer",
  keys = {
    { "n_head", "count", 16, also = { "num_attention_heads" }, fills = { "heads", "p_v" } },
    { "n_embd", "count", 4096, also = { "hidden_size" }, fills = { "d", "p_v" } },
    { "rotary_dim", "count", 64, fills = { "position" } },
    { "rotary", "boolean", true, only = true },
    { "scale_attn_weights", "boolean", true, only = true },
    { "layer_norm_epsilon", "positive", 1e-5, fills = { "norm" } },
    { "n_positions", "count", 2048, also = { "max_position_embeddings" },
      fills = { "tokens", "past" } },
    { "n_layer", "count", 28, also = { "num_hidden_layers" } },
  },
  ignored = { "attn_pdrop" },
  spec = spec,
  tensors = {
    self = {
      prefix = { "transformer.h.{layer}.", "h.{layer}." },
      scope = { "attn.", "ln_1." }, layout = "out_in",
      list = {
        { "wq", "attn.q_proj.weight" }, { "wk", "attn.k_proj.weight" },
        { "wv", "attn.v_proj.weight" }, { "wo", "attn.out_proj.weight" },
        { "input_gamma", "ln_1.weight" }, { "input_beta", "ln_1.bias" },
      },
      ignored = { "attn.bias", "attn.masked_bias" },
    },
  },
}
