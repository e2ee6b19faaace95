-- The attention of MiniLM-L6: projections with biases, no mask, no residual, no norm.
return {
  name = "minilm",
  heads = 12, d = 384, p_v = 32,
  tokens = { max = 512 },
  targets = { "portable", "avx2", "avx512" },
}
