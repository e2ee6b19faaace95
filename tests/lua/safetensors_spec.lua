local json = require "read.json"
local safetensors = require "read.safetensors"

-- A file with the given header and data; the header is a table, or a text as it is to stand there.
local function file_with(header, data, length)
  local text = type(header) == "string" and header or json.encode(header)
  local path = os.tmpname()
  local handle <close> = assert(io.open(path, "wb"))
  handle:write(string.pack("<i8", length or #text), text, data or "")
  return path
end

local function tensor(dtype, shape, first, last)
  return { dtype = dtype, shape = setmetatable(shape, { __jsontype = "array" }),
           data_offsets = { first, last } }
end

describe("read.safetensors", function()
  local paths = {}

  local function open(...)
    local path = file_with(...)
    paths[#paths + 1] = path
    local file, message = safetensors.open(path)
    if message then
      assert.is_nil(file)
      assert.equal(path, message:sub(1, #path))
    end
    return file, message
  end

  local function refused(pattern, ...)
    local file, message = open(...)
    assert.is_nil(file)
    assert.truthy(message:find(pattern, 1, true), message)
  end

  after_each(function()
    for _, path in ipairs(paths) do os.remove(path) end
    paths = {}
  end)

  it("gives names, shapes, and offsets in the file", function()
    local header = {
      b = tensor("F32", { 2, 1 }, 0, 8), a = tensor("U8", { 3 }, 8, 11),
      empty = tensor("F32", { 0, 5 }, 11, 11), scalar = tensor("I32", {}, 11, 15),
      __metadata__ = { format = "pt" },
    }
    local file = open(header, string.pack("<ffBBBi4", 1.5, -2, 7, 8, 9, -1))
    assert.same({ "a", "b", "empty", "scalar" }, file.names)
    local start = 8 + #json.encode(header)
    assert.same({ dtype = "U8", shape = { 3 }, offset = start + 8, bytes = 3 }, file.tensors.a)
    assert.same({}, file.tensors.scalar.shape)
    assert.same({ 1.5, -2.0 }, safetensors.floats(file, "b"))
    assert.same({}, safetensors.floats(file, "empty"))
    assert.equal("\7\8\9", safetensors.bytes(file, "a"))
    assert.equal("\255\255\255\255", safetensors.bytes(file, "scalar"))
  end)

  it("decodes every float format, NaN, infinities and denormals included", function()
    local halves = string.pack("<I2I2I2I2I2I2I2", 0x3c00, 0xc500, 0x0001, 0x7bff, 0x7c00, 0xfc00,
                               0x7e00)
    local brains = string.pack("<I2I2I2I2", 0x3f80, 0xc0a0, 0x7f80, 0x7fc0)
    local doubles = string.pack("<dd", 0.1, -1 / 0)
    local file = open({ h = tensor("F16", { 7 }, 0, 14), b = tensor("BF16", { 4 }, 14, 22),
                        d = tensor("F64", { 2 }, 22, 38) }, halves .. brains .. doubles)
    local h = safetensors.floats(file, "h")
    assert.same({ 1.0, -5.0, 2.0 ^ -24, 65504.0, math.huge, -math.huge }, { table.unpack(h, 1, 6) })
    assert.is_true(h[7] ~= h[7])
    local b = safetensors.floats(file, "b")
    assert.same({ 1.0, -5.0, math.huge }, { table.unpack(b, 1, 3) })
    assert.is_true(b[4] ~= b[4])
    assert.same({ 0.1, -math.huge }, safetensors.floats(file, "d"))
  end)

  it("decodes tensors larger than one piece", function()
    local count = 70001
    local pieces, brains = {}, {}
    for index = 1, count do
      pieces[index] = string.pack("<f", index)
      brains[index] = string.pack("<f", index % 256):sub(3, 4)
    end
    local file = open({ f = tensor("F32", { count }, 0, 4 * count),
                        b = tensor("BF16", { count }, 4 * count, 6 * count) },
                      table.concat(pieces) .. table.concat(brains))
    local floats, short = safetensors.floats(file, "f"), safetensors.floats(file, "b")
    assert.equal(count, #floats)
    assert.equal(count, #short)
    for index = 1, count do
      if floats[index] ~= index or short[index] ~= index % 256 then
        error("element " .. index .. " differs")
      end
    end
  end)

  it("refuses a file that is not there, a folder, and an empty file", function()
    local _, message = safetensors.open("no/such/file")
    assert.truthy(message:find("no/such/file", 1, true))
    _, message = safetensors.open("/tmp")
    assert.truthy(message:find("a folder", 1, true))
    _, message = safetensors.open("/dev/null")
    assert.truthy(message:find("truncated: 0 bytes", 1, true))
  end)

  it("refuses a header length beyond the file", function()
    refused("header length 1000: only 2 bytes follow", "{}", "", 1000)
  end)

  it("refuses header lengths of many gigabytes before it reads them", function()
    refused("header length 8589934592: must be at most 100000000", "{}", "", 1 << 33)
    refused("header length 9223372036854775807", "{}", "", math.maxinteger)
    refused("header length 0xffffffffffffffff", "{}", "", -1)
  end)

  it("refuses headers that are not an object", function()
    refused("header: line 1, column 1", "x", "")
    refused("header: must be an object", "[]", "")
    refused("header: line 1, column 1: unterminated object", '{"a": 1', "")
    refused("a: the key stands twice", '{"a": {}, "a": {}}', "")
    refused("header: line 1, column 1: value expected", "", "")
  end)

  it("refuses metadata that is not an object", function()
    refused('__metadata__ ["x"]: must be an object', '{"__metadata__": ["x"]}', "")
  end)

  it("opens a file without tensors", function()
    assert.same({}, open("{}  ", "").names)
  end)

  local good = tensor("F32", { 2 }, 0, 8)
  local data = ("x"):rep(8)
  local wrong = {
    { "an entry that is no object", { a = 3 }, 'tensor "a": 3: the entry must be an object' },
    { "an unknown dtype", { a = tensor("F33", { 2 }, 0, 8) }, 'dtype "F33": not a known dtype' },
    { "a missing dtype", { a = { shape = { 2 }, data_offsets = { 0, 8 } } }, "dtype nil" },
    { "a missing shape", { a = { dtype = "F32", data_offsets = { 0, 8 } } }, "shape nil" },
    { "a negative dimension", { a = tensor("F32", { -2 }, 0, 8) },
      "shape [-2]: dimensions must be whole numbers" },
    { "a fractional dimension", { a = tensor("F32", { 2.0 }, 0, 8) },
      "shape [2.0]: dimensions must be whole numbers" },
    { "a dimension that is a text", { a = tensor("F32", { "2" }, 0, 8) }, 'shape ["2"]' },
    { "a shape that overflows", { a = tensor("F32", { 1 << 31, 1 << 31 }, 0, 8) },
      "shape [2147483648,2147483648]: the size does not fit into 63 bits" },
    { "a shape that overflows to its size", { a = tensor("F32", { 1 << 62, 2 }, 0, 8) },
      "does not fit into 63 bits" },
    { "missing offsets", { a = { dtype = "F32", shape = { 2 } } },
      "data_offsets nil: must be two" },
    { "one offset", { a = { dtype = "F32", shape = { 2 }, data_offsets = { 0 } } },
      "data_offsets [0]: must be two" },
    { "negative offsets", { a = tensor("F32", { 2 }, -8, 0) }, "data_offsets [-8,0]: must be two" },
    { "offsets in the wrong order", { a = tensor("F32", { 2 }, 8, 0) },
      "data_offsets [8,0]: the begin must not lie behind the end" },
    { "offsets outside the file", { a = tensor("F32", { 4 }, 0, 16) },
      "data_offsets [0,16]: must lie within the 8 bytes behind the header" },
    { "offsets far outside the file", { a = tensor("F32", { 2 }, 0, math.maxinteger) },
      "must lie within the 8 bytes" },
    { "a size that is not the shape's", { a = tensor("F32", { 1 }, 0, 8) },
      "data_offsets [0,8]: 8 bytes, but shape [1] of F32 takes 4" },
    { "a size that is not the dtype's", { a = tensor("F64", { 2 }, 0, 8) },
      "8 bytes, but shape [2] of F64 takes 16" },
    { "two tensors at one place", { a = good, b = good },
      'tensor "b": begins at 0, but "a" ends at 8: tensors must not overlap' },
    { "tensors that overlap in part",
      { a = tensor("F32", { 1 }, 0, 4), b = tensor("U8", { 5 }, 3, 8) },
      "tensors must not overlap" },
    { "a gap between tensors",
      { a = tensor("U8", { 2 }, 0, 2), b = tensor("U8", { 5 }, 3, 8) },
      'tensor "b": begins at 3, but what stands before ends at 2: no gaps are allowed' },
    { "a gap in front", { a = tensor("U8", { 7 }, 1, 8) },
      'tensor "a": begins at 1, but what stands before ends at 0' },
    { "bytes behind the last tensor", { a = tensor("U8", { 6 }, 0, 6) },
      "2 bytes behind the last tensor belong to none" },
  }
  for _, case in ipairs(wrong) do
    it("refuses " .. case[1], function() refused(case[3], case[2], data) end)
  end

  it("refuses a file whose data is truncated", function()
    refused("data_offsets [0,8]: must lie within the 5 bytes", { a = good }, "xxxxx")
  end)

  it("notices a file that shrank after it was opened", function()
    local file = open({ a = good }, data)
    local handle <close> = assert(io.open(file.path, "rb"))
    local text = handle:read("a")
    local shorter <close> = assert(io.open(file.path, "wb"))
    shorter:write(text:sub(1, -4))
    shorter:flush()
    local floats, message = safetensors.floats(file, "a")
    assert.is_nil(floats)
    assert.truthy(message:find('tensor "a": truncated, 3 of 8 bytes are missing', 1, true), message)
  end)

  it("refuses numbers of a tensor that holds none, or that is not there", function()
    local file = open({ a = tensor("I32", { 2 }, 0, 8) }, data)
    local _, message = safetensors.floats(file, "a")
    assert.truthy(message:find('tensor "a": dtype I32: must be F32, F16, BF16 or F64', 1, true))
    _, message = safetensors.floats(file, "b")
    assert.truthy(message:find('tensor "b": not in the file', 1, true))
    _, message = safetensors.bytes(file, "b")
    assert.truthy(message:find('tensor "b": not in the file', 1, true))
  end)
end)
