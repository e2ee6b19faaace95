-- Row (A) of table 3 of Vaswani et al. 2017: 4 heads of 128 in a width of 512.
return {
  name = "vaswani_a4",
  heads = 4, d = 512, p_v = 128,
  tokens = { max = 256 },
  bias = false,
  mask = { "padding" },
}
