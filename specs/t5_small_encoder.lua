-- T5 small (Raffel et al. 2020), the encoder's attention to itself: RMS norm, no scale, no
-- biases, a bias by bucket of distance (its table is that of block 0 in every block), residual.
return {
  name = "t5_small_encoder",
  heads = 8, d = 512, p_v = 64,
  tokens = { max = 512 },
  bias = false,
  scale = 1.0,
  position = { bias = { buckets = 32, max_distance = 128, bidirectional = true } },
  mask = { "padding" },
  residual = true,
  norm = { kind = "rms", eps = 1e-6, place = "input" },
}
