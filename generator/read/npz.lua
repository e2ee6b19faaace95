--- Tensors from a NumPy .npz file, stored or deflated.
--
-- The directory of the archive and the header of each array are checked before an array is handed
-- out.
--
-- Goes in: a path. Comes out: names, shapes and numbers. Does not know: specs, roles, models.

local npz = {}

local STORED <const>, DEFLATED <const> = 0, 8
local chunk_bytes <const> = 1 << 16
local local_header <const> = 30

-- letter of string.unpack and bytes of an element, by NumPy's kind and width
local elements = {
  f4 = { "f", 4 }, f8 = { "d", 8 }, f2 = { "I2", 2, half = true },
  i1 = { "i1", 1 }, i2 = { "i2", 2 }, i4 = { "i4", 4 }, i8 = { "i8", 8 },
  u1 = { "I1", 1 }, u2 = { "I2", 2 }, u4 = { "I4", 4 },
}

local function inflater()
  local found, zlib = pcall(require, "zlib")
  if found then return zlib end
  return nil, "the archive is compressed, and the Lua module zlib that reads it is missing: "
    .. "install lua-zlib, or save the arrays with numpy.savez"
end

-- ---- The archive -------------------------------------------------------------------------

-- The last bytes of the file and where its end record begins in them; or nil and the broken rule.
local function find_end(handle, file_bytes)
  local tail_bytes = math.min(file_bytes, 65557)
  handle:seek("set", file_bytes - tail_bytes)
  local tail = handle:read(tail_bytes) or ""
  for position = #tail - 21, 1, -1 do
    if tail:sub(position, position + 3) == "PK\5\6" then return tail, position end
  end
  return nil, "not a zip archive: its end record is missing or cut off"
end

-- Offset, bytes and count of the directory by the 64-bit record; or nil and the broken rule.
local function wide_directory(handle, file_bytes, tail, locator)
  if locator < 1 or tail:sub(locator, locator + 3) ~= "PK\6\7" then
    return nil, "the 64-bit end record is missing"
  end
  local place = string.unpack("<i8", tail, locator + 8)
  if place < 0 or place + 56 > file_bytes then return nil, "the 64-bit end record lies outside" end
  handle:seek("set", place)
  local record = handle:read(56) or ""
  if record:sub(1, 4) ~= "PK\6\6" then return nil, "the 64-bit end record is missing" end
  local count, bytes, offset = string.unpack("<i8i8i8", record, 33)
  return offset, bytes, count
end

-- Offset, bytes and count of the directory; or nil and the broken rule.
local function find_directory(handle, file_bytes)
  local tail, at = find_end(handle, file_bytes)
  if not tail then return nil, at end
  local count, bytes, offset = string.unpack("<I2I4I4", tail, at + 10)
  if count == 0xFFFF or bytes == 0xFFFFFFFF or offset == 0xFFFFFFFF then
    offset, bytes, count = wide_directory(handle, file_bytes, tail, at - 20)
    if not offset then return nil, bytes end
  end
  if offset < 0 or bytes < 0 or offset + bytes > file_bytes then
    return nil, "its directory lies outside the file"
  end
  return offset, bytes, count
end

-- Replaces sizes that did not fit into 32 bits by those of the extra field.
local function widened(member, extra)
  local at = 1
  while at + 3 <= #extra do
    local tag, bytes = string.unpack("<I2I2", extra, at)
    if tag == 1 then
      local place, stop = at + 4, at + 4 + bytes
      for _, field in ipairs({ "bytes", "packed_bytes", "offset" }) do
        if member[field] == 0xFFFFFFFF and place + 8 <= stop and place + 7 <= #extra then
          member[field], place = string.unpack("<i8", extra, place)
        end
      end
    end
    at = at + 4 + bytes
  end
end

local function member_at(directory, at)
  if #directory < at + 45 or directory:sub(at, at + 3) ~= "PK\1\2" then
    return nil, "the directory is cut off"
  end
  local flags, method = string.unpack("<I2I2", directory, at + 8)
  local crc, packed_bytes, bytes, name_bytes, extra_bytes, note_bytes =
    string.unpack("<I4I4I4I2I2I2", directory, at + 16)
  local member = {
    method = method, crc = crc, packed_bytes = packed_bytes, bytes = bytes,
    offset = string.unpack("<I4", directory, at + 42), encrypted = flags & 1 == 1,
  }
  local name = directory:sub(at + 46, at + 45 + name_bytes)
  widened(member, directory:sub(at + 46 + name_bytes, at + 45 + name_bytes + extra_bytes))
  return member, name, at + 46 + name_bytes + extra_bytes + note_bytes
end

