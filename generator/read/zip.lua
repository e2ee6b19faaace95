--- The members of a zip archive, stored or deflated.
--
-- Goes in: an open file. Comes out: what the directory says of each member, and its bytes. Does not
-- know: what the members hold.

local zip = {}

local STORED <const>, DEFLATED <const> = 0, 8
local chunk_bytes <const> = 1 << 16
local local_header <const> = 30

local function inflater()
  local found, zlib = pcall(require, "zlib")
  if found then return zlib end
  return nil, "the archive is compressed, and the Lua module zlib that reads it is missing: "
    .. "install lua-zlib, or save the arrays with numpy.savez"
end

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

--- Hands out the bytes of a member in order.
-- @param handle the open file
-- @tparam table member from zip.members
-- @tparam function take called with each piece; true ends it early
-- @treturn ?boolean true, or nil
-- @treturn string the broken rule
-- @treturn ?string "environment" where the module that inflates is missing
function zip.read(handle, member, take)
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

--- Lists the members of an archive, each checked.
-- @param handle the open file
-- @tparam integer file_bytes its size
-- @tparam function take called with each name and member; returns true, or nil, a message and a
--   cause, which end the list
-- @treturn ?boolean true, or nil
-- @treturn string the broken rule, or what take said
-- @treturn ?string what take gave as the cause
function zip.members(handle, file_bytes, take)
  local offset, bytes, count = find_directory(handle, file_bytes)
  if not offset then return nil, bytes end
  handle:seek("set", offset)
  local directory = handle:read(bytes) or ""
  local at = 1
  for _ = 1, count do
    local member, name, following = member_at(directory, at)
    if not member then return nil, name end
    local taken, complaint, cause = locate(handle, member, file_bytes)
    if taken then taken, complaint, cause = take(name, member) end
    if not taken then return nil, ("member %q: %s"):format(name, complaint), cause end
    at = following
  end
  return true
end

return zip
