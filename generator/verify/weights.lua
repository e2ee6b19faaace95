--- The weights of a case as the layer's weight struct wants them: pointers and strides.
-- In: the tensors of a case, a layer. Out: what to load, and how each field points into it.
-- The layouts: [out][in] or [in][out]; q, k, v on their own or fused, in blocks or head by head.

local weights = {}

local fused_roles <const> = {
  q = { { "qkv", { "q", "k", "v" } } },
  k = { { "qkv", { "q", "k", "v" } }, { "kv", { "k", "v" } } },
  v = { { "qkv", { "q", "k", "v" } }, { "kv", { "k", "v" } } },
}

local function outputs_of(spec)
  return {
    q = spec.heads * spec.p_q, k = spec.kv_heads * spec.p_q, v = spec.kv_heads * spec.p_v,
  }
end

-- The tensor that holds a role of q, k or v together with others, and where in it.
local function fused_of(from, spec, kind, which)
  for _, fused in ipairs(fused_roles[which] or {}) do
    local role, members = kind .. fused[1], fused[2]
    if from.content.weights[role] then
      local place = { role = role, total = 0, before = 0, count = #members }
      for index, member in ipairs(members) do
        if member == which then place.before, place.index = place.total, index - 1 end
        place.total = place.total + outputs_of(spec)[member]
      end
      place.per_head = from.content.fused == "per_head"
      return place
    end
  end
end

-- Head by head means one width and one count of heads for all three.
local function check_per_head(from, spec, place)
  if not place.per_head or spec.p_q == spec.p_v and spec.kv_heads == spec.heads then return true end
  from:complain("fused per_head: weights.%s: needs p_q = p_v and kv_heads = heads, has p_q %d, "
    .. "p_v %d, kv_heads %d, heads %d", place.role, spec.p_q, spec.p_v, spec.kv_heads, spec.heads)
  return false
end

local function load_of(loads, tensor, blocks, length, step, offset)
  local load = {
    role = tensor.role, offset = tensor.offset + 4 * (offset or 0), blocks = blocks,
    length = length, step = step,
  }
  for index, other in ipairs(loads) do
    if other.offset == load.offset and other.blocks == blocks and other.length == length
      and other.step == step then
      return index - 1
    end
  end
  loads[#loads + 1] = load
  return #loads - 1
end

local function whole(loads, tensor)
  local length = 1
  for _, extent in ipairs(tensor.shape) do length = length * extent end
  return load_of(loads, tensor, 1, length, length)
end

-- Strides of a projection of q, k or v with `total` outputs in its tensor.
local function input_strides(w, in_out, total, place)
  local head = place and place.per_head and place.count * w.rows or w.rows
  local first = not place and 0 or place.per_head and place.index * w.rows or place.before
  if in_out then return { offset = first, head = head, row = 1, col = total } end
  return { offset = first * w.cols, head = head * w.cols, row = w.cols, col = 1 }
end

local function output_strides(w, in_out)
  if in_out then return { offset = 0, head = w.rows * w.cols, row = w.cols, col = 1 } end
  return { offset = 0, head = w.rows, row = 1, col = w.heads * w.rows }
end

-- The tensor of a weight: its own, or the fused one with the place in it.
local function tensor_of(from, spec, w)
  local kind, which = w.role:match("^([wb])([qkv])$")
  local place
  if kind and not from.content.weights[w.role] then place = fused_of(from, spec, kind, which) end
  local tensor = from:need("weights", place and place.role or w.role)
  if tensor and place and not check_per_head(from, spec, place) then return nil end
  return tensor, place
end

local function matrix_field(from, spec, w, loads)
  local in_out = from.content.layout == "in_out"
  local tensor, place = tensor_of(from, spec, w)
  if not tensor then return nil end
  local outputs = place and place.total or w.shape[1]
  local shape = in_out and { w.shape[2], outputs } or { outputs, w.shape[2] }
  if not from:check(tensor, shape) then return nil end
  local field = w.role == "wo" and output_strides(w, in_out)
    or input_strides(w, in_out, outputs, place)
  field.role, field.matrix, field.load = w.role, true, whole(loads, tensor)
  return field
end

local function vector_field(from, spec, w, loads)
  local tensor, place = tensor_of(from, spec, w)
  if not tensor then return nil end
  if not from:check(tensor, place and { place.total } or w.shape) then return nil end
  local field = { role = w.role, matrix = false, offset = place and place.before or 0 }
  if place and place.per_head then
    local p = spec.p_q
    field.load = load_of(loads, tensor, spec.heads, p, place.count * p, place.index * p)
    field.offset = 0
  else
    field.load = whole(loads, tensor)
  end
  return field
end

--- Describes the weights of a case; complaints go to the source.
-- @tparam table from a source (see source.lua)
-- @tparam table layer from layer.of
-- @treturn {table,...} loads: runs of floats to read
-- @treturn {table,...} fields of the weight struct, each with its load (from 0), offset and strides
function weights.of(from, layer)
  local loads, fields = {}, {}
  for _, w in ipairs(layer.weights) do
    local field = (w.kind == "matrix" and matrix_field or vector_field)(from, layer.spec, w, loads)
    fields[#fields + 1] = field
  end
  return loads, fields
end

return weights
