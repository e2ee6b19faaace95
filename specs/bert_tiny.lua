-- BERT tiny (google-research/bert): 2 heads of 64 in a width of 128.
return {
  name = "bert_tiny",
  heads = 2, d = 128, p_v = 64,
  tokens = { max = 512 },
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
}
