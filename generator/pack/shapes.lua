--- The shape that a tensor must have to hold certain weights of a layer, and where in it each
-- head stands.
--
-- In: a completed spec, roles, a layout. Out: shapes and places. Layouts: out_in is [out][in],
-- in_out is [in][out], in_heads is [in][head][width] and, for wo, [head][width][out]. Knows no
-- checkpoint.

local shapes = {}

--- The projection that a role belongs to: q, k, v or o; nil for all other roles.
shapes.projection_of = {
  wq = "q", wk = "k", wv = "v", wo = "o", bq = "q", bk = "k", bv = "v", bo = "o",
}

--- Heads and width of one head of a role's rows; of wo, of its columns.
-- @tparam table spec completed
-- @string role
-- @treturn integer heads
-- @treturn integer width
function shapes.heads_of(spec, role)
  local which = shapes.projection_of[role]
  if which == "q" then return spec.heads, spec.p_q end
  if which == "k" then return spec.kv_heads, spec.p_q end
  if which == "v" then return spec.kv_heads, spec.p_v end
  return spec.heads, spec.p_v
end

--- The width of what a matrix multiplies; of wo, what it makes.
-- @tparam table spec completed
-- @string role wq, wk, wv or wo
-- @treturn integer
function shapes.other_width(spec, role)
  local widths = { wq = spec.d_q, wk = spec.d_k, wv = spec.d_v, wo = spec.p_o }
  return widths[role]
end

local function matrix_shape(spec, roles, layout, extra)
  local other, rows = shapes.other_width(spec, roles[1]), 0
  local heads, width
  for _, role in ipairs(roles) do
    heads, width = shapes.heads_of(spec, role)
    rows = rows + (heads + extra) * width
  end
  local is_output = roles[1] == "wo"
  if layout == "in_heads" then
    if is_output then return { heads + extra, width, other } end
    return { other, heads + extra, width }
  end
  if (layout == "out_in") == is_output then return { other, rows } end
  return { rows, other }
end

--- The shape that a tensor of these roles must have.
-- @tparam table spec completed
-- @tparam table weight the layer's entry for one of them: kind and shape
-- @tparam {string,...} roles one, or those fused in this order
-- @string layout of matrices
-- @tparam integer extra heads that the tensor still has and the layer has lost
-- @treturn {integer,...}
function shapes.expected(spec, weight, roles, layout, extra)
  local first = roles[1]
  if weight.kind == "matrix" then return matrix_shape(spec, roles, layout, extra) end
  if first == "bias_table" then return { weight.shape[1], spec.heads + extra } end
  if first == "sinks" then return { spec.heads + extra } end
  if not shapes.projection_of[first] or first == "bo" then return weight.shape end
  local rows = 0
  for _, role in ipairs(roles) do
    local heads, width = shapes.heads_of(spec, role)
    rows = rows + (heads + extra) * width
  end
  return { rows }
end

--- Whether two shapes are the same.
-- @tparam {integer,...} shape
-- @tparam {integer,...} other
-- @treturn boolean
function shapes.same(shape, other)
  if #shape ~= #other then return false end
  for axis, dimension in ipairs(shape) do
    if dimension ~= other[axis] then return false end
  end
  return true
end

--- A shape as messages show it.
-- @tparam {integer,...} shape
-- @treturn string
function shapes.text(shape)
  return "[" .. table.concat(shape, ", ") .. "]"
end

--- The heads, 0-based, that stay when some are removed, and how many there were.
-- @tparam integer heads that stay
-- @tparam {integer,...} removed 0-based numbers among all
-- @treturn {integer,...} in ascending order
-- @treturn integer all
function shapes.surviving(heads, removed)
  local gone, kept = {}, {}
  for _, head in ipairs(removed) do gone[head] = true end
  local all = heads + #removed
  for head = 0, all - 1 do
    if not gone[head] then kept[#kept + 1] = head end
  end
  return kept, all
end

--- Where the rows of a role stand on a tensor's axis of heads.
-- @tparam table spec completed
-- @tparam {string,...} roles those fused in the tensor, in order
-- @string role one of them
-- @tparam boolean per_head whether each head's rows of all roles stand together
-- @tparam {integer,...} removed heads that the tensor still has
-- @treturn {integer,...} a 0-based place for each row
-- @treturn integer the length of that axis
function shapes.head_rows(spec, roles, role, per_head, removed)
  local heads, width = shapes.heads_of(spec, role)
  local kept, all = shapes.surviving(heads, removed)
  local before, together = 0, 0
  for _, other in ipairs(roles) do
    local other_heads, other_width = shapes.heads_of(spec, other)
    if other == role then before = together end
    together = together + (per_head and other_width or (other_heads + #removed) * other_width)
  end
  local rows, stride = {}, per_head and together or width
  for _, head in ipairs(kept) do
    for p = 0, width - 1 do rows[#rows + 1] = before + head * stride + p end
  end
  return rows, per_head and all * together or together
end

return shapes
