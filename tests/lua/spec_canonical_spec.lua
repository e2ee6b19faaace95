local json = require "read.json"
local spec = require "spec"

local function base(changes)
  local raw = { name = "base", heads = 4, p_v = 4, d = 16, tokens = 8 }
  for key, value in pairs(changes or {}) do raw[key] = value end   -- order does not matter: a set
  return raw
end

local function complete(changes)
  local completed, complaints = spec.complete(base(changes))
  return assert(completed, complaints and table.concat(complaints, "\n"))
end

describe("spec.canonical", function()
  local function line(changes) return spec.canonical(complete(changes)) end

  it("is one line without name, targets and unroll", function()
    assert.is_nil(line():find("\n"))
    assert.equal(line(), line { name = "other", targets = { "avx2" }, unroll = "full" })
  end)

  it("is the same however defaults are written", function()
    local same = {
      { kv_heads = 4, p_q = 4, p_o = 16, scale = 0.5, mask = {}, cache = false, past = 0 },
      { d_q = 16, d_k = 16, d_v = 16, bias = true, project = { "o", "v", "k", "q" } },
      { bias = { q = true, o = true }, attention = true, position = {}, norm = {} },
      { heads = 4.0, tokens = 8.0, align = "end", dtype = "f32", io = "f32", precision = "f32" },
      { reproducible = true, sinks = false, residual = false, unroll = "tile" },
    }
    for index, changes in ipairs(same) do assert.equal(line(), line(changes), index) end
    assert.equal(line { norm = { { kind = "rms", eps = 1e-6 } } },
      line { norm = { kind = "rms", eps = 1e-6, place = "after", plus_one = false } })
    assert.equal(line { mask = { "causal", "boolean" } },
      line { mask = { { boolean = "shared" }, "causal" } })
    assert.equal(line { position = { rope = { base = 10000 } } },
      line { position = { rope = { base = 1e4, dim = 4, factor = 1, interleaved = false } } })
    assert.equal(line { cache = true }, line { cache = "linear", past = 0 })
  end)

  it("tells apart whatever decides numbers, packed form or interface", function()
    local seen = { [line()] = "nothing" }
    local function check(changes)
      local text = line(changes)
      assert.is_nil(seen[text], json.encode(changes))
      seen[text] = true
    end
    for _, changes in ipairs {
      { heads = 2 }, { kv_heads = 2 }, { p_q = 5 }, { p_v = 5 }, { p_o = 5 }, { d = 17 },
      { d_q = 8 }, { d_k = 8 }, { d_v = 8 }, { tokens = 9 }, { tokens = { max = 8 } },
      { context = 8 },
      { context = { max = 8 } }, { cache = true }, { cache = true, past = 3 },
      { cache = true, past = { max = 3 } }, { align = "start" }, { bias = false },
      { bias = { q = false } }, { bias = { k = false } }, { bias = { v = false } },
      { bias = { o = false } }, { scale = 0.25 }, { scale = -0.25 }, { mask = { "padding" } },
      { mask = { "causal" } }, { mask = { "boolean" } }, { mask = { { boolean = "per_head" } } },
      { mask = { "additive" } }, { mask = { { additive = "per_head" } } },
      { mask = { { window = { left = 1 } } } }, { mask = { { window = { right = 1 } } } },
      { mask = { { window = { left = 1, right = 1 } } } }, { context_length = true },
      { softcap = 3 }, { sinks = true }, { head_mask = true }, { residual = true },
      { position = { rope = { base = 10000 } } }, { position = { rope = { base = 10001 } } },
      { position = { rope = { base = 10000, dim = 2 } } },
      { position = { rope = { base = 10000, factor = 2 } } },
      { position = { rope = { base = 10000, interleaved = true } } },
      { position = { rope = { frequencies = true } } },
      { position = { alibi = { slopes = { 1, 2, 3, 4 } } } },
      { position = { alibi = { slopes = { 1, 2, 3, 5 } } } },
      { position = { relative = { kind = "key", max = 8 } } },
      { position = { relative = { kind = "key", max = 9 } } },
      { position = { relative = { kind = "key", left = 7, right = 7 } } },
      { position = { relative = { kind = "key_query", left = 7, right = 7 } } },
      { position = { relative = { kind = "key", left = 6, right = 7 } } },
      { position = { bias = { buckets = 8, max_distance = 16, bidirectional = true } } },
      { position = { bias = { buckets = 8, max_distance = 16, bidirectional = false } } },
      { position = { bias = { buckets = 8, max_distance = 17, bidirectional = true } } },
      { qk_norm = { eps = 1e-6 } }, { qk_norm = { eps = 1e-5 } },
      { norm = { kind = "rms", eps = 1e-6 } }, { norm = { kind = "layer", eps = 1e-6 } },
      { norm = { kind = "rms", eps = 1e-5 } },
      { norm = { kind = "rms", eps = 1e-6, plus_one = true } },
      { norm = { kind = "rms", eps = 1e-6, place = "input" } },
      { norm = { kind = "rms", eps = 1e-6, place = "output" } }, { return_weights = true },
      { return_scores = "raw" }, { return_scores = "capped" }, { return_scores = "biased" },
      { project = { "q", "k", "v" } }, { project = {} }, { attention = false, residual = true },
    } do check(changes) end
  end)

  it("writes numbers alike in every locale", function()
    local text = line { scale = 1 / 3, softcap = 1e-20 }
    assert.truthy(text:find("scale=0.3333333333333333 ", 1, true))
    assert.truthy(text:find("softcap=1e-20 ", 1, true))
    assert.truthy(line({ scale = 1e300 / 1e290 }):find("scale=10000000000.0 ", 1, true))
  end)
end)

describe("spec.hash", function()
  it("is the 32-bit FNV-1a of the canonical line", function()
    local fnv1a = require("spec.canonical").fnv1a
    assert.equal(0x811c9dc5, fnv1a(""))
    assert.equal(0xe40c292c, fnv1a("a"))
    assert.equal(0xbf9cf968, fnv1a("foobar"))
    local s = complete()
    assert.equal(fnv1a(spec.canonical(s)), spec.hash(s))
  end)

  it("does not depend on the name", function()
    local random = {}
    for index = 1, 20 do
      local letters = {}
      for place = 1, 8 do letters[place] = string.char(math.random(97, 122)) end
      random[index] = spec.name_from(table.concat(letters))
    end
    local hash = spec.hash(complete())
    for _, name in ipairs(random) do
      assert.equal(hash, spec.hash(complete { name = name }), name)
    end
    assert.not_equal(hash, spec.hash(complete { heads = 2 }))
  end)
end)
