local targets = require "targets"
local vocabulary = require "vocabulary"

--- Names of targets but the first, which is portable C.
local function machines()
  return { table.unpack(targets.names, 2) }
end

--- The bodies that a target gives, counted words with each count they can have.
local function bodies_of(target)
  local list = {}
  for _, word in ipairs(vocabulary.words) do
    local body = target.words[word[1] .. (word.counted and "_part" or "")]
    if word.counted then
      for n = 1, target.lanes - 1 do list[#list + 1] = body(n) end
    elseif body then
      list[#list + 1] = body
    end
  end
  return list
end

describe("targets", function()
  it("begin with portable C and stand in the order in which they get better", function()
    assert.equal("portable", targets.names[1])
    local lanes = 0
    for _, name in ipairs(machines()) do
      assert.is_true(targets.get(name).lanes > lanes, name)
      lanes = targets.get(name).lanes
    end
  end)

  for _, name in ipairs(targets.names) do
    local target = targets.get(name)

    it(name .. " divides a panel of 16 columns", function()
      assert.equal(0, 16 % target.lanes)
      assert.equal("boolean", type(target.fma))
    end)

    it(name .. " gives each word a body, and no body twice for two counts", function()
      local seen = {}
      for _, body in ipairs(bodies_of(target)) do
        assert.equal("string", type(body))
        assert.truthy(body:find("%S"))
        assert.falsy(body:find("nil", 1, true), body)
      end
      for _, kind in ipairs { "load_part", "store_part" } do
        for n = 1, target.lanes - 1 do
          local body = target.words[kind](n)
          assert.is_nil(seen[body], body)
          seen[body] = true
        end
      end
    end)
  end

  for _, name in ipairs(machines()) do
    local target = targets.get(name)

    it(name .. " says where it compiles and how a CPU is asked", function()
      assert.truthy(target.guard:find("__x86_64__", 1, true))
      assert.truthy(target.guard:find("__GNUC__", 1, true))
      assert.same({ "immintrin.h" }, target.headers)
      assert.truthy(target.test:find("__builtin_cpu_init();", 1, true))
      for feature in target.attribute:gmatch("[^,]+") do
        assert.truthy(target.test:find(('__builtin_cpu_supports("%s")'):format(feature), 1, true))
      end
      assert.truthy(target.preamble:find("^typedef __m%d+ vec;\n$"))
    end)

    it(name .. " uses no name of a wider machine", function()
      for _, body in ipairs(bodies_of(target)) do
        for width in body:gmatch("_mm(%d+)_") do
          assert.is_true(tonumber(width) <= 32 * target.lanes, body)
        end
      end
    end)
  end
end)
