local lfs = require "lfs"
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

describe("spec.complete", function()
  it("writes every default out", function()
    assert.same({
      name = "base", attention = true, heads = 4, kv_heads = 4, p_q = 4, p_v = 4, p_o = 16,
      d_q = 16, d_k = 16, d_v = 16, tokens = { max = 8, fixed = true }, cache = false,
      past = { max = 0, fixed = true }, align = "end",
      project = { q = true, k = true, v = true, o = true },
      bias = { q = true, k = true, v = true, o = true }, scale = 0.5,
      mask = { padding = false, causal = false, boolean = false, additive = false },
      context_length = false, sinks = false, head_mask = false, residual = false,
      return_weights = false, position = {}, norms = {}, dtype = "f32", io = "f32",
      precision = "f32", reproducible = true, unroll = "auto", targets = { "portable" },
    }, spec.complete(base()))
  end)

  it("keeps what is given", function()
    local s = complete {
      heads = 4, kv_heads = 2, p_q = 6, p_o = 9, d_k = 5, d_v = 7,
      tokens = { max = 8 }, context = { max = 20 }, cache = true, past = { max = 30 },
      align = "start", bias = { k = false }, scale = 3, context_length = true, softcap = 2,
      sinks = true, head_mask = true, residual = true, return_weights = true,
      return_scores = "capped", qk_norm = { kind = "rms", eps = 1e-6 }, unroll = "tile",
    }
    assert.same({ 2, 6, 9, 16, 5, 7 }, { s.kv_heads, s.p_q, s.p_o, s.d_q, s.d_k, s.d_v })
    assert.same({ max = 8, fixed = false }, s.tokens)
    assert.same({ max = 20, fixed = false }, s.context)
    assert.same({ max = 30, fixed = false }, s.past)
    assert.same({ "linear", "start" }, { s.cache, s.align })
    assert.same({ q = true, k = false, v = true, o = true }, s.bias)
    assert.equal("float", math.type(s.scale))
    assert.equal("float", math.type(s.softcap))
    assert.same({ kind = "rms", eps = 1e-6 }, s.qk_norm)
    assert.equal("capped", s.return_scores)
    assert.equal("tile", s.unroll)
    for _, name in ipairs { "context_length", "sinks", "head_mask", "residual",
      "return_weights" } do
      assert.is_true(s[name], name)
    end
  end)

  it("takes a cache by name", function()
    assert.equal("linear", complete({ cache = "linear" }).cache)
    local ring = complete { cache = "ring", mask = { { window = { left = 3 } } } }
    assert.equal("ring", ring.cache)
  end)

  it("completes every kind of mask", function()
    local s = complete { mask = {
      "padding", "causal", { boolean = "per_head" }, { additive = "shared" },
      { window = { right = 2.0 } },
    } }
    assert.same({ padding = true, causal = true, boolean = "per_head", additive = "shared",
      window = { right = 2 } }, s.mask)
    assert.same({ "shared", "shared" },
      { complete({ mask = { "boolean" } }).mask.boolean,
        complete({ mask = { "additive" } }).mask.additive })
  end)

  it("completes every kind of position", function()
    local s = complete { position = {
      rope = { base = 10000 }, alibi = { slopes = { 1, 0.5, 0.25, 0.125 } },
      relative = { kind = "key", max = 8 },
      bias = { buckets = 8, max_distance = 16, bidirectional = true },
    } }
    assert.same({ base = 10000.0, frequencies = false, dim = 4, interleaved = false, factor = 1.0 },
      s.position.rope)
    assert.same({ slopes = { 1.0, 0.5, 0.25, 0.125 } }, s.position.alibi)
    assert.same({ kind = "key", max = 8, left = 7, right = 7 }, s.position.relative)
    assert.same({ buckets = 8, max_distance = 16, bidirectional = true }, s.position.bias)
    local sides = { kind = "key_query", left = 2, right = 0 }
    local clipped = complete { position = { relative = sides } }
    assert.same({ kind = "key_query", left = 2, right = 0 }, clipped.position.relative)
    local given = complete { position = { rope = { frequencies = true, dim = 2, factor = 2 } } }
    assert.same({ frequencies = true, dim = 2, interleaved = false, factor = 2.0 },
      given.position.rope)
  end)

  it("takes one norm or a list", function()
    assert.same({ after = { kind = "layer", eps = 1e-12, plus_one = false } },
      complete({ norm = { kind = "layer", eps = 1e-12 } }).norms)
    assert.same({
      input = { kind = "rms", eps = 1e-6, plus_one = true },
      output = { kind = "layer", eps = 1e-5, plus_one = false },
    }, complete({ norm = {
      { kind = "layer", eps = 1e-5, place = "output" },
      { kind = "rms", eps = 1e-6, place = "input", plus_one = true },
    } }).norms)
    assert.same({}, complete({ norm = {} }).norms)
  end)

  it("takes bias as one boolean or a table", function()
    assert.same({ q = false, k = false, v = false, o = false }, complete({ bias = false }).bias)
    assert.same({ q = true, k = true, v = true, o = false },
      complete({ bias = true, project = { "q", "k", "v" } }).bias)
    assert.same({ q = true, k = true, v = true, o = false },
      complete({ bias = { o = false } }).bias)
  end)

  it("gives inputs that are not projected the projected width", function()
    local s = complete { kv_heads = 2, p_q = 3, p_o = 9, project = {} }
    assert.same({ 12, 6, 8, 16 }, { s.d_q, s.d_k, s.d_v, s.p_o })
    assert.same({ q = false, k = false, v = false, o = false }, s.bias)
    s = complete { kv_heads = 2, p_q = 3, project = { "v", "o" } }
    assert.same({ 12, 6, 16, 16 }, { s.d_q, s.d_k, s.d_v, s.p_o })
    s = assert(spec.complete { name = "core", heads = 2, p_v = 3, tokens = 1, project = { "o" } })
    assert.same({ 6, 6, 6, 6 }, { s.d_q, s.d_k, s.d_v, s.p_o })
  end)

  it("completes a layer without attention", function()
    local s = complete { attention = false, residual = true, d = 24 }
    assert.same({ q = false, k = false, v = false, o = true }, s.project)
    assert.same({ 24, 16, 4, 4 }, { s.p_o, s.d_q, s.kv_heads, s.p_q })
    s = complete { attention = false, project = {}, norm = { kind = "rms", eps = 1e-6 } }
    assert.equal(16, s.p_o)
    -- options that are off say nothing
    assert.truthy(complete { attention = false, cache = false, past = 0, mask = {}, sinks = false,
      kv_heads = 4, align = "end", position = {} })
  end)

  it("takes whole floats as integers", function()
    local s = complete { heads = 4.0, tokens = { max = 8.0 }, past = 0.0 }
    assert.same({ "integer", "integer", "integer" },
      { math.type(s.heads), math.type(s.tokens.max), math.type(s.past.max) })
  end)

  it("puts portable first and adds it", function()
    assert.same({ "portable", "avx2", "avx512" },
      complete({ targets = { "avx512", "portable", "avx2" } }).targets)
    assert.same({ "portable", "avx2" }, complete({ targets = { "avx2" } }).targets)
    assert.same({ "portable" }, complete({ targets = {} }).targets)
  end)

  it("leaves what it is given as it was", function()
    local raw = base { tokens = { max = 8 }, norm = { kind = "rms", eps = 1e-6 },
      position = { rope = { base = 10000 } }, qk_norm = { eps = 1e-6 } }
    local text = json.encode(raw)
    local first = assert(spec.complete(raw))
    first.position.rope.dim, first.qk_norm.eps = 1, 1
    assert.equal(text, json.encode(raw))
    assert.same({ "portable" }, assert(spec.complete(raw)).targets)
    table.insert(assert(spec.complete(raw)).targets, "other")
    assert.same({ "portable" }, assert(spec.complete(raw)).targets)
  end)
end)

