-- BERT base as a decoder (add_cross_attention of Hugging Face transformers): its attention to an
-- encoder.
return {
  name = "bert_cross",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 512 },
  context = { max = 512 },
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
}
