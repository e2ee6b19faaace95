local spec_file = require "read.spec_file"

describe("read.spec_file", function()
  local paths = {}

  local function load_text(text, extension)
    local base = os.tmpname()
    local path = base .. (extension or ".lua")
    table.move({ base, path }, 1, 2, #paths + 1, paths)
    local handle <close> = assert(io.open(path, "wb"))
    handle:write(text)
    handle:flush()
    local value, message = spec_file.load(path)
    if message then
      assert.is_nil(value)
      assert.equal(path, message:sub(1, #path))
    end
    return value, message
  end

  local function refused(text, fragment, extension)
    local value, message = load_text(text, extension)
    assert.is_nil(value)
    assert.truthy(message:find(fragment, 1, true), message)
  end

  after_each(function()
    for _, path in ipairs(paths) do os.remove(path) end
    paths = {}
    -- whatever a spec did, strings have their methods again
    assert.equal("xx", ("x"):rep(2))
    assert.is_nil(debug.gethook())
  end)

  it("loads a table of plain values", function()
    local text = [[
      local width <const> = 12
      local slopes = {}
      for i = 1, 3 do slopes[i] = 2.0 ^ -i end
      return { name = "a", heads = 2, d = 2 * width, bias = { q = false }, mask = { "causal" },
               position = { alibi = { slopes = slopes } } }
    ]]
    assert.same({ name = "a", heads = 2, d = 24, bias = { q = false }, mask = { "causal" },
                  position = { alibi = { slopes = { 0.5, 0.25, 0.125 } } } }, load_text(text))
  end)

  it("loads the same from JSON", function()
    assert.same({ name = "a", heads = 2 }, load_text('{"name": "a", "heads": 2}', ".json"))
  end)

  it("hands out a copy in which no table is shared", function()
    local value = load_text("local t = { 1 } return { a = t, b = t }")
    assert.same({ a = { 1 }, b = { 1 } }, value)
    assert.not_equal(value.a, value.b)
  end)

  it("names line and fault of a text that does not parse", function()
    refused("return {\n  heads = = 2\n}", ":2: unexpected symbol")
    refused("", "must return one table, returns 0 values")
    refused(("("):rep(300), "C stack overflow")
  end)

  it("refuses binary chunks", function()
    refused(string.dump(function() return {} end), "attempt to load a binary chunk")
    refused("\27Lua", "attempt to load a binary chunk")
  end)

  it("gives the text nothing to call", function()
    for _, name in ipairs({ "print", "require", "load", "setmetatable", "error", "pcall" }) do
      refused(("return { %s('x') }"):format(name), "attempt to call a nil value (global")
    end
    for _, name in ipairs({ "os", "io", "string", "table", "debug", "package", "_G" }) do
      refused(("return { %s.x }"):format(name), "attempt to index a nil value (global")
    end
    assert.same({}, load_text("return _ENV"))
  end)

  it("gives strings no methods", function()
    refused('return { x = ("x"):rep(1e9) }', "attempt to index a string value")
    refused('return { x = ("x").rep }', "attempt to index a string value")
    refused('local m = ("x").format return { m }', "attempt to index a string value")
  end)

  it("keeps what a text sets away from the next", function()
    load_text("heads = 3 return { 1 }")
    assert.same({}, load_text("return { heads }"))
    assert.is_nil(rawget(_G, "heads"))
  end)

  it("ends a text that runs without end", function()
    refused("while true do end", "more than 1000000 instructions")
    refused("::again:: goto again", "more than 1000000 instructions")
    refused("local function f() return f() end return f()", "more than 1000000 instructions")
  end)

  it("ends a text that eats memory", function()
    refused('local s = "x" while true do s = s .. s end', "more than 2048 KB of memory")
    refused("local t = {} for i = 1, 1e9 do t[i] = { i } end", "more than 2048 KB of memory")
    refused("local function f() return 1 + f() end return f()", "more than 2048 KB of memory")
  end)

  it("does not count what was in memory before", function()
    local ballast = ("x"):rep(1 << 24)
    assert.same({ a = 1 }, load_text("return { a = 1 }"))
    assert.equal(1 << 24, #ballast)
  end)

  it("refuses results that are not one table", function()
    refused("return 1", "must return one table, returns a number")
    refused("return nil", "must return one table, returns a nil")
    refused("return {}, {}", "must return one table, returns 2 values")
  end)

  it("refuses values that are not plain", function()
    refused("return { f = function() end }", "f: a function: only numbers")
    refused("return { a = { { function() end } } }", "a[1][1]: a function: only numbers")
    refused("return { [1.5] = 1 }", "the spec: a key is 1.5: keys must be strings or integers")
    refused("return { a = { [true] = 1 } }", "a: a key is a boolean: keys must be")
  end)

  it("refuses tables that never end", function()
    refused("local t = {} t.t = t return t", "t: the table holds itself")
    refused("local t, u = {}, {} t.u, u.t = u, t return t", "u.t: the table holds itself")
    refused("local t = {} for _ = 1, 20 do t = { t } end return t", "nested at most 16 deep")
    refused("local t = { 1 } for _ = 1, 12 do t = { t, t, t, t } end return t",
            "more than 10000 values")
  end)

  it("refuses faults of the text by line", function()
    refused("local x = 1\nreturn { x // 0 }", ":2: attempt to")
  end)

  it("refuses files that are not there, too large, or of another kind", function()
    local _, message = spec_file.load("no/such/spec.lua")
    assert.truthy(message:find("no/such/spec.lua", 1, true))
    _, message = spec_file.load("tests/lua")
    assert.truthy(message:find("tests/lua: a spec must be a .lua or a .json file", 1, true))
    refused("return {" .. (" "):rep(1 << 20) .. "}", "larger than 1048576 bytes")
  end)

  it("refuses a folder with a spec's name", function()
    local lfs = require "lfs"
    local folder = os.tmpname()
    os.remove(folder)
    folder = folder .. ".lua"
    assert(lfs.mkdir(folder))
    local _, message = spec_file.load(folder)
    lfs.rmdir(folder)
    assert.truthy(message:find(folder .. ": ", 1, true) and message:find("directory"), message)
  end)

  it("refuses broken JSON, and JSON that is no object", function()
    refused('{"heads": 2', "line 1, column 1: unterminated object", ".json")
    refused("[1]", "must be one object", ".json")
  end)
end)
