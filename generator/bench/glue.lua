--- The C that makes a layer ready to be measured, from templates/bench_layer.c.in.
-- In: a layer. Out: text. Knows the interface and the spec; knows no kernel and no plan.

local buckets = require "buckets"
local c = require "c"
local render = require "render"
local weights = require "check_test.weights"

local glue = {}

local ROLES <const> = {
  "wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo", "q", "k", "v", "o", "residual",
}

local KINDS <const> = { layer = "LAYER_NORM", rms = "RMS_NORM" }
local RELATIVES <const> = { key = 1, key_query = 2 }

local function flag(condition) return condition and 1 or 0 end

local function position_constants(s)
  local rope, relative, bias = s.position.rope, s.position.relative or {}, s.position.bias
  return {
    { "ROPE_DIM", rope and rope.dim or 0 }, { "ROPE_INTERLEAVED", flag(rope and rope.interleaved) },
    { "RELATIVE", RELATIVES[relative.kind] or 0 }, { "RELATIVE_LEFT", relative.left or 0 },
    { "RELATIVE_RIGHT", relative.right or 0 }, { "RELATIVE_MAX", relative.max or 0 },
    { "ALIBI", flag(s.position.alibi) }, { "BUCKETS", bias and bias.buckets or 0 },
    { "BUCKETS_BOTH", flag(bias and bias.bidirectional) },
  }
end

local function mask_constants(s)
  local window = s.mask.window or {}
  return {
    { "CAUSAL", flag(s.mask.causal) }, { "ALIGN_START", flag(s.align == "start") },
    { "WINDOW_LEFT", window.left or -1 }, { "WINDOW_RIGHT", window.right or -1 },
    { "BOOLEAN_PER_HEAD", flag(s.mask.boolean == "per_head") },
    { "ADDITIVE_PER_HEAD", flag(s.mask.additive == "per_head") },
  }
end

