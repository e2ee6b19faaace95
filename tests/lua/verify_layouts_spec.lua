-- One layer, its tensors stored in every layout that the format of golden cases knows: all pass.

local lfs = require "lfs"
local files = dofile "tests/lua/checkpoint_files.lua"
local json = require "read.json"
local safetensors = require "read.safetensors"
local verify = require "verify"

local base <const> = "tests/golden/edges/p3"
local live <const> = "tests/golden/edges/boolean_per_head"
local H <const>, P <const>, D <const>, T <const> = 2, 3, 12, 5

local function read(path)
  local handle <close> = assert(io.open(path, "rb"))
  return handle:read("a")
end

-- The values of each role of the base case; all matrices are [out][in].
local function values_of_base()
  local content = assert(json.decode(read(base .. ".json"), base))
  local file = assert(safetensors.open(base .. ".safetensors"))
  local values = {}
  for _, kind in ipairs { "inputs", "weights", "expected" } do
    -- order does not matter: a table by role
    for role, name in pairs(content[kind]) do
      values[role] = assert(safetensors.floats(file, name))
    end
  end
  return content, values
end

local function transposed(list, rows, cols)
  local to = {}
  for row = 0, rows - 1 do
    for col = 0, cols - 1 do to[col * rows + row + 1] = list[row * cols + col + 1] end
  end
  return to
end

local function joined(...)
  local to = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #to + 1, to) end
  return to
end

