-- DistilBERT (Sanh et al. 2019), its attention module of Hugging Face transformers: all four
-- projections in one; residual and norm stand outside.
return {
  name = "distilbert",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 512 },
  mask = { "padding" },
  targets = { "portable", "avx2", "avx512" },
}
