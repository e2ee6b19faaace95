local check_test = require "check_test"
local emit = require "emit"
local layer_module = require "layer"
local runs = require "check_test.runs"
local spec_module = require "spec"

local function layer_of(fields)
  local raw = { name = "probe", heads = 2, d = 8, p_v = 4, tokens = { max = 20 } }
  for key, value in pairs(fields or {}) do raw[key] = value end   -- order does not matter: a set
  local spec, faults = spec_module.complete(raw)
  assert(spec, faults and table.concat(faults, "\n"))
  return layer_module.of(spec)
end

local function text_of(fields) return check_test.text(layer_of(fields)) end

describe("the generated Check test", function()
  it("includes the layer's header, Check and the C library only", function()
    local known = {}
    for name in text_of():gmatch("#include (%S+)") do known[#known + 1] = name end
    assert.same({
      '"probe.h"', "<check.h>", "<float.h>", "<math.h>", "<stdbool.h>", "<stdint.h>", "<stdio.h>",
      "<stdlib.h>", "<string.h>", "<sanitizer/asan_interface.h>",
    }, known)
  end)

  it("is the same text each time", function() assert.equal(text_of(), text_of()) end)

  --- What a step is recognised by, and the fields that bring it.
  local steps <const> = {
    { "layer_norm", { norm = { kind = "layer", eps = 1e-5 } } },
    { "rms_norm", { norm = { kind = "rms", eps = 1e-5, place = "input" } } },
    { "plus_one", { norm = { kind = "rms", eps = 1e-5, plus_one = true } } },
    { "q_norm", { qk_norm = { kind = "rms", eps = 1e-6 } } },
    { "cosine", { position = { rope = { base = 10000.0 } } } },
    { "relative_row", { position = { relative = { kind = "key", left = 2, right = 2 } } } },
    { "slopes", { position = { alibi = { slopes = { 0.5, 0.25 } } } } },
    { "bucket_of",
      { position = { bias = { buckets = 8, max_distance = 20, bidirectional = true } } } },
    { "hyperbolic_tangent", { softcap = 2.0 } },
    { "given.sinks", { sinks = true } },
    { "kept%(", { mask = { "causal" } } },
    { "call%->padding", { mask = { "padding" } } },
    { "call%->boolean", { mask = { "boolean" } } },
    { "added%(", { mask = { "additive" } } },
    { "place %- 3", { mask = { { window = { left = 3 } } } } },
    { "call%->head_mask", { head_mask = true } },
    { "call%->residual", { residual = true } },
    { "past_keys", { cache = true, past = { max = 20 } } },
    { "call%->context%f[^%w_]", { context = { max = 20 } } },
    { "call%->context_length", { context_length = true } },
    { "want%->weights", { return_weights = true } },
    { "out%->scores", { return_scores = "raw" } },
  }

  it("prints a step where the layer has it, and not elsewhere", function()
    local plain = text_of()
    for _, step in ipairs(steps) do
      assert.is_nil(plain:find(step[1]), step[1])
      assert.is_truthy(text_of(step[2]):find(step[1]), step[1])
    end
  end)

  it("is only the output stage for a layer without attention", function()
    local text = text_of { attention = false, residual = true, p_o = 8 }
    local words = { "exponential", "attend(", "project_q", "SCRATCH_BYTES", "make_query" }
    for _, word in ipairs(words) do
      assert.is_nil(text:find(word, 1, true), word)
    end
    assert.is_truthy(text:find("probe_output", 1, true))
  end)

  it("names each target", function()
    local text = text_of()
    assert.is_truthy(text:find("PROBE_TARGET_PORTABLE", 1, true))
    assert.is_nil(text:find("changes bits.-splitting the stages"))
  end)

  it("has lines of at most 100 columns, no tabs and no blanks at their ends", function()
    local masks = { "padding", "causal", "additive" }
    for line in text_of({ mask = masks, cache = true, past = { max = 50 } }):gmatch("[^\n]*") do
      assert.is_true(#line <= 100, line)
      assert.is_nil(line:find("\t"))
      assert.is_nil(line:find("%s$"))
    end
  end)
end)

describe("the runs of a Check test", function()
  local function counts(fields, name)
    local out = {}
    for i, run in ipairs(runs.of(layer_of(fields))) do out[i] = run[name] end
    return out
  end

  it("take no rows, one, some, and the most", function()
    assert.same({ 0, 1, 2, 3, 7, 16, 17, 20 }, counts({}, "tokens"))
  end)

  it("take the one count of a fixed layer", function()
    assert.same({ 5 }, counts({ tokens = 5 }, "tokens"))
  end)

  it("pair tokens with context of any size, and with none", function()
    local seen = {}
    for _, run in ipairs(runs.of(layer_of { context = { max = 40 } })) do
      assert.is_true(run.tokens <= 20 and run.context <= 40)
      seen[run.context] = true
    end
    assert.is_true(seen[0] and seen[1] and seen[40])
  end)

  it("leave the past within its bound", function()
    for _, run in ipairs(runs.of(layer_of { cache = true, past = { max = 33 } })) do
      assert.is_true(run.past <= 33)
    end
  end)

  it("are few rows where a row is much work", function()
    local list = runs.of(layer_of { heads = 32, d = 4096, p_v = 128, tokens = { max = 512 } })
    for _, run in ipairs(list) do assert.is_true(run.tokens <= 2) end
    assert.is_true(list[list.large].tokens > 0)
  end)

  it("use rows and keys where many tests share a run", function()
    for _, fields in ipairs { {}, { context_length = true, context = { max = 5 } },
      { tokens = { max = 1 }, cache = true, past = { max = 9 }, context_length = true } } do
      local list = runs.of(layer_of(fields))
      for _, name in ipairs { "small", "large" } do
        assert.is_true(list[list[name]].tokens > 0 and list[list[name]].live > 0)
      end
    end
  end)

  it("have a long call where padding spares the reference most keys", function()
    local function most(fields)
      local tokens, every = 0, 1
      for _, run in ipairs(runs.of(layer_of(fields))) do
        if run.tokens > tokens then tokens, every = run.tokens, run.every end
      end
      return tokens > 256 and every > 1
    end
    assert.is_true(most { mask = { "padding" }, d = 768, tokens = { max = 1500 } })
    assert.is_false(most { d = 768, tokens = { max = 1500 } })
    assert.is_false(most { mask = { "padding" }, d = 768, tokens = { max = 128 } })
  end)

  it("are judged in part where the rows of a fixed layer are much work", function()
    local list = runs.of(layer_of { heads = 12, d = 768, p_v = 64, tokens = 197 })
    assert.equal(1, #list)
    assert.is_true(list.in_part and list[1].every > 1)
    assert.is_false(runs.of(layer_of()).in_part)
  end)

  it("take a prompt in chunks where the rows are the same in chunks", function()
    local function chunks(mask, more)
      local fields = { cache = true, past = { max = 300 }, mask = mask }
      -- order does not matter: a set
      for key, value in pairs(more or {}) do fields[key] = value end
      return runs.chunks(layer_of(fields))
    end
    local found = chunks { "causal" }
    assert.is_true(found.total <= 20 and found.past + found.total <= 300 + 1)
    assert.is_truthy(chunks { { window = { left = 3, right = 0 } } })
    assert.is_nil(chunks { "padding" })
    assert.is_nil(chunks({ "causal" }, { tokens = 4 }))
  end)
end)

-- ---- The test against layers: the right one, and others of the same interface -------------------

local flags <const> = "-std=c11 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion "
  .. "-Wdouble-promotion -Wshadow -Werror"

local function run(folder, layer, test)
  for _, file in ipairs(assert(emit.files(layer.spec))) do
    if not file.path:find("_test%.c$") then
      local handle <close> = assert(io.open(folder .. "/" .. file.path:match("[^/]+$"), "wb"))
      handle:write(file.text)
    end
  end
  local handle = assert(io.open(folder .. "/probe_test.c", "wb"))
  handle:write(test)
  handle:close()
  local command = "cd %s && cc %s *.c -o probe $(pkg-config --cflags --libs check) -lm 2>&1"
    .. " && ./probe"
  local pipe = assert(io.popen(command:format(folder, flags)))
  local text = pipe:read("a")
  return pipe:close() == true, text
end

describe("the Check test of a layer", function()
  local fields <const> = {
    heads = 4, kv_heads = 2, d = 12, p_v = 5, p_q = 6, tokens = { max = 7 }, cache = true,
    past = { max = 40 }, residual = true, softcap = 3.0, sinks = true, scale = 0.5, p_o = 12,
    mask = { "padding", "causal", { window = { left = 20 } } },
    position = { rope = { base = 10000.0 } },
    norm = { { kind = "rms", eps = 1e-5, place = "input" }, { kind = "layer", eps = 1e-5 } },
    qk_norm = { kind = "rms", eps = 1e-6 },
  }

  local function changed(changes)
    local copy = {}   -- order does not matter: a set
    for key, value in pairs(fields) do copy[key] = value end   -- order does not matter: a set
    for key, value in pairs(changes) do copy[key] = value end
    return layer_of(copy)
  end

  local folder
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
  end)
  after_each(function() os.execute("rm -r " .. folder) end)

  it("passes for that layer, and its summary stands last", function()
    local layer = changed {}
    local passed, text = run(folder, layer, check_test.text(layer))
    assert.is_true(passed, text)
    assert.is_truthy(text:find("100%%: Checks: %d+, Failures: 0, Errors: 0\n$"), text)
  end)

  --- Layers of the same interface and weights, but of other numbers.
  local others <const> = {
    { "scale", { scale = 0.501 } },
    { "softcap", { softcap = 3.01 } },
    { "window", { mask = { "padding", "causal", { window = { left = 19 } } } } },
    { "rope", { position = { rope = { base = 10000.0, interleaved = true } } } },
    { "eps", { qk_norm = { kind = "rms", eps = 1e-4 } } },
    { "mask", { mask = { "padding", { window = { left = 20 } } } } },
  }

  for _, other in ipairs(others) do
    it("fails for a layer of another " .. other[1], function()
      local hash = layer_of(fields).hash
      local test = check_test.text(changed {})
      local layer = changed(other[2])
      assert.are_not.equal(hash, layer.hash)
      local passed, text = run(folder, layer, test)
      assert.is_false(passed)
      assert.is_truthy(text:find("results_are_right", 1, true), text)
    end)
  end
end)
