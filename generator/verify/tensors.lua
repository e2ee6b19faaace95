--- The inputs and outputs of a case as the layer's call wants them.
-- In: the tensors of a case, a layer. Out: its counts, and each tensor's extents and layouts.
-- An element has a head, a row and a column; a tensor lies head-major or row by row.

local say = require "spec.say"

local tensors = {}

-- ---- Counts -------------------------------------------------------------------------------------

local HEAD_MAJOR <const> = { q = true, k = true, v = true, y = true }

local function is_head_major(from, role)
  return from.content.io_layout == "head_major" and HEAD_MAJOR[role] or false
end

local function rows_of(from, tensor)
  return tensor.shape[is_head_major(from, tensor.role) and 2 or 1]
end

local function check_count(from, what, found, limit)
  if not found then
    from:complain("%s: its tensor has no dimension to count", what)
  elseif limit.fixed and found ~= limit.max then
    from:complain("%s: the tensors have %d, the spec says %d", what, found, limit.max)
  elseif found > limit.max then
    from:complain("%s: the tensors have %d, the spec allows at most %d", what, found, limit.max)
  end
end

-- How many keys of the call are live, sequence by sequence.
local function live_of(from, counts)
  local live = from:counts("context_length")
  for _, value in ipairs(live or {}) do
    if value < 0 or value > counts.context then
      from:complain("inputs.context_length: %d, must be within 0..%d", value, counts.context)
    end
  end
  return live
end

local function past_of(from, spec)
  if not spec.cache then return 0 end
  local past = from:need("inputs", "past_k")
  if past then check_count(from, "past", past.shape[2], spec.past) end
  return past and past.shape[2]
end

-- Without a context of their own, the keys of a call are its tokens.
local function context_of(from, spec, query, tokens)
  if not spec.attention then return 0 end
  if not spec.context then return tokens end
  local key = query
  if from.content.inputs.k then key = from:find("inputs", "k") end
  if not key then return nil end
  local context = rows_of(from, key)
  check_count(from, "context", context, spec.context)
  return context
end

--- The counts of a case: tokens, context (keys of the call), past, keys in all, live (of the call's
-- keys, sequence by sequence; nil where all are).
-- @tparam table from a source
-- @tparam table spec completed
-- @treturn ?table nil where the tensors that tell are missing or do not fit
function tensors.counts(from, spec)
  local query = from:need("inputs", spec.attention and "q" or "o")
  if not query then return nil end
  local counts = { tokens = rows_of(from, query) }
  check_count(from, "tokens", counts.tokens, spec.tokens)
  counts.context = context_of(from, spec, query, counts.tokens)
  counts.past = past_of(from, spec)
  if #from.complaints > 0 then return nil end
  counts.keys = counts.past + counts.context
  counts.live = spec.context_length and live_of(from, counts) or nil
  return #from.complaints == 0 and counts or nil
end

-- ---- Inputs -------------------------------------------------------------------------------------

local function described(tensor, field, extents)
  return {
    kind = "VERIFY_INPUT", role = tensor.role, field = field.field, stored = 1,
    offset = tensor.offset, step = tensor.step, bytes = 4, heads = extents.heads,
    rows = extents.rows, columns = extents.columns, width = extents.width or extents.columns,
    file_head_major = extents.file_head_major or false, head_major = extents.head_major or false,
    natural = extents.natural ~= false, strided = #field.strides > 0, alias = -1,
  }
end

