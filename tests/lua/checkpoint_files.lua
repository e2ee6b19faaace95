--- Small checkpoints for the tests, written byte by byte.

local json = require "read.json"

local checkpoint_files = {}

local function array(list) return setmetatable(list, { __jsontype = "array" }) end

local letters <const> = { F32 = "f", F64 = "d", I32 = "i4", U8 = "B" }

local function half_bits(value)
  if value == 0 then return 0 end
  local mantissa, exponent = math.abs(value), 15
  while mantissa >= 2 do mantissa, exponent = mantissa / 2, exponent + 1 end
  while mantissa < 1 do mantissa, exponent = mantissa * 2, exponent - 1 end
  local fraction = math.floor((mantissa - 1) * 1024)
  return (value < 0 and 0x8000 or 0) | exponent << 10 | fraction
end

local function element(dtype, value)
  if dtype == "F16" then return string.pack("<I2", half_bits(value)) end
  if dtype == "BF16" then return string.pack("<f", value):sub(3, 4) end
  return string.pack("<" .. letters[dtype], value)
end

--- Writes a .safetensors file.
-- @string path
-- @tparam {table,...} tensors { name, shape, values, dtype = "F32" }
function checkpoint_files.safetensors(path, tensors)
  local header, pieces, at = {}, {}, 0
  for _, tensor in ipairs(tensors) do
    local words = {}
    for index, value in ipairs(tensor.values) do
      words[index] = element(tensor.dtype or "F32", value)
    end
    local bytes = table.concat(words)
    header[tensor.name] = {
      dtype = tensor.dtype or "F32",
      shape = array(table.move(tensor.shape, 1, #tensor.shape, 1, {})),
      data_offsets = array { at, at + #bytes },
    }
    pieces[#pieces + 1] = bytes
    at = at + #bytes
  end
  local text = json.encode(setmetatable(header, { __jsontype = "object" }))
  local handle <close> = assert(io.open(path, "wb"))
  handle:write(string.pack("<i8", #text), text, table.concat(pieces))
end

local npy_formats <const> = {
  ["<f4"] = "<f", ["<f8"] = "<d", [">f4"] = ">f", ["<i8"] = "<i8", ["|u1"] = "<I1",
}

local function npy_element(descr, value)
  local format = npy_formats[descr]
  return format and string.pack(format, value) or string.pack("<I2", half_bits(value))
end

--- The bytes of a .npy file.
-- @tparam table stored { shape, values, descr = "<f4", fortran = false, version = 1 }
function checkpoint_files.npy(stored)
  local descr, version = stored.descr or "<f4", stored.version or 1
  local shape = table.concat(stored.shape, ", ") .. (#stored.shape == 1 and "," or "")
  local header = ("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n"):format(descr,
    stored.fortran and "True" or "False", shape)
  local words = {}
  for index, value in ipairs(stored.values) do words[index] = npy_element(descr, value) end
  local length = string.pack(version == 1 and "<I2" or "<I4", #header)
  return "\147NUMPY" .. string.char(version, 0) .. length .. header .. table.concat(words)
end

--- The bytes of a zip archive.
-- @tparam {table,...} members { name, bytes, packed = deflated bytes or nil }
function checkpoint_files.zip(members)
  local pieces, directory, at = {}, {}, 0
  for _, member in ipairs(members) do
    local stored = member.packed or member.bytes
    local method = member.packed and 8 or 0
    local shared = string.pack("<I2I2I2I2I2I4I4I4I2I2", 20, member.flags or 0, method, 0, 0, 0,
      #stored, #member.bytes, #member.name, 0)
    local piece = "PK\3\4" .. shared .. member.name .. stored
    directory[#directory + 1] = "PK\1\2" .. string.pack("<I2", 20) .. shared
      .. string.pack("<I2I2I2I4I4", 0, 0, 0, 0, at) .. member.name
    pieces[#pieces + 1] = piece
    at = at + #piece
  end
  local list = table.concat(directory)
  return table.concat(pieces) .. list
    .. "PK\5\6" .. string.pack("<I2I2I2I2I4I4I2", 0, 0, #members, #members, #list, at, 0)
end

--- Writes a text or bytes.
function checkpoint_files.write(path, bytes)
  local handle <close> = assert(io.open(path, "wb"))
  handle:write(bytes)
end

return checkpoint_files
