local writer = require "writer"

local function holds(fragment, text)
  assert.truthy(text:find(fragment, 1, true), ("%q is not in:\n%s"):format(fragment, text))
end

local PARAMETERS <const> = {
  { "const float *", "q" }, { "size_t", "row" }, { "float *", "y" },
}

local function define(w, name, body, more)
  more = more or {}
  return w:define(name, {
    title = more.title or "Does " .. name .. ".", result = more.result,
    parameters = more.parameters or PARAMETERS, body = body,
  })
end

describe("a file's function", function()
  it("is static and takes just the parameters that its body names", function()
    local w = writer.new("")
    assert.equal("scale", define(w, "scale", "y[0] = q[0];\n"))
    holds("static void scale(const float *q, float *y)\n{\ny[0] = q[0];\n}",
      w:source("scale(q, y);\n"))
  end)

  it("takes none where its body names none", function()
    local w = writer.new("")
    define(w, "nothing", "return 1;\n", { result = "int" })
    holds("static int nothing(void)\n{", w:source("nothing();\n"))
  end)

  it("has its title in front of it, line by line", function()
    local w = writer.new("")
    define(w, "scale", "y[0] = 1.0f;\n", { title = { "First.", "Second." } })
    holds("/* First. */\n/* Second. */\nstatic void scale(", w:source("scale(y);\n"))
  end)

  it("has the target's attribute", function()
    local w = writer.new("ON_TARGET ")
    define(w, "scale", "y[0] = 1.0f;\n")
    holds("ON_TARGET static void scale(float *y)", w:source("scale(y);\n"))
  end)

  it("is printed once however often it is defined", function()
    local w = writer.new("")
    define(w, "scale", "y[0] = 1.0f;\n")
    define(w, "scale", "y[0] = 2.0f;\n")
    local source = w:source("scale(y);\n")
    local _, count = source:gsub("static void scale", "")
    assert.equal(1, count)
    holds("y[0] = 1.0f;", source)
  end)
end)

describe("a call", function()
  local w

  before_each(function()
    w = writer.new("")
    define(w, "scale", "y[0] = q[row];\n")
    define(w, "part", "y[0] = q[0];\n")
  end)

  it("gives the arguments in the order of the parameters", function()
    assert.equal("scale(q + 4, 2, out)", w:call("scale", { y = "out", row = 2, q = "q + 4" }))
  end)

  it("gives the caller's own names where nothing is said", function()
    assert.equal("scale(q, row, y)", w:call("scale", {}))
    assert.equal("scale(q, 0, y)", w:call("scale", { row = 0 }))
  end)

  it("leaves out what the function does not take", function()
    assert.equal("part(q, y)", w:call("part", { row = 5 }))
  end)

  it("of a function that is not defined is an error that names it", function()
    local called, complaint = pcall(w.call, w, "missing", {})
    assert.is_false(called)
    holds("missing", complaint)
  end)
end)

describe("a name in C", function()
  it("is found as a word alone", function()
    assert.is_true(writer.names("y[row] = 1;", "row"))
    assert.is_true(writer.names("row", "row"))
    assert.is_false(writer.names("y[row_2] = rows + x_row;", "row"))
    assert.is_false(writer.names("", "row"))
  end)

  it("is not found in a comment or as a field", function()
    assert.is_false(writer.names("/* row by row */ x = 1;", "row"))
    assert.is_false(writer.names("call->row = rooms-> row;", "row"))
    assert.is_true(writer.names("/* row */ x = row; /* row */", "row"))
    assert.is_true(writer.names("row->keys", "row"))
  end)
end)

describe("a file", function()
  it("holds what is used, also by functions that are, in the order of definition", function()
    local w = writer.new("")
    define(w, "inner", "y[0] = 1.0f;\n")
    define(w, "unused", "inner(y);\n")
    define(w, "outer", "inner(y);\n")
    define(w, "last", "y[0] = 2.0f;\n")
    local source = w:source("void stage(float *y)\n{\nlast(y);\nouter(y);\n}\n")
    assert.is_nil(source:find("unused", 1, true))
    local function place(name) return (source:find("void " .. name .. "(", 1, true)) end
    assert.is_true(place("inner") < place("outer") and place("outer") < place("last"))
    assert.is_true(place("last") < place("stage"))
  end)

  it("does not take a longer name for a use", function()
    local w = writer.new("")
    define(w, "mix", "y[0] = 1.0f;\n")
    define(w, "mix_16", "y[0] = 2.0f;\n")
    assert.is_nil(w:source("mix_16(y);\n"):find("static void mix(", 1, true))
  end)

  it("keeps what is appended, and its place among the functions", function()
    local w = writer.new("")
    define(w, "first", "y[0] = 1.0f;\n")
    w:append("static const float slope[1] = {\n0.5f\n};\n\n")
    define(w, "second", "y[0] = slope[0];\n")
    local source = w:source("first(y);\nsecond(y);\n")
    local first, slope = source:find("void first", 1, true), source:find("slope[1]", 1, true)
    local second = source:find("void second", 1, true)
    assert.is_true(first < slope and slope < second)
  end)

  it("is just its entries where nothing is defined", function()
    assert.equal("int x;\n", writer.new(""):source("int x;\n"))
  end)

  it("is written the same twice", function()
    local w = writer.new("")
    for i = 1, 20 do define(w, "f_" .. i, "y[0] = " .. i .. ".0f;\n") end
    local entries = "f_7(y); f_3(y); f_19(y);\n"
    assert.equal(w:source(entries), w:source(entries))
  end)
end)
