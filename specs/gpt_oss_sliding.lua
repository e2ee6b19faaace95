-- gpt-oss (20b and 120b), an even layer: a window of 128 keys, a learnt sink a head, biases
-- everywhere, rotary frequencies and factor stretched by YaRN (0.1 ln 32 + 1). 64 heads of 64 in
-- a width of 2880.
return {
  name = "gpt_oss_sliding",
  heads = 64, kv_heads = 8, d = 2880, p_v = 64,
  tokens = { max = 64 },
  cache = "ring", past = { max = 4032 },
  sinks = true,
  position = { rope = { frequencies = true, dim = 64, factor = 1.3465735902799727 } },
  mask = { "causal", { window = { left = 127 } } },
  residual = true,
  norm = { kind = "rms", eps = 1e-5, place = "input" },
}
