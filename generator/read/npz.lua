--- Tensors from a NumPy .npz file, stored or deflated.
--
-- The directory of the archive and the header of each array are checked before an array is handed
-- out.
--
-- Goes in: a path. Comes out: names, shapes and numbers. Does not know: specs, roles, models.

local zip = require "read.zip"

local npz = {}

-- letter of string.unpack and bytes of an element, by NumPy's kind and width
local elements = {
  f4 = { "f", 4 }, f8 = { "d", 8 }, f2 = { "I2", 2, half = true },
  i1 = { "i1", 1 }, i2 = { "i2", 2 }, i4 = { "i4", 4 }, i8 = { "i8", 8 },
  u1 = { "I1", 1 }, u2 = { "I2", 2 }, u4 = { "I4", 4 },
}

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
  local read, complaint, cause = zip.read(handle, member, function(piece)
    head = head .. piece
    wanted = wanted or header_extent(head)
    return wanted and #head >= wanted
  end)
  if not read then return nil, complaint, cause end
  return parse_header(head, member)
end

-- ---- The file ----------------------------------------------------------------------------

local function add_member(file, handle, name, member)
  local array_name = name:match("^(.*)%.npy$")
  if not array_name then return nil, "not an array: only .npy members are read" end
  if file.tensors[array_name] then return nil, "stands twice in the archive" end
  local tensor, complaint, cause = read_array_header(handle, member)
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
  local file = { path = path, names = {}, tensors = {} }
  local listed, cause
  listed, complaint, cause = zip.members(handle, file_bytes, function(name, member)
    return add_member(file, handle, name, member)
  end)
  if not listed then return nil, ("%s: %s"):format(path, complaint), cause end
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
  read, complaint, cause = zip.read(handle, tensor.member, collector(tensor, list))
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
