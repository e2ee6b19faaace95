-- all-MiniLM-L6-v2 (sentence-transformers), the attention of each of its six BERT layers: 12
-- heads of 32 in a width of 384, output projection, residual and layer norm. The model is used up
-- to 256 tokens.
return {
  name = "minilm_l6",
  heads = 12, d = 384, p_v = 32,
  tokens = { max = 256 },
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
  targets = { "portable", "avx2", "avx512" },
}
