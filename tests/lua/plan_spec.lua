local layer_matrix = dofile "tests/lua/layer_matrix.lua"
local layer_module = require "layer"
local plan_module = require "plan"
local spec = require "spec"
local targets = require "targets"

local function layer_of(raw)
  local completed, complaints = spec.complete(raw)
  assert(completed, table.concat(complaints or {}, "\n"))
  return layer_module.of(completed)
end

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

--- A plan as text, whatever it holds; functions and the target's own words are left out.
local function text_of(value)
  if type(value) == "function" then return "function" end
  if type(value) ~= "table" then return tostring(value) end
  local keys, lines = {}, {}
  for key in pairs(value) do   -- order does not matter: sorted next
    if key ~= "target" then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for i, key in ipairs(keys) do lines[i] = tostring(key) .. "=" .. text_of(value[key]) end
  return "{" .. table.concat(lines, ",") .. "}"
end

--- A generator of its own, so that each run tries the same layers.
local function chooser(seed)
  local state = seed
  return function(low, high)
    state = (state * 6364136223846793005 + 1442695040888963407) & ~0
    return low + (state >> 33) % (high - low + 1)
  end
end

describe("a plan", function()
  it("is the same whenever it is made", function()
    for _, target in ipairs(built()) do
      for _, unroll in ipairs({ "tile", "full", "auto" }) do
        for _, raw in ipairs(layer_matrix.specs(unroll)) do
          local first = text_of(assert(plan_module.of(layer_of(raw), target)))
          assert.equal(first, text_of(assert(plan_module.of(layer_of(raw), target))), raw.name)
        end
      end
    end
  end)

  it("is plain data with a text for the banner", function()
    for _, target in ipairs(built()) do
      for _, raw in ipairs(layer_matrix.specs("tile")) do
        local p = assert(plan_module.of(layer_of(raw), target))
        assert.equal(target, p.target)
        assert.equal(target.lanes, p.lanes)
        local text = plan_module.text(p)
        assert.equal("string", type(text))
        assert.falsy(text:find("[\n%z\1-\31]"), text)
        assert.truthy(#text > 0, raw.name)
      end
    end
  end)

  it("leaves no stage in loops where full is asked for, and every stage where tile is", function()
    for _, target in ipairs(built()) do
      for unroll, wanted in pairs({ full = true, tile = false }) do   -- order does not matter: both
        for _, raw in ipairs(layer_matrix.specs(unroll)) do
          local p = assert(plan_module.of(layer_of(raw), target))
          for _, stage in ipairs({ "qkv", "attention", "output" }) do
            assert.equal(wanted, p.full[stage] and true or false, raw.name .. " " .. stage)
          end
        end
      end
    end
  end)

  it("chooses where auto is asked for: a tiny layer is written out, a real one not", function()
    for _, target in ipairs(built()) do
      local function full_stages(raw)
        local count = 0
        local p = assert(plan_module.of(layer_of(raw), target))
        for _, stage in ipairs({ "qkv", "attention", "output" }) do
          if p.full[stage] then count = count + 1 end
        end
        return count
      end
      assert.equal(3, full_stages({ name = "a", heads = 1, p_v = 4, d = 4, tokens = 1 }))
      assert.equal(0, full_stages({
        name = "a", heads = 12, p_v = 64, d = 768, tokens = { max = 512 },
      }))
    end
  end)
end)

describe("the statements of a layer", function()
  it("are those of its multiply-adds that fill the lanes", function()
    local l = layer_of({ name = "s", heads = 2, p_v = 8, d = 16, tokens = 4, unroll = "full" })
    for _, target in ipairs(built()) do
      local lanes = target.lanes
      local function vectors(columns) return (columns + lanes - 1) // lanes end
      local s = plan_module.of(l, target).statements
      assert.equal(4 * 16 * vectors(16), s.q)
      assert.equal(4 * 16 * vectors(16), s.k)
      assert.equal(4 * 16 * vectors(16), s.v)
      assert.equal(4 * 2 * 8 * vectors(4), s.scores)
      assert.equal(4 * 2 * 4 * vectors(8), s.mix)
      assert.equal(4 * 16 * vectors(16), s.o)
      assert.equal(s.q + s.k + s.v + s.scores + s.mix + s.o + (s.position or 0), s.total)
    end
  end)

  it("are never more than the multiply-adds, so that full refuses no layer of 131,072", function()
    local choose = chooser(7)
    local tried = 0
    while tried < 500 do
      local raw = { name = "any", unroll = "full" }
      raw.heads = choose(1, 6)
      raw.p_q, raw.p_v = choose(1, 20), choose(1, 20)
      for _, field in ipairs({ "d_q", "d_k", "d_v", "p_o" }) do
        raw[field] = choose(1, 4) == 1 and choose(1, 30000) or choose(1, 40)
      end
      raw.tokens = choose(1, 3) == 1 and { max = choose(1, 60) } or choose(1, 6)
      if choose(1, 2) == 1 then raw.context = { max = choose(1, 400) } end
      if choose(1, 3) == 1 then raw.kv_heads = 1 end
      local l = layer_of(raw)
      if l.multiply_adds.total <= 131072 then
        tried = tried + 1
        for _, target in ipairs(built()) do
          local p, complaint = plan_module.of(l, target)
          assert(p, complaint)
          assert.is_true(p.statements.total <= l.multiply_adds.total)
        end
      end
    end
  end)

  it("of extreme shapes are within the budget where the layer is", function()
    for _, raw in ipairs({
      { heads = 1, p_v = 1, d = 30000, tokens = 1 },
      { heads = 1, p_v = 1, d = 1, p_o = 65000, tokens = 1 },
      { heads = 1, p_v = 1, d = 1, tokens = 1, context = { max = 30000 } },
      { heads = 120, p_v = 1, d = 120, tokens = 1 },
      { heads = 1, p_v = 1, d = 1, tokens = { max = 200 } },
      { heads = 1, p_v = 180, d = 180, tokens = 1 },
      { heads = 32000, p_v = 1, tokens = 1, project = {} },
    }) do
      raw.name, raw.unroll = "extreme", "full"
      local l = layer_of(raw)
      assert.is_true(l.multiply_adds.total <= 131072)
      for _, target in ipairs(built()) do assert(plan_module.of(l, target)) end
    end
  end)
end)

describe("a full layer over the budget", function()
  local BIG <const> = { name = "big", heads = 12, p_v = 64, d = 768, tokens = 8, unroll = "full" }

  it("is refused with its count, the budget and the alternative", function()
    for _, target in ipairs(built()) do
      local p, complaint = plan_module.of(layer_of(BIG), target)
      assert.is_nil(p)
      local lanes = target.lanes
      local projections = 4 * 8 * 768 * (768 // lanes)
      local scores, mix = 8 * 12 * 64 * ((8 + lanes - 1) // lanes), 8 * 12 * 8 * (64 // lanes)
      local count = projections + scores + mix
      local parts = { "unroll: ", "full", tostring(count), "131072", '"tile"', target.name }
      for _, part in ipairs(parts) do
        assert.truthy(complaint:find(part, 1, true), part .. " is not in: " .. complaint)
      end
    end
  end)

  it("is planned where tile or auto is asked for", function()
    for _, unroll in ipairs({ "tile", "auto" }) do
      local raw = {}
      for field, value in pairs(BIG) do raw[field] = value end   -- order does not matter: a copy
      raw.unroll = unroll
      for _, target in ipairs(built()) do assert.truthy(plan_module.of(layer_of(raw), target)) end
    end
  end)

  it("is refused by the emitter with a complaint for each target", function()
    local files, complaints = require("emit").files(assert(spec.complete(BIG)))
    assert.is_nil(files)
    assert.equal(1, #complaints)
    assert.truthy(complaints[1]:find("131072", 1, true))
  end)
end)