describe("spec.fields", function()
  local function each(fields, visit)
    for _, field in ipairs(fields) do
      visit(field)
      each(field.fields or field.items or {}, visit)
    end
  end

  it("has what a manual needs of each field", function()
    local count = 0
    each(spec.fields, function(field)
      count = count + 1
      assert.equal("string", type(field.name))
      assert.truthy(field.text and #field.text > 3, field.name)
      assert.truthy(#field.text <= 100, field.name)
      if field.type then
        assert.equal("string", type(field.rule), field.name)
        assert.truthy(field.rule:find("^must "), field.name)
      end
    end)
    assert.truthy(count > 50)
    for _, field in ipairs(spec.fields) do
      assert.equal("string", type(spec.default_text(field)), field.name)
    end
  end)

  it("has each field of the completed form", function()
    local there = { norms = true }
    for _, field in ipairs(spec.fields) do there[field.name] = true end
    for name in pairs(complete()) do   -- order does not matter: a set
      assert.truthy(there[name], name)
    end
  end)
end)

describe("golden cases", function()
  local folder = os.getenv("GOLDEN") or "tests/golden"

  local function cases(path, list)
    local entries = {}
    for entry in lfs.dir(path) do entries[#entries + 1] = entry end
    table.sort(entries)
    for _, entry in ipairs(entries) do
      local inner = path .. "/" .. entry
      if entry:find("%.json$") then
        list[#list + 1] = inner
      elseif entry:sub(1, 1) ~= "." and lfs.attributes(inner, "mode") == "directory" then
        cases(inner, list)
      end
    end
    return list
  end

  it("are all accepted, and their names decide nothing", function()
    if lfs.attributes(folder, "mode") ~= "directory" then return pending("no " .. folder) end
    local list = cases(folder, {})
    assert.truthy(#list > 0)
    for _, path in ipairs(list) do
      local handle <close> = assert(io.open(path, "rb"))
      local case = assert(json.decode(handle:read("a"), path))
      if case.spec then
        case.spec.name = spec.name_from(case.spec.name)
        local completed, complaints = spec.complete(case.spec)
        assert(completed, path .. ": " .. table.concat(complaints or {}, "\n"))
        case.spec.name = "renamed"
        assert.equal(spec.hash(completed), spec.hash(spec.complete(case.spec)), path)
      end
    end
  end)
end)
