-- RoBERTa base (Liu et al. 2019): BERT's attention with another epsilon.
return {
  name = "roberta_base",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 512 },
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-5 },
}
