-- BERT large: the layer of bert_base with 16 heads in a width of 1024.
return {
  name = "bert_large",
  heads = 16, d = 1024, p_v = 64,
  tokens = { max = 512 },
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
}
