-- Gemma 2 2B, an even layer: a window of 4096 keys, scores soft-capped at 50, RMS norms with the
-- factor 1 + weight before the attention and behind its output. Heads of 256 in a width of 2304.
return {
  name = "gemma2_2b_sliding",
  heads = 8, kv_heads = 4, d = 2304, p_v = 256,
  tokens = { max = 64 },
  cache = "ring", past = { max = 8128 },
  bias = false,
  scale = 0.0625,
  softcap = 50.0,
  position = { rope = { base = 10000.0, dim = 256 } },
  mask = { "causal", { window = { left = 4095 } } },
  residual = true,
  norm = {
    { kind = "rms", eps = 1e-6, place = "input", plus_one = true },
    { kind = "rms", eps = 1e-6, place = "output", plus_one = true },
  },
}
