-- Qwen3 0.6B: an RMS norm over each query and key head before they are rotated; 16 heads of 128
-- are wider than the width of 1024.
return {
  name = "qwen3_0_6b",
  heads = 16, kv_heads = 8, d = 1024, p_v = 128,
  tokens = { max = 64 },
  cache = true, past = { max = 4096 },
  bias = false,
  qk_norm = { kind = "rms", eps = 1e-6 },
  position = { rope = { base = 1000000.0, dim = 128 } },
  mask = { "causal" },
  residual = true,
  norm = { kind = "rms", eps = 1e-6, place = "input" },
}
