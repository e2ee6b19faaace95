-- GPT-2 as it generates: the layer of gpt2 with a cache of keys and values, some tokens at a
-- time.
return {
  name = "gpt2_decode",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 32 },
  cache = true, past = { max = 992 },
  mask = { "causal" },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
