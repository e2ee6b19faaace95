-- GPT-J 6B: neighbouring pairs of the first 64 components of each head are rotated; no biases in
-- the attention. The feed-forward half runs beside it and is added outside.
return {
  name = "gptj_6b",
  heads = 16, d = 4096, p_v = 256,
  tokens = { max = 64 },
  cache = true, past = { max = 1984 },
  bias = false,
  position = { rope = { base = 10000.0, dim = 64, interleaved = true } },
  mask = { "causal" },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
