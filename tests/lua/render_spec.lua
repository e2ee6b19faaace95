local render = require "render"

--- The complaint of rendering a source.
local function complaint_of(source, names)
  local rendered, complaint = pcall(render.source, source, "sample.c.in", names or {})
  assert.is_false(rendered, "was rendered: " .. source)
  return tostring(complaint)
end

local function holds(fragment, text)
  assert.truthy(text:find(fragment, 1, true), ("%q is not in: %s"):format(fragment, text))
end

describe("a template", function()
  it("is its text where nothing is marked", function()
    assert.equal("int a;\n\n  # { $ } @ b\n", render.source("int a;\n\n  # { $ } @ b\n", "t", {}))
    assert.equal("no newline at its end\n", render.source("no newline at its end", "t", {}))
  end)

  it("puts strings and integers in place of expressions", function()
    local names = { row = 3, name = "a", shape = { 4, 5 }, add = function(a, b) return a + b end }
    local source = 'x_${row} = ${name}[${shape[1] * shape[2]} + ${add(3, 4)}] "%d\\n";'
    assert.equal('x_3 = a[20 + 7] "%d\\n";\n', render.source(source, "t", names))
    assert.equal("64\n", render.source("${128 // 2}", "t", {}))
    assert.equal("-1 0 9007199254740993\n", render.source("${-1} ${0} ${2^53 + 1 | 1}", "t", {}))
  end)

  it("takes braces and quotes within an expression", function()
    assert.equal("b;\n", render.source("${({ a = { 'b' } }).a[1]};", "t", {}))
    assert.equal("one, two\n", render.source([[${table.concat({ "one", 'two' }, ", ")}]], "t", {}))
  end)

  it("runs lines of Lua, indented as one likes", function()
    local source = "@for i = 1, 2 do\n  @  local twice = 2 * i\na[${i}] = ${twice};\n@end\nend;\n"
    assert.equal("a[1] = 2;\na[2] = 4;\nend;\n", render.source(source, "t", {}))
  end)

  it("appends whole lines with emit, nothing for nothing", function()
    local source = "a\n@emit('b\\nc')\n@emit('')\n@emit('d\\n')\n@emit(5)\n"
    assert.equal("a\nb\nc\nd\n5\n", render.source(source, "t", {}))
  end)

  it("goes on in the next line after an @, without the blanks in front", function()
    assert.equal("int f(int a, int b);\n", render.source("int f(int a, @\n    int b);", "t", {}))
    assert.equal("a3b\nc\n", render.source("a@\n  ${x}@\n\tb\nc\n", "t", { x = 3 }))
    assert.equal("a  \nb\n", render.source("a  @\n\nb\n", "t", {}))
    assert.equal("a@b\n", render.source("a@@\n b\n", "t", {}))
    assert.equal("a @b\n", render.source("a @\n  @b\n", "t", {}))   -- no line of Lua
  end)

  it("that is empty gives the empty text", function()
    assert.equal("", render.source("@local nothing = 1", "t", {}))
  end)

  it("gives the same text twice", function()
    local source = "@for i, v in ipairs(list) do\n${i}: ${v}\n@end"
    local names = { list = { "a", "b" } }
    assert.equal(render.source(source, "t", names), render.source(source, "t", names))
  end)
end)

describe("a value", function()
  local refused = {
    float = 1.5, ["float that is whole"] = 32.0, boolean = true, ["no"] = false, table = {},
    ["function"] = print, infinity = math.huge,
  }
  for what, value in pairs(refused) do   -- order does not matter: each makes a test of its own
    it("must not be a " .. what, function()
      local complaint = complaint_of("first\n${value}\n", { value = value })
      holds("sample.c.in:2:", complaint)
      holds("string or an integer", complaint)
    end)
  end

  it("must not be nil", function()
    local complaint = complaint_of("${f()}", { f = function() return nil end })
    holds("sample.c.in:1:", complaint)
    holds("nil", complaint)
  end)

  it("of a division is refused, that of an integer division is not", function()
    holds("32.0", complaint_of("${64 / 2}"))
    assert.equal("32\n", render.source("${64 // 2}", "t", {}))
  end)

  it("is refused in emit, too", function()
    holds("sample.c.in:1:", complaint_of("@emit(1.5)"))
  end)
end)

