--- The types of fields that are lists: numbers, words, masks, norms, targets.
-- In and out as in spec/types.lua, which knows them by name once this is loaded.

local say = require "spec.say"
local types = require "spec.types"
local targets = require "targets"
local complain = require "spec.report".complain

local lists = {}

--- The length of a list.
-- @param value anything
-- @treturn ?integer nil where it is no table or has other keys than 1, 2, ... n
function lists.length(value)
  if type(value) ~= "table" then return nil end
  local keys, others = say.keys(value)
  if others then return nil end
  for index, key in ipairs(keys) do
    if key ~= index then return nil end
  end
  return #keys
end

local function place_of(path, index) return ("%s[%d]"):format(path, index) end

local function read_numbers(value, field, path, report)
  local length = lists.length(value)
  if not length or length == 0 then return complain(report, path, value, field.rule) end
  local number = { type = "number", rule = "must be a finite number in the range of f32" }
  local numbers = {}
  for index = 1, length do
    numbers[index] = types.read(value[index], number, place_of(path, index), report)
  end
  return numbers
end

-- A list of words, each at most once, as a set.
local function read_words(value, field, path, report)
  local length = lists.length(value)
  if not length then return complain(report, path, value, field.rule) end
  local set = {}
  for index = 1, length do
    local word, place = value[index], place_of(path, index)
    if not types.has(field.values, word) then
      complain(report, place, word,
        ("must be %s%s"):format(say.list(field.values, "or"), types.hint(word, field.values)))
    elseif set[word] then
      complain(report, place, word, "stands in the list twice")
    else
      set[word] = true
    end
  end
  return set
end

local function read_targets(value, field, path, report)
  local known = { rule = field.rule, values = targets.names }
  local set = read_words(value, known, path, report)
  if not set then return nil end
  local list = { "portable" }
  for _, name in ipairs(targets.names) do
    if set[name] and name ~= "portable" then list[#list + 1] = name end
  end
  return list
end

-- ---- Masks --------------------------------------------------------------------------------------

local function item_of(items, name)
  local there = {}
  for index, item in ipairs(items) do
    if item.name == name then return item end
    there[index] = item.name
  end
  return nil, there
end

local function read_window(value, item, path, report)
  local sides = types.read_record(value, item, path, report)
  if not sides or report.bad[path] or sides.left or sides.right then return sides end
  complain(report, path, value, "must have left, right or both: with neither it keeps every key")
end

local function read_options(value, item, path, report)
  local inner = path .. "." .. item.name
  if item.fields then return read_window(value, item, inner, report) end
  if item.values then
    local rule = "must be " .. say.list(item.values, "or")
    return types.read(value, { type = "choice", values = item.values, rule = rule }, inner, report)
  end
  complain(report, inner, value, ('has no options; write "%s"'):format(item.name))
end

-- The name and the value in the completed spec of one entry of the list.
local function read_mask(entry, field, path, report)
  local name, options = entry, nil
  if type(entry) == "table" then
    local keys, others = say.keys(entry)
    if #keys ~= 1 or others then
      return complain(report, path, entry, "must name one mask, as in { window = { left = 3 } }")
    end
    name, options = keys[1], entry[keys[1]]
  end
  local item, there = item_of(field.items, name)
  if not item then
    return complain(report, path, entry,
      ("must be %s%s"):format(say.list(there, "or"), types.hint(name, there)))
  end
  if options ~= nil then return name, read_options(options, item, path, report) end
  if item.fields then
    return complain(report, path, entry, "must have sides, as in { window = { left = 3 } }")
  end
  return name, item.values and item.values[1] or true
end

local function read_masks(value, field, path, report)
  local length = lists.length(value)
  if not length then return complain(report, path, value, field.rule) end
  local masks, seen = {}, {}
  for index = 1, length do
    local place = place_of(path, index)
    local name, mask = read_mask(value[index], field, place, report)
    if name and seen[name] then
      complain(report, place, value[index], "stands in the list twice")
    elseif name then
      seen[name], masks[name] = true, mask
    end
  end
  return masks
end

-- ---- Norms --------------------------------------------------------------------------------------

local function read_norms(value, field, path, report)
  if type(value) ~= "table" then return complain(report, path, value, field.rule) end
  local length = lists.length(value)
  local norms = {}
  for index = 1, length or 1 do
    local given = value
    if length then given = value[index] end
    local inner = length and place_of(path, index) or path
    local norm = types.read_record(given, field, inner, report)
    local place = norm and norm.place
    if place and norms[place] then
      complain(report, inner, given, ('is the second norm at the place "%s"'):format(place))
    elseif place then
      norms[place] = norm
    end
  end
  return norms
end

-- ---- The types ----------------------------------------------------------------------------------

types.define("numbers", "must be a list of finite numbers", read_numbers)

types.define("set", function(field)
  return "must be a list of " .. say.list(field.values, "and")
end, read_words)

types.define("masks", 'must be a list, as in { "causal", { window = { left = 3 } } }', read_masks)

types.define("norms", "must be a table of fields, or a list of such tables", read_norms)

types.define("targets", "must be a list of " .. say.list(targets.names, "and"), read_targets)

return lists
