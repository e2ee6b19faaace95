-- The verification itself: that it passes what is right, under any names, and fails what is not,
-- naming what is wrong.

local lfs = require "lfs"
local files = dofile "tests/lua/checkpoint_files.lua"
local json = require "read.json"
local verify = require "verify"

local function put(path, text)
  local handle <close> = assert(io.open(path, "wb"))
  handle:write(text)
end

-- y = 2 o + (1, 2, 3, 4): a layer of the output projection alone, whose numbers can be seen.
local function tensors_of(change)
  local tensors = {
    { name = "o", shape = { 3, 4 }, values = { 1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4 } },
    {
      name = "w", shape = { 4, 4 },
      values = { 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2 },
    },
    { name = "b", shape = { 4 }, values = { 1, 2, 3, 4 } },
    { name = "y", shape = { 3, 4 }, values = { 3, 6, 9, 12, 11, 14, 17, 20, -1, -2, -3, -4 } },
  }
  for _, tensor in ipairs(tensors) do tensors[tensor.name] = tensor end
  if change then change(tensors) end
  return tensors
end

local function content_of(change)
  local content = {
    case = "any", group = "any",
    spec = {
      name = "int", heads = 2, p_v = 2, p_o = 4, tokens = 3, attention = false,
      project = { "o" }, unroll = "tile",
    },
    inputs = { o = "o" }, weights = { wo = "w", bo = "b" }, expected = { y = "y" },
    tolerance = { atol = 1e-6, rtol = 1e-6 },
  }
  if change then change(content) end
  return content
end

