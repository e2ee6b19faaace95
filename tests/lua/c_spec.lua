local c = require "c"
local comma_locale = dofile "tests/lua/comma_locale.lua"
local render = require "render"

local WIDTH <const> = 99

local function bits_of(x) return string.unpack("<I4", string.pack("<f", x)) end

local function float_of(bits) return string.unpack("<f", string.pack("<I4", bits)) end

-- A generator of its own, so that each run tries the same numbers.
local function random_bits(seed)
  local state = seed
  return function()
    state = (state * 6364136223846793005 + 1442695040888963407) & ~0
    return state >> 32
  end
end

--- Finite f32 values: the special ones, then random ones of every exponent.
local function some_floats(count)
  local list = {}
  local special = {
    0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f800000,
    0x3f800001, 0x3f7fffff, 0x4b800000, 0x3dcccccd,
  }
  for _, bits in ipairs(special) do
    list[#list + 1] = float_of(bits)
  end
  local next_bits = random_bits(1)
  while #list < count do
    local bits = next_bits()
    if bits & 0x7f800000 ~= 0x7f800000 then list[#list + 1] = float_of(bits) end
  end
  return list
end

--- What a C program prints.
local function output_of(source)
  local base = os.tmpname()
  local handle <close> = assert(io.open(base .. ".c", "wb"))
  handle:write(source)
  handle:flush()
  local command = "cc -O0 -std=c11 -Wall -Wextra -Werror -o BASE.run BASE.c && BASE.run"
  local pipe <close> = assert(io.popen((command:gsub("BASE", base))))
  local printed = pipe:read("a")
  for _, suffix in ipairs({ "", ".c", ".run" }) do os.remove(base .. suffix) end
  return printed
end

describe("a float literal", function()
  it("is one of C and gives back the value", function()
    for _, x in ipairs(some_floats(20000)) do
      local text = c.float(x)
      local digits = text:match("^(%-?[%d.e+-]+)f$")
      assert.truthy(digits and digits:find("[.e]"), text)
      assert.equal(bits_of(x), bits_of(tonumber(digits)), text)
    end
  end)

  it("gives back the value in a C compiler", function()
    local floats = some_floats(3000)
    local lines = { "#include <stdio.h>\n#include <string.h>\nstatic const float a[] = {" }
    for _, x in ipairs(floats) do lines[#lines + 1] = c.float(x) .. "," end
    lines[#lines + 1] = "};\nint main(void) { for (int i = 0; i < " .. #floats .. "; i++) {"
      .. ' unsigned u; memcpy(&u, a + i, sizeof u); printf("%u\\n", u); } return 0; }\n'
    local i = 0
    for printed in output_of(table.concat(lines, "\n")):gmatch("%d+") do
      i = i + 1
      assert.equal(bits_of(floats[i]), tonumber(printed), c.float(floats[i]))
    end
    assert.equal(#floats, i)
  end)

  it("rounds to f32 first", function()
    assert.equal(c.float(float_of(0x3dcccccd)), c.float(0.1))
    assert.equal("0.1f", c.float(0.1))
    assert.equal("1.0f", c.float(1))
    assert.equal("-0.5f", c.float(-0.5))
    assert.equal("0.125f", c.float(1 / 8))
  end)

  it("must be finite", function()
    for _, x in ipairs({ math.huge, -math.huge, 0 / 0, 1e39 }) do
      assert.has_error(function() c.float(x) end)
    end
  end)
end)

describe("a double literal", function()
  it("gives back the value and is no integer", function()
    local next_bits = random_bits(2)
    for _ = 1, 5000 do
      local x = string.unpack("<d", string.pack("<I4I4", next_bits(), next_bits()))
      if x == x and math.abs(x) ~= math.huge then
        local text = c.double(x)
        assert.truthy(text:find("^%-?[%d.e+-]+$") and text:find("[.e]"), text)
        assert.equal(x, tonumber(text))
      end
    end
    assert.equal("1.0", c.double(1))
    assert.equal("0.1", c.double(0.1))
  end)
end)

describe("literals in a locale with a comma", function()
  it("have a point", function()
    local said = comma_locale.run([[
      local c = require "c"
      for _, x in ipairs({ 0.1, -2.5e-7, 1.5e30, 3 }) do
        say(c.float(x) .. " " .. c.double(x) .. " ")
      end
    ]])
    if not said then return pending("no localedef to make such a locale with") end
    assert.equal("0.1f 0.1 -2.5e-07f -2.5e-07 1.5e+30f 1.5e+30 3.0f 3.0 ", said)
  end)
end)

describe("index expressions", function()
  it("are numbers where all is known", function()
    assert.equal(12, c.mul(3, 4))
    assert.equal(9, c.add(2, 3, 4))
    assert.equal(0, c.add())
    assert.equal(0, c.mul("row", 0))
    assert.equal(0, c.mul(0, "row"))
  end)

  it("leave out what changes nothing", function()
    assert.equal("row", c.mul("row", 1))
    assert.equal("row", c.mul(1, "row"))
    assert.equal("row", c.add("row", 0))
    assert.equal("x", c.offset("x"))
    assert.equal("x", c.offset("x", 0, 0))
    assert.equal("x", c.offset("x", 3, -3))
    assert.equal("x[0]", c.index("x", 0))
  end)

  it("fold their numbers", function()
    assert.equal("a + b + 5", c.add(2, "a", 3, "b"))
    assert.equal("a - 1", c.add("a", 1, -2))
    assert.equal("x + row + 4", c.offset("x", 1, "row", 3))
    assert.equal("x[row * 8 + 3]", c.index("x", c.mul("row", 8), 3))
  end)

  it("mean what the arithmetic means", function()
    local next_bits = random_bits(3)
    local values = { a = 5, b = 7, c = 11 }
    local names = { "a", "b", "c" }
    -- an expression with its value
    local function expression(depth)
      local kind = next_bits() % (depth == 0 and 2 or 4)
      if kind == 0 then
        local n = next_bits() % 5
        return n, n
      elseif kind == 1 then
        local name = names[next_bits() % 3 + 1]
        return name, values[name]
      end
      local x, x_value = expression(depth - 1)
      local y, y_value = expression(depth - 1)
      if kind == 2 then return c.add(x, y), x_value + y_value end
      return c.mul(x, y), x_value * y_value
    end
    for _ = 1, 2000 do
      local text, value = expression(4)
      local meant = assert(load("return " .. tostring(text), "expression", "t", values))()
      assert.equal(value, meant, text)
    end
  end)
end)

describe("indent", function()
  it("follows the braces", function()
    assert.equal("void f(void)\n{\n  if (a) {\n    b;\n  } else {\n    c;\n  }\n}\n",
      c.indent("void f(void)\n{\nif (a) {\nb;\n} else {\nc;\n}\n}\n"))
  end)

  it("follows neither braces in strings nor those in comments", function()
    assert.equal("{\n  f(\"{\"); /* { ( */\n  g;\n}\n", c.indent("{\nf(\"{\"); /* { ( */\ng;\n}\n"))
    assert.equal("{\n  /* a\n   b } } */\n  g;\n}\n", c.indent("{\n/* a\nb } } */\ng;\n}\n"))
  end)

  it("follows none in a comment of several lines, but what stands behind its end", function()
    assert.equal("{\n  a; /* { (\n   } { \"\n   ) */\n  b;\n}\n",
      c.indent("{\na; /* { (\n} { \"\n) */\nb;\n}\n"))
    assert.equal("if (a) /* (\n { */ {\n  b;\n  /* {\n   */ }\nc;\n",
      c.indent("if (a) /* (\n{ */ {\nb;\n/* {\n*/ }\nc;\n"))
    assert.equal("#define A /* {\n ( */\nb;\n", c.indent("#define A /* {\n( */\nb;\n"))
  end)

  it("knows where a string or a character ends", function()
    for _, text in ipairs({
      [["\"{"]], [["\\"]], [["{\\\"{"]], [["/* {"]], "'{'", "'\"'", "'\\''", [["'{"]], "'(' + ')'",
    }) do
      assert.equal("{\n  f(" .. text .. ");\n  g;\n}\n",
        c.indent("{\nf(" .. text .. ");\ng;\n}\n"), text)
    end
  end)

  it("indents what stands in a case and in a parenthesis", function()
    assert.equal("switch (n) {\n  case 1:\n    f();\n    break;\n  default: break;\n}\n",
      c.indent("switch (n) {\ncase 1:\nf();\nbreak;\ndefault: break;\n}\n"))
    assert.equal("switch (n) {\n  case 1:\n    if (a) {\n      f();\n    }\n    break;\n"
      .. "  default:\n    g();\n}\n",
      c.indent("switch (n) {\ncase 1:\nif (a) {\nf();\n}\nbreak;\ndefault:\ng();\n}\n"))
    assert.equal("f(\n    a,\n    b\n    );\n", c.indent("f(\na,\nb\n);\n"))
  end)

  it("takes a block away that is all of another", function()
    assert.equal("for (;;) {\n  a();\n  b();\n}\n", c.indent "for (;;) {\n{\na();\nb();\n}\n}\n")
    assert.equal("void f(void)\n{\n  a();\n}\n", c.indent "void f(void)\n{\n{\n{\na();\n}\n}\n}\n")
    assert.equal("if (a) {\n  b();\n} else {\n  d();\n}\n",
      c.indent "if (a) {\n{\nb();\n}\n} else {\n{\nd();\n}\n}\n")
  end)

  it("leaves a block with something beside it, and one behind a comment's brace", function()
    local beside = "{\n  {\n    int i;\n  }\n  {\n    int i;\n  }\n}\n"
    assert.equal(beside, c.indent(beside))
    local comment = "/* { */\n{\n  a();\n}\n/* } */\n"
    assert.equal(comment, c.indent(comment))
  end)

  it("leaves what stands in a linkage at the margin", function()
    assert.equal("extern \"C\" {\nint f(void);\nenum {\n  A\n};\n}\n",
      c.indent("extern \"C\" {\nint f(void);\nenum {\nA\n};\n}\n"))
  end)

  it("leaves the preprocessor at the margin", function()
    assert.equal("{\n#if A\n  b;\n#endif\n}\n", c.indent("{\n#if A\nb;\n#endif\n}\n"))
  end)

  it("takes blanks at the ends and doubled empty lines away", function()
    assert.equal("a;\n\nb;\n", c.indent("\n\na;   \n\n   \n\nb;\t\n\n\n"))
  end)

  it("refuses braces and parentheses that do not match", function()
    for _, text in ipairs({ "{\n", "f(\n", "{\n}\n}\n{\n{\n", "{\n(\n}\n" }) do
      assert.has_error(function() c.indent(text) end)
    end
  end)

  it("breaks long lines, never within a string, and keeps every token", function()
    local next_bits = random_bits(4)
    local words = {
      "alpha", "beta_12", "f,", "\"a string, of; words\"", "\"a \\\" b, c\"", "+", "x[3],",
      "vec_load", "+ 16,", "g;", "0x7f800000",
    }
    local function squeezed(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end
    for _ = 1, 500 do
      local list = {}
      for i = 1, 5 + next_bits() % 60 do list[i] = words[next_bits() % #words + 1] end
      local line = table.concat(list, " ")
      local text = c.indent("{\n" .. line .. ";\n}\n")
      for got in text:gmatch("(.-)\n") do
        assert.truthy(#got <= WIDTH, got)
        assert.falsy(got:find("%s$"), got)
        local _, quotes = got:gsub('\\"', ""):gsub('"', "")
        assert.equal(0, quotes % 2, got)
      end
      assert.equal(squeezed("{ " .. line .. "; }"), squeezed(text))
    end
  end)

  it("breaks long lines of a comment", function()
    local words = ("a word "):rep(20)
    local text = c.indent("{\n/* a\n * " .. words .. "\n" .. words .. "*/\n}\n")
    local lines = {}
    for line in text:gmatch("(.-)\n") do
      assert.truthy(#line <= WIDTH, line)
      lines[#lines + 1] = line
    end
    assert.truthy(lines[3]:find("^   %* a word") and lines[4]:find("^   %* a? ?word"), text)
    assert.truthy(lines[5]:find("^   a word") and lines[6]:find("^   a? ?word"), text)
  end)

  it("breaks a line beyond the width where it can not before", function()
    local name = ("name"):rep(30)
    assert.equal(name .. ",\n    b;\n", c.indent(name .. ", b;\n"))
  end)

  it("leaves a line whole that has no place to break", function()
    local long = '"' .. ("no place, to; break "):rep(8) .. '"'
    assert.truthy(c.indent("f =\n" .. long .. ";\n"):find(long, 1, true))
  end)
end)

describe("loops", function()
  local CASES <const> = {
    -- from, to, step, most; to = "n" is known at run time, as are values of n
    { 0, 5 }, { 0, 1 }, { 0, 0 }, { 2, 3 }, { 0, 32, 16 }, { 0, 33, 16 }, { 0, 16, 16 },
    { 3, 11, 4 },
    { 0, "n", 1, 6 }, { 0, "n", 4, 10 }, { 0, "n + 1", 1, 7 }, { 2, "n", 1, 6 },
  }

  --- A C function that prints the turns of each case.
  local function turns(name, full)
    local output = {}
    local loop = c.loops(full, output)
    local lines = { "static void " .. name .. "(unsigned long n)\n{\n(void)n;" }
    for _, case in ipairs(CASES) do
      lines[#lines + 1] = render.source('@for i in loop("i", from, to, step, most) do\n'
        .. 'printf(" %d", (int)(${i}));\n@end\nprintf(";");', "turns", {
          output = output, loop = loop, from = case[1], to = case[2], step = case[3] or 1,
          most = case[4] or case[2],
        })
    end
    return table.concat(lines, "\n") .. "}\n"
  end

  it("turn as often written out as in C, and have no loop where they are written out", function()
    local tiled, full = turns("tiled", false), turns("full", true)
    assert.truthy(tiled:find("for (", 1, true))
    assert.falsy(full:find("%f[%w]for%f[%W]") or full:find("%f[%w]while%f[%W]"))
    local printed = output_of(c.indent("#include <stdio.h>\n" .. tiled .. full .. [[
int main(void)
{
for (unsigned long n = 0; n <= 6; n++) {
tiled(n);
printf("\n");
full(n);
printf("\n");
}
return 0;
}
]]))
    local lines = {}
    for line in printed:gmatch("(.-)\n") do lines[#lines + 1] = line end
    assert.equal(14, #lines)
    for n = 0, 6 do
      assert.equal(lines[2 * n + 1], lines[2 * n + 2])
      local wanted = {}
      for _, case in ipairs(CASES) do
        local to = load("local n = ... return " .. case[2])(n)
        local text = ""
        for i = case[1], to - 1, case[3] or 1 do text = text .. " " .. i end
        wanted[#wanted + 1] = text .. ";"
      end
      assert.equal(table.concat(wanted), lines[2 * n + 1])
    end
  end)

  it("written out need bounds that are known", function()
    assert.has_error(function() c.loops(true, {})("i", 0, "n")() end)
    assert.has_error(function() c.loops(true, {})("i", "m", "n", 1, 4)() end)
  end)

  it("nest", function()
    local output = {}
    local source = '@for i in loop("i", 0, "n", 1, 2) do\n@for j in loop("j", 0, 2) do\n'
      .. "a[${i}][${j}];\n@end\n@end"
    local names = { output = output, loop = c.loops(true, output) }
    assert.equal("if (n > 0) {\na[0][0];\na[0][1];\n}\nif (n > 1) {\na[1][0];\na[1][1];\n}\n",
      render.source(source, "nest", names))
    names.loop = c.loops(false, output)
    assert.equal("for (size_t i = 0; i < n; i++) {\nfor (size_t j = 0; j < 2; j++) {\n"
      .. "a[i][j];\n}\n}\n", render.source(source, "nest", names))
  end)
end)
