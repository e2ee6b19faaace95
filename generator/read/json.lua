--- JSON texts to Lua values and back.
--
-- The parsing is dkjson's. It is lenient, so its two parsers share the work: the one on LPeg
-- refuses what breaks the grammar, the plain one sees each key of an object, also one that stands
-- there twice. What both let pass (comments, commas before a closing bracket) is refused here.
--
-- Goes in: a text. Comes out: plain values. Does not know: files, specs.

local dkjson = require "dkjson"

local json = {}

--- Stands for a null inside an array, so that its neighbours keep their places.
json.null = dkjson.null

local grammar = dkjson.use_lpeg()

local function place(text, position)
  local before = text:sub(1, position - 1)
  local _, lines = before:gsub("\n", "")
  return ("line %d, column %d"):format(lines + 1, #before:match("[^\n]*$") + 1)
end

-- Strings become runs of "s" of the same length, so that patterns match outside of them only.
local function without_strings(text)
  text = text:gsub("\\.", "ss")
  return (text:gsub('"[^"]*"', function(quoted) return ("s"):rep(#quoted) end))
end

local leniencies = {
  { pattern = "/", complaint = "a comment, which JSON does not have" },
  { pattern = ",%s*[]}]", complaint = "a comma before a closing bracket" },
  { pattern = "%d%.%D", complaint = "a number without digits after its point" },
}

local function leniency(text)
  local bare = without_strings(text) .. " "
  for _, rule in ipairs(leniencies) do
    local position = bare:find(rule.pattern)
    if position then return ("%s: %s"):format(place(text, position), rule.complaint) end
  end
end

local function check_grammar(text)
  local called, value, position, complaint = pcall(grammar.decode, text, 1, json.null)
  if not called then return "brackets are nested too deeply" end
  if value == nil then
    -- dkjson puts the place last; here it stands first, as in compilers' messages
    local what, where = complaint:match("^(.*) at (line %d+, column %d+)$")
    return what and ("%s: %s"):format(where, what) or complaint
  end
  local rest = text:find("%S", position)
  if rest and text:sub(rest, rest) ~= "/" then
    return ("%s: text after the end of the value"):format(place(text, rest))
  end
  return leniency(text)
end

-- An object that keeps its members in a list beside it: no member is ever stored in it, so each
-- assignment, also of a key that was there before, arrives in __newindex.
local function recorder()
  local members = setmetatable({}, { __mode = "k" })
  local object = {
    __newindex = function(record, key, value)
      local list = members[record]
      if not list then
        list = {}
        members[record] = list
      end
      list[#list + 1] = { key = key, value = value }
    end,
  }
  return object, members
end

local object_type = { __jsontype = "object" }
local array_type = { __jsontype = "array" }

local finished

local function finished_object(record, members, path, nulls)
  local object = setmetatable({}, object_type)
  local seen = {}
  for _, member in ipairs(members[record] or {}) do
    local inner = path .. "." .. member.key
    if seen[member.key] then
      return nil, ("%s: the key stands twice in one object"):format(inner)
    end
    seen[member.key] = true
    if member.value ~= json.null or nulls then
      local value, complaint = finished(member.value, members, inner, nulls)
      if complaint then return nil, complaint end
      object[member.key] = value
    end
  end
  return object
end

local function finished_array(list, members, path, nulls)
  local array = setmetatable({}, array_type)
  for index, element in ipairs(list) do
    local value, complaint = finished(element, members, ("%s[%d]"):format(path, index), nulls)
    if complaint then return nil, complaint end
    array[index] = value
  end
  return array
end

function finished(value, members, path, nulls)
  if value == json.null then return value end
  if type(value) == "table" then
    local is_array = getmetatable(value) == array_type
    return (is_array and finished_array or finished_object)(value, members, path, nulls)
  end
  if math.type(value) == "float" and value - value ~= 0 then
    return nil, ("%s: the number is too large for a double"):format(path)
  end
  return value
end

--- Decodes one JSON text.
-- Null members are absent unless they are asked for, a null in an array is json.null. Numbers
-- without a point or an exponent are integers. json.kind tells an empty array from an empty object.
-- @string text the JSON text
-- @string name what the messages call it, usually the file
-- @tparam[opt] boolean nulls keep null members, as json.null
-- @return the value, or nil
-- @treturn string a message that names text, place and fault
function json.decode(text, name, nulls)
  local complaint = check_grammar(text)
  if complaint then return nil, ("%s: %s"):format(name, complaint) end
  local object_meta, members = recorder()
  local raw = dkjson.decode(text, 1, json.null, object_meta, array_type)
  local value
  value, complaint = finished(raw, members, "", nulls)
  if complaint then
    return nil, ("%s: %s"):format(name, (complaint:gsub("^%.", "")))
  end
  if value == json.null then return nil, ("%s: the value is null"):format(name) end
  return value
end

--- Tells what a decoded table was in the text.
-- @param value any decoded value
-- @treturn ?string "object", "array", or nil for anything else
function json.kind(value)
  local meta = type(value) == "table" and getmetatable(value)
  return meta and meta.__jsontype or nil
end

-- The shortest of the usual precisions that reads back as the same double.
local function float_text(number)
  for digits = 15, 17 do
    local text = ("%." .. digits .. "g"):format(number)
    if tonumber(text) == number then
      text = text:gsub(",", ".")
      return text:find("[.e]") and text or text .. ".0"
    end
  end
end

local function ordered_keys(object, keyorder)
  local rank = {}
  for index, key in ipairs(keyorder) do rank[key] = index end
  local keys = {}
  -- order does not matter: the keys are sorted below
  for key in pairs(object) do
    if type(key) ~= "string" then
      error(("json.encode: an object's key must be a string, got %s"):format(tostring(key)))
    end
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    local rank_a, rank_b = rank[a] or math.huge, rank[b] or math.huge
    if rank_a ~= rank_b then return rank_a < rank_b end
    return a < b
  end)
  return keys
end

-- A copy that dkjson prints in one order only, with floats that read back as they were.
local function prepared(value, keyorder)
  if math.type(value) == "float" then
    if value - value ~= 0 then error(("json.encode: %s is not a JSON number"):format(value)) end
    local text = float_text(value)
    return setmetatable({}, { __tojson = function() return text end })
  end
  if type(value) ~= "table" or value == json.null then return value end
  local copy = {}
  if #value > 0 or json.kind(value) == "array" then
    for index, element in ipairs(value) do copy[index] = prepared(element, keyorder) end
    return setmetatable(copy, array_type)
  end
  local keys = ordered_keys(value, keyorder)
  for _, key in ipairs(keys) do copy[key] = prepared(value[key], keyorder) end
  return setmetatable(copy, { __jsontype = "object", __jsonorder = keys })
end

--- Encodes a value as JSON in one line.
-- @param value booleans, strings, finite numbers, arrays and objects of them
-- @tparam[opt] {string,...} keyorder the keys that come first in each object; the rest is sorted
-- @treturn string the text: the same for the same value, always
function json.encode(value, keyorder)
  return dkjson.encode(prepared(value, keyorder or {}))
end

return json