describe("a name", function()
  it("that is not known is refused with the template's file and line", function()
    local complaint = complaint_of("a\nb ${row}\nc ${colum}\n", { row = 1, column = 2 })
    holds("sample.c.in:3:", complaint)
    holds("'colum'", complaint)
  end)

  it("that is not known is refused in a line of Lua, too", function()
    local complaint = complaint_of("a\n\n@if missing then\nb\n@end\n")
    holds("sample.c.in:3:", complaint)
    holds("'missing'", complaint)
  end)

  it("may be false", function()
    assert.equal("b\n", render.source("@if flag then\na\n@else\nb\n@end", "t", { flag = false }))
  end)

  it("of what reaches files, the system or other modules is not known", function()
    for _, name in ipairs({ "io", "os", "require", "load", "dofile", "debug", "_G", "print",
                            "setmetatable", "pairs" }) do
      holds("'" .. name .. "'", complaint_of("${type(" .. name .. ")}"))
    end
  end)

  it("that is not local is never assigned to", function()
    local names = { row = 1 }
    local complaint = complaint_of("a\n@row = 2\n${row}\n", names)
    holds("sample.c.in:2:", complaint)
    holds("'row'", complaint)
    holds("'other'", complaint_of("@other = 2"))
    assert.equal(1, names.row)
    assert.equal("2\n", render.source("@local row = 2\n${row}", "t", names))
  end)
end)

describe("a fault of a template", function()
  it("is told with its line: an expression that does not end", function()
    local complaint = complaint_of("a\nb\n${row + 1\n")
    holds("sample.c.in:3:", complaint)
    holds("unclosed", complaint)
  end)

  it("is told with its line: one that goes on where no line is", function()
    holds("sample.c.in:3:", complaint_of("a\nb @\n"))
  end)

  it("is told with its line: what stands in a line that goes on, and behind it", function()
    holds("sample.c.in:3:", complaint_of("a\nb @\n${c}\n"))
    holds("sample.c.in:4:", complaint_of("a\nb @\nc\n${d}\n"))
  end)

  it("is told with its line: Lua that is none", function()
    holds("sample.c.in:2:", complaint_of("a\n${1 +}\nb\n"))
    holds("sample.c.in:3:", complaint_of("a\nb\n@fr i = 1, 2 do\n@end\n"))
    holds("sample.c.in:", complaint_of("@if true then\na\n"))
  end)

  it("is told with its line: an error in what it calls", function()
    holds("sample.c.in:2:", complaint_of("a\n${list.x.y}\n", { list = {} }))
  end)
end)

describe("a template within a template", function()
  it("is a value of many lines", function()
    local names = {}
    names.inner = function(i)
      return (render.source("i${i};\nj${i};", "inner", { i = i }):gsub("\n$", ""))
    end
    assert.equal("{\ni1;\nj1;\n}\n{\ni2;\nj2;\n}\n",
      render.source("@for i = 1, 2 do\n{\n${inner(i)}\n}\n@end", "outer", names))
  end)

  it("has lines of its own where both share an output", function()
    local output = {}
    local function turns(name)
      local turn = 0
      return function()
        turn = turn + 1
        output.line(turn < 3 and name .. turn or name .. "end")
        return turn < 3 and turn or nil
      end
    end
    local names = { output = output, turns = turns }
    names.inner = function()
      return render.source("@for t in turns('inner') do\n  i${t}\n@end", "inner", names)
    end
    local source = "@for t in turns('outer') do\no${t}\n@emit(inner())\n@end\nlast\n"
    assert.equal(table.concat({
      "outer1", "o1", "inner1", "  i1", "inner2", "  i2", "innerend",
      "outer2", "o2", "inner1", "  i1", "inner2", "  i2", "innerend", "outerend", "last", "",
    }, "\n"), render.source(source, "outer", names))
    assert.is_nil(output.line)
  end)

  it("tells its own file in its complaints", function()
    local names = { inner = function() return render.source("a\n${b}", "inner.c.in", {}) end }
    holds("inner.c.in:2:", complaint_of("${inner()}", names))
  end)
end)

describe("a template's file", function()
  it("is found wherever qkvc is called from, and named below templates/", function()
    local rendered, complaint = pcall(render.template, "stages.h.in", {})
    assert.is_false(rendered)
    assert.truthy(complaint:find("^templates/stages%.h%.in:1:"), complaint)
  end)

  it("that is missing is an error", function()
    assert.has_error(function() render.template("no_such_kernel.c.in", {}) end)
  end)
end)
