-- A machine that was not measured: two multiply-adds of the widest vector a cycle, as server cores
-- with AVX-512 and most cores with AVX2 have them. Tiles are judged on it beside the measured ones,
-- so that none is chosen that only a core with one such unit likes.
return {
  machine = { model = "described: two FMA units, four cycles latency, two loads a cycle" },
  caches = { first = 49152, second = 2097152 },
  described = {
    cycles_a_ns = 3.0, fma_a_cycle = 2, latency = 4, loads_a_cycle = 2, words_a_cycle = 6,
    -- chains beyond those that latency asks for: a late load then holds up few of them
    chains_wanted = 24, want = 0.04,
    call = 8, second_bytes_a_cycle = 40, beyond_bytes_a_ns = 25,
    soften_row = 75, soften_vector = 8,
  },
}
