-- Row (A) of table 3 of Vaswani et al. 2017: 1 head of 512 in a width of 512.
return {
  name = "vaswani_a1",
  heads = 1, d = 512, p_v = 512,
  tokens = { max = 256 },
  bias = false,
  mask = { "padding" },
}
