return {
  name = "cross",
  heads = 4, d = 64, p_v = 16,
  tokens = { max = 8 },
  context = { max = 24 },
}
