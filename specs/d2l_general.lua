-- The general form of Dive into Deep Learning, section 11.5: queries, keys and values of
-- different widths, h_i = f(W_q q, W_k k, W_v v) in R^7, an output in R^11; no biases.
return {
  name = "d2l_general",
  heads = 3,
  d_q = 10, d_k = 14, d_v = 18,
  p_q = 5, p_v = 7, p_o = 11,
  tokens = { max = 16 },
  context = { max = 24 },
  bias = false,
}
