-- Mistral 7B v0.1: a window of 4096 keys in every layer, kept in a ring.
return {
  name = "mistral_7b",
  heads = 32, kv_heads = 8, d = 4096, p_v = 128,
  tokens = { max = 64 },
  cache = "ring", past = { max = 32704 },
  bias = false,
  position = { rope = { base = 10000.0, dim = 128 } },
  mask = { "causal", { window = { left = 4095 } } },
  residual = true,
  norm = { kind = "rms", eps = 1e-5, place = "input" },
}
