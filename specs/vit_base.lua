-- ViT base (Dosovitskiy et al. 2020), pictures of 224 in patches of 16: up to 197 positions, no
-- mask.
return {
  name = "vit_base",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 197 },
  residual = true,
  norm = { kind = "layer", eps = 1e-12, place = "input" },
}
