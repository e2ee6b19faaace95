-- gpt-oss (20b and 120b), an odd layer: as gpt_oss_sliding, but every past key is seen.
return {
  name = "gpt_oss_full",
  heads = 64, kv_heads = 8, d = 2880, p_v = 64,
  tokens = { max = 64 },
  cache = true, past = { max = 4032 },
  sinks = true,
  position = { rope = { frequencies = true, dim = 64, factor = 1.3465735902799727 } },
  mask = { "causal" },
  residual = true,
  norm = { kind = "rms", eps = 1e-5, place = "input" },
}
