local emit = require "emit"
local spec = require "spec"

local function complaint(name)
  local _, complaints = spec.complete { name = name, heads = 2, p_v = 4, d = 8, tokens = 3 }
  assert.truthy(not complaints or #complaints == 1)
  return complaints and complaints[1]
end

local function refuses(list, rule)
  for _, name in ipairs(list) do
    local got = complaint(name)
    assert(got, tostring(name) .. " is accepted")
    assert.equal("name: ", got:sub(1, 6))
    assert.truthy(got:find(rule, 1, true), got)
  end
end

describe("a layer's name", function()
  it("may be any C identifier that is free", function()
    for _, name in ipairs { "a", "E", "minilm_l6", "BERT", "p1", "tokens1", "head_mask",
      "attention", "a_1_b", "strict", "reader", "int8", "vector", "sigma", "SIGLIP",
      ("x"):rep(63) } do
      assert.is_nil(complaint(name))
    end
  end)

  it("must have the form of an identifier", function()
    refuses({ "", 3, true, { "a" } }, "must be a C identifier of 1 to 63 ASCII letters")
    refuses({ "a-b", "a b", "a.b", "b\xc3\xa9ret", "a\n", "a\0", "\xff" }, "holds \"")
    refuses({ "_a", "_", "__a", "_A" }, "begins with an underscore")
    refuses({ "a__b", "a___b" }, "two underscores in a row")
    refuses({ "a_" }, "ends in an underscore")
    refuses({ "1a", "0" }, "begins with a digit")
    refuses({ ("x"):rep(64) }, "has 64 letters")
  end)

  it("must be no keyword", function()
    refuses({ "int", "for", "while", "register", "restrict", "bool", "nullptr", "typeof" },
      "is a keyword of C")
    refuses({ "class", "template", "and", "xor_eq", "this", "co_await", "concept", "wchar_t" },
      "is a keyword of C++")
  end)

  it("must be no name of the C library", function()
    refuses({ "printf", "malloc", "memcpy", "expf", "tgammal", "errno", "stdin", "NULL", "EOF",
      "RAND_MAX", "isnan", "offsetof", "timespec_get", "call_once", "main", "memcpy_s", "wcstold",
      "I", "FILE", "va_list", "signal", "abs" }, "is a name of the C library")
    refuses({ "atomic_load", "atomic_x", "mtx_lock", "INT_MAX", "UINT8_C", "PRIu64", "FLT_MAX",
      "memory_order_relaxed", "LC_ALL", "FE_INVALID" }, "which the C library keeps")
  end)

  it("must be no name of POSIX", function()
    refuses({ "read", "write", "open", "fork", "strdup", "poll", "mmap", "environ", "EINTR", "stat",
      "select", "dlopen", "SIGKILL", "PATH_MAX", "gamma", "index", "getline", "y0" },
      "is a name of POSIX")
    refuses({ "pthread_create", "posix_memalign", "O_RDONLY", "AF_INET", "S_IRUSR" },
      "which POSIX keeps")
    refuses({ "size_t", "uint8_t", "my_t" }, "ends in _t")
  end)

  it("must not hide a system's header", function()
    refuses({ "string", "math", "Math", "stdint", "unistd", "immintrin", "threads" },
      "would hide the system's header")
  end)

  it("must not make a name that is taken", function()
    refuses({ "f" }, "would make F_OK")
    refuses({ "shm" }, "would make shm_open")
    refuses({ "sem" }, "would make sem_open")
    refuses({ "mm" }, "would make MM_OK")
    refuses({ "si" }, "would make si_status")
  end)

  it("must be no word of the emitted files", function()
    refuses({ "vec", "vec_load", "part", "qkvc" }, "is a word that the emitted files use")
  end)
end)

describe("spec.name_from", function()
  it("makes a good name of any text", function()
    for _, text in ipairs { "norm_eps_1e-12", "int", "", "__", "1abc", ("x"):rep(80), "shm", "a_t",
      ("ab_"):rep(30), "vec_a", "\xc3\xa9", "bert-base/layer.0", "f", "a__b", "_", "x_" } do
      assert.is_nil(complaint(spec.name_from(text)), text)
    end
    assert.equal("norm_eps_1e_12", spec.name_from("norm_eps_1e-12"))
    assert.equal("minilm_l6", spec.name_from("minilm_l6"))
    assert.equal("layer_int", spec.name_from("int"))
  end)
end)

describe("spec.clashes", function()
  local function clashes(...)
    local list = {}
    for index, name in ipairs { ... } do
      list[index] = assert(spec.complete { name = name, heads = 2, p_v = 4, d = 8, tokens = 3 })
    end
    return spec.clashes(list)
  end

  it("lets different layers be", function()
    assert.same({}, clashes())
    assert.same({}, clashes("bert", "bert_base", "bert_base_self", "minilm_l6", "minilm_l60"))
  end)

  it("tells equal names", function()
    assert.same({ 'name: "a": is the name of two layers' }, clashes("a", "b", "a"))
  end)

  it("tells names that differ in case only", function()
    local list = clashes("bert", "BERT")
    assert.equal(1, #list)
    assert.truthy(list[1]:find('^name: "BERT": clashes with the layer "bert"'))
  end)

  it("tells a name that is a symbol, macro or file of another, in both orders", function()
    for _, suffix in ipairs { "qkv", "attention", "output", "stages", "test", "weights", "status",
      "call", "forward", "qkv_avx2", "output_avx512", "HEADS", "tokens", "Packed_Bytes" } do
      for _, list in ipairs { clashes("a", "a_" .. suffix), clashes("a_" .. suffix, "a") } do
        assert.equal(1, #list, suffix)
        assert.truthy(list[1]:find("clashes with the layer"), suffix)
      end
    end
  end)

  it("tells symbols that meet though the names do not", function()
    -- a_cache_read is a function of a, and would be the read of a layer a_cache
    assert.equal(1, #clashes("a", "a_cache"))
    assert.equal(1, #clashes("a", "a_target"))
  end)

  it("tells each two layers once", function()
    assert.equal(3, #clashes("a", "a_qkv", "A", "b", "b"))
  end)
end)

describe("spec.suffixes", function()
  local layers = {
    { tokens = 3 },
    { tokens = { max = 9 }, cache = true, past = { max = 5 }, return_weights = true,
      mask = { "padding", "causal" }, residual = true, norm = { kind = "layer", eps = 1e-5 },
      position = { rope = { base = 10000 } } },
    { tokens = 3, context = { max = 5 }, context_length = true, project = {} },
    { tokens = 3, attention = false, residual = true },
  }

  it("has whatever stands behind the name in the emitted files", function()
    local known = {}
    for _, suffix in ipairs(spec.suffixes()) do known[suffix:lower()] = true end
    for _, raw in ipairs(layers) do
      raw.name, raw.heads, raw.p_v, raw.d = "zebra", 2, 4, 8
      local count = 0
      for _, file in ipairs(assert(emit.files(assert(spec.complete(raw))))) do
        local text = file.path .. " " .. file.text
        for suffix in text:lower():gmatch("%f[%w]zebra(_[%w_]+)") do
          count = count + 1
          assert.truthy(known[suffix], suffix)
        end
      end
      assert.truthy(count > 50)
    end
  end)
end)