describe("verify", function()
  local dir

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(lfs.mkdir(dir))
  end)

  after_each(function() os.execute("rm -r " .. dir) end)

  local function put_case(name, change_content, change_tensors)
    local stem = dir .. "/" .. name
    put(stem .. ".json", json.encode(content_of(change_content)))
    files.safetensors(stem .. ".safetensors", tensors_of(change_tensors))
    return stem
  end

  -- The exit code, the message and the lines by case; the lines alone in order, too.
  local function run(paths, more)
    local options = { cc = "cc", cflags = "-O0", run = "" }
    for key, value in pairs(more or {}) do options[key] = value end -- order does not matter: a copy
    local lines = {}
    local code, message = verify.run(paths, options, function(line)
      lines[#lines + 1] = line
      local name = line:match("/(%w+)[ :]")
      if name then lines[name] = line end
    end)
    return code, lines, message
  end

  local function holds(text, fragment)
    assert.truthy((text or ""):find(fragment, 1, true),
      ("%q is not in:\n%s"):format(fragment, text))
  end

  it("passes a right case by its .json, its stem and its folder, once", function()
    local stem = put_case("good")
    local code, lines = run({ stem, stem .. ".json", dir, stem .. ".safetensors" })
    assert.equal(0, code)
    assert.equal(3, #lines)
    holds(lines.good, "ok   " .. dir:match("[^/]*$") .. "/good  max abs 0  max rel 0")
    assert.equal("0 refused", lines[2])
    assert.equal("1 passed, 0 failed", lines[3])
  end)

  it("fails each wrong case and names what is wrong, beside good ones", function()
    put_case("good")
    put_case("value", nil, function(t) t.y.values[7] = 17.5 end)
    put_case("nan", nil, function(t) t.y.values[5] = 0.0 / 0.0 end)
    put_case("number", nil, function(t) t.o.values[5] = 0.0 / 0.0 end)
    put_case("infinity", nil, function(t) t.y.values[12] = -math.huge end)
    put_case("shape", nil, function(t) t.y.shape = { 4, 3 } end)
    put_case("weight", nil, function(t) t.b.shape = { 2, 2 } end)
    put_case("count", function(c) c.spec.tokens = 2 end)
    put_case("role", function(c) c.weights.bo = nil end)
    put_case("tensor", function(c) c.weights.bo = "bias" end)
    put_case("dtype", nil, function(t) t.o.dtype = "F64" end)
    put_case("output", function(c) c.expected.weights = "y" end)
    put_case("unread", function(c) c.inputs.past_k = "o" end)
    put_case("nothing", function(c) c.expected = setmetatable({}, { __jsontype = "object" }) end)
    put_case("batch", function(c) c.batch = 2 end)
    local code, lines = run({ dir })
    assert.equal(1, code)
    assert.equal("1 passed, 14 failed", lines[#lines])
    assert.equal("0 refused", lines[#lines - 1])
    holds(lines.good, "ok   ")
    for name, said in pairs({ -- order does not matter: each line is looked up by its case
      value = "y[1][2]: got 17, want 17.5 (forward)",
      nan = "y[1][0]: got 11, want nan",
      number = "y[1][0]: got nan, want 11",
      infinity = "y[2][3]: got -4, want -inf",
      shape = 'expected.y ("y"): shape [4, 3], expected [3, 4]',
      weight = 'weights.bo ("b"): shape [2, 2], expected [4]',
      count = "tokens: the tensors have 3, the spec says 2",
      role = "weights.bo: missing",
      tensor = 'weights.bo: the tensor "bias" is not in the file',
      dtype = 'inputs.o ("o"): dtype F64, must be F32',
      output = "expected.weights: not an output of this layer",
      unread = "inputs.past_k: not an input of this layer",
      nothing = "nothing to compare",
      batch = 'inputs.o ("o"): shape [3, 4], expected a batch of 2 in front',
    }) do
      assert.equal("FAIL ", (lines[name] or ""):sub(1, 5))
      holds(lines[name], said)
    end
  end)

  it("fails broken files with a line each", function()
    put_case("good")
    put(put_case("syntax") .. ".json", "{ \"spec\": {")
    put(put_case("list") .. ".json", "[]")
    put(put_case("fields") .. ".json", "{\"spec\": 3, \"tolerance\": {\"atol\": -1}}")
    put(put_case("truncated") .. ".safetensors", string.pack("<i8", 5000) .. "{}")
    os.remove(put_case("alone") .. ".safetensors")
    local code, lines = run({ dir })
    assert.equal(1, code)
    assert.equal("1 passed, 5 failed", lines[#lines])
    holds(lines.good, "ok   ")
    holds(lines.syntax, "FAIL ")
    holds(lines.list, "must be one object")
    holds(lines.fields, "spec 3: must be an object")
    holds(lines.fields, "tolerance.atol -1: must be a number of 0 or more")
    holds(lines.truncated, "header length 5000")
    holds(lines.alone, "alone.safetensors")
  end)

  it("counts what the generator refuses, by name", function()
    put_case("good")
    put_case("unknown", function(c) c.spec.flavour = 3 end)
    put_case("wrong", function(c) c.spec.heads = 0 end)
    local code, lines = run({ dir })
    assert.equal(1, code)
    assert.equal("2 refused", lines[#lines - 1])
    assert.equal("1 passed, 2 failed", lines[#lines])
    assert.truthy(lines.unknown:find("^REFUSED .*/unknown: .*flavour"))
    assert.truthy(lines.wrong:find("^REFUSED .*/wrong: heads: 0: "))
  end)

  it("does not depend on names", function()
    put_case("good")
    put_case("other")
    put_case("value", nil, function(t) t.y.values[7] = 17.5 end)
    for seed = 0, 2 do
      local code, lines = run({ dir }, { rename = seed })
      assert.equal(1, code)
      assert.equal("2 passed, 1 failed", lines[#lines])
      holds(lines.value, "y[1][2]: got 17, want 17.5")
    end
  end)

  it("keeps what it wrote where it is told to, and nothing of others'", function()
    local stem, keep = put_case("good"), dir .. "/kept"
    assert.equal(0, (run({ stem }, { keep = keep })))
    assert.equal("directory", lfs.attributes(keep .. "/program_1", "mode"))
    local code, lines, message = run({ stem }, { keep = keep })
    assert.equal(2, code)
    assert.same({}, lines)
    holds(message, "must be a new or an empty folder")
  end)

  it("runs programs through another", function()
    local stem = put_case("good")
    assert.equal(0, (run({ stem }, { run = "env -u HOME" })))
    local code, _, message = run({ stem }, { run = "no-such-emulator -x" })
    assert.equal(3, code)
    holds(message, "no-such-emulator")
  end)

  it("tells what was missing before any case could run", function()
    local stem = put_case("good")
    local code, lines, message = run({ stem, dir .. "/absent" })
    assert.equal(2, code)
    assert.same({}, lines)
    holds(message, dir .. "/absent: no case found")
    lfs.mkdir(dir .. "/empty")
    assert.equal(2, (run({ dir .. "/empty" })))
    code, lines, message = run({ stem }, { cc = "no-such-compiler" })
    assert.equal(3, code)
    assert.same({}, lines)
    holds(message, "no-such-compiler")
    code, lines, message = run({ stem }, { cc = "false" })
    assert.same({}, lines)
    assert.equal(3, code)
    holds(message, "does not compile")
  end)
end)
