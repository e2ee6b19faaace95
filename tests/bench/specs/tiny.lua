-- A layer so small that calling it is most of the work; projections with biases, no mask.
return {
  name = "tiny",
  heads = 2, d = 32, p_v = 16,
  tokens = { max = 512 },
  targets = { "portable", "avx2", "avx512" },
}
