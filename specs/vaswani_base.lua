-- The base model of Vaswani et al. 2017: 8 heads of 64 in a width of 512, no biases; a decoder
-- layer's attention to itself.
return {
  name = "vaswani_base",
  heads = 8, d = 512, p_v = 64,
  tokens = { max = 256 },
  bias = false,
  mask = { "causal" },
}
