--- The types of fields: the rule of each, and how a value is read by it.
-- In: one raw value, its field, the path that complaints call it by, and a report. Out: the value
-- as the completed spec holds it, or nil after a complaint. Knows no two fields together.

local say = require "spec.say"
local names = require "spec.names"
local complain = require "spec.report".complain

local types = {}

-- An enum constant of C is an int, and every count becomes one.
local largest_count <const> = 0x7fffffff
local largest_float <const> = 0x1.fffffep127
local smallest_normal <const> = 0x1p-126

local known = {}

--- Adds a type.
-- @string name what fields call it
-- @param rule what a value must be, or a function of the field that says so
-- @func read of value, field, path and report
function types.define(name, rule, read) known[name] = { rule = rule, read = read } end

--- Reads one value by the type of its field.
-- @return what the completed spec holds, or nil after a complaint
function types.read(value, field, path, report)
  return known[field.type].read(value, field, path, report)
end

--- Gives each field, and each inside of it, the rule of its type where it has none of its own.
-- @tparam {table,...} fields changed in place
-- @treturn {table,...} the same list
function types.with_rules(fields)
  for _, field in ipairs(fields) do
    local rule = field.rule or field.type and known[field.type].rule
    field.rule = type(rule) == "function" and rule(field) or rule
    types.with_rules(field.fields or field.items or {})
  end
  return fields
end

-- ---- Numbers and words --------------------------------------------------------------------------

-- 8 and 8.0 are the same count: writers of JSON differ.
local function reader_of_integers(least)
  return function(value, field, path, report)
    local integer = type(value) == "number" and math.tointeger(value)
    if integer and integer >= least and integer <= (field.most or largest_count) then
      return integer
    end
    complain(report, path, value, field.rule)
  end
end

local function reader_of_floats(accepts)
  return function(value, field, path, report)
    local float = type(value) == "number" and value + 0.0
    -- the comparison is false for NaN, too
    if float and math.abs(float) <= largest_float and accepts(float) then return float end
    complain(report, path, value, field.rule)
  end
end

--- Whether a list holds a value.
-- @tparam {any,...} list
-- @param value
-- @treturn boolean
function types.has(list, value)
  for _, candidate in ipairs(list) do
    if candidate == value then return true end
  end
  return false
end

--- A question for a word that is nearly a known one, else nothing.
-- @param word what was written
-- @tparam {string,...} words the known ones
-- @treturn string with a space in front, or empty
function types.hint(word, words)
  local nearest = say.nearest(word, words)
  return nearest and (' (did you mean "%s"?)'):format(nearest) or ""
end

