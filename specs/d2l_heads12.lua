-- Dive into Deep Learning, a quiz shape of section 11.5: 12 heads of 64 make 768, projected by
-- 768 x 768.
return {
  name = "d2l_heads12",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 64 },
  bias = false,
  mask = { "padding" },
}
