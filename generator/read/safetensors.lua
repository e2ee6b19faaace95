--- Tensors from a .safetensors file.
--
-- The header is checked whole before a tensor is handed out: a file that opens is consistent, its
-- tensors fill the space behind the header without a gap and do not overlap.
--
-- Goes in: a path. Comes out: names, shapes and numbers. Does not know: specs, roles, models.

local json = require "read.json"

local safetensors = {}

local width = {
  BOOL = 1, U8 = 1, I8 = 1, F8_E5M2 = 1, F8_E4M3 = 1,
  I16 = 2, U16 = 2, F16 = 2, BF16 = 2,
  I32 = 4, U32 = 4, F32 = 4,
  I64 = 8, U64 = 8, F64 = 8,
}

local header_limit <const> = 100 * 1000 * 1000
local chunk_bytes <const> = 1 << 16

local function is_count(value)
  return math.type(value) == "integer" and value >= 0
end

local function plain(value)
  if type(value) == "table" then return json.encode(value) end
  return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

-- Bytes of a tensor, or nil and the broken rule.
local function size_of(shape, dtype)
  local bytes = width[dtype]
  local empty = false
  for _, dimension in ipairs(shape) do
    if not is_count(dimension) then
      return nil, ("shape %s: dimensions must be whole numbers of 0 or more"):format(plain(shape))
    end
    empty = empty or dimension == 0
  end
  if empty then return 0 end
  for _, dimension in ipairs(shape) do
    if bytes > math.maxinteger // dimension then
      return nil, ("shape %s: the size does not fit into 63 bits"):format(plain(shape))
    end
    bytes = bytes * dimension
  end
  return bytes
end

-- The broken rule of an entry's offsets, if any.
local function offsets_complaint(offsets, data_bytes)
  if json.kind(offsets) ~= "array" or #offsets ~= 2
    or not is_count(offsets[1]) or not is_count(offsets[2]) then
    return "must be two whole numbers of 0 or more"
  end
  if offsets[1] > offsets[2] then return "the begin must not lie behind the end" end
  if offsets[2] > data_bytes then
    return ("must lie within the %d bytes behind the header"):format(data_bytes)
  end
end