local function read_choice(value, field, path, report)
  if types.has(field.values, value) then return value end
  if types.has(field.later or {}, value) then
    return complain(report, path, value,
      ("is not built yet; it must be %s"):format(say.list(field.values, "or")))
  end
  local words = {}
  for _, word in ipairs(field.values) do
    if type(word) == "string" then words[#words + 1] = word end
  end
  complain(report, path, value, field.rule .. types.hint(value, words))
end

-- ---- Tables of fields ---------------------------------------------------------------------------

-- Fields that people look for at the top of a spec, where they are part of another one.
local homes = {
  padding = "mask", causal = "mask", boolean = "mask", additive = "mask", window = "mask",
  rope = "position", alibi = "position", relative = "position",
  eps = "norm", place = "norm", plus_one = "norm",
}

-- What other systems call a field.
local called = {
  num_heads = "heads", n_heads = "heads", n_head = "heads", num_key_value_heads = "kv_heads",
  head_dim = "p_v", d_model = "d", hidden_size = "d", embed_dim = "d", p_k = "p_q",
  seq_len = "tokens",
}

-- What may help with a key that is no field.
local function advice(key, fields, path)
  local there = {}
  for index, field in ipairs(fields) do there[index] = field.name end
  if path == "" and homes[key] then return "; it belongs into " .. homes[key] end
  if path == "" and called[key] then return "; it is called " .. called[key] end
  local hint = types.hint(key, there)
  if hint ~= "" or path == "" then return hint end
  return ", which has " .. table.concat(there, ", ")
end

local function complain_of_key(key, value, fields, path, report)
  local shown = type(key) == "string" and key:find("^[A-Za-z0-9_]+$") and key or say.value(key)
  complain(report, path == "" and shown or path .. "." .. shown, value,
    ("is no field of %s%s"):format(path == "" and "a spec" or path, advice(key, fields, path)))
end

--- Reads a table of fields; each wrong and each unknown one is a complaint of its own.
-- @tparam table raw the table
-- @tparam {table,...} fields what it may hold
-- @string path "" for the spec itself
-- @tparam table report from report.new
-- @treturn table the values that are right, by name; defaults are left to the caller
function types.read_fields(raw, fields, path, report)
  local there, values = {}, {}
  for _, field in ipairs(fields) do
    there[field.name] = true
    local value = rawget(raw, field.name)
    local inner = path == "" and field.name or path .. "." .. field.name
    if value ~= nil then
      values[field.name] = types.read(value, field, inner, report)
    elseif field.required then
      complain(report, inner, nil, field.rule)
    end
  end
  local keys, others = say.keys(raw)
  for _, key in ipairs(keys) do
    if not there[key] then complain_of_key(key, rawget(raw, key), fields, path, report) end
  end
  if others then
    complain(report, path == "" and "spec" or path, raw, "has a key that is no field's name")
  end
  return values
end

--- Reads a table of fields and fills in their defaults.
-- @treturn ?table the values, or nil where it is no table
function types.read_record(value, field, path, report)
  if type(value) ~= "table" then return complain(report, path, value, field.rule) end
  local values = types.read_fields(value, field.fields, path, report)
  for _, inner in ipairs(field.fields) do
    local missing = values[inner.name] == nil and not report.bad[path .. "." .. inner.name]
    if missing then values[inner.name] = inner.default end
  end
  return values
end

local max_field = {
  { name = "max", type = "count", required = true,
    rule = "must be an integer from 1 to 2147483647" },
}

-- n, or { max = n }: a count that is fixed, or one that is given with each call.
local function reader_of_rows(least)
  local read_fixed = reader_of_integers(least)
  return function(value, field, path, report)
    if type(value) ~= "table" then
      local n = read_fixed(value, field, path, report)
      return n and { max = n, fixed = true }
    end
    local max = types.read_fields(value, max_field, path, report).max
    return max and { max = max, fixed = false }
  end
end

-- One boolean for all, or a table of them; what the table leaves out stays nil.
local function read_flags(value, field, path, report)
  if type(value) == "boolean" then return { all = value } end
  return types.read_record(value, field, path, report)
end

-- ---- The types ----------------------------------------------------------------------------------

types.define("name", names.rule, function(value, _, path, report)
  local broken = names.broken_rule(value)
  if not broken then return value end
  complain(report, path, value, broken)
end)

types.define("count", "must be an integer from 1 to 2147483647", reader_of_integers(1))

types.define("distance", "must be an integer from 0 to 2147483647", reader_of_integers(0))

types.define("number", "must be a finite number in the range of f32",
  reader_of_floats(function() return true end))

types.define("positive", "must be a finite number above 0 in the normal range of f32",
  reader_of_floats(function(float) return float >= smallest_normal end))

types.define("boolean", "must be true or false", function(value, field, path, report)
  if type(value) == "boolean" then return value end
  complain(report, path, value, field.rule)
end)

types.define("choice", function(field) return "must be " .. say.list(field.values, "or") end,
  read_choice)

types.define("rows", "must be an integer from 1 to 2147483647, or { max = n } of such an n",
  reader_of_rows(1))

types.define("past",
  "must be an integer from 0 to 2147483647, or { max = n } with n from 1 to 2147483647",
  reader_of_rows(0))

types.define("record", "must be a table of fields", types.read_record)

types.define("flags", "must be true, false or a table of q, k, v and o", read_flags)

return types
