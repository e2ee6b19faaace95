--- The interface of a layer: the names that header.h.in, stages.h.in and layer.c.in use.
-- In: a layer, a plan for each target. Out: text, numbers and functions of text.

local buckets = require "buckets"
local checks = require "interface.checks"
local fields = require "interface.fields"
local formula = require "interface.formula"
local memory = require "interface.memory"
local render = require "render"
local stages = require "stages"

local interface = {}

local STATUSES <const> = {
  { "OK", "done" },
  { "NULL", "a pointer that is needed is NULL" },
  { "ALIGNMENT", "packed weights, workspace or scratch are not aligned" },
  { "SIZE", "memory is smaller than the layer states" },
  { "TOKENS", "more tokens than the layer takes" },
  { "CONTEXT", "more context than the layer takes, or more live than there is" },
  { "PAST", "more past than the layer takes" },
  { "CAPACITY", "past and new positions do not fit the cache, or its capacity is not of its form" },
  { "STRIDE", "a row stride is smaller than the row" },
  { "RANGE", "a range ends before it begins or beyond the rows or heads" },
  { "BLOB", "not the packed weights of this layer: other magic, format, byte order or spec" },
  { "TARGET", "no such target, or this machine lacks it" },
}

--- The widths of the inputs: one where they are equal.
local function widths_of(s)
  if not s.attention then return { { "D", s.heads * s.p_v } } end
  if s.d_q == s.d_k and s.d_k == s.d_v then return { { "D", s.d_q } } end
  return { { "D_Q", s.d_q }, { "D_K", s.d_k }, { "D_V", s.d_v } }
end

local function constants_of(s)
  local list = { { "HEADS", s.heads } }
  local function add(condition, name, value)
    if condition then list[#list + 1] = { name, value } end
  end
  add(s.kv_heads ~= s.heads, "KV_HEADS", s.kv_heads)
  for _, width in ipairs(widths_of(s)) do list[#list + 1] = width end
  add(s.attention, "P_Q", s.p_q)
  add(true, "P_V", s.p_v)
  add(true, "P_O", s.p_o)
  add(true, "TOKENS_MAX", s.tokens.max)
  add(s.context, "CONTEXT_MAX", s.context and s.context.max)
  add(s.cache, "PAST_MAX", s.past.max)
  return list
end

local function target_names(plans)
  local names, machines = {}, {}
  for i, plan in ipairs(plans) do
    names[i] = plan.target.name
    if i > 1 then machines[#machines + 1] = plan.target end
  end
  return { targets = names, machine_targets = machines }
end

--- The stage functions, and what they and forward take.
local function stage_names(l)
  return {
    stages = stages.functions(l), arguments = stages.arguments,
    call_parameters = stages.call_parameters(l),
    public_parameters = function(stage) return stages.public_parameters(l, stage) end,
    run_parameters = function(stage) return stages.run_parameters(l, stage) end,
    kernel_parameters = function(stage) return stages.kernel_parameters(l, stage) end,
  }
end

--- The counts of a call as C reads them: literal where they are fixed.
local function count_names(s)
  local function of(field)
    if not s[field] then return false end
    return s[field].fixed and tostring(s[field].max) or "call->" .. field
  end
  local names = { token_count = of "tokens", context_count = of "context" }
  names.fresh_count = names.context_count or names.token_count
  if s.context then
    names.workspace_parameters = "size_t tokens, size_t context"
    names.workspace_arguments = "tokens, context"
    names.forward_arguments = "tokens, " .. names.context_count
  else
    names.workspace_parameters = "size_t tokens"
    names.workspace_arguments, names.forward_arguments = "tokens", "tokens"
  end
  return names
end

local function memory_names(l, plans)
  return {
    workspace_bytes = memory.workspace_bytes(l, plans), scratch_bytes = memory.scratch_bytes(plans),
    capacity_step = l.spec.cache and memory.capacity_step(l, plans),
    ring_capacity = l.spec.cache == "ring" and memory.ring_capacity(l, plans),
    room_shape = memory.room_shape,
    room_floats = function(room) return memory.room_floats(l, room) end,
  }
end

local function field_names(l)
  return {
    shape_text = fields.shape_text, matrix_text = fields.matrix_text,
    stride_text = fields.stride_text,
    comment = function(field) return fields.comment(l, field) end,
    declaration = function(field) return fields.declaration(l, field) end,
    check_field = function(field) return checks.of(l, field) end,
  }
end

--- What the packing needs: the forms that parts have, and the edges of buckets.
local function packing_names(l)
  local forms = {}
  for _, part in ipairs(l.packed.parts) do forms[part.form] = true end
  local bias, edges = l.spec.position.bias, {}
  if bias then
    local count = bias.bidirectional and bias.buckets // 2 or bias.buckets
    edges = buckets.edges(count, bias.max_distance)
  end
  return {
    has_matrix = forms.panels or false, has_vector = forms.vector or false, bucket_edges = edges,
  }
end

--- What attention keeps beside the counts: the width of masks, the place of query 0.
local function place_names(s)
  local mask, position = s.mask, s.position
  return {
    masks_wide = (mask.padding or mask.boolean or mask.additive) and true or false,
    needs_start = (mask.causal or mask.window or position.rope or position.alibi
      or position.relative or position.bias) and true or false,
  }
end

--- The names that the interface's templates use.
-- @tparam table l layer
-- @tparam table plans a plan for each target, portable first
-- @treturn table
function interface.names(l, plans)
  local s = l.spec
  local names = {
    l = l, s = s, name = l.name, upper = l.upper, hash = ("0x%08xu"):format(l.hash),
    statuses = STATUSES, constants = constants_of(s), formula = formula.of(l),
  }
  for _, part in ipairs {
    target_names(plans), stage_names(l), count_names(s), memory_names(l, plans), field_names(l),
    packing_names(l), place_names(s),
  } do
    for name, value in pairs(part) do names[name] = value end   -- order does not matter: a table
  end
  names.part = function(file) return render.template("layer/" .. file .. ".c.in", names) end
  return names
end

return interface
