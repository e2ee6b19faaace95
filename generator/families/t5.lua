--- T5 in Hugging Face transformers: no scale, no biases; block 0 of a stack holds the table of
-- bucketed distances for all its blocks.

local function spec(values, choice)
  local decoder = choice.stack == "decoder"
  local mask = { decoder and not choice.cross and "causal" or "padding" }
  local bias = {
    buckets = values.relative_attention_num_buckets,
    max_distance = values.relative_attention_max_distance,
    bidirectional = not decoder,
  }
  return {
    heads = values.num_heads, d = values.d_model, p_v = values.d_kv,
    scale = 1.0, bias = false, mask = mask,
    position = not choice.cross and { bias = bias } or nil,
    residual = true,
    norm = { kind = "rms", eps = values.layer_norm_epsilon, place = "input" },
  }, { tokens = values.n_positions, context = values.n_positions }
end

local function attention(module, table_name)
  local list = {
    { "wq", module .. ".q.weight" }, { "wk", module .. ".k.weight" },
    { "wv", module .. ".v.weight" }, { "wo", module .. ".o.weight" },
    { "input_gamma", "layer_norm.weight" },
  }
  if table_name then list[#list + 1] = { "bias_table", table_name, layer = 0 } end
  return list
end

local function group(stack, place, module, has_table)
  local table_name = has_table and module .. ".relative_attention_bias.weight" or nil
  return {
    prefix = { stack .. ".block.{layer}.layer." .. place .. ".",
      "transformer." .. stack .. ".block.{layer}.layer." .. place .. "." },
    scope = { module .. ".", "layer_norm." }, layout = "out_in",
    list = attention(module, table_name),
    -- old releases wrote a table for cross-attention, too, that nothing reads
    ignored = not has_table and { module .. ".relative_attention_bias.weight" } or nil,
  }
end

return {
  name = "t5",
  title = "T5 (Hugging Face transformers)",
  module = "T5Attention in T5LayerSelfAttention or T5LayerCrossAttention",
  model_types = { "t5" },
  layers = { encoder = "num_layers", decoder = "num_decoder_layers" },
  stacks = { "encoder", "decoder" },
  has_cross = true,
  keys = {
    { "num_heads", "count", 8, also = { "num_attention_heads" }, fills = { "heads" } },
    { "d_model", "count", 512, also = { "hidden_size" }, fills = { "d" } },
    { "d_kv", "count", 64, also = { "head_dim" }, fills = { "p_v" } },
    { "pruned_heads", "object", nil, fills = { "heads" } },
    { "relative_attention_num_buckets", "count", 32, fills = { "position" } },
    { "relative_attention_max_distance", "count", 128, fills = { "position" } },
    { "layer_norm_epsilon", "positive", 1e-6, fills = { "norm" } },
    { "n_positions", "count", 512, fills = { "tokens", "context", "past" } },
    { "num_layers", "count", 6, also = { "num_hidden_layers" } },
    { "num_decoder_layers", "count" },
  },
  ignored = {},
  spec = spec,
  tensors = {
    encoder = group("encoder", "0", "SelfAttention", true),
    decoder = group("decoder", "0", "SelfAttention", true),
    cross = group("decoder", "1", "EncDecAttention", false),
  },
}