-- Turns the offset of a member's own header into that of its bytes, after checking both.
local function locate(handle, member, file_bytes)
  if member.encrypted then return nil, "must not be encrypted" end
  if member.method ~= STORED and member.method ~= DEFLATED then
    return nil, ("compression %d: must be stored or deflated"):format(member.method)
  end
  if member.offset < 0 or member.offset + local_header > file_bytes then
    return nil, ("offset %d: must lie within the file's %d bytes"):format(member.offset, file_bytes)
  end
  handle:seek("set", member.offset)
  local header = handle:read(local_header) or ""
  if header:sub(1, 4) ~= "PK\3\4" then return nil, "its own header is missing" end
  local name_bytes, extra_bytes = string.unpack("<I2I2", header, 27)
  member.start = member.offset + local_header + name_bytes + extra_bytes
  if member.packed_bytes < 0 or member.start + member.packed_bytes > file_bytes then
    return nil, ("truncated: %d bytes from %d on, but the file has %d"):format(member.packed_bytes,
      member.start, file_bytes)
  end
  if member.method == STORED and member.packed_bytes ~= member.bytes then
    return nil, ("stored in %d bytes, but %d long"):format(member.packed_bytes, member.bytes)
  end
  return true
end

-- Calls take(piece) for the bytes of a member in order, until it returns true or they end.
local function read_member(handle, member, take)
  local inflate
  if member.method == DEFLATED then
    local zlib, complaint = inflater()
    if not zlib then return nil, complaint, "environment" end
    inflate = zlib.inflate(-15)
  end
  handle:seek("set", member.start)
  local left = member.packed_bytes
  while left > 0 do
    local piece = handle:read(math.min(left, chunk_bytes))
    if not piece then return nil, "truncated while it was read" end
    left = left - #piece
    if inflate then
      local called, plain = pcall(inflate, piece)
      if not called then return nil, ("damaged: %s"):format(plain) end
      piece = plain
    end
    if take(piece) then break end
  end
  return true
end

-- ---- One array ---------------------------------------------------------------------------

