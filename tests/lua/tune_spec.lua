-- What `make tune` measures and how it is fitted; the times are made up, so no machine is asked.

package.path = "tests/bench/?.lua;" .. package.path

local cost = require "cost"
local fit = require "tune_fit"
local program = require "tune_program"
local targets = require "targets"

local CC <const> = os.getenv("CC") or "cc"

local function write(path, text)
  local handle <close> = assert(io.open(path, "wb"))
  handle:write(text)
end

describe("the program that measures", function()
  for _, name in ipairs { "portable", "avx2", "avx512" } do
    it("is C that has every tile of " .. name, function()
      local target = targets.get(name)
      local text, path = program.text(target), os.tmpname()
      for _, shape in ipairs(cost.shapes(target)) do
        local key = ('"tile:%d:%d:32"'):format(shape.rows, shape.panels)
        assert.truthy(text:find(key, 1, true), key)
      end
      write(path, text)
      local command = "%s -x c -std=gnu11 -Wall -Werror -fsyntax-only %s"
      assert(os.execute(command:format(CC, path)))
      os.remove(path)
    end)
  end
end)

describe("the fit", function()
  --- Times of a machine whose tiles take `call` and a nanosecond a step and row.
  local function times_of(target, call)
    local times = {}
    for _, shape in ipairs(cost.shapes(target)) do
      for _, depth in ipairs(program.DEPTHS) do
        local key = ("tile:%d:%d:%d"):format(shape.rows, shape.panels, depth)
        times[key] = call + shape.rows * depth
      end
      if shape.rows == 1 then times["stream:" .. shape.panels] = 1e6 end
    end
    for _, keys in ipairs(program.KEYS) do
      times["soften:" .. keys] = 4 * (10 + 2 * keys / target.lanes)
    end
    return times
  end

  it("finds what a row and a vector of the softmax take, and a step of a tile", function()
    local target = targets.get("avx512")
    local fitted = fit.fitted({ { name = "one", target = "avx512", flags = "-O2" } },
      { one = times_of(target, 0) }, { first = 32768, second = 1048576 })
    local variant = fitted.variants[1]
    assert.near(10, variant.soften.row, 1e-6)
    assert.near(2, variant.soften.vector, 1e-6)
    for _, tile in ipairs(variant.tiles) do
      assert.equal(0, tile[3])
      assert.near(tile[1], tile[4], 1e-6)
      assert.near(tile[1], tile[5], 1e-6)
    end
    local again = assert(load(fit.text { machine = { model = "m", compiler = "c" },
      caches = fitted.caches, calls = fitted.calls, variants = fitted.variants }))()
    assert.same(variant.tiles, again.variants[1].tiles)
  end)
end)