-- q, k, v and y: [rows][heads*p] or head-major. Where a projection stands between, the buffer is
-- [rows][width] in either case.
local function activation(from, tensor, field, rows)
  local by_head = #field.strides > 1
  if not is_head_major(from, tensor.role) then
    if not from:check(tensor, { rows, field.width }) then return nil end
    local heads = by_head and field.heads or 1
    return described(tensor, field, { heads = heads, rows = rows, columns = field.width // heads })
  end
  local heads = by_head and field.heads or tensor.role == "y" and from.heads
    or math.max(tensor.shape[1], 1)
  if not from:check(tensor, { heads, rows, field.width // heads }) then return nil end
  return described(tensor, field, {
    heads = heads, rows = rows, columns = field.width // heads, file_head_major = true,
    head_major = by_head, natural = not by_head,
  })
end

-- The tensor of an input: its own, or the one that stands for it, or none.
local function input_of(from, field)
  local inputs, role = from.content.inputs, field.role
  if role == "residual" and field.optional and not inputs.residual then return nil end
  if role == "v" and not inputs.v then role = "k" end
  if role == "k" and not inputs.k then role = "q" end
  return from:need("inputs", role)
end

local function lies_alike(a, b)
  local same = a.offset == b.offset and a.step == b.step and a.head_major == b.head_major
    and a.file_head_major == b.file_head_major
  for _, extent in ipairs { "heads", "rows", "columns" } do
    same = same and a[extent] == b[extent]
  end
  return same
end

-- An absent v is left to the layer, which then reads k, unless the two would lie differently.
local function is_left_out(from, field, list, one)
  if field.field ~= "v" or from.content.inputs.v or not field.optional then return false end
  local k = list[#list]
  return not one.file_head_major or lies_alike(one, k)
end

local function add_activation(from, field, counts, list)
  local tensor = input_of(from, field)
  local one = tensor and activation(from, tensor, field, counts[field.rows])
  if not one or is_left_out(from, field, list, one) then return end
  for index, other in ipairs(list) do
    if other.kind == "VERIFY_INPUT" and lies_alike(one, other) then one.alias = index - 1 end
  end
  list[#list + 1] = one
end

local function add_mask(from, field, counts, list)
  local mask = field.ctype == "const uint8_t *"
  local tensor = from:need("inputs", field.role, mask and "mask" or "f32")
  if not tensor then return end
  local extents
  if field.role == "head_mask" then
    if not from:check(tensor, { field.shape[1] }) then return end
    extents = { heads = 1, rows = 1, columns = field.shape[1] }
  elseif field.role == "padding" then
    if not from:check(tensor, { counts.keys }) then return end
    extents = { heads = 1, rows = 1, columns = counts.keys }
  else
    if not from:check(tensor, { field.heads, counts.tokens, counts.keys }) then return end
    extents = {
      heads = field.heads, rows = counts.tokens, columns = counts.keys,
      file_head_major = true, head_major = true,
    }
  end
  local one = described(tensor, field, extents)
  one.bytes = mask and 1 or 4
  list[#list + 1] = one
end

-- ---- Outputs ------------------------------------------------------------------------------------

-- The columns that are live, in all sequences alike, since they have one shape.
local function live_keys(from, counts)
  local live = counts.live and counts.live[1] or counts.context
  for _, other in ipairs(counts.live or {}) do
    if other ~= live then
      from:complain("inputs.context_length: %d and %d: weights, scores and present_* are expected "
        .. "in one shape, which needs one length", live, other)
      break
    end
  end
  return counts.past + live
end

local function y_of(from, field, tensor, rows)
  if tensor then return activation(from, tensor, field, rows) end
  local none = { role = "y", offset = 0, step = 0 }
  return described(none, field, {
    heads = field.heads, rows = rows, columns = field.width // field.heads,
  })
end

-- Weights or scores. Where nothing is expected of them they are asked for all the same, unless the
-- live columns may differ from sequence to sequence.
local function map_of(from, field, tensor, counts)
  if not tensor and counts.live then return nil end
  local columns = tensor and live_keys(from, counts) or counts.keys
  if tensor and not from:check(tensor, { field.heads, counts.tokens, columns }) then return nil end
  return described(tensor or { role = field.role, offset = 0, step = 0 }, field, {
    heads = field.heads, rows = counts.tokens, columns = columns, width = counts.keys,
    file_head_major = true, head_major = true,
  })
end

local function add_output(from, field, counts, list)
  local tensor = from:find("expected", field.role)
  local one
  if field.role == "y" then
    one = y_of(from, field, tensor, counts.tokens)
  else
    one = map_of(from, field, tensor, counts)
  end
  if not one then return end
  one.kind, one.stored = "VERIFY_OUTPUT", tensor and 1 or 0
  list[#list + 1] = one
end

local function add_cache(from, spec, counts, list)
  local widths = { spec.p_q, spec.p_v }
  local function add(kind, roles, tensor_kind, positions)
    for index, role in ipairs(roles) do
      local tensor = (kind == "inputs" and from.need or from.find)(from, kind, role)
      if tensor and from:check(tensor, { spec.kv_heads, positions, widths[index] }) then
        local one = described(tensor, { field = role, strides = {} }, {
          heads = spec.kv_heads, rows = positions, columns = widths[index],
          file_head_major = true, head_major = true,
        })
        one.kind, one.number = tensor_kind, index - 1
        list[#list + 1] = one
      end
    end
  end
  add("inputs", { "past_k", "past_v" }, "VERIFY_PAST", counts.past)
  local expected = from.content.expected
  if expected.present_k or expected.present_v then
    add("expected", { "present_k", "present_v" }, "VERIFY_PRESENT", live_keys(from, counts))
  end
end

-- What the layer does not know is said, role by role, not passed over.
local function check_roles(from, kind, known, rule)
  for _, role in ipairs((say.keys(from.content[kind]))) do
    if not known[role] then from:complain("%s.%s: %s", kind, role, rule) end
  end
end

local function check_inputs(from, layer)
  local inputs, cache = from.content.inputs, layer.spec.cache
  local known = { past_k = cache, past_v = cache }
  for _, role in ipairs { "k", "v" } do   -- they may name the q input once more
    known[role] = inputs[role] == inputs.q
  end
  for _, field in ipairs(layer.call) do known[field.role or field.field] = true end
  check_roles(from, "inputs", known, "not an input of this layer")
end

local function check_expected(from, list)
  local known = {}
  for _, one in ipairs(list) do
    if one.kind == "VERIFY_OUTPUT" or one.kind == "VERIFY_PRESENT" then known[one.role] = true end
  end
  if next(from.content.expected) == nil then
    from:complain("expected: names no tensor, so there is nothing to compare")
  end
  check_roles(from, "expected", known, "not an output of this layer")
end

--- Describes the tensors of a call; complaints go to the source.
-- @tparam table from a source
-- @tparam table layer from layer.of
-- @tparam table counts from tensors.counts
-- @treturn {table,...} inputs, then outputs, as the fields of `struct verify_tensor`
function tensors.of(from, layer, counts)
  local list = {}
  from.heads = layer.spec.heads
  for _, field in ipairs(layer.call) do
    if field.ctype == "float *" then
      add_output(from, field, counts, list)
    elseif field.rows then
      add_activation(from, field, counts, list)
    elseif field.ctype == "const uint8_t *" or field.ctype == "const float *" then
      add_mask(from, field, counts, list)
    end
  end
  if layer.spec.cache then add_cache(from, layer.spec, counts, list) end
  if #from.complaints == 0 then check_inputs(from, layer) end
  if #from.complaints == 0 then check_expected(from, list) end
  return list
end

return tensors