local function parse_shape(text)
  local inside = text:match("'shape':%s*%(([%d,%sL]*)%)")
  if not inside then return nil end
  local shape = {}
  for digits in inside:gmatch("%d+") do
    shape[#shape + 1] = math.tointeger(tonumber(digits))
    if not shape[#shape] then return nil end
  end
  return shape
end

-- Bytes in front of the numbers, and the text of the header; nil while more bytes are needed.
local function header_extent(head)
  if #head < 12 then return nil end
  if head:byte(7) == 1 then
    local bytes = string.unpack("<I2", head, 9)
    return 10 + bytes, 11
  end
  return 12 + string.unpack("<I4", head, 9), 13
end

-- How the header's dtype is read; or nil and the broken rule.
local function parse_dtype(text)
  local descr = text:match("'descr':%s*'([^']*)'")
  if not descr then return nil, "its header must hold one dtype" end
  local order, kind = descr:match("^([<>|])(%w+)$")
  local element = kind and elements[kind]
  if not element or order == "|" and element[2] > 1 then
    return nil, ("dtype %s: must be a float of 2, 4 or 8 bytes, or an integer"):format(descr)
  end
  return { dtype = descr, element = element, order = order == ">" and ">" or "<" }
end

-- The number of elements of a shape that at most so many bytes hold, or nil.
local function count_of(shape, bytes)
  local count = 1
  for _, dimension in ipairs(shape) do
    if dimension ~= 0 and count > bytes // dimension then return nil end
    count = count * dimension
  end
  return count
end

-- The text between the magic and the numbers, and how many bytes stand before these.
local function header_text(head)
  if head:sub(1, 6) ~= "\147NUMPY" then return nil, "not a NumPy array: its magic is missing" end
  local version = head:byte(7)
  if version ~= 1 and version ~= 2 and version ~= 3 then
    return nil, ("format version %d: must be 1, 2 or 3"):format(version or 0)
  end
  local start, first = header_extent(head)
  if not start or #head < start then return nil, "truncated: the header is cut off" end
  return head:sub(first, start), start
end

local function parse_header(head, member)
  local text, start = header_text(head)
  if not text then return nil, start end
  local tensor, complaint = parse_dtype(text)
  if not tensor then return nil, complaint end
  local shape = parse_shape(text)
  local fortran = text:match("'fortran_order':%s*(%a+)")
  if not shape or fortran ~= "True" and fortran ~= "False" then
    return nil, "its header must hold shape and fortran_order"
  end
  local count = count_of(shape, member.bytes)
  if not count or start + count * tensor.element[2] ~= member.bytes then
    return nil, ("shape (%s) of %s: does not take the %d bytes behind the header"):format(
      table.concat(shape, ", "), tensor.dtype, member.bytes - start)
  end
  tensor.shape, tensor.count, tensor.fortran = shape, count, fortran == "True"
  tensor.member, tensor.header_bytes = member, start
  return tensor
end

local function read_array_header(handle, member)
  local head, wanted = "", nil
  local read, complaint, cause = read_member(handle, member, function(piece)
    head = head .. piece
    wanted = wanted or header_extent(head)
    return wanted and #head >= wanted
  end)
  if not read then return nil, complaint, cause end
  return parse_header(head, member)
end

-- ---- The file ----------------------------------------------------------------------------

local function add_member(file, handle, member, name, file_bytes)
  local array_name = name:match("^(.*)%.npy$")
  if not array_name then return nil, "not an array: only .npy members are read" end
  if file.tensors[array_name] then return nil, "stands twice in the archive" end
  local located, complaint = locate(handle, member, file_bytes)
  if not located then return nil, complaint end
  local tensor, cause
  tensor, complaint, cause = read_array_header(handle, member)
  if not tensor then return nil, complaint, cause end
  file.tensors[array_name] = tensor
  file.names[#file.names + 1] = array_name
  return true
end

--- Opens an archive and checks its directory and the header of each array.
-- @string path the file
-- @treturn ?table { path, names = sorted list, tensors = { [name] = { dtype, shape } } }, or nil
-- @treturn string a message that names file, array, value and rule
-- @treturn ?string "environment" where a module is missing
function npz.open(path)
  local handle <close>, complaint = io.open(path, "rb")
  if not handle then return nil, complaint end
  local file_bytes = handle:seek("end")
  if not file_bytes or file_bytes == math.maxinteger then
    return nil, ("%s: not a file that can be read"):format(path)
  end
  local offset, bytes, count = find_directory(handle, file_bytes)
  if not offset then return nil, ("%s: %s"):format(path, bytes) end
  handle:seek("set", offset)
  local directory = handle:read(bytes) or ""
  local file = { path = path, names = {}, tensors = {} }
  local at = 1
  for _ = 1, count do
    local member, name, following = member_at(directory, at)
    if not member then return nil, ("%s: %s"):format(path, name) end
    local added, cause
    added, complaint, cause = add_member(file, handle, member, name, file_bytes)
    if not added then return nil, ("%s: member %q: %s"):format(path, name, complaint), cause end
    at = following
  end
  table.sort(file.names)
  return file
end

local batch <const> = 64

-- Takes pieces of bytes and appends the numbers they hold; what is left of an element waits.
local function collector(tensor, list)
  local letter, item = tensor.element[1], tensor.element[2]
  local one = tensor.order .. letter
  local many = tensor.order .. letter:rep(batch)
  local skip, rest, count = tensor.header_bytes, "", 0
  return function(piece)
    if skip >= #piece then
      skip = skip - #piece
      return
    end
    rest = rest .. piece:sub(skip + 1)
    skip = 0
    local position = 1
    while #rest - position + 1 >= batch * item do
      table.move({ string.unpack(many, rest, position) }, 1, batch, count + 1, list)
      position, count = position + batch * item, count + batch
    end
    while #rest - position + 1 >= item do
      count = count + 1
      list[count], position = string.unpack(one, rest, position)
    end
    rest = rest:sub(position)
  end
end

local function half_value(bits)
  local sign = bits >= 0x8000 and -1.0 or 1.0
  local exponent, fraction = bits >> 10 & 31, bits & 1023
  if exponent == 31 then return fraction == 0 and sign * math.huge or 0.0 / 0.0 end
  if exponent == 0 then return sign * fraction * 2.0 ^ -24 end
  return sign * (1024 + fraction) * 2.0 ^ (exponent - 25)
end

-- From first index fastest to last index fastest.
local function reordered(list, shape)
  local strides, stride = {}, 1
  for axis, dimension in ipairs(shape) do
    strides[axis], stride = stride, stride * dimension
  end
  local out, index, place = {}, {}, 0
  for axis = 1, #shape do index[axis] = 0 end
  for position = 1, #list do
    out[position] = list[place + 1]
    for axis = #shape, 1, -1 do
      index[axis], place = index[axis] + 1, place + strides[axis]
      if index[axis] < shape[axis] then break end
      place = place - strides[axis] * shape[axis]
      index[axis] = 0
    end
  end
  return out
end

--- Reads an array as numbers, row-major whatever its order in the file.
-- @tparam table file what open returned
-- @string name of the array
-- @treturn ?{number,...} its elements, or nil
-- @treturn string a message that names file and array
-- @treturn ?string "environment" where a module is missing
function npz.floats(file, name)
  local tensor = file.tensors[name]
  if not tensor then return nil, ("%s: array %q: not in the file"):format(file.path, name) end
  local handle <close>, complaint = io.open(file.path, "rb")
  if not handle then return nil, complaint end
  local list = {}
  local read, cause
  read, complaint, cause = read_member(handle, tensor.member, collector(tensor, list))
  if read and #list ~= tensor.count then
    read, complaint = nil, ("damaged: %d of %d elements"):format(#list, tensor.count)
  end
  if not read then return nil, ("%s: array %q: %s"):format(file.path, name, complaint), cause end
  if tensor.element.half then
    for index, bits in ipairs(list) do list[index] = half_value(bits) end
  end
  if tensor.fortran and #tensor.shape > 1 then return reordered(list, tensor.shape) end
  return list
end

return npz
