-- The big model of Vaswani et al. 2017: 16 heads of 64 in a width of 1024; an encoder layer.
return {
  name = "vaswani_big",
  heads = 16, d = 1024, p_v = 64,
  tokens = { max = 256 },
  bias = false,
  mask = { "padding" },
}
