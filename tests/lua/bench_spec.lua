local counts = require "bench.counts"
local dkjson = require "dkjson"
local glue = require "bench.glue"
local layer_module = require "layer"
local lfs = require "lfs"
local report = require "bench.report"
local spec = require "spec"
local spec_file = require "read.spec_file"

local program <const> = "generator/qkvc"

local function completed(raw)
  raw.name = raw.name or "layer"
  local one, complaints = spec.complete(raw)
  assert.truthy(one, table.concat(complaints or {}, "\n"))
  return one
end

local function work_of(raw, call)
  return counts.of(layer_module.of(completed(raw)), call)
end

describe("counts of a call", function()
  local function square(more)
    local raw = { heads = 12, d = 384, p_v = 32, tokens = { max = 512 } }
    for key, value in pairs(more or {}) do raw[key] = value end  -- order does not matter: a set
    return raw
  end

  it("are 8 T d d + 4 T T d operations for a square layer", function()
    local work = work_of(square(), { tokens = 128, fresh = 128, past = 0 })
    assert.equal(8 * 128 * 384 * 384 + 4 * 128 * 128 * 384, work.operations)
    assert.equal(12 * 128 * 128, work.exps)
    assert.equal(layer_module.of(completed(square())).packed.bytes, work.bytes)
  end)

  it("follow each width, the context and the groups of heads", function()
    local raw = { heads = 4, kv_heads = 2, p_q = 3, p_v = 5, p_o = 7, d_q = 11, d_k = 13, d_v = 17,
      tokens = 2, context = 6 }
    local multiply_adds = 2 * 11 * 12 + 6 * 13 * 6 + 6 * 17 * 10 + 2 * 20 * 7 + 2 * 6 * 4 * (3 + 5)
    local work = work_of(raw, { tokens = 2, fresh = 6, past = 0 })
    assert.equal(2 * multiply_adds, work.operations)
    assert.equal(2 * 6 * 4, work.exps)
  end)

  it("leave out pairs that causal and window masks drop", function()
    local causal = work_of(square { mask = { "causal" } }, { tokens = 8, fresh = 8, past = 0 })
    assert.equal(12 * 36, causal.exps)
    local window = work_of(square { mask = { "causal", { window = { left = 1 } } } },
      { tokens = 8, fresh = 8, past = 0 })
    assert.equal(12 * (1 + 7 * 2), window.exps)
  end)

  it("have the keys and values of the cache among the bytes", function()
    local raw = square { cache = true, past = { max = 100 } }
    local packed = layer_module.of(completed(raw)).packed.bytes
    local work = work_of(raw, { tokens = 1, fresh = 1, past = 100 })
    assert.equal(packed + 4 * 100 * 12 * 64, work.bytes)
    assert.equal(12 * 101, work.exps)
  end)

  it("bind where the time is longest", function()
    local work = { operations = 100, exps = 10, bytes = 1000 }
    local time, by = counts.limit(work, { fma = 10, exp = 10, read = 1000 })
    assert.equal(11, time)
    assert.equal("fma", by)
    time, by = counts.limit(work, { fma = 1000, exp = 1, read = 1000 })
    assert.near(10.1, time, 1e-9)
    assert.equal("exp", by)
    time, by = counts.limit(work, { fma = 1000, exp = 1000, read = 10 })
    assert.equal(100, time)
    assert.equal("read", by)
  end)

  local function calls_of(raw, asked)
    asked = asked or {}
    asked.tokens = asked.tokens or {}
    return counts.calls(completed(raw), asked)
  end

  it("are chosen up to what the layer takes", function()
    local function tokens(raw)
      local list = {}
      for i, call in ipairs(calls_of(raw)) do list[i] = call.tokens end
      return list
    end
    assert.same({ 1, 8, 32, 128, 512 }, tokens(square()))
    assert.same({ 1, 8, 20 }, tokens(square { tokens = { max = 20 } }))
    assert.same({ 1, 8, 32, 128, 512 }, tokens(square { tokens = { max = 4096 } }))
    assert.same({ 7 }, tokens(square { tokens = 7 }))
  end)

  it("are refused beyond it, all at once", function()
    local list, complaints = calls_of(square { tokens = 7, context = { max = 9 } },
      { tokens = { 7, 8, 0 }, context = 10, past = 1 })
    assert.is_nil(list)
    assert.same({
      "--context 10: the layer takes at most 9", "--past 1: the layer has no past",
      "--tokens 8: the layer takes 7, no more and no less", "--tokens 0: nothing to measure",
    }, complaints)
  end)
end)

describe("a report", function()
  it("tells the precision of an error", function()
    assert.equal("f32", report.class(3e-7))
    assert.equal("bf16", report.class(5e-3))
    assert.equal("wrong", report.class(0.5))
    assert.equal("wrong", report.class(0 / 0))
  end)
end)

