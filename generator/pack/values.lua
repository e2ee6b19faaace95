--- The numbers of a layer's weights out of a checkpoint, whatever layout they are stored in.
--
-- In: what tensors.find found. Out: f32 values of one role, a matrix row by row as [out][in].
-- Knows no names and no packed form.

local shapes = require "pack.shapes"

local values = {}

local function index_text(index, shape)
  local parts = {}
  for axis = #shape, 1, -1 do
    table.insert(parts, 1, ("[%d]"):format(index % shape[axis]))
    index = index // shape[axis]
  end
  return table.concat(parts)
end

local function not_finite(value)
  if value ~= value then return "NaN" end
  return value > 0 and "infinity" or "-infinity"
end

local single <const> = { F32 = true, F16 = true, BF16 = true, ["<f4"] = true, ["<f2"] = true }

-- The numbers of a tensor rounded to f32, all finite; or nil and a message.
local function read_tensor(found, name)
  local list, complaint = found.checkpoint.floats(name)
  if not list then return nil, complaint end
  local tensor = found.checkpoint.tensors[name]
  local exact = single[tensor.dtype]
  for index, value in ipairs(list) do
    if not exact then
      value = string.unpack("<f", string.pack("<f", value))
      list[index] = value
    end
    if value - value ~= 0 then
      return nil, ("%s: tensor %q: element %s: %s: must be finite in f32"):format(
        found.checkpoint.path, name, index_text(index - 1, tensor.shape), not_finite(value))
    end
  end
  return list
end

-- Fused tensors are read once for all their roles: the last one read is kept.
local function tensor_values(found, name)
  if found.kept_name ~= name then
    found.kept_name, found.kept = nil, nil
    local list, complaint = read_tensor(found, name)
    if not list then return nil, complaint end
    found.kept_name, found.kept = name, list
  end
  return found.kept
end

local function counted(count)
  local rows = {}
  for index = 0, count - 1 do rows[index + 1] = index end
  return rows
end

-- Picks [outs][ins] out of a tensor by its strides.
local function picked(list, outs, ins, out_stride, in_stride)
  local numbers, count = {}, 0
  for _, out in ipairs(outs) do
    local base = out * out_stride + 1
    for _, inner in ipairs(ins) do
      count = count + 1
      numbers[count] = list[base + inner * in_stride]
    end
  end
  return numbers
end

local function matrix_of(found, source, role, list)
  local spec = found.spec
  local places, length = shapes.head_rows(spec, source.roles, role, source.per_head, source.removed)
  local other = shapes.other_width(spec, role)
  local outs, ins, out_count, in_count = places, counted(other), length, other
  if role == "wo" then outs, ins, out_count, in_count = ins, places, other, length end
  if source.layout == "out_in" then return picked(list, outs, ins, in_count, 1) end
  return picked(list, outs, ins, 1, out_count)
end

local function vector_of(found, source, role, list)
  if role == "bias_table" or role == "sinks" then
    local kept, all = shapes.surviving(found.spec.heads, source.removed)
    local rows = role == "sinks" and 1 or found.weights[role].shape[1]
    return picked(list, counted(rows), kept, all, 1)
  end
  if shapes.projection_of[role] and role ~= "bo" then
    local places = shapes.head_rows(found.spec, source.roles, role, source.per_head, source.removed)
    return picked(list, places, { 0 }, 1, 1)
  end
  return list
end

local function constant(value, shape)
  local numbers, count = {}, 1
  for _, dimension in ipairs(shape) do count = count * dimension end
  for index = 1, count do numbers[index] = value end
  return numbers
end

--- Reads the numbers of one role.
-- @tparam table found what tensors.find returned
-- @string role as wq or gamma
-- @treturn ?{number,...} f32 values, a matrix row by row as [out][in]; or nil
-- @treturn string a message that names file, tensor and element
function values.of(found, role)
  local source, weight = found.sources[role], found.weights[role]
  if source.constant then return constant(source.constant, weight.shape) end
  local list, complaint = tensor_values(found, source.name)
  if not list then return nil, complaint end
  local take = weight.kind == "matrix" and matrix_of or vector_of
  return take(found, source, role, list)
end

return values
