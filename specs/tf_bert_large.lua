-- BERT large in its original form (google-research/bert, transformer_model): the kernels come as
-- [in][out]; the additive mask holds 0 and -10000.
return {
  name = "tf_bert_large",
  heads = 16, d = 1024, p_v = 64,
  tokens = { max = 512 },
  mask = { "additive" },
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
}
