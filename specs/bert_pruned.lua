-- BERT base after its heads 2, 5 and 9 were pruned: 9 heads of 64 left, the model's width as
-- before.
return {
  name = "bert_pruned",
  heads = 9, d = 768, p_v = 64,
  tokens = { max = 512 },
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
}
