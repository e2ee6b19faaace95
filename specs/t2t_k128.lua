-- tensor2tensor with attention_key_channels = 128: 8 heads with keys of 16 and values of 64; the
-- decoder's attention to the encoder.
return {
  name = "t2t_k128",
  heads = 8, d = 512, p_q = 16, p_v = 64,
  tokens = { max = 256 },
  context = { max = 256 },
  bias = false,
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-6, place = "input" },
}
