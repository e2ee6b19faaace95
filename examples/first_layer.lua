return {
  name = "first_layer",
  heads = 4, d = 64, p_v = 16,
  tokens = { max = 32 },
}
