-- GPT-2 XL: 25 heads of 64 in a width of 1600.
return {
  name = "gpt2_xl",
  heads = 25, d = 1600, p_v = 64,
  tokens = { max = 1024 },
  mask = { "causal" },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
