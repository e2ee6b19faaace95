--- The fields of a layer's call as its Check test fills them: each pointer a table
-- [heads][rows][part] in memory of its own.
-- In: a layer. Out: plain data for the templates below templates/layer_test/.

local c = require "c"
local weights = require "check_test.weights"

local fields = {}

local FLAGS <const> = { padding = true, boolean = true }

--- Mean and deviation of an input, nil where it is flags.
local function spread(layer, field)
  if FLAGS[field] then return nil end
  if field == "head_mask" then return 1.0, 0.3 end
  if field == "additive" then return 0.0, 0.7 end
  local scored = field == "q" or field == "k"
  if scored and not layer.spec.project[field] then return 0.0, weights.size_of_queries(layer) end
  return 0.0, 1.0
end

--- Heads, rows and part as C over the counts n, by what kind of field it is.
local function shape_of(f, columns)
  if f.rows and f.strides[2] then return f.heads, "n." .. f.rows, f.part end
  if f.rows then return 1, "n." .. f.rows, f.width end
  if f.strides[2] then return f.heads, "n.tokens", columns end
  return 1, "1", f.field == "head_mask" and "HEADS" or columns
end

local function strides_of(f)
  if #f.strides == 0 then return nil end
  local list = { { name = f.strides[1], side = "row" } }
  if f.strides[2] then list[2] = { name = f.strides[2], side = "head" } end
  return list
end

local function table_of(layer, f, columns)
  local heads, rows, part = shape_of(f, columns)
  local input, by_heads = f.ctype:find("^const") ~= nil, f.strides[2] ~= nil
  local mean, deviation
  if input then mean, deviation = spread(layer, f.field) end
  return {
    field = f.field, ctype = f.ctype, optional = f.optional, input = input,
    map = by_heads and not f.rows,               -- [heads][tokens][keys]
    side_by_side = by_heads and f.rows ~= nil,   -- heads in one row, or each apart by its stride
    of_tokens = f.rows == "tokens",
    const = input and "const " or "", flags = FLAGS[f.field],
    size = FLAGS[f.field] and "sizeof(uint8_t)" or "sizeof(float)",
    heads = tostring(heads), rows = rows, part = tostring(part), width = f.width,
    strides = strides_of(f), mean = mean and c.double(mean),
    deviation = deviation and c.double(deviation),
  }
end

--- The pointers of the call in order.
-- @tparam table layer from layer.of
-- @tparam string columns the keys of a mask, as C over the counts n
-- @treturn table list
function fields.tables(layer, columns)
  local list = {}
  for _, f in ipairs(layer.call) do
    if f.ctype:find("*", 1, true) then list[#list + 1] = table_of(layer, f, columns) end
  end
  return list
end

--- The counts of the call in order: {field, member of the test's counts}.
-- @tparam table layer from layer.of
-- @treturn table list
function fields.counts(layer)
  local list = {}
  for _, f in ipairs(layer.call) do
    if f.ctype == "size_t" then
      local member = f.field == "context_length" and "live" or f.field
      list[#list + 1] = { field = f.field, member = member }
    end
  end
  return list
end

--- Those fields for which `test` holds, by name; false where there is none.
-- @tparam table list from fields.tables
-- @tparam function test
-- @treturn ?table
function fields.where(list, test)
  local names = {}
  for _, f in ipairs(list) do
    if test(f) then names[#names + 1] = f.field end
  end
  return #names > 0 and names or false
end

--- Each mistake that a call can make: {change, a C statement; status; text}.
-- @tparam table layer from layer.of
-- @tparam table tables from fields.tables
-- @treturn table list
function fields.faults(layer, tables)
  local s, list = layer.spec, {}
  local function fault(condition, change, status, text)
    if condition then list[#list + 1] = { change = change, status = status, text = text } end
  end
  local function too_many(count, field, status)
    if not count or count.fixed then return end
    local beyond = count.max + 1
    fault(true, ("call.%s = %d"):format(field, beyond), status, "one too many: " .. field)
    fault(true, ("call.%s = SIZE_MAX"):format(field), status, "far too much of " .. field)
  end
  too_many(s.tokens, "tokens", "TOKENS")
  too_many(s.context, "context", "CONTEXT")
  too_many(s.past, "past", "PAST")
  local fresh = s.context and "context" or "tokens"
  fault(s.context_length, ("call.context_length = (size_t)s.n.%s + 1"):format(fresh), "CONTEXT",
    "more live keys than there are")
  fault(s.cache, "call.cache.capacity = 0", "CAPACITY", "a cache without room")
  fault(s.cache, "call.cache.capacity -= 1", "CAPACITY", "a cache of odd capacity")
  fault(s.cache, "call.cache.keys = NULL", "NULL", "no keys in the cache")
  fault(s.cache, "call.cache.values = NULL", "NULL", "no values in the cache")
  for _, f in ipairs(tables) do
    local width = f.width or 0
    local needed, strided = width > 0 and not f.optional, width > 1 and not f.side_by_side
    fault(needed, ("call.%s = NULL"):format(f.field), "NULL", "no " .. f.field)
    fault(strided, ("call.%s_row = %d"):format(f.field, width - 1), "STRIDE",
      "rows of " .. f.field .. " that overlap")
  end
  return list
end

return fields
