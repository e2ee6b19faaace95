-- Full unrolling, proven from the text; full_code_spec.lua proves it from the machine code.

local emit = require "emit"
local layer_matrix = dofile "tests/lua/layer_matrix.lua"
local layer_module = require "layer"
local lfs = require "lfs"
local plan_module = require "plan"
local spec = require "spec"
local targets = require "targets"
local text_of = dofile "tests/full/text.lua"

local function complete(raw)
  local completed, complaints = spec.complete(raw)
  assert(completed, table.concat(complaints or {}, "\n"))
  return completed
end

--- The names of the targets that are built, in order.
local function built()
  local list = {}
  for _, name in ipairs(targets.names) do
    local file = package.searchpath("targets." .. name, package.path)
    if file then list[#list + 1] = name end
  end
  return list
end

--- The files of the stages: { path, text, target }.
local function stages_of(completed)
  local list = {}
  for _, file in ipairs(assert(emit.files(completed))) do
    local rest = file.path:match("/(.*)$"):sub(#completed.name + 1)
    for _, stage in ipairs({ "_qkv", "_attention", "_output" }) do
      local machine = rest:match("^" .. stage .. "(.*)%.c$")
      if machine then
        list[#list + 1] = {
          path = file.path:match("[^/]*$"), text = file.text,
          target = machine == "" and "portable" or machine:sub(2),
        }
      end
    end
  end
  assert(#list > 0)
  return list
end

--- Which functions hold the layer's own multiply-adds: not those of a word, of a norm, or of the
-- way around values that are NaN behind dropped keys, which does again what a tile did.
local function is_of_layer(name)
  return not (name:find("^vec_") or name:find("^norm_") or name:find("careful"))
end

--- The multiply-adds in a text, function by function: { name = count }, and in all.
local function multiply_adds_of(text)
  local by_function, total = {}, 0
  for _, fn in ipairs(text_of.functions(text)) do
    local count = fn.calls.vec_fma or 0
    if is_of_layer(fn.name) then
      by_function[fn.name] = (by_function[fn.name] or 0) + count
      total = total + count
    end
  end
  return by_function, total
end

--- The layers of the matrix written out, on every target that is built.
local function full_layers()
  local list = {}
  for _, raw in ipairs(layer_matrix.specs("full")) do
    raw.targets = built()
    list[#list + 1] = complete(raw)
  end
  list[#list + 1] = complete(dofile("specs/small_full.lua"))
  return list
end

describe("the text of a full layer", function()
  it("has no loop keyword", function()
    for _, completed in ipairs(full_layers()) do
      for _, file in ipairs(stages_of(completed)) do
        assert.same({}, text_of.loops(file.text), file.path)
      end
    end
  end)

  it("has each multiply-add of the layer, lane by lane, as a statement: as many as its plan counts",
    function()
      for _, completed in ipairs(full_layers()) do
        local layer = layer_module.of(completed)
        local found = {}
        for _, file in ipairs(stages_of(completed)) do
          local _, total = multiply_adds_of(file.text)
          found[file.target] = (found[file.target] or 0) + total
        end
        for _, name in ipairs(completed.targets) do
          local planned = plan_module.of(layer, targets.get(name)).statements
          -- the steps of a score may need one more for each row and vector of keys
          local steps = completed.position.relative or completed.position.bias
          local lanes = targets.get(name).lanes
          local rows = completed.tokens.max * completed.heads
          local vectors = (layer.keys_max + lanes - 1) // lanes
          local most = planned.total + (steps and rows * vectors or 0)
          assert.is_true(found[name] >= planned.total and found[name] <= most,
            ("%s, %s: %d of %d"):format(completed.name, name, found[name], planned.total))
        end
      end
    end)

  it("tells that count in its banner", function()
    local raw = dofile("specs/small_full.lua")
    raw.targets = { "portable" }
    for _, file in ipairs(stages_of(complete(raw))) do
      local banner = file.text:match("^(.-)%*/\n\n"):gsub("\n %*%s*", " ")
      assert.truthy(banner:find("352 vector multiply-adds of 16 lanes", 1, true), banner)
      assert.truthy(banner:find("4,608 multiply-adds", 1, true), banner)
    end
  end)

  it("is found to have loops where it has some", function()
    local loops = 0
    for _, file in ipairs(stages_of(complete(layer_matrix.specs("tile")[1]))) do
      loops = loops + #text_of.loops(file.text)
    end
    assert.is_true(loops > 3)
    local sample = "/* for while */\nfor (;;) { x = \"while\"; }\n#define do\ngoto a;\n"
    assert.equal(2, #text_of.loops(sample))
  end)
end)

describe("extreme shapes", function()
  local SHAPES <const> = {
    { heads = 1, p_v = 1, d = 30000, tokens = 1 },
    { heads = 1, p_v = 1, d = 1, p_o = 40000, tokens = 1 },
    { heads = 1, p_v = 1, d = 1, tokens = 1, context = { max = 2500 } },
    { heads = 60, p_v = 2, d = 120, tokens = { max = 2 } },
    { heads = 2, kv_heads = 1, p_v = 1, p_q = 400, d = 20, tokens = 2 },
    { heads = 1, p_v = 170, d = 170, tokens = 1 },
    { heads = 1, p_v = 64, tokens = 1, context = 600, project = {},
      position = { relative = { kind = "key_query", left = 600, right = 600 } } },
    { attention = false, heads = 1, p_v = 20000, p_o = 6, tokens = 1 },
  }

  for i, raw in ipairs(SHAPES) do
    it(("%d is written out with at most 4,096 multiply-adds a function"):format(i), function()
      raw.name, raw.unroll = "extreme", "full"
      local completed = complete(raw)
      local layer = layer_module.of(completed)
      local found = 0
      for _, file in ipairs(stages_of(completed)) do
        assert.same({}, text_of.loops(file.text), file.path)
        local by_function, total = multiply_adds_of(file.text)
        found = found + total
        for name, count in pairs(by_function) do   -- order does not matter: each is judged alone
          assert.is_true(count <= 4096, file.path .. ": " .. name .. " has " .. count)
        end
      end
      local planned = plan_module.of(layer, targets.get("portable")).statements
      assert.is_true(found >= planned.total and found <= planned.total + layer.keys_max)
    end)
  end
end)

-- ---- The program --------------------------------------------------------------------------------

local folder

local function put(path, text)
  local handle <close> = assert(io.open(folder .. "/" .. path, "wb"))
  handle:write(text)
end

--- Runs a command in the folder; what it prints, and its exit code.
local function run(command)
  local _, _, code = os.execute(("cd %s && { %s ; } >log 2>&1 </dev/null"):format(folder, command))
  local handle <close> = assert(io.open(folder .. "/log", "rb"))
  return code, handle:read("a")
end

local function in_folder()
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
  end)

  after_each(function() os.execute("rm -r " .. folder) end)
end

describe("qkvc generate of a full layer over the budget", function()
  in_folder()

  it("ends with exit 2, the count, the budget and the alternative, and writes nothing", function()
    put("big.lua", [[
return { name = "big", heads = 12, p_v = 64, d = 768, tokens = 4, unroll = "full" }
]])
    local qkvc = lfs.currentdir() .. "/generator/qkvc "
    local code, log = run(qkvc .. "generate big.lua -o out")
    assert.equal(2, code)
    local count = 4 * 4 * 768 * 48 + 4 * 12 * 64 + 4 * 12 * 4 * 4
    for _, part in ipairs({ "big.lua", "unroll", "full", tostring(count), "131072", "tile" }) do
      assert.truthy(log:find(part, 1, true), part .. " is not in: " .. log)
    end
    assert.is_nil(lfs.attributes(folder .. "/out/big"))
    assert.equal(0, (run(qkvc .. "generate big.lua -o out --unroll tile")))
  end)
end)
