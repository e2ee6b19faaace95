--- The members of the structs of a layer's header, with their comments.

local fields = {}

--- A shape as C writes it.
-- @tparam table shape list of integers and names
-- @treturn string such as `[tokens][768]`
function fields.shape_text(shape)
  return "[" .. table.concat(shape, "][") .. "]"
end

--- What stands behind a matrix of the weights: its shape and the usual layouts as initialisers.
-- @tparam table w a matrix of layer.weights
-- @treturn string
function fields.matrix_text(w)
  local outer, inner = w.rows * w.cols, w.heads * w.rows
  local out_in = ("{w, %d, %d, 1}"):format(outer, w.cols)
  local in_out = ("{w, %d, 1, %d}"):format(w.rows, inner)
  if w.role == "wo" then out_in, in_out = in_out, out_in end
  return ("%s: %s; [in][out]: %s"):format(fields.shape_text(w.shape), out_in, in_out)
end

--- The declaration of a field of the call.
-- @tparam table l layer
-- @tparam table f a field of layer.call
-- @treturn string
function fields.declaration(l, f)
  if f.ctype == "cache" then return l.name .. "_cache cache;" end
  local blank = f.ctype:sub(-1) == "*" and "" or " "
  return f.ctype .. blank .. f.field .. ";"
end

-- What the fields without a shape mean; %d is the largest count.
local COUNTS <const> = {
  tokens = "queries of this call, at most %d",
  context = "key positions of this call, at most %d",
  past = "positions in the cache before this call, at most %d",
  context_length = "how many of the call's key positions are live; the others are not read",
  cache = "the call's keys and values are appended",
}

-- What the fields with a shape mean beside it.
local MEANINGS <const> = {
  padding = ", 1 = keep",
  boolean = ", 1 = keep",
  additive = ", added to the scores; minus infinity drops",
  y = "; may be the query input or residual itself",
}

-- What NULL stands for where a field may be NULL.
local ABSENT <const> = {
  v = "k", padding = "all kept", boolean = "all kept", additive = "none", head_mask = "all 1",
  weights = "not wanted", scores = "not wanted",
}

--- What stands behind a field of the call.
-- @tparam table l layer
-- @tparam table f a field of layer.call
-- @treturn string
function fields.comment(l, f)
  local s, name = l.spec, f.field
  if COUNTS[name] then
    local count = s[name]
    return type(count) == "table" and COUNTS[name]:format(count.max) or COUNTS[name]
  end
  local meaning = name == "scores" and ", " .. s.return_scores or MEANINGS[name] or ""
  local text = fields.shape_text(f.shape) .. meaning
  if not f.optional then return text end
  return text .. "; NULL: " .. (ABSENT[name] or fields.query_input(l))
end

--- The field that a residual which is not given is taken from.
-- @tparam table l layer
-- @treturn string
function fields.query_input(l) return l.one_input and "x" or "q" end

--- What stands behind a stride.
-- @tparam table f a field of layer.call
-- @tparam integer i which of its strides
-- @treturn string
function fields.stride_text(f, i)
  if i == 2 then return "from head to head" end
  if f.strides[2] then return "from row to row" end
  return "from row to row, 0: " .. f.width
end

return fields
