-- The attention of BERT-tiny (2 layers of 128): projections with biases, no mask.
return {
  name = "bert_tiny",
  heads = 2, d = 128, p_v = 64,
  tokens = { max = 512 },
  targets = { "portable", "avx2", "avx512" },
}
