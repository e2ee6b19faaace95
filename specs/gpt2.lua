-- GPT-2 (Radford et al. 2019), 124M: layer norm, causal attention of 12 heads, residual. The
-- checkpoint keeps query, key and value in one matrix, [in][out].
return {
  name = "gpt2",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 1024 },
  mask = { "causal" },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
