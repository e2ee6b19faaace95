-- mT5 small, the encoder's attention to itself: 6 heads of 64 are narrower than the width of 512.
return {
  name = "mt5_small_encoder",
  heads = 6, d = 512, p_v = 64,
  tokens = { max = 512 },
  bias = false,
  scale = 1.0,
  position = { bias = { buckets = 32, max_distance = 128, bidirectional = true } },
  mask = { "padding" },
  residual = true,
  norm = { kind = "rms", eps = 1e-6, place = "input" },
}
