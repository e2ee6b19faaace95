local expect = dofile "tests/lua/spec_expectations.lua"
local absent = expect.absent
local refuses = expect.refuses
local accepts = expect.accepts

describe("fields together", function()
  it("divide heads", function()
    refuses {
      { { kv_heads = 3 }, "kv_heads: 3: must divide heads (4)" },
      { { kv_heads = 8 }, "kv_heads: 8: must divide heads (4)" },
    }
    accepts { { kv_heads = 1 }, { kv_heads = 2 } }
  end)

  it("have the widths that projections need", function()
    refuses {
      { { d = absent }, "d: missing: must be given, or d_q, d_k and d_v" },
      { { d = absent, p_o = 3 }, "d: missing: must be given, or d_q, d_k and d_v" },
      { { d = absent, d_q = 3 }, "d_k: missing: must be given, here or by d",
        "d_v: missing: must" },
      { { d = absent, d_k = 3, d_v = 3 }, "d_q: missing: must be given, here or by d" },
      { { d = absent, project = { "q" } }, "d_q: missing: must be given" },
      { { d_q = 1, d_k = 2, d_v = 3 }, "d: 16: is used by nothing: d_q (1), d_k (2) and d_v (3)" },
      { { attention = false, d = absent }, "p_o: missing: must be given: its default is d_q" },
    }
    accepts {
      { d = absent, project = {} }, { d = absent, project = { "q" }, d_q = 3 },
      { d = absent, project = { "o" } }, { d = absent, attention = false, p_o = 5 },
      { p_o = 9, project = {} }, { d_k = 3 }, { d = 3, d_q = 3, d_k = 3, d_v = 3 },
    }
  end)

  it("have a bias only where there is a projection", function()
    refuses {
      { { project = { "q", "k", "v" }, bias = { o = true } },
        "bias.o: true: o is not projected (project)" },
      { { project = {}, bias = { q = true, v = true } }, "bias.q: true: q is not",
        "bias.v: true:" },
      { { attention = false, bias = { k = true } }, "bias.k: true: k is not projected" },
    }
    accepts { { project = {}, bias = true }, { project = {}, bias = { q = false } } }
  end)

  it("have a past only with a cache", function()
    refuses {
      { { past = 3 }, "past: 3: needs cache = true" },
      { { past = { max = 3 }, cache = false }, "past: { max = 3 }: needs cache = true" },
    }
    accepts { { past = 0 }, { cache = true, past = 3, context = 4 } }
  end)

  it("keep a ring to what it still holds", function()
    local ring = { cache = "ring", past = { max = 90 }, mask = { { window = { left = 3 } } } }
    local function with(changes)
      for key, value in pairs(ring) do   -- order does not matter: a set
        if changes[key] == nil then changes[key] = value end
      end
      return changes
    end
    refuses {
      { { cache = "ring" }, 'cache: "ring": needs a window with left in mask' },
      { with { mask = { { window = { right = 0 } } } }, 'cache: "ring": needs a window with left' },
      { with { context = 6 }, 'context: 6: cannot stand beside cache = "ring"' },
      { with { context_length = true },
        'context_length: true: cannot stand beside cache = "ring"' },
      { with { return_scores = "raw" },
        'return_scores: "raw": cannot stand beside cache = "ring"' },
      { with { return_scores = "capped" }, 'return_scores: "capped": cannot stand beside cache' },
    }
    accepts {
      with { return_weights = true }, with { return_scores = "biased" },
      with { mask = { "padding", "causal", { window = { left = 3 } } } },
    }
  end)

  it("rotate an even part of a head by one kind of frequencies", function()
    local function rope(fields) return { position = { rope = fields } } end
    refuses {
      { rope { base = 10, dim = 3 }, "position.rope.dim: 3: must be even" },
      { rope { base = 10, dim = 6 }, "position.rope.dim: 6: must be at most p_q (4)" },
      { rope { base = 10, dim = 0 }, "position.rope.dim: 0: must be an integer" },
      { { p_q = 5, position = { rope = { base = 10 } } }, "position.rope.dim: missing: must be "
        .. "even: components turn in pairs; p_q is 5, which is the default" },
      { rope {}, "position.rope.base: missing: must be given, or frequencies = true" },
      { rope { frequencies = false }, "position.rope.base: missing: must be given" },
      { rope { frequencies = true, base = 10 },
        "position.rope.base: 10: cannot stand beside frequencies = true" },
    }
    accepts { { p_q = 5, position = { rope = { base = 10, dim = 4 } } },
      rope { base = 10, frequencies = false } }
  end)

  it("have a slope a head", function()
    refuses {
      { { position = { alibi = { slopes = { 1, 2, 3 } } } },
        "position.alibi.slopes: { 1, 2, 3 }: must be one a head: there are 3 and heads is 4" },
      { { heads = 2, position = { alibi = { slopes = { 1, 2, 3 } } } }, "position.alibi.slopes: " },
    }
  end)

  it("have a relative table of one form", function()
    local function relative(fields)
      fields.kind = "key"
      return { position = { relative = fields } }
    end
    refuses {
      { relative {}, "position.relative.max: missing: must be given, or left and right" },
      { relative { left = 2 }, "position.relative.right: missing: must be given with left" },
      { relative { right = 2 }, "position.relative.left: missing: must be given with right" },
      { relative { max = 9, left = 2 }, "position.relative.max: 9: cannot stand beside left" },
      { relative { max = 9, right = 2 }, "position.relative.max: 9: cannot stand beside left" },
      { relative { max = 9, left = 2, right = 2 }, "position.relative.max: 9: cannot stand" },
      { relative { left = -1, right = 2 }, "position.relative.left: -1: must be" },
      { relative { max = 0 }, "position.relative.max: 0: must be" },
      { { position = { relative = { max = 8 } } }, "position.relative.kind: missing: must be" },
    }
    accepts { relative { left = 0, right = 0 } }
  end)

  it("have a relative row for each distance they reach", function()
    local function reaching(distance, changes)
      local function with(max)
        local copy = { position = { relative = { kind = "key", max = max } } }
        for key, value in pairs(changes) do copy[key] = value end   -- order does not matter: a set
        return copy
      end
      accepts { with(distance + 1) }
      refuses { { with(distance),
        ("position.relative.max: %d: must be above %d"):format(distance, distance) } }
    end
    reaching(7, {})
    reaching(7, { tokens = { max = 8 } })
    reaching(7, { align = "start" })
    reaching(27, { cache = true, past = 20 })
    reaching(27, { cache = true, past = { max = 20 }, align = "start" })
    reaching(11, { context = 12 })
    reaching(11, { context = 12, align = "start" })
    reaching(7, { context = { max = 3 } })
    reaching(7, { context = 3, align = "start" })
    -- queries 20 .. 27 and keys 0 .. 22, or queries 15 .. 22
    reaching(27, { context = 3, cache = true, past = 20, align = "start" })
    reaching(22, { context = 3, cache = true, past = 20, align = "end" })
  end)

  it("have buckets that can be told apart", function()
    local function bias(buckets, max_distance, bidirectional)
      return { position = { bias = {
        buckets = buckets, max_distance = max_distance, bidirectional = bidirectional,
      } } }
    end
    refuses {
      { bias(7, 20, true), "position.bias.buckets: 7: must be even with bidirectional = true" },
      { bias(2, 20, true),
        "position.bias.buckets: 2: must be at least 4 with bidirectional = true" },
      { bias(1, 20, false), "position.bias.buckets: 1: must be at least 2 with bidirectional = f" },
      { bias(8, 2, true), "position.bias.max_distance: 2: must be above 2: with buckets = 8" },
      { bias(8, 4, false), "position.bias.max_distance: 4: must be above 4: with buckets = 8" },
      { bias(1025, 9999, false), "position.bias.buckets: 1025: must be an integer from 1 to 1024" },
      { bias(8, 0, false), "position.bias.max_distance: 0: must be" },
      { bias(8, 20, 1), "position.bias.bidirectional: 1: must be true or false" },
    }
    accepts { bias(7, 20, false), bias(4, 2, true), bias(8, 3, true), bias(2, 2, false) }
  end)

  it("say which inputs an input norm is on", function()
    local norm = { kind = "rms", eps = 1e-6, place = "input" }
    refuses {
      { { norm = norm, project = { "q", "k", "o" } },
        'norm: { eps = 1e-06, kind = "rms", place = "input" }: has place "input", which needs' },
      { { norm = { norm }, project = {} }, "norm: { { eps" },
      { { norm = norm, d_k = 12 }, "norm: " },
    }
    accepts {
      { norm = norm }, { norm = norm, context = 5, project = { "q" } },
      { norm = norm, d_k = 12, d_v = 13 },
    }
  end)

  it("have nothing of attention where there is none", function()
    local meaningless = "has no meaning with attention = false"
    local function without(changes)
      changes.attention = false
      return changes
    end
    refuses {
      { without { kv_heads = 2 }, "kv_heads: 2: " .. meaningless },
      { without { context = 5 }, "context: 5: " .. meaningless },
      { without { cache = true }, "cache: true: " .. meaningless },
      { without { past = 3 }, "past: 3: " .. meaningless },
      { without { align = "start" }, 'align: "start": ' .. meaningless },
      { without { scale = 1 }, "scale: 1: " .. meaningless },
      { without { mask = { "causal" } }, 'mask: { "causal" }: ' .. meaningless },
      { without { context_length = true }, "context_length: true: " .. meaningless },
      { without { softcap = 3 }, "softcap: 3: " .. meaningless },
      { without { sinks = true }, "sinks: true: " .. meaningless },
      { without { position = { rope = { base = 10 } } }, "position: { rope = { base = 10 } }: " },
      { without { qk_norm = { eps = 1e-6 } }, "qk_norm: { eps = 1e-06 }: " .. meaningless },
      { without { head_mask = true }, "head_mask: true: " .. meaningless },
      { without { return_weights = true }, "return_weights: true: " .. meaningless },
      { without { return_scores = "raw" }, 'return_scores: "raw": ' .. meaningless },
      { without { norm = { kind = "rms", eps = 1e-6, place = "input" } }, "norm: { eps = 1e-06" },
      { without { project = { "q", "o" } },
        'project: { "q", "o" }: may hold o only with attention = false' },
      { without { project = { "k" }, residual = true }, "project: " },
      { without { project = {} }, "attention: false: needs o in project, residual or norm" },
    }
    accepts {
      without { residual = true, norm = { kind = "layer", eps = 1e-12 } }, without {},
      without { project = {}, residual = true }, without { project = { "o" },
        tokens = { max = 3 } },
    }
  end)

  it("do not make sizes that cannot be counted", function()
    local much <const> = 2147483647
    refuses {
      { { heads = much }, "heads: 2147483647: heads * p_q = the width of the queries must be at" },
      { { p_q = much }, "p_q: 2147483647: heads * p_q" },
      { { p_v = much }, "p_v: 2147483647: heads * p_q" },
      { { p_v = much, p_q = 1 }, "p_v: 2147483647: heads * p_v" },
      { { cache = true, past = much }, "past: 2147483647: keys = past and new keys together" },
      { { cache = true, past = 1, tokens = much }, "tokens: 2147483647: keys = past and new keys" },
      { { cache = true, past = 1, context = { max = much } },
        "context: { max = 2147483647 }: keys" },
      { { position = { relative = { kind = "key", left = much, right = 0 } } },
        "position.relative: { kind = \"key\", left = 2147483647, right = 0 }: rows" },
      { { d = much, heads = 1024, p_v = 1024 },
        "d: 2147483647: tokens * heads * p_q * d_q = the multiply-adds of q must be at most 2^53" },
      { { d_k = much, p_v = 1048576 }, "d_k: 2147483647: context * kv_heads * p_q * d_k" },
      { { d_v = much, p_v = 1048576 }, "d_v: 2147483647: context * kv_heads * p_v * d_v" },
      { { p_o = much, p_v = 1048576 }, "p_o: 2147483647: tokens * heads * p_v * p_o" },
      { { tokens = { max = 100000000 }, mask = { "causal" } },
        "tokens: { max = 100000000 }: tokens * keys * heads * p_q" },
      { { tokens = 1, heads = 1, p_q = 8388608, d_q = 1, d_k = 1, p_v = 1, position = { relative = {
        kind = "key", left = 2147483646, right = 0 } } }, "position.relative: " },
      { { attention = false, p_o = much, p_v = 1048576 }, "p_o: 2147483647: tokens * heads" },
    }
    accepts { { d = much }, { heads = 1, p_q = much }, { project = {}, d = much, p_o = much } }
  end)
end)
