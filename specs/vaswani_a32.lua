-- Row (A) of table 3 of Vaswani et al. 2017: 32 heads of 16 in a width of 512.
return {
  name = "vaswani_a32",
  heads = 32, d = 512, p_v = 16,
  tokens = { max = 256 },
  bias = false,
  mask = { "padding" },
}
