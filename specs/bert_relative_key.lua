-- BERT with position_embedding_type = relative_key: one row of a table a distance, inside the
-- scale.
return {
  name = "bert_relative_key",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 512 },
  position = { relative = { kind = "key", max = 512 } },
  mask = { "padding" },
  residual = true,
  norm = { kind = "layer", eps = 1e-12 },
}
