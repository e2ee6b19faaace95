local targets = require "targets"
local vocabulary = require "vocabulary"
local words = require "words"

--- The targets that are built, in order.
local function built()
  local list = {}
  for _, name in ipairs(targets.names) do
    if package.searchpath("targets." .. name, package.path) then
      list[#list + 1] = targets.get(name)
    end
  end
  return list
end

--- The words that a source defines, in order, and whether each stands behind those it uses.
local function defined(source)
  local list, known = {}, {}
  for name, body in source:gmatch("static inline [%w_]+ vec_([%w_]+)%b()\n(%b{})") do
    for used in body:gmatch("%f[%w_]vec_([%w_]+)%(") do
      assert(known[used], name .. " uses " .. used .. ", which does not stand in front of it")
    end
    assert(not known[name], name .. " is printed twice")
    list[#list + 1], known[name] = name, true
  end
  return list, known
end

for _, target in ipairs(built()) do
  -- a file without words still marks its functions for the target
  local none = target.attribute
    and ('#define ON_TARGET __attribute__((target("%s")))\n\n'):format(target.attribute) or ""

  describe("the words of " .. target.name, function()
    it("are nothing where a text names none", function()
      assert.equal(none, words.source("int x;\n", target))
    end)

    it("are those that a text names and those that these need, no more", function()
      local _, known = defined(words.source("y = vec_add(a, b);\n", target))
      assert.is_true(known.add)
      assert.is_nil(known.fma)
      assert.is_nil(known.exp)
      assert.is_nil(known.store)
    end)

    it("stand behind those that they use, each once", function()
      local text = {}
      for _, word in ipairs(vocabulary.words) do
        text[#text + 1] = "vec_" .. word[1] .. (word.counted and "_3" or "") .. "();"
        local list, known = defined(words.source(text[#text], target))
        local name = word[1] .. (word.counted and "_3" or "")
        assert.is_true(known[name], name)
        assert.equal(name, list[#list])      -- what was asked for uses the others
      end
      local _, known = defined(words.source(table.concat(text, "\n"), target))
      for _, word in ipairs(vocabulary.words) do
        assert.is_true(known[word[1] .. (word.counted and "_3" or "")], word[1])
      end
    end)

    it("have each count of a counted word that a text names", function()
      local most = target.lanes - 1
      local text = ("vec_load_1(p); vec_load_%d(p); vec_store_7(p, a);"):format(most)
      local _, known = defined(words.source(text, target))
      assert.is_true(known.load_1 and known["load_" .. most] and known.store_7)
      assert.is_nil(known.load_2)
      assert.is_nil(known.store_1)
    end)

    it("have their meaning in front of them", function()
      local source = words.source("vec_fma(a, b, c); vec_load_5(p);", target)
      assert.truthy(source:find("/* a * b + c", 1, true))
      assert.truthy(source:find("reads 5 floats", 1, true))
    end)

    it("do not depend on the order in a text", function()
      local parts = {
        "vec_fma(a, b, c);", "vec_load_3(p);", "vec_exp(x);", "vec_top(a);", "vec_any(a);",
      }
      local forth = words.source(table.concat(parts), target)
      local back = {}
      for i, part in ipairs(parts) do back[#parts + 1 - i] = part end
      assert.equal(forth, words.source(table.concat(back), target))
    end)

    it("are told apart from what is no word", function()
      for _, name in ipairs({ "vec_nonsense", "vec_add_3", "vec_load_0x", "vec_lod" }) do
        local found, complaint = pcall(words.source, name .. "(a);", target)
        assert.is_false(found, name)
        assert.truthy(complaint:find(name, 1, true), complaint)
      end
      assert.equal(none, words.source("my_vec_add(a); vector(b);", target))
    end)
  end)
end

describe("the vocabulary", function()
  it("tells each word's result, parameters and meaning", function()
    for _, word in ipairs(vocabulary.words) do
      assert.truthy(word[1]:find("^%a[%a%d_]*$"), word[1])
      for i = 2, 4 do assert.truthy(type(word[i]) == "string" and #word[i] > 2, word[1]) end
    end
  end)
end)

describe("a target", function()
  it("with an unknown or a missing word is refused, naming it", function()
    local function complaint_of(change)
      local portable, copy = require "targets.portable", { words = {} }
      for key, value in pairs(portable) do   -- order does not matter: a copy
        if key ~= "words" then copy[key] = value end
      end
      for key, value in pairs(portable.words) do   -- order does not matter: a copy
        copy.words[key] = value
      end
      copy.name = "sample"
      change(copy)
      package.preload["targets.sample"] = function() return copy end
      local got, complaint = pcall(targets.get, "sample")
      package.preload["targets.sample"], package.loaded["targets.sample"] = nil, nil
      assert.is_false(got)
      return complaint
    end
    assert.truthy(complaint_of(function(t) t.words.ad = "return a;" end):find("'ad'", 1, true))
    assert.truthy(complaint_of(function(t) t.words.add = nil end):find("'add'", 1, true))
    assert.truthy(complaint_of(function(t) t.lanes = 0 end):find("lanes", 1, true))
    assert.truthy(complaint_of(function(t) t.registers = nil end):find("registers", 1, true))
    assert.truthy(complaint_of(function(t) t.name = "other" end):find("other", 1, true))
  end)
end)

describe("the tables", function()
  it("are those that a text names", function()
    assert.equal("", words.tables("int x;\n"))
    for _, one in ipairs(vocabulary.tables) do
      local text = words.tables("use(" .. one.name .. " + 3);")
      local head = ("static const %s %s[%d]"):format(one.ctype, one.name, one.count)
      assert.truthy(text:find(head, 1, true))
      local _, values = text:match("{(.-)}"):gsub(",", ",")
      assert.equal(one.count - 1, values)
      for _, other in ipairs(vocabulary.tables) do
        if other ~= one then assert.falsy(text:find(other.name .. "[", 1, true)) end
      end
    end
  end)
end)
