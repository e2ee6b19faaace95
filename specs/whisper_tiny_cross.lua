-- Whisper tiny, the decoder's attention to the 1500 positions of the encoder.
return {
  name = "whisper_tiny_cross",
  heads = 6, d = 384, p_v = 64,
  tokens = { max = 16 },
  context = 1500,
  bias = { q = true, k = false, v = true, o = true },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
