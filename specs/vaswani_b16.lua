-- Row (B) of table 3 of Vaswani et al. 2017: keys of 16 beside values of 64; a decoder layer's
-- attention to the encoder.
return {
  name = "vaswani_b16",
  heads = 8, d = 512, p_q = 16, p_v = 64,
  tokens = { max = 256 },
  context = { max = 256 },
  bias = false,
  mask = { "padding" },
}
