-- tensor2tensor's transformer_base: the encoder's self-attention behind its layer norm, then the
-- residual; no biases.
return {
  name = "t2t_base",
  heads = 8, d = 512, p_v = 64,
  tokens = { max = 256 },
  bias = false,
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-6, place = "input" },
}