local function size_constants(layer)
  local s = layer.spec
  local widest = math.max(s.d_q or 1, s.d_k or 1, s.d_v or 1, s.p_o)
  return {
    { "ATTENTION", flag(s.attention) }, { "ONE_INPUT", flag(layer.one_input) },
    { "HEADS", s.heads }, { "KV_HEADS", s.kv_heads }, { "GROUP", s.heads // s.kv_heads },
    { "P_Q", s.p_q or 1 }, { "P_V", s.p_v }, { "P_O", s.p_o },
    { "D_Q", s.d_q or 1 }, { "D_K", s.d_k or 1 }, { "D_V", s.d_v or 1 }, { "WIDEST", widest },
  }
end

local function edges_of(s)
  local bias = s.position.bias
  if not bias then return { 0 }, 0 end
  local count = bias.bidirectional and bias.buckets // 2 or bias.buckets
  local list = buckets.edges(count, bias.max_distance)
  return #list > 0 and list or { 0 }, #list
end

local function constants_of(layer, edge_count)
  local list = {}
  local groups = { size_constants(layer), mask_constants(layer.spec),
    position_constants(layer.spec), { { "EDGES", edge_count } } }
  for _, group in ipairs(groups) do
    for _, one in ipairs(group) do list[#list + 1] = { name = one[1], value = one[2] } end
  end
  return list
end

local function numbers_of(s)
  local rope = s.position.rope or {}
  local list = {
    { "SCALE", s.scale or 1.0 }, { "SOFTCAP", s.softcap or 0.0 },
    { "ROPE_BASE", rope.base or 1.0 }, { "ROPE_FACTOR", rope.factor or 1.0 },
  }
  for i, one in ipairs(list) do list[i] = { name = one[1], value = c.double(one[2]) } end
  return list
end

local function norms_of(s)
  local list = {}
  local function add(name, norm)
    list[#list + 1] = {
      name = name, kind = norm and KINDS[norm.kind] or "NO_NORM",
      plus_one = flag(norm and norm.plus_one), eps = c.double(norm and norm.eps or 0.0),
    }
  end
  add("INPUT_NORM", s.norms.input)
  add("HEAD_NORM", s.qk_norm)
  add("OUTPUT_NORM", s.norms.output)
  add("AFTER_NORM", s.norms.after)
  return list
end

local function joined(list, convert)
  local out = {}
  for i, item in ipairs(list) do out[i] = convert and convert(item) or tostring(item) end
  return table.concat(out, ", ")
end

-- ---- Inputs ------------------------------------------------------------------------------------

local ROWS <const> = { tokens = "tokens", context = "fresh" }

local function normal(count, mean, deviation)
  return ("random_floats(%s, %s, %s)"):format(count, c.double(mean), c.double(deviation))
end

--- How a field of the call is made: C, or nil where it is left out of the call or written by it.
local function made(layer, field)
  local s, name = layer.spec, field.field
  local map = ("%s * tokens * keys"):format(field.heads or 1)
  if name == "padding" then return "all_kept(keys)" end
  if name == "boolean" then return ("all_kept(%s)"):format(map) end
  if name == "additive" then return normal(map, 0.0, 0.7) end
  if name == "head_mask" then return normal("HEADS", 1.0, 0.3) end
  local scored = (name == "q" or name == "k") and not s.project[name]
  local deviation = scored and weights.size_of_queries(layer) or 1.0
  return normal(("%s * %d"):format(ROWS[field.rows], field.width), 0.0, deviation)
end

--- The residual is the query input where the layer allows that.
local function roles_of(layer, field)
  local roles = field.field == "x" and { "q", "k", "v" } or { field.field }
  local query = field.field == "x" or field.field == "q"
  for _, other in ipairs(layer.call) do
    local default = other.field == "residual" and other.optional
    if query and default then roles[#roles + 1] = "residual" end
  end
  return roles
end

local function is_input(field)
  local default_residual = field.field == "residual" and field.optional
  return field.ctype:find("^const") ~= nil and not default_residual
end

local function inputs_of(layer)
  local list = {}
  for _, field in ipairs(layer.call) do
    if is_input(field) then
      list[#list + 1] = { roles = roles_of(layer, field), made = made(layer, field) }
    end
  end
  return list
end

local COUNTS <const> = {
  tokens = "tokens", context = "fresh", context_length = "fresh", past = "n->past",
}

local function floats_of_output(field)
  if field.rows then return ("%s * %d"):format(ROWS[field.rows], field.width) end
  return ("%d * tokens * keys"):format(field.heads)
end

local function call_fields_of(layer)
  local list = {}
  local function add(name, value) list[#list + 1] = { name = name, value = value } end
  for _, field in ipairs(layer.call) do
    if COUNTS[field.field] then
      add(field.field, COUNTS[field.field])
    elseif is_input(field) then
      add(field.field, "given." .. roles_of(layer, field)[1])
    elseif field.ctype == "float *" then
      add(field.field, ("memory(sizeof(float) * (%s))"):format(floats_of_output(field)))
    end
  end
  return list
end

local function matrices_of(layer)
  local list = {}
  for _, w in ipairs(layer.weights) do
    if w.kind == "matrix" then
      local out, depth = w.shape[1], w.shape[2]
      list[#list + 1] = { role = w.role, columns = out, depth = depth }
    end
  end
  return #list > 0 and list or false
end

-- ---- The text ----------------------------------------------------------------------------------

--- Renders the glue of a layer.
-- @tparam table layer from layer.of
-- @treturn string C that includes the layer's header and bench_layer.h
function glue.text(layer)
  local s = layer.spec
  local edges, edge_count = edges_of(s)
  local slopes = s.position.alibi and s.position.alibi.slopes or { 0.0 }
  return render.template("bench_layer.c.in", {
    L = layer.name, N = layer.upper, targets = s.targets, cache = s.cache, roles = ROLES,
    two_counts = s.context ~= nil, padding = s.mask.padding, boolean = s.mask.boolean,
    constants = constants_of(layer, edge_count), numbers = numbers_of(s), norms = norms_of(s),
    slopes = joined(slopes, c.double), bucket_edges = joined(edges),
    weights = weights.of(layer), matrices = matrices_of(layer), inputs = inputs_of(layer),
    call_fields = call_fields_of(layer), key_size = c.double(weights.size_of_queries(layer)),
    target_names = joined(s.targets, function(name) return '"' .. name .. '"' end),
    target_numbers = joined(s.targets, function(name)
      return layer.upper .. "_TARGET_" .. name:upper()
    end),
  })
end

return glue