describe("the glue of a layer", function()
  it("can be written for each shipped spec", function()
    for _, one in ipairs(dofile "specs/list.lua") do
      local path = "specs/" .. one.file
      local text = glue.text(layer_module.of(completed(assert(spec_file.load(path)))))
      assert.truthy(text:find("bench_measured", 1, true), path)
    end
  end)
end)

describe("qkvc bench", function()
  local folder

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
  end)
  after_each(function() os.execute("rm -rf '" .. folder .. "'") end)

  local function read(path)
    local handle <close> = assert(io.open(path, "rb"))
    return handle:read("a")
  end

  local function put(name, text)
    local handle <close> = assert(io.open(folder .. "/" .. name, "wb"))
    handle:write(text)
  end

  --- Runs the command; "@" stands for the folder.
  local function run(words)
    local command = ("%s bench %s >%s/out 2>%s/err"):format(program, words, folder, folder)
    local _, _, code = os.execute((command:gsub("@", folder)))
    return code, read(folder .. "/out"), read(folder .. "/err")
  end

  local small <const> = [[return {
    name = "small", heads = 2, kv_heads = 1, d = 12, p_v = 6, tokens = { max = 9 },
    cache = true, past = { max = 20 },
    mask = { "padding", "causal", "additive" }, residual = true, softcap = 5.0,
    position = { rope = { base = 100.0, dim = 4 } }, qk_norm = { kind = "rms", eps = 1e-6 },
    norm = { { kind = "layer", eps = 1e-5, place = "input" }, { kind = "rms", eps = 1e-5 } },
  }]]

  it("measures targets and plain loops, and compares with float64", function()
    put("small.lua", small)
    local code, out, err = run("@/small.lua --tokens 5 --past 17 --rounds 1 --json --cflags -O1")
    assert.equal("", err)
    assert.equal(0, code)
    local records = {}
    for line in out:gmatch("[^\n]+") do
      local record = dkjson.decode(line)
      records[#records + 1] = record.peer
      assert.equal("small", record.shape)
      assert.equal(5, record.T)
      assert.equal(17, record.past)
      assert.equal("f32", record.class)
      assert.truthy(record.min_us > 0 and record.median_us >= record.min_us)
      assert.near(record.gflops, work_of(load(small)(), { tokens = 5, fresh = 5, past = 17 })
        .operations / record.median_us / 1e3, 0.01 + record.gflops / 100)
      assert.truthy(record.peak_gflops > 0 and record.limit_us > 0 and record.limit_share > 0)
    end
    assert.same({ "qkvc-portable", "loops", "loops-across" }, records)
  end)

  it("prints a table", function()
    put("small.lua", small)
    local code, out = run("@/small.lua --tokens 1,9 --rounds 1 --compare none --cflags '-O1 -g'")
    assert.equal(0, code)
    for _, text in ipairs { "small: 2 heads", " -O1 -g\n", "GFLOP/s", "of limit", "machine, " } do
      assert.truthy(out:find(text, 1, true), text)
    end
    assert.truthy(out:find("\n     1  portable  "))
    assert.truthy(out:find("\n     9  portable  "))
    assert.is_nil(out:find("\n  *loops"))
  end)

  it("ends with exit 1 where a result is wrong", function()
    put("small.lua", small)
    -- spoils the reference and the plain loops, which take exp from libm
    local code, _, err = run("@/small.lua --tokens 5 --rounds 1 --cflags '-O1 -Dexp=sin'")
    assert.equal(1, code)
    assert.truthy(err:find("small: portable at 5 tokens: relative error ", 1, true), err)
  end)

  it("only builds in no rounds", function()
    put("small.lua", small)
    local code, out = run("@/small.lua --rounds 0 --keep @/kept --cflags -O0 --cflags -O1")
    assert.equal(0, code)
    assert.equal(("@/kept/small.1.so\n@/kept/small.2.so\n"):gsub("@", folder), out)
    assert.equal("file", lfs.attributes(folder .. "/kept/small.2.so", "mode"))
  end)

  it("says what is wrong with the input, with exit 2", function()
    put("small.lua", small)
    local code, _, err = run("@/small.lua --tokens 10 --past 21")
    assert.equal(2, code)
    assert.truthy(err:find("small.lua: --past 21: the layer takes at most 20", 1, true))
    assert.truthy(err:find("small.lua: --tokens 10: the layer takes at most 9", 1, true))
  end)

  it("says what the environment lacks, with exit 3", function()
    put("small.lua", small)
    local code, _, err = run("@/small.lua --cc no_such_compiler")
    assert.equal(3, code)
    assert.truthy(err:find("no C compiler: no_such_compiler", 1, true))
    code, _, err = run("@/small.lua --cflags -Dsmall_forward=7")
    assert.equal(3, code)
    assert.truthy(err:find("-Dsmall_forward=7 does not compile small: ", 1, true))
  end)
end)