-- One entry of the header as a tensor, or nil and the broken rule.
local function checked_tensor(entry, data_start, data_bytes)
  if json.kind(entry) ~= "object" then
    return nil, ("%s: the entry must be an object"):format(plain(entry))
  end
  local dtype, offsets = entry.dtype, entry.data_offsets
  if type(dtype) ~= "string" or not width[dtype] then
    return nil, ("dtype %s: not a known dtype"):format(plain(dtype))
  end
  if json.kind(entry.shape) ~= "array" then
    return nil, ("shape %s: must be an array"):format(plain(entry.shape))
  end
  local bytes, complaint = size_of(entry.shape, dtype)
  if not bytes then return nil, complaint end
  complaint = offsets_complaint(offsets, data_bytes)
  if not complaint and offsets[2] - offsets[1] ~= bytes then
    complaint = ("%d bytes, but shape %s of %s takes %d")
      :format(offsets[2] - offsets[1], plain(entry.shape), dtype, bytes)
  end
  if complaint then return nil, ("data_offsets %s: %s"):format(plain(offsets), complaint) end
  local shape = table.move(entry.shape, 1, #entry.shape, 1, {})
  return { dtype = dtype, shape = shape, offset = data_start + offsets[1], bytes = bytes }
end

local function sorted_names(header)
  local names = {}
  for name in pairs(header) do -- order does not matter: the names are sorted below
    if name ~= "__metadata__" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- Refuses overlaps, gaps and bytes that belong to no tensor.
local function check_cover(file, data_start, file_bytes)
  local by_offset = table.move(file.names, 1, #file.names, 1, {})
  local tensors = file.tensors
  table.sort(by_offset, function(a, b)
    local first, second = tensors[a], tensors[b]
    if first.offset ~= second.offset then return first.offset < second.offset end
    if first.bytes ~= second.bytes then return first.bytes < second.bytes end
    return a < b
  end)
  local covered, previous = data_start, nil
  for _, name in ipairs(by_offset) do
    local tensor = tensors[name]
    if tensor.offset < covered then
      return ("tensor %q: begins at %d, but %q ends at %d: tensors must not overlap")
        :format(name, tensor.offset - data_start, previous, covered - data_start)
    end
    if tensor.offset > covered then
      return ("tensor %q: begins at %d, but what stands before ends at %d: no gaps are allowed")
        :format(name, tensor.offset - data_start, covered - data_start)
    end
    covered, previous = tensor.offset + tensor.bytes, name
  end
  if covered ~= file_bytes then
    return ("%d bytes behind the last tensor belong to none"):format(file_bytes - covered)
  end
end

-- The text of the header and the offset of the data behind it, or nil and the broken rule.
local function header_of(handle, file_bytes)
  if file_bytes < 8 then
    return nil, ("truncated: %d bytes, the header's length alone takes 8"):format(file_bytes)
  end
  local length = string.unpack("<i8", handle:read(8))
  if length < 0 or length > header_limit then
    return nil, ("header length %s: must be at most %d")
      :format((length < 0 and "0x%x" or "%d"):format(length), header_limit)
  end
  if length > file_bytes - 8 then
    return nil, ("header length %d: only %d bytes follow in the file")
      :format(length, file_bytes - 8)
  end
  local text = length > 0 and handle:read(length) or ""
  if not text or #text ~= length then return nil, "truncated while the header was read" end
  return text, 8 + length
end

local function read_header(handle, path)
  local file_bytes, complaint = handle:seek("end")
  -- folders open on some systems, and report an end that no file can have
  if not file_bytes or file_bytes == math.maxinteger then
    return nil, ("%s: not a file that can be read: %s"):format(path, complaint or "a folder")
  end
  handle:seek("set", 0)
  local text, data_start = header_of(handle, file_bytes)
  if not text then return nil, ("%s: %s"):format(path, data_start) end
  local header
  header, complaint = json.decode(text, path .. ": header")
  if header == nil then return nil, complaint end
  if json.kind(header) ~= "object" then
    return nil, ("%s: header: must be an object"):format(path)
  end
  return header, data_start, file_bytes
end

--- Opens a file and checks its header whole.
-- @string path the file
-- @treturn ?table { path, names = sorted list, tensors = { [name] = tensor } } with
--   tensor = { dtype, shape, offset (counted from the begin of the file), bytes }; or nil
-- @treturn string a message that names file, tensor, value and rule
function safetensors.open(path)
  local handle <close>, complaint = io.open(path, "rb")
  if not handle then return nil, complaint end
  local header, data_start, file_bytes = read_header(handle, path)
  if not header then return nil, data_start end
  local metadata = header.__metadata__
  if metadata ~= nil and json.kind(metadata) ~= "object" then
    return nil, ("%s: __metadata__ %s: must be an object"):format(path, plain(metadata))
  end
  local file = { path = path, names = sorted_names(header), tensors = {} }
  for _, name in ipairs(file.names) do
    local tensor
    tensor, complaint = checked_tensor(header[name], data_start, file_bytes - data_start)
    if not tensor then return nil, ("%s: tensor %q: %s"):format(path, name, complaint) end
    file.tensors[name] = tensor
  end
  complaint = check_cover(file, data_start, file_bytes)
  if complaint then return nil, ("%s: %s"):format(path, complaint) end
  return file
end

-- Calls take(bytes) with one piece after the other of at most chunk_bytes.
local function read_pieces(file, name, take)
  local tensor = file.tensors[name]
  if not tensor then return nil, ("%s: tensor %q: not in the file"):format(file.path, name) end
  local handle <close>, complaint = io.open(file.path, "rb")
  if not handle then return nil, complaint end
  handle:seek("set", tensor.offset)
  local left = tensor.bytes
  while left > 0 do
    local wanted = math.min(left, chunk_bytes)
    local piece = handle:read(wanted) or ""
    if #piece < wanted then
      return nil, ("%s: tensor %q: truncated, %d of %d bytes are missing")
        :format(file.path, name, left - #piece, tensor.bytes)
    end
    take(piece)
    left = left - #piece
  end
  return true
end

--- Reads a tensor as it is stored, little endian.
-- @tparam table file what open returned
-- @string name of the tensor
-- @treturn ?string its bytes, or nil
-- @treturn string a message that names file and tensor
function safetensors.bytes(file, name)
  local pieces = {}
  local read, complaint = read_pieces(file, name, function(piece) pieces[#pieces + 1] = piece end)
  if not read then return nil, complaint end
  return table.concat(pieces)
end

local function half_value(bits)
  local sign = bits >= 0x8000 and -1.0 or 1.0
  local exponent, fraction = bits >> 10 & 31, bits & 1023
  if exponent == 31 then return fraction == 0 and sign * math.huge or 0.0 / 0.0 end
  if exponent == 0 then return sign * fraction * 2.0 ^ -24 end
  return sign * (1024 + fraction) * 2.0 ^ (exponent - 25)
end

local halves = setmetatable({}, {
  __index = function(known, bits)
    local value = half_value(bits)
    known[bits] = value
    return value
  end,
})

local batch <const> = 64

-- Appends the numbers of a piece to list, unpacked by batches of one format.
local function append_unpacked(list, piece, letter)
  local item = string.packsize("<" .. letter)
  local many <const> = "<" .. letter:rep(batch)
  local position, count = 1, #list
  while #piece - position + 1 >= batch * item do
    table.move({ string.unpack(many, piece, position) }, 1, batch, count + 1, list)
    position, count = position + batch * item, count + batch
  end
  while position <= #piece do
    count = count + 1
    list[count], position = string.unpack("<" .. letter, piece, position)
  end
end

local decoders = {
  F32 = function(list, piece) append_unpacked(list, piece, "f") end,
  F64 = function(list, piece) append_unpacked(list, piece, "d") end,
  -- a bf16 is the upper half of the f32 with the same value
  BF16 = function(list, piece) append_unpacked(list, piece:gsub("..", "\0\0%0"), "f") end,
  F16 = function(list, piece)
    local from = #list + 1
    append_unpacked(list, piece, "I2")
    for index = from, #list do list[index] = halves[list[index]] end
  end,
}

--- Reads a tensor of F32, F16, BF16 or F64 as numbers.
-- @tparam table file what open returned
-- @string name of the tensor
-- @treturn ?{number,...} its elements, row-major, or nil
-- @treturn string a message that names file, tensor and dtype
function safetensors.floats(file, name)
  local tensor = file.tensors[name]
  if not tensor then return nil, ("%s: tensor %q: not in the file"):format(file.path, name) end
  local decode = decoders[tensor.dtype]
  if not decode then
    return nil, ("%s: tensor %q: dtype %s: must be F32, F16, BF16 or F64")
      :format(file.path, name, tensor.dtype)
  end
  local list = {}
  local read, complaint = read_pieces(file, name, function(piece) decode(list, piece) end)
  if not read then return nil, complaint end
  return list
end

return safetensors
