--- The call of a layer: its counts, inputs, masks and results, each with its strides and its shape.

local call = {}

--- Rows of a literal width: `heads` parts of width `part`, which may lie apart from each other.
local function rows_field(field, ctype, rows, width, heads, part, apart)
  return {
    field = field, role = field, ctype = ctype, rows = rows, width = width, heads = heads,
    part = part, strides = { field .. "_row", apart and field .. "_head" or nil },
    shape = { rows, width },
  }
end

--- The rows that the layer's first stage reads.
local function inputs_of(s, one_input)
  local function input(field, rows, width, heads, part, apart)
    return rows_field(field, "const float *", rows, width, heads, part, apart)
  end
  if not s.attention then
    local width = s.heads * s.p_v
    return { input("o", "tokens", width, 1, width, false) }
  elseif one_input then
    local x = input("x", "tokens", s.d_q, 1, s.d_q, false)
    x.role = "q"
    return { x }
  end
  local fresh, project = s.context and "context" or "tokens", s.project
  local q = input("q", "tokens", s.d_q, s.heads, s.p_q, not project.q)
  local k = input("k", fresh, s.d_k, s.kv_heads, s.p_q, not project.k)
  local v = input("v", fresh, s.d_v, s.kv_heads, s.p_v, not project.v)
  v.optional = s.d_k == s.d_v and project.k == project.v     -- it is k, with the strides of k
  return { q, k, v }
end

--- One element for each query and key; [1] head where all heads share it.
local function map_field(field, ctype, heads)
  return {
    field = field, role = field, ctype = ctype, strides = { field .. "_row", field .. "_head" },
    shape = { heads, "tokens", "keys" }, optional = true, heads = heads,
  }
end

local function list_field(field, ctype, count)
  return {
    field = field, role = field, ctype = ctype, strides = {}, shape = { count }, optional = true,
  }
end

local function residual_field(s)
  local residual = rows_field("residual", "const float *", "tokens", s.p_o)
  residual.optional = s.attention and s.d_q == s.p_o
  return residual
end

local function result_field(s)
  if s.project.o then return rows_field("y", "float *", "tokens", s.p_o, 1, s.p_o) end
  return rows_field("y", "float *", "tokens", s.p_o, s.heads, s.p_v, true)
end

--- The fields of the call struct in order.
-- @tparam table s a completed spec
-- @tparam boolean one_input whether query, key and value are projected from one input
-- @treturn table list of { field, role, ctype, strides, shape, optional }, rows with rows, width,
--   heads and part, too
function call.of(s, one_input)
  local list = {}
  local function add(condition, field) if condition then list[#list + 1] = field end end
  local function count(field) return { field = field, ctype = "size_t", strides = {} } end
  local function heads_of(mask) return mask == "per_head" and s.heads or 1 end
  local mask = s.mask
  add(not s.tokens.fixed, count("tokens"))
  add(s.context and not s.context.fixed, count("context"))
  add(not s.past.fixed, count("past"))
  add(s.context_length, count("context_length"))
  add(s.cache, { field = "cache", ctype = "cache", role = "cache", strides = {} })
  for _, input in ipairs(inputs_of(s, one_input)) do add(true, input) end
  add(s.residual, residual_field(s))
  add(mask.padding, list_field("padding", "const uint8_t *", "keys"))
  add(mask.boolean, map_field("boolean", "const uint8_t *", heads_of(mask.boolean)))
  add(mask.additive, map_field("additive", "const float *", heads_of(mask.additive)))
  add(s.head_mask, list_field("head_mask", "const float *", s.heads))
  add(true, result_field(s))
  add(s.return_weights, map_field("weights", "float *", s.heads))
  add(s.return_scores, map_field("scores", "float *", s.heads))
  return list
end

return call
