-- The smallest shape of the benchmark: 2 heads of 16 in a width of 32.
return {
  name = "tiny",
  heads = 2, d = 32, p_v = 16,
  tokens = { max = 512 },
}
