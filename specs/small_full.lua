-- A layer small enough that every multiply-add of it is a statement: no loop is left.
return {
  name = "small_full",
  heads = 2, d = 16, p_v = 8,
  tokens = 4,
  unroll = "full",
  targets = { "portable", "avx2", "avx512" },
}
