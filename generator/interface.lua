--- The interface of a layer as text: constants, statuses, fields with their comments, checks.
-- Names for header.h.in, stages.h.in and layer.c.in.

local buckets = require "buckets"
local c = require "c"
local layer_module = require "layer"

local interface = {}

local round_up <const> = layer_module.round_up

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

local function constants_of(l)
  local s, list = l.spec, {}
  local function add(name, value) list[#list + 1] = { name, value } end
  add("HEADS", s.heads)
  if s.kv_heads ~= s.heads then add("KV_HEADS", s.kv_heads) end
  if not s.attention then
    add("D", s.heads * s.p_v)
  elseif s.d_q == s.d_k and s.d_k == s.d_v then
    add("D", s.d_q)
  else
    add("D_Q", s.d_q)
    add("D_K", s.d_k)
    add("D_V", s.d_v)
  end
  if s.attention then add("P_Q", s.p_q) end
  add("P_V", s.p_v)
  add("P_O", s.p_o)
  add("TOKENS_MAX", s.tokens.max)
  if s.context then add("CONTEXT_MAX", s.context.max) end
  if s.cache then add("PAST_MAX", s.past.max) end
  return list
end

local function bound(count) return count.fixed and tostring(count.max) or "0.." .. count.max end

--- The layer as one formula and a line of sizes.
local function formula_of(l)
  local s = l.spec
  local y = "[h_1; ...; h_" .. s.heads .. "]"
  if not s.attention then y = "o[t]" end
  if s.project.o then y = "W_o " .. y .. (s.bias.o and " + b_o" or "") end
  local function norm(place, text)
    local n = s.norms[place]
    return n and ((n.kind == "layer" and "LayerNorm(" or "RMSNorm(") .. text .. ")") or text
  end
  y = norm("output", y)
  if s.residual then y = "residual[t] + " .. y end
  y = norm("after", y)
  local lines = { ("%s: y[t] = %s"):format(l.name, y) }
  if s.attention then
    lines[2] = ("h_i = softmax(%s q_i K_i%s) V_i, %d heads%s, p_q = %d, p_v = %d"):format(
      c.float(s.scale):gsub("f$", ""), s.softcap and ", capped," or "", s.heads,
      s.kv_heads ~= s.heads and (" on %d key/value heads"):format(s.kv_heads) or "", s.p_q, s.p_v)
    lines[3] = ("%s tokens, %s%s"):format(bound(s.tokens),
      s.context and bound(s.context) .. " context" or "self-attention",
      s.cache and (", %s past in the cache"):format(bound(s.past)) or "")
    local masks = {}
    for _, name in ipairs { "padding", "causal", "boolean", "additive", "window" } do
      if s.mask[name] then masks[#masks + 1] = name end
    end
    if #masks > 0 then lines[#lines + 1] = "masks: " .. table.concat(masks, ", ") .. "; a key is kept where all keep it" end
  else
    lines[2] = ("%s tokens"):format(bound(s.tokens))
  end
  if s.norms.input then
    lines[#lines + 1] = "the input goes through " .. norm("input", "x"):gsub("%(x%)", "") .. " first"
  end
  return lines
end

local function shape_text(shape)
  local list = {}
  for i, n in ipairs(shape) do list[i] = "[" .. n .. "]" end
  return table.concat(list)
end

--- What stands behind a field of the call.
local function comment(l, f)
  local s = l.spec
  local null = ""
  if f.optional then
    null = "; NULL: " .. ({
      v = "k", residual = l.one_input and "x" or "q", padding = "all kept", boolean = "all kept",
      additive = "none", head_mask = "all 1", weights = "not wanted", scores = "not wanted",
    })[f.field]
  end
  local counts = {
    tokens = "queries of this call, at most " .. s.tokens.max,
    context = s.context and "key positions of this call, at most " .. s.context.max,
    past = "positions in the cache before this call, at most " .. s.past.max,
    context_length = "how many of the call's key positions are live; the others are not read",
    cache = "the call's keys and values are appended",
  }
  if counts[f.field] then return counts[f.field] end
  local text = shape_text(f.shape)
  if f.field == "padding" or f.field == "boolean" then text = text .. ", 1 = keep" end
  if f.field == "additive" then text = text .. ", added to the scores; minus infinity drops" end
  if f.field == "y" then text = text .. "; may be the query input or residual itself" end
  if f.field == "scores" then text = text .. ", " .. s.return_scores end
  return text .. null
end

local function declaration(l, f)
  if f.ctype == "cache" then return l.name .. "_cache cache;" end
  local blank = f.ctype:sub(-1) == "*" and "" or " "
  return f.ctype .. blank .. f.field .. ";"
end

local function stride_text(_, f, i)
  if i == 2 then return "from head to head" end
  return f.strides[2] and "from row to row" or "from row to row, 0: " .. (f.width or "dense")
end

--- Checks of one field in prepare().
local function check_field(l, f)
  local upper = l.upper
  local lines = {}
  local function line(text, ...) lines[#lines + 1] = text:format(...) end
  local function default(field, value) line("if (full->%s == 0) { full->%s = %s; }", field, field, value) end
  if f.ctype == "size_t" or f.ctype == "cache" then return "" end
  if f.role == "weights" or f.role == "scores" or f.role == "boolean" or f.role == "additive" then
    default(f.strides[1], "(ptrdiff_t)columns")
    line("if (full->%s < (ptrdiff_t)columns) { return %s_STRIDE; }", f.strides[1], upper)
    default(f.strides[2], "(ptrdiff_t)tokens * full->" .. f.strides[1])
  elseif f.width then
    local rows = f.rows
    if f.optional and f.field == "v" then
      line("if (!full->v) {\nfull->v = full->k; full->v_row = full->k_row;")
      if f.strides[2] then line("full->v_head = full->k_head;") end
      line("}")
    elseif f.field == "residual" and l.residual_by_heads then
      default(f.strides[1], f.width)
      line("if (full->%s < %d) { return %s_STRIDE; }", f.strides[1], f.width, upper)
      return table.concat(lines, "\n")
    elseif f.optional and f.field == "residual" then
      local q = l.one_input and "x" or "q"
      line("if (!full->residual) {\nfull->residual = full->%s; full->residual_row = full->%s_row;\n}", q, q)
    end
    line("if (%s > 0 && !full->%s) { return %s_NULL; }", rows, f.field, upper)
    default(f.strides[1], f.width)
    if f.strides[2] then
      default(f.strides[2], f.part)
    else
      line("if (full->%s < %d) { return %s_STRIDE; }", f.strides[1], f.width, upper)
    end
  end
  return table.concat(lines, "\n")
end

local function rows_of(l, room)
  local s = l.spec
  local fresh = s.context and "context" or "tokens"
  return ({ tokens = "tokens", context = "context", panels = "(" .. fresh .. " + 15) / 16", positions = fresh })[room.rows]
end

--- Floats of a room when the counts are the largest.
local function most_floats(l, room)
  local s = l.spec
  local fresh = l.fresh_max
  local rows = ({ tokens = s.tokens.max, context = fresh, panels = (fresh + 15) // 16, positions = fresh })[room.rows]
  return round_up(rows * room.width, 16)
end

local function sizes(l, plans)
  local floats = 0
  for _, room in ipairs(l.rooms) do floats = floats + most_floats(l, room) end
  local scratch = 0
  for _, p in ipairs(plans) do
    if p.attention then scratch = math.max(scratch, 4 * round_up(p.attention.scratch_floats, 16)) end
  end
  return floats * 4 + scratch, scratch
end

--- The names that the interface's templates use.
-- @tparam table l layer
-- @tparam table plans a plan for each target, portable first
-- @treturn table
function interface.names(l, plans)
  local s = l.spec
  local workspace, scratch = sizes(l, plans)
  local targets, machine_targets = {}, {}
  for i, p in ipairs(plans) do
    targets[i] = p.target.name
    if i > 1 then machine_targets[#machine_targets + 1] = p.target end
  end
  local stages = s.attention and { "project_q", "project_kv", "attend", "output" } or { "output" }
  local two = s.context ~= nil
  local tokens = s.tokens.fixed and tostring(s.tokens.max) or "call->tokens"
  local contexts = two and (s.context.fixed and tostring(s.context.max) or "call->context")
  local has_matrix, has_vector = false, false
  for _, part in ipairs(l.packed.parts) do
    has_matrix = has_matrix or part.form == "panels"
    has_vector = has_vector or part.form == "vector"
  end
  local window = s.mask.window
  local step = 16
  local ring_capacity
  if s.cache == "ring" then
    step = plans[1].attention.block
    ring_capacity = round_up(l.fresh_max + (window and window.left or 0), step)
  end
  local position = s.position
  local function bind(f) return function(...) return f(l, ...) end end
  return {
    l = l, s = s, name = l.name, upper = l.upper, hash = ("0x%08xu"):format(l.hash), targets = targets,
    machine_targets = machine_targets, stages = stages, statuses = STATUSES, constants = constants_of(l),
    formula = formula_of(l), shape_text = shape_text, comment = bind(comment), declaration = bind(declaration),
    stride_text = bind(stride_text), check_field = bind(check_field), has_matrix = has_matrix,
    has_vector = has_vector, workspace_bytes = workspace, scratch_bytes = scratch,
    capacity_step = step, ring_capacity = ring_capacity or false,
    workspace_parameters = two and "size_t tokens, size_t context" or "size_t tokens",
    workspace_arguments = two and "tokens, context" or "tokens",
    forward_arguments = two and "tokens, " .. contexts or "tokens",
    token_count = tokens,
    masks_wide = (s.mask.padding or s.mask.boolean or s.mask.additive) and true or false,
    needs_start = (s.mask.causal or window or position.rope or position.alibi or position.relative
      or position.bias) and true or false,
    uses_columns = true,
    room_shape = function(room)
      return ("[%s][%d]"):format(room.rows, room.width)
    end,
    room_floats = function(room) return c.mul(rows_of(l, room), room.width) end,
    bucket_edges = position.bias and buckets.edges(
      position.bias.bidirectional and position.bias.buckets // 2 or position.bias.buckets,
      position.bias.max_distance) or {},
    round_up = round_up,
  }
end

return interface
