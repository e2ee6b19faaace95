-- BertSelfOutput of Hugging Face transformers, BERT base: dense, residual, layer norm.
return {
  name = "bert_self_output",
  heads = 12, p_v = 64, p_o = 768,
  tokens = { max = 512 },
  project = { "o" },
  attention = false,
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
}
