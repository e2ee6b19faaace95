local npz = require "read.npz"
local checkpoint = require "read.checkpoint"
local files = dofile "tests/lua/checkpoint_files.lua"

local has_zlib, zlib = pcall(require, "zlib")

local function raw_deflate(bytes)
  return (zlib.deflate(9, -15)(bytes, "finish"))
end

describe("read.npz", function()
  local path

  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  local function open(members)
    files.write(path, files.zip(members))
    return npz.open(path)
  end

  local function with_array(array)
    return open { { name = "a.npy", bytes = files.npy(array) } }
  end

  local function refused(pattern, file, message)
    assert.is_nil(file)
    assert.equal(path, message:sub(1, #path))
    assert.truthy(message:find(pattern, 1, true), message)
  end

  local two_by_three = { shape = { 2, 3 }, values = { 1, 2, 3, 4, 5, 6 } }

  it("reads names, shapes and numbers", function()
    local file = assert(open {
      { name = "bert/encoder/kernel.npy", bytes = files.npy(two_by_three) },
      { name = "a.npy", bytes = files.npy { shape = { 2 }, values = { -1.5, 0.25 } } },
    })
    assert.same({ "a", "bert/encoder/kernel" }, file.names)
    assert.same({ 2, 3 }, file.tensors["bert/encoder/kernel"].shape)
    assert.same({ 1, 2, 3, 4, 5, 6 }, npz.floats(file, "bert/encoder/kernel"))
    assert.same({ -1.5, 0.25 }, npz.floats(file, "a"))
  end)

  it("turns Fortran order into row-major", function()
    local file = with_array { shape = { 2, 3 }, values = { 1, 4, 2, 5, 3, 6 }, fortran = true }
    assert.same({ 1, 2, 3, 4, 5, 6 }, npz.floats(file, "a"))
    file = with_array { shape = { 2, 1, 2 }, values = { 1, 3, 2, 4 }, fortran = true }
    assert.same({ 1, 2, 3, 4 }, npz.floats(file, "a"))
  end)

  it("reads every dtype that weights come in", function()
    local values = { 0.5, -2, 3 }
    for _, descr in ipairs { "<f4", "<f8", "<f2", ">f4" } do
      local file = with_array { shape = { 3 }, values = values, descr = descr }
      assert.same(values, npz.floats(file, "a"), descr)
    end
    for _, descr in ipairs { "<i8", "|u1" } do
      local file = with_array { shape = { 2 }, values = { 7, 255 }, descr = descr }
      assert.same({ 7, 255 }, npz.floats(file, "a"), descr)
    end
  end)

  it("reads a scalar and the later header versions", function()
    local file = with_array { shape = {}, values = { 4 } }
    assert.same({ 4 }, npz.floats(file, "a"))
    file = with_array { shape = { 1 }, values = { 5 }, version = 2 }
    assert.same({ 5 }, npz.floats(file, "a"))
    file = with_array { shape = { 1 }, values = { 6 }, version = 3 }
    assert.same({ 6 }, npz.floats(file, "a"))
  end)

  it("reads what fills more than one piece of the file", function()
    local values = {}
    for index = 1, 40000 do values[index] = index / 4 end
    local file = with_array { shape = { 40000 }, values = values }
    assert.same(values, npz.floats(file, "a"))
  end)

  it("inflates compressed members", function()
    if not has_zlib then pending("the Lua module zlib is not installed") end
    local values = {}
    for index = 1, 30000 do values[index] = index % 97 end
    local bytes = files.npy { shape = { 100, 300 }, values = values }
    local file = assert(open { { name = "a.npy", bytes = bytes, packed = raw_deflate(bytes) } })
    assert.same(values, npz.floats(file, "a"))
  end)

  it("says what is missing where zlib is", function()
    local loaded, preload = package.loaded.zlib, package.preload.zlib
    package.loaded.zlib = nil
    package.preload.zlib = function() error "absent" end
    finally(function() package.loaded.zlib, package.preload.zlib = loaded, preload end)
    local file, message, cause = open { { name = "a.npy", bytes = "longer", packed = "short" } }
    refused("lua-zlib", file, message)
    assert.equal("environment", cause)
  end)

  it("refuses what is no archive, or a part of one", function()
    files.write(path, "no archive at all")
    refused("not a zip archive", npz.open(path))
    files.write(path, "")
    refused("not a zip archive", npz.open(path))
    local whole = files.zip { { name = "a.npy", bytes = files.npy(two_by_three) } }
    files.write(path, whole:sub(1, -30))
    refused("not a zip archive", npz.open(path))
    files.write(path, whole:sub(40))
    assert.is_nil(npz.open(path))
    refused("encrypted", open { { name = "a.npy", bytes = "x", flags = 1 } })
    local missing, message = npz.open("/nonexistent/file.npz")
    assert.is_nil(missing)
    assert.truthy(message:find("/nonexistent/file.npz", 1, true))
  end)

  it("refuses a directory that points outside", function()
    local bytes = files.zip { { name = "a.npy", bytes = files.npy(two_by_three) } }
    local at = bytes:find("PK\1\2", 1, true)
    files.write(path, bytes:sub(1, at + 41) .. string.pack("<I4", 1 << 30) .. bytes:sub(at + 46))
    refused("must lie within", npz.open(path))
  end)

  it("refuses headers that do not fit their numbers", function()
    refused("only .npy members", open { { name = "notes.txt", bytes = "x" } })
    refused("its magic is missing", open { { name = "a.npy", bytes = ("x"):rep(200) } })
    refused("dtype |V2", with_array { shape = { 1 }, values = { 1 }, descr = "|V2" })
    refused("does not take", with_array { shape = { 7 }, values = { 1, 2 } })
    refused("does not take", with_array { shape = { 1 << 40, 1 << 40 }, values = { 1, 2 } })
    local cut = files.npy(two_by_three):sub(1, 30)
    refused("cut off", open { { name = "a.npy", bytes = cut } })
    local bytes = files.npy(two_by_three)
    refused("stands twice", open {
      { name = "a.npy", bytes = bytes }, { name = "a.npy", bytes = bytes },
    })
  end)
end)

describe("read.checkpoint", function()
  local folder

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(require("lfs").mkdir(folder))
  end)
  after_each(function()
    for name in require("lfs").dir(folder) do os.remove(folder .. "/" .. name) end
    os.remove(folder)
  end)

  local function write_shards(map)
    local one = { { name = "a", shape = { 1 }, values = { 1 } } }
    local two = { { name = "b", shape = { 2 }, values = { 2, 3 } } }
    files.safetensors(folder .. "/one.safetensors", one)
    files.safetensors(folder .. "/two.safetensors", two)
    files.write(folder .. "/model.safetensors.index.json", map)
  end

  it("joins shards by their index, also from the folder", function()
    write_shards [[{ "metadata": {},
      "weight_map": { "a": "one.safetensors", "b": "two.safetensors" } }]]
    for _, path in ipairs { folder, folder .. "/", folder .. "/model.safetensors.index.json" } do
      local opened = assert(checkpoint.open(path))
      assert.same({ "a", "b" }, opened.names)
      assert.same({ 2 }, opened.tensors.b.shape)
      assert.same({ 2, 3 }, opened.floats "b")
    end
  end)

  it("refuses an index that leads astray", function()
    local function refused(pattern)
      local opened, message = checkpoint.open(folder .. "/model.safetensors.index.json")
      assert.is_nil(opened)
      assert.truthy(message:find(pattern, 1, true), message)
    end
    write_shards '{ "weight_map": { "a": "../one.safetensors" } }'
    refused "must be a .safetensors file beside the index"
    write_shards '{ "weight_map": { "c": "one.safetensors" } }'
    refused "has no such tensor"
    write_shards '{ "weight_map": { "a": "three.safetensors" } }'
    refused "three.safetensors"
    write_shards '{ "weight": {} }'
    refused "weight_map"
  end)

  it("drops the output number of TensorFlow's names", function()
    local path = folder .. "/variables.npz"
    files.write(path, files.zip {
      { name = "q/kernel:0.npy", bytes = files.npy { shape = { 1 }, values = { 8 } } },
    })
    local opened = assert(checkpoint.open(path))
    assert.same({ "q/kernel" }, opened.names)
    assert.same({ 8 }, opened.floats "q/kernel")
  end)

  it("refuses forms that it cannot read", function()
    local opened, message = checkpoint.open(folder .. "/pytorch_model.bin")
    assert.is_nil(opened)
    assert.truthy(message:find("have to be converted", 1, true))
    opened, message = checkpoint.open(folder)
    assert.is_nil(opened)
    assert.truthy(message:find("neither model.safetensors nor its index", 1, true))
  end)
end)
