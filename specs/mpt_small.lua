-- MPT with 12 heads, as MPT-125M: ALiBi, whose slopes for a number of heads that is no power of
-- two come from the next one, its even terms first; no biases.
return {
  name = "mpt_small",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 64 },
  cache = true, past = { max = 1984 },
  bias = false,
  position = {
    alibi = {
      slopes = {
        0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625,
        0.7071067811865476, 0.3535533905932738, 0.1767766952966369, 0.08838834764831845,
      },
    },
  },
  mask = { "causal" },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
