-- Whisper tiny, the decoder's attention to itself, with a cache.
return {
  name = "whisper_tiny_decoder",
  heads = 6, d = 384, p_v = 64,
  tokens = { max = 16 },
  cache = true, past = { max = 432 },
  bias = { q = true, k = false, v = true, o = true },
  mask = { "causal" },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
