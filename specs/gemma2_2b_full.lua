-- Gemma 2 2B, an odd layer: as gemma2_2b_sliding, but every past key is seen.
return {
  name = "gemma2_2b_full",
  heads = 8, kv_heads = 4, d = 2304, p_v = 256,
  tokens = { max = 64 },
  cache = true, past = { max = 8128 },
  bias = false,
  scale = 0.0625,
  softcap = 50.0,
  position = { rope = { base = 10000.0, dim = 256 } },
  mask = { "causal" },
  residual = true,
  norm = {
    { kind = "rms", eps = 1e-6, place = "input", plus_one = true },
    { kind = "rms", eps = 1e-6, place = "output", plus_one = true },
  },
}
