-- Dive into Deep Learning, a quiz shape of section 11.5: 8 heads of 64 make 512, projected by 512
-- x 512.
return {
  name = "d2l_heads8",
  heads = 8, d = 512, p_v = 64,
  tokens = { max = 64 },
  bias = false,
  mask = { "padding" },
}
