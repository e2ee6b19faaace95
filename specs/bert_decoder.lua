-- BERT base as a causal decoder with a cache of keys and values (is_decoder of Hugging Face
-- transformers).
return {
  name = "bert_decoder",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 64 },
  cache = true, past = { max = 448 },
  mask = { "causal" },
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
}
