-- The attention of BERT-base: projections with biases, no mask, no residual, no norm.
return {
  name = "bert_base",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 512 },
  targets = { "portable", "avx2", "avx512" },
}
