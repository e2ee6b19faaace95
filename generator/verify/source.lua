--- The tensors of a case by role: found, with their dtype and batch dimension checked.
-- In: what case.read gave. Out: name, shape and place in the file; every complaint in one list.

local safetensors = require "read.safetensors"

local source = {}
source.__index = source

local dtypes <const> = {
  f32 = { F32 = true },
  mask = { U8 = true, BOOL = true },
  count = { I32 = true, I64 = true },
}

local dtype_rule <const> = { f32 = "F32", mask = "U8 or BOOL", count = "I32 or I64" }

--- The shape as it is written in messages.
function source.shown(shape)
  local words = {}
  for index, extent in ipairs(shape) do words[index] = tostring(extent) end
  return "[" .. table.concat(words, ", ") .. "]"
end

--- Starts to look at a case.
-- @tparam table content from case.read
function source.new(content)
  return setmetatable({ content = content, complaints = {} }, source)
end

--- Notes a complaint.
function source:complain(format, ...)
  self.complaints[#self.complaints + 1] = format:format(...)
end

local function tensor_of(self, kind, role, name, dtype)
  local found = self.content.file.tensors[name]
  if not found then
    self:complain("%s.%s: the tensor %q is not in the file", kind, role, name)
    return nil
  end
  if not dtypes[dtype][found.dtype] then
    self:complain("%s.%s (%q): dtype %s, must be %s", kind, role, name, found.dtype,
      dtype_rule[dtype])
    return nil
  end
  return found
end

-- One sequence of a tensor with the batch dimension in front.
local function sequence_of(self, kind, role, name, found)
  local batch = self.content.batch
  if found.shape[1] ~= batch then
    self:complain("%s.%s (%q): shape %s, expected a batch of %d in front", kind, role, name,
      source.shown(found.shape), batch)
    return nil
  end
  return {
    shape = table.move(found.shape, 2, #found.shape, 1, {}), offset = found.offset,
    step = found.bytes // batch,
  }
end

--- Finds the tensor of a role.
-- @string kind "inputs", "weights" or "expected"
-- @string role
-- @string[opt="f32"] dtype "f32", "mask" or "count"
-- @treturn ?{role=,kind=,name=,shape=,offset=,step=} shape and offset of one sequence, bytes from
--   one to the next; nil where there is none or it is complained of
function source:find(kind, role, dtype)
  local name = self.content[kind][role]
  if not name then return nil end
  local found = tensor_of(self, kind, role, name, dtype or "f32")
  if not found then return nil end
  local one = { shape = found.shape, offset = found.offset, step = 0 }
  if self.content.batch and kind ~= "weights" then
    one = sequence_of(self, kind, role, name, found)
    if not one then return nil end
  end
  one.role, one.kind, one.name = role, kind, name
  return one
end

--- The same; a role that is not there is complained of.
function source:need(kind, role, dtype)
  if not self.content[kind][role] then
    self:complain("%s.%s: missing, the layer has it", kind, role)
    return nil
  end
  return self:find(kind, role, dtype)
end

--- Complains where a tensor has another shape.
-- @treturn boolean whether it has the shape
function source:check(tensor, expected)
  local same = #tensor.shape == #expected
  for index, extent in ipairs(expected) do same = same and tensor.shape[index] == extent end
  if not same then
    self:complain("%s.%s (%q): shape %s, expected %s", tensor.kind, tensor.role, tensor.name,
      source.shown(tensor.shape), source.shown(expected))
  end
  return same
end

--- The values of a tensor of counts, one for each sequence.
function source:counts(role)
  local content = self.content
  local name = content.inputs[role]
  local found = tensor_of(self, "inputs", role, name, "count")
  if not found then return nil end
  local sequences = content.batch or 1
  local format = found.dtype == "I32" and "<i4" or "<i8"
  if found.bytes ~= sequences * string.packsize(format) then
    self:complain("inputs.%s (%q): shape %s, expected one number for each of %d sequences", role,
      name, source.shown(found.shape), sequences)
    return nil
  end
  local bytes, complaint = safetensors.bytes(content.file, name)
  if not bytes then
    self:complain("%s", complaint)
    return nil
  end
  local values, at = {}, 1
  for index = 1, sequences do values[index], at = string.unpack(format, bytes, at) end
  return values
end

return source
