return {
  name = "decoding",
  heads = 4, kv_heads = 2, d = 64, p_v = 16,
  tokens = { max = 32 },
  cache = true, past = { max = 96 },
  mask = { "causal" },
  position = { rope = { base = 10000.0 } },
  bias = false,
}
