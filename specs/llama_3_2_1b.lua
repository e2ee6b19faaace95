-- Llama 3.2 1B: RMS norm, 32 query heads on 8 key/value heads, rotary positions whose frequencies
-- are stretched (rope_type llama3; pack computes them from the config), with a cache.
return {
  name = "llama_3_2_1b",
  heads = 32, kv_heads = 8, d = 2048, p_v = 64,
  tokens = { max = 64 },
  cache = true, past = { max = 4096 },
  bias = false,
  position = { rope = { frequencies = true, dim = 64 } },
  mask = { "causal" },
  residual = true,
  norm = { kind = "rms", eps = 1e-5, place = "input" },
}
