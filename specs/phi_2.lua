-- Phi-2: 32 of each head's 80 components are rotated. The feed-forward half of the block runs
-- beside the attention on the same normed input and is added outside.
return {
  name = "phi_2",
  heads = 32, d = 2560, p_v = 80,
  tokens = { max = 64 },
  cache = true, past = { max = 1984 },
  position = { rope = { base = 10000.0, dim = 32 } },
  mask = { "causal" },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
