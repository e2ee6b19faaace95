-- BERT base (Devlin et al. 2018), BertAttention of Hugging Face transformers: self-attention by
-- three projections, then the output block: projection, residual, layer norm.
return {
  name = "bert_base",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 512 },
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
  targets = { "portable", "avx2", "avx512" },
}
