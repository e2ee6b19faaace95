--- Whisper in Hugging Face transformers: the key projection has no bias.

local heads = require "import.heads"

local function spec(values, choice)
  local decoder = choice.stack == "decoder"
  local key = decoder and "decoder_attention_heads" or "encoder_attention_heads"
  local width, complaint = heads.width("d_model", values.d_model, key, values[key])
  if not width then return nil, complaint end
  local most = decoder and values.max_target_positions or values.max_source_positions
  return {
    heads = values[key], d = values.d_model, p_v = width,
    bias = { q = true, k = false, v = true, o = true },
    mask = { decoder and not choice.cross and "causal" or nil },
    residual = true,
    norm = { kind = "layer", eps = 1e-5, place = "input" },
  }, {
    tokens = most, tokens_fixed = not decoder,
    context = values.max_source_positions, context_fixed = true,
  }
end

local function group(stack, module)
  return {
    prefix = { "model." .. stack .. ".layers.{layer}.", stack .. ".layers.{layer}." },
    scope = { module .. ".", module .. "_layer_norm." }, layout = "out_in",
    list = {
      { "wq", module .. ".q_proj.weight" }, { "bq", module .. ".q_proj.bias" },
      { "wk", module .. ".k_proj.weight" }, { "bk", module .. ".k_proj.bias" },
      { "wv", module .. ".v_proj.weight" }, { "bv", module .. ".v_proj.bias" },
      { "wo", module .. ".out_proj.weight" }, { "bo", module .. ".out_proj.bias" },
      { "input_gamma", module .. "_layer_norm.weight" },
      { "input_beta", module .. "_layer_norm.bias" },
    },
  }
end

return {
  name = "whisper",
  title = "Whisper (Hugging Face transformers)",
  module = "WhisperAttention in WhisperEncoderLayer or WhisperDecoderLayer",
  model_types = { "whisper" },
  layers = { encoder = "encoder_layers", decoder = "decoder_layers" },
  stacks = { "encoder", "decoder" },
  has_cross = true,
  keys = {
    { "encoder_attention_heads", "count", 6, fills = { "heads", "p_v" }, stack = "encoder" },
    { "decoder_attention_heads", "count", 6, fills = { "heads", "p_v" }, stack = "decoder" },
    { "d_model", "count", 384, also = { "hidden_size" }, fills = { "d", "p_v" } },
    { "max_source_positions", "count", 1500, fills = { "tokens", "context" } },
    { "max_target_positions", "count", 448, fills = { "tokens", "past" }, stack = "decoder" },
    { "encoder_layers", "count", 4 },
    { "decoder_layers", "count", 4 },
  },
  ignored = {
    "attention_dropout", "scale_embedding", "apply_spec_augment", "mask_time_prob",
    "mask_time_length", "mask_time_min_masks", "mask_feature_prob", "mask_feature_length",
    "mask_feature_min_masks", "alignment_heads",
  },
  spec = spec,
  tensors = {
    encoder = group("encoder", "self_attn"),
    decoder = group("decoder", "self_attn"),
    cross = group("decoder", "encoder_attn"),
  },
}
