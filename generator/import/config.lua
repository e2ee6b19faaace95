--- A model's config as typed values, each with where it came from.
--
-- In: a decoded JSON object in which null is json.null, and a family's list of keys. An entry of
-- that list is { key, kind, default, also = other names, only = the one value that is understood,
-- one_of = the values that are, fills = the spec fields it decides }. Out: the values, how each
-- was found, and all complaints. Knows no family.

local json = require "read.json"

local config = {}

local function whole_at_least(least)
  return function(value)
    local whole = math.type(value) and math.tointeger(value)
    if whole and whole >= least then return whole end
  end
end

local function of_type(name)
  return function(value) if type(value) == name then return value end end
end

local function finite(value)
  if math.type(value) and value - value == 0 then return value end
end

local kinds = {
  count = { read = whole_at_least(1), rule = "must be a whole number of at least 1" },
  index = { read = whole_at_least(0), rule = "must be a whole number of at least 0" },
  number = { read = finite, rule = "must be a number" },
  positive = {
    read = function(value) if finite(value) and value > 0 then return value end end,
    rule = "must be a number above 0",
  },
  boolean = { read = of_type "boolean", rule = "must be true or false" },
  string = { read = of_type "string", rule = "must be a string" },
  object = {
    read = function(value) if json.kind(value) == "object" then return value end end,
    rule = "must be an object",
  },
  list = {
    read = function(value) if json.kind(value) == "array" then return value end end,
    rule = "must be an array",
  },
}

--- A value as it stands in a message or a comment, on one line.
-- @param value any decoded JSON value
-- @treturn string
function config.show(value)
  if value == nil or value == json.null then return "null" end
  if type(value) == "string" then return ("%q"):format(value):gsub("\\\n", "\\n") end
  if math.type(value) == "float" then return config.number(value) end
  if type(value) == "table" then
    return json.encode(value)
  end
  return tostring(value)
end

--- The shortest decimal text that reads back as the same number.
-- @tparam number value finite
-- @treturn string
function config.number(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if value == math.floor(value) and math.abs(value) < 1e15 then return ("%.1f"):format(value) end
  for digits = 1, 17 do
    local text = ("%." .. digits .. "g"):format(value):gsub(",", ".")
    if tonumber(text) == value then
      return text:find("[.e]") and text or text .. ".0"
    end
  end
end

-- The key under which an entry stands in the object: its own name or one of the others.
local function stated_name(object, entry, complaints)
  local found
  for _, name in ipairs({ entry[1], table.unpack(entry.also or {}) }) do
    if object[name] ~= nil then
      if found and config.show(object[name]) ~= config.show(object[found]) then
        complaints[#complaints + 1] = ("%s: %s: contradicts %s = %s"):format(
          name, config.show(object[name]), found, config.show(object[found]))
      end
      found = found or name
    end
  end
  return found
end

local function checked(name, value, entry)
  local kind = assert(kinds[entry[2]], entry[2])
  local read = kind.read(value)
  if read == nil then return nil, ("%s: %s: %s"):format(name, config.show(value), kind.rule) end
  if entry.only ~= nil and read ~= entry.only then
    return nil, ("%s: %s: only %s is supported"):format(name, config.show(value),
      config.show(entry.only))
  end
  for index, allowed in ipairs(entry.one_of or {}) do
    if read == allowed then break end
    if index == #entry.one_of then
      return nil, ("%s: %s: must be one of %s"):format(name, config.show(value),
        table.concat(entry.one_of, ", "))
    end
  end
  return read
end

--- Reads the keys of a family. A key that is null has no value, and no default either; an absent
-- one has the family's default.
-- @tparam table object the decoded config
-- @tparam {table,...} keys the family's list of keys
-- @tparam {string,...} complaints where the faults go
-- @treturn table values by key
-- @treturn {table,...} { key, value, origin = "given", "default" or "null", fills } in the list's
--   order
function config.read(object, keys, complaints)
  local values, lines = {}, {}
  for _, entry in ipairs(keys) do
    local key = entry[1]
    local name = stated_name(object, entry, complaints)
    local line = { key = name or key, fills = entry.fills or {} }
    if not name then
      values[key], line.origin = entry[3], "default"
    elseif object[name] == json.null then
      line.origin = "null"
    else
      local complaint
      values[key], complaint = checked(name, object[name], entry)
      complaints[#complaints + 1] = complaint
      line.origin = "given"
    end
    line.value = values[key]
    lines[#lines + 1] = line
  end
  return values, lines
end

return config