-- Head by head: rows of `width` values of each list in turn.
local function by_head(width, ...)
  local to = {}
  for head = 0, H - 1 do
    for _, list in ipairs { ... } do
      table.move(list, head * P * width + 1, (head + 1) * P * width, #to + 1, to)
    end
  end
  return to
end

-- [rows][heads][p] as [heads][rows][p].
local function head_major(list, heads)
  local p, to = D // heads, {}
  for head = 0, heads - 1 do
    for row = 0, T - 1 do
      table.move(list, row * D + head * p + 1, row * D + (head + 1) * p, #to + 1, to)
    end
  end
  return to
end

local shapes <const> = {
  q = { T, D }, y = { T, D }, wq = { H * P, D }, wk = { H * P, D }, wv = { H * P, D },
  wo = { D, H * P }, bq = { H * P }, bk = { H * P }, bv = { H * P }, bo = { D },
}

describe("verify on one layer", function()
  local dir, content, values

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(lfs.mkdir(dir))
    content, values = values_of_base()
  end)

  after_each(function() os.execute("rm -r " .. dir) end)

  local function write(name, case)
    local handle <close> = assert(io.open(("%s/%s.json"):format(dir, name), "wb"))
    handle:write(json.encode(case))
  end

  local function judge(count)
    local lines = {}
    local options = { cc = "cc", cflags = "-O0", run = "", unroll = "tile" }
    local code = verify.run({ dir }, options, function(line) lines[#lines + 1] = line end)
    assert.equal(count .. " passed, 0 failed", lines[#lines], table.concat(lines, "\n"))
    assert.equal(0, code)
  end

  -- A variant: change gets role -> { kind, shape, values } and the fields of the case.
  local function put(name, change)
    local roles = {}
    for _, kind in ipairs { "inputs", "weights", "expected" } do
      -- order does not matter: a table by role
      for role in pairs(content[kind]) do
        roles[role] = { kind = kind, shape = shapes[role], values = values[role] }
      end
    end
    local case = { spec = content.spec, tolerance = content.tolerance }
    change(roles, case)
    local tensors = {}
    case.inputs, case.weights, case.expected = {}, {}, {}
    for role, tensor in pairs(roles) do -- order does not matter: a file of named tensors
      local name_of = "the " .. role
      tensors[#tensors + 1] = { name = name_of, shape = tensor.shape, values = tensor.values }
      case[tensor.kind][role] = name_of
    end
    files.safetensors(("%s/%s.safetensors"):format(dir, name), tensors)
    write(name, case)
  end

  local function weight(shape, list) return { kind = "weights", shape = shape, values = list } end

  local function without(roles, ...)
    for _, role in ipairs { ... } do roles[role] = nil end
  end

  local function turn(roles)
    for _, role in ipairs { "wq", "wk", "wv", "wo", "wqkv", "wkv" } do
      local w = roles[role]
      if w then
        w.values = transposed(w.values, w.shape[1], w.shape[2])
        w.shape = { w.shape[2], w.shape[1] }
      end
    end
  end

  local function fuse_all(roles, join)
    roles.wqkv = weight({ 3 * H * P, D }, join(D, values.wq, values.wk, values.wv))
    roles.bqkv = weight({ 3 * H * P }, join(1, values.bq, values.bk, values.bv))
    without(roles, "wq", "wk", "wv", "bq", "bk", "bv")
  end

  local function fuse_two(roles, join)
    roles.wkv = weight({ 2 * H * P, D }, join(D, values.wk, values.wv))
    roles.bkv = weight({ 2 * H * P }, join(1, values.bk, values.bv))
    without(roles, "wk", "wv", "bk", "bv")
  end

  local function in_blocks(_, ...) return joined(...) end

  it("passes in every layout of weights, inputs and outputs", function()
    put("plain", function() end)
    put("turned", function(roles, case)
      case.layout = "in_out"
      turn(roles)
    end)
    put("blocks", function(roles) fuse_all(roles, in_blocks) end)
    put("heads", function(roles, case)
      case.fused = "per_head"
      fuse_all(roles, by_head)
    end)
    put("blocks_turned", function(roles, case)
      case.layout = "in_out"
      fuse_all(roles, in_blocks)
      turn(roles)
    end)
    put("heads_turned", function(roles, case)
      case.layout, case.fused = "in_out", "per_head"
      fuse_all(roles, by_head)
      turn(roles)
    end)
    put("two_blocks", function(roles) fuse_two(roles, in_blocks) end)
    put("two_heads_turned", function(roles, case)
      case.layout, case.fused = "in_out", "per_head"
      fuse_two(roles, by_head)
      turn(roles)
    end)
    put("own_keys", function(roles)
      roles.k = { kind = "inputs", shape = { T, D }, values = values.q }
    end)
    put("own_values", function(roles)
      roles.v = { kind = "inputs", shape = { T, D }, values = values.q }
    end)
    put("head_major", function(roles, case)
      case.io_layout = "head_major"
      roles.q = { kind = "inputs", shape = { 3, T, D // 3 }, values = head_major(values.q, 3) }
      roles.y = {
        kind = "expected", shape = { H, T, D // H }, values = head_major(values.y, H),
      }
    end)
    put("batch", function(roles, case)
      case.batch = 2
      roles.q.shape, roles.q.values = { 2, T, D }, joined(values.q, values.q)
      roles.y.shape, roles.y.values = { 2, T, D }, joined(values.y, values.y)
    end)
    judge(12)
  end)

  -- The keys and the columns of masks behind the live ones hold what no result may show.
  it("passes where only some of the keys are live", function()
    local case = assert(json.decode(read(live .. ".json"), live))
    local file = assert(safetensors.open(live .. ".safetensors"))
    local tensors = {}
    for _, name in ipairs(file.names) do
      local dtype = file.tensors[name].dtype
      tensors[name] = {
        name = name, dtype = dtype, shape = file.tensors[name].shape,
        values = dtype == "F32" and safetensors.floats(file, name)
          or { safetensors.bytes(file, name):byte(1, -1) },
      }
      tensors[#tensors + 1] = tensors[name]
    end
    for _, role in ipairs { "k", "v" } do
      local shape, list = tensors[case.inputs[role]].shape, tensors[case.inputs[role]].values
      for _ = 1, 2 * shape[2] do list[#list + 1] = 0.0 / 0.0 end
      shape[1] = shape[1] + 2
    end
    local mask = tensors[case.inputs.boolean]
    local shape, wide = mask.shape, {}
    for row = 0, shape[1] * shape[2] - 1 do
      table.move(mask.values, row * shape[3] + 1, (row + 1) * shape[3], #wide + 1, wide)
      table.move({ 1, 1 }, 1, 2, #wide + 1, wide)
    end
    mask.values, shape[3] = wide, shape[3] + 2
    tensors[#tensors + 1] = { name = "n", dtype = "I32", shape = { 1 }, values = { 7 } }
    case.inputs.context_length, case.spec.context = "n", { max = 9 }
    files.safetensors(dir .. "/live.safetensors", tensors)
    write("live", case)
    case.expected.weights = nil
    files.safetensors(dir .. "/unasked.safetensors", tensors)
    write("unasked", case)
    judge(2)
  end)
end)
