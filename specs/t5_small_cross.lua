-- T5 small, the decoder's attention to the encoder: no bias by distance.
return {
  name = "t5_small_cross",
  heads = 8, d = 512, p_v = 64,
  tokens = { max = 32 },
  context = { max = 512 },
  bias = false,
  scale = 1.0,
  mask = { "padding" },
  residual = true,
  norm = { kind = "rms", eps = 1e-6, place = "input" },
}
