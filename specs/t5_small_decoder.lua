-- T5 small, the decoder's attention to itself: causal, all buckets for what lies behind, with a
-- cache.
return {
  name = "t5_small_decoder",
  heads = 8, d = 512, p_v = 64,
  tokens = { max = 32 },
  cache = true, past = { max = 480 },
  bias = false,
  scale = 1.0,
  position = { bias = { buckets = 32, max_distance = 128, bidirectional = false } },
  mask = { "causal" },
  residual = true,
  norm = { kind = "rms", eps = 1e-6, place = "input" },
}
