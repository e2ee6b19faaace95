-- ViT huge, pictures of 224 in patches of 14: 16 heads of 80, up to 257 positions.
return {
  name = "vit_huge",
  heads = 16, d = 1280, p_v = 80,
  tokens = { max = 257 },
  residual = true,
  norm = { kind = "layer", eps = 1e-12, place = "input" },
}
