-- Bloom 560M: ALiBi with a slope a head, 2^(-head/2); the checkpoint keeps query, key and value
-- of each head together.
return {
  name = "bloom_560m",
  heads = 16, d = 1024, p_v = 64,
  tokens = { max = 64 },
  cache = true, past = { max = 1984 },
  position = {
    alibi = {
      slopes = {
        0.7071067811865476, 0.5, 0.3535533905932738, 0.25, 0.1767766952966369, 0.125,
        0.08838834764831845, 0.0625, 0.04419417382415922, 0.03125, 0.02209708691207961, 0.015625,
        0.011048543456039806, 0.0078125, 0.005524271728019903, 0.00390625,
      },
    },
  },
  mask = { "causal" },
  residual = true,
  norm = { kind = "layer", eps = 1e-5, place = "input" },
}
