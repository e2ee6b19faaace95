-- Row (A) of table 3 of Vaswani et al. 2017: 16 heads of 32 in a width of 512.
return {
  name = "vaswani_a16",
  heads = 16, d = 512, p_v = 32,
  tokens = { max = 256 },
  bias = false,
  mask = { "padding" },
}
