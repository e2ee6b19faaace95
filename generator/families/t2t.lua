--- The Transformer of tensor2tensor: widths of keys, values and output are all free, no biases.

-- The width of one head, from the width of all; 0 stands for the hidden size.
local function divided(values, key)
  local all, count = values[key], values.num_heads
  if all == 0 then all = values.hidden_size end
  if all % count ~= 0 then
    return nil, ("%s: %d: must be a multiple of num_heads = %d"):format(key, all, count)
  end
  return all // count
end

-- "n" before the layer is the normed input, "da" after it drops out and adds the residual; the
-- first version had neither before and "dan" after.
local function norm_of(values)
  local before, after = values.layer_preprocess_sequence, values.layer_postprocess_sequence
  if before == "n" and after == "da" then return "input" end
  if (before == "none" or before == "") and after == "dan" then return "after" end
  return nil, ("layer_preprocess_sequence, layer_postprocess_sequence: %q, %q: "
    .. "must be \"n\", \"da\" or \"none\", \"dan\""):format(before, after)
end

local function spec(values, choice)
  local p_q, complaint = divided(values, "attention_key_channels")
  if not p_q then return nil, complaint end
  local p_v
  p_v, complaint = divided(values, "attention_value_channels")
  if not p_v then return nil, complaint end
  local place
  place, complaint = norm_of(values)
  if not place then return nil, complaint end
  local causal = choice.stack == "decoder" and not choice.cross
  return {
    heads = values.num_heads, d = values.hidden_size,
    p_q = p_q ~= p_v and p_q or nil, p_v = p_v, bias = false,
    scale = values.attention_variables_3d and 1.0 or nil,
    mask = { causal and "causal" or "padding" },
    residual = true,
    norm = { kind = "layer", eps = values.norm_epsilon, place = place },
  }, { tokens = values.max_length, context = values.max_length }
end

local function group(stack, module)
  local at = "multihead_attention/"
  local before, after = "layer_prepostprocess/layer_norm/", "layer_postprocess/layer_norm/"
  local place = stack .. "/layer_{layer}/" .. module .. "/"
  return {
    prefix = {
      "transformer/body/" .. place, "body/" .. place, place,
      "transformer/parallel_0/body/" .. place,
    },
    scope = { at, before, after }, layout = "in_out",
    list = {
      { "wq", at .. "q/kernel", { at .. "q", layout = "in_heads" } },
      { "wk", at .. "k/kernel", { at .. "k", layout = "in_heads" } },
      { "wv", at .. "v/kernel", { at .. "v", layout = "in_heads" } },
      { "wo", at .. "output_transform/kernel", { at .. "o", layout = "in_heads" } },
      { "input_gamma", before .. "layer_norm_scale" },
      { "input_beta", before .. "layer_norm_bias" },
      { "gamma", after .. "layer_norm_scale", before .. "layer_norm_scale" },
      { "beta", after .. "layer_norm_bias", before .. "layer_norm_bias" },
    },
    ignored_endings = { "/Adam", "/Adam_1" },
  }
end

return {
  name = "t2t",
  title = "Transformer (tensor2tensor)",
  module = "multihead_attention of common_attention.py in a transformer layer",
  model_types = {},
  recognised = { "hidden_size", "num_heads", "attention_key_channels" },
  layers = "num_hidden_layers",
  stacks = { "encoder", "decoder" },
  has_cross = true,
  keys = {
    { "num_heads", "count", 8, fills = { "heads", "p_q", "p_v" } },
    { "hidden_size", "count", 512, fills = { "d", "p_q", "p_v" } },
    { "attention_key_channels", "index", 0, fills = { "p_q" } },
    { "attention_value_channels", "index", 0, fills = { "p_v" } },
    { "attention_variables_3d", "boolean", false, fills = { "scale" } },
    { "self_attention_type", "string", "dot_product", only = "dot_product" },
    { "hard_attention_k", "index", 0, only = 0 },
    { "gumbel_noise_weight", "number", nil, only = 0 },
    { "max_area_width", "count", 1, only = 1 },
    { "max_area_height", "count", 1, only = 1 },
    { "proximity_bias", "boolean", false, only = false },
    { "unidirectional_encoder", "boolean", false, only = false },
    { "causal_decoder_self_attention", "boolean", true, only = true },
    { "layer_preprocess_sequence", "string", "n", fills = { "norm" } },
    { "layer_postprocess_sequence", "string", "da", fills = { "norm" } },
    { "norm_type", "string", "layer", only = "layer" },
    { "norm_epsilon", "positive", 1e-6, fills = { "norm" } },
    { "max_length", "count", 256, fills = { "tokens", "context", "past" } },
    { "num_hidden_layers", "count", 6 },
  },
  ignored = {
    "attention_dropout", "attention_dropout_broadcast_dims", "relu_dropout_broadcast_dims",
    "max_relative_position", "heads_share_relative_embedding", "add_relative_to_values",
    "layer_prepostprocess_dropout", "layer_prepostprocess_dropout_broadcast_dims",
    "label_smoothing", "attention_loss_type", "attention_loss_multiplier", "pos",
    "clip_grad_norm", "shared_embedding_and_softmax_weights", "learning_rate_warmup_steps",
    "area_key_mode", "area_value_mode", "nbr_decoder_problems", "kernel_height", "kernel_width",
  },
  spec = spec,
  tensors = {
    encoder = group("encoder", "self_attention"),
    decoder = group("decoder", "self_attention"),
    cross = group("decoder", "encdec_attention"),
  },
}
