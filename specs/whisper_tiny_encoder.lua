-- Whisper tiny (Radford et al. 2022), the encoder: 1500 positions for 30 seconds of sound; the
-- keys have no bias.
return {
  name = "whisper_tiny_encoder",
  heads = 6, d = 384, p_v = 64,
  tokens = { max = 1500 },
  bias = { q = true, k = false, v = true, o = true },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
