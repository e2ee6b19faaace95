local cost = require "cost"
local explain = require "explain"
local layer_module = require "layer"
local plan_module = require "plan"
local spec = require "spec"
local targets = require "targets"
local tiles = require "plan.tiles"

local NAMES <const> = { "portable", "avx2", "avx512" }

local function completed(raw)
  raw.name = raw.name or "layer"
  local s, complaints = spec.complete(raw)
  assert(s, table.concat(complaints or {}, "\n"))
  return s
end

local function plan_of(raw, target)
  return assert(plan_module.of(layer_module.of(completed(raw)), targets.get(target)))
end

describe("the cost of a tile", function()
  it("grows with rows, panels, depth and distance", function()
    for _, name in ipairs(NAMES) do
      for _, view in ipairs(cost.views(targets.get(name))) do
        for _, shape in ipairs(cost.shapes(targets.get(name))) do
          local near = cost.tile(view, shape.rows, shape.panels, 100, "near")
          assert.is_true(near > 0)
          assert.is_true(cost.tile(view, shape.rows, shape.panels, 200, "near") > near)
          local far = cost.tile(view, shape.rows, shape.panels, 100, "far")
          assert.is_true(far > 0.9 * near, ("%s %d x %d"):format(name, shape.rows, shape.panels))
          assert.is_true(cost.tile(view, shape.rows, shape.panels, 100, "beyond") >= far)
        end
      end
    end
  end)

  it("is known for all tiles that fit and for no other", function()
    local avx512 = targets.get("avx512")
    assert.is_true(cost.fits(avx512, 8, 3))
    assert.is_false(cost.fits(avx512, 10, 3))
    assert.is_true(cost.fits(targets.get("avx2"), 6, 1))
    assert.is_false(cost.fits(targets.get("avx2"), 7, 1))
    assert.has_error(function() cost.tile(cost.views(avx512)[1], 10, 3, 8, "near") end)
  end)

  it("asks for spare chains where it is described", function()
    local view = cost.views(targets.get("avx512"))[2]
    assert.truthy(view.described)
    local function a_sum(rows, panels)
      return cost.tile(view, rows, panels, 768, "near") / (rows * panels)
    end
    assert.is_true(a_sum(8, 3) < a_sum(4, 2))
    assert.is_true(a_sum(4, 2) < a_sum(4, 1))
    assert.is_true(a_sum(1, 8) < a_sum(1, 3))
  end)
end)

describe("the tile of a projection", function()
  it("has eight sums at least where rows and columns allow it", function()
    for _, name in ipairs({ "avx2", "avx512" }) do
      for _, d in ipairs({ 64, 128, 384, 768, 1024 }) do
        local p = plan_of({ heads = d // 32, p_v = 32, d = d, tokens = { max = 512 } }, name)
        for _, role in ipairs({ "q", "k", "v", "o" }) do
          local t = p[role]
          assert.is_true(t.rows * t.vectors >= 8, name .. " " .. role)
          assert.is_true(cost.fits(targets.get(name), t.rows, t.panels))
        end
      end
    end
  end)

  it("leaves no tail of few sums for a fixed count", function()
    for name, least in pairs({ avx2 = 4, avx512 = 8 }) do   -- order does not matter: each by itself
      for tokens = 3, 40 do
        local raw = { heads = 4, p_v = 32, d = 128, tokens = tokens, unroll = "tile" }
        local t = plan_of(raw, name).q
        local last = tokens
        if tokens >= 2 * t.rows then last = tokens % t.rows + t.rows end
        local tail = last > t.rows and last // 2 or last
        if tail == 0 then tail = t.rows end
        assert.is_true(tail * t.vectors >= least,
          ("%s: %d tokens by %d rows, %d vectors"):format(name, tokens, t.rows, t.vectors))
      end
    end
  end)

  it("has more columns for a lone row where they hide latency", function()
    local t = plan_of({ heads = 2, p_v = 64, d = 128, tokens = { max = 512 } }, "avx2").q
    assert.truthy(t.single)
    assert.is_true(t.single.panels > t.panels)
    assert.is_nil(plan_of({ heads = 2, p_v = 64, d = 128, tokens = 1 }, "avx2").q.single)
  end)

  it("is the candidate whose worst machine loses least, the shorter text where losses are alike",
    function()
      local times = { { 10, 20 }, { 11, 10 }, { 11, 10 } }
      local candidates = { { n = 1, size = 1 }, { n = 2, size = 9 }, { n = 3, size = 5 } }
      local chosen, loss = tiles.least(candidates, { 1, 2 }, { 1 }, function(view, candidate)
        return times[candidate.n][view]
      end)
      assert.equal(3, chosen.n)
      assert.is_true(math.abs(loss - 0.1) < 1e-12)
    end)
end)

describe("the size of the code", function()
  local function bytes_of(raw)
    raw.unroll, raw.targets = "tile", NAMES
    local list, total = assert(require("emit").files(completed(raw))), 0
    for _, file in ipairs(list) do
      if not file.path:find("_test%.c$") then total = total + #file.text end
    end
    return total
  end

  it("does not grow with d, heads or tokens in tile mode", function()
    local small = bytes_of { heads = 8, p_v = 64, d = 512, tokens = { max = 256 } }
    for _, raw in ipairs({
      { heads = 8, p_v = 64, d = 8192, tokens = { max = 256 } },
      { heads = 128, p_v = 64, d = 512, tokens = { max = 256 } },
      { heads = 128, p_v = 64, d = 8192, tokens = { max = 256 } },
    }) do
      local size = bytes_of(raw)
      assert.is_true(math.abs(size - small) <= 0.1 * small,
        ("heads %d, d %d, tokens %d: %d bytes beside %d"):format(raw.heads, raw.d, raw.tokens.max,
        size, small))
    end
    assert.is_true(bytes_of { heads = 8, p_v = 64, d = 512, tokens = { max = 65536 } }
      <= 1.1 * small)
  end)
end)

describe("explain", function()
  local text = assert(explain.text(completed {
    name = "small", heads = 2, p_v = 16, d = 32, tokens = { max = 64 }, targets = NAMES,
  }))

  it("tells the plan, the limits and what binds for each target", function()
    for _, name in ipairs(NAMES) do
      assert.truthy(text:find("plan for " .. name .. "\n", 1, true))
    end
    for _, word in ipairs({ "fma", "softmax", "L1", "L2", "memory", "limit", "binds", "predicted",
      "parameters", "packed bytes" }) do
      assert.truthy(text:find(word, 1, true), word)
    end
  end)

  it("tells the bytes and lines of each file", function()
    for _, file in ipairs({ "small.h", "small.c", "small_qkv_avx512.c" }) do
      local bytes, lines = text:match("\n  " .. file:gsub("%.", "%%.") .. " +(%d+) +(%d+)\n")
      assert.is_true(tonumber(bytes) > 20 * tonumber(lines) / 2, file)
    end
  end)

  it("predicts no less than the multiply-adds take", function()
    local checked = 0
    for line in text:gmatch("[^\n]+") do
      local numbers = {}
      for number in line:gmatch("%f[%d][%d.]+") do numbers[#numbers + 1] = tonumber(number) end
      if #numbers == 10 and line:find("^ +%d+ +%d+ +%d") or #numbers == 9
        and line:find("fma +%d") then
        checked = checked + 1
        assert.is_true(numbers[#numbers] >= numbers[3], line)
      end
    end
    assert.is_true(checked >= 6)
  end)
end)
