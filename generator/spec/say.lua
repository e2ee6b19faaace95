--- How values, fields and near misses are written in complaints.
-- In: any value, also one that a user got wrong. Out: short text on one line, the same in every
-- locale. Knows no field.

local say = {}

local longest_string <const> = 40
local longest_table <const> = 80

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t" }

local function quoted(text)
  local shown = text:sub(1, longest_string):gsub('["\\%c\x80-\xff]', function(char)
    return escapes[char] or ("\\x%02x"):format(char:byte())
  end)
  return '"' .. shown .. '"' .. (#text > longest_string and "..." or "")
end

--- Writes a float so that it reads back as the same double, with a point in every locale.
-- @number value a float
-- @treturn string digits with a point or an exponent; nan, inf or -inf
function say.float(value)
  if value ~= value then return "nan" end
  if value - value ~= 0 then return value > 0 and "inf" or "-inf" end
  for digits = 15, 17 do
    local text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value or digits == 17 then
      text = text:gsub(",", ".")
      return text:find("[.e]") and text or text .. ".0"
    end
  end
end

-- Integers first, then strings; other keys cannot be ordered and are counted as one.
local function key_before(a, b)
  local number_a, number_b = type(a) == "number", type(b) == "number"
  if number_a ~= number_b then return number_a end
  return a < b
end

--- The keys of a table in one order, whatever the table: numbers, then strings.
-- @tparam table source read without metamethods
-- @treturn {any,...} the keys that are numbers or strings
-- @treturn boolean whether there are others
function say.keys(source)
  local keys, others = {}, false
  for key in next, source do   -- order does not matter: the keys are sorted below
    if type(key) == "string" or type(key) == "number" then
      keys[#keys + 1] = key
    else
      others = true
    end
  end
  table.sort(keys, key_before)
  return keys, others
end

local function key_text(key)
  if type(key) ~= "string" then return ("[%s]"):format(say.value(key)) end
  return key:find("^[A-Za-z_][A-Za-z0-9_]*$") and key or ("[%s]"):format(quoted(key))
end

local function table_text(source, depth)
  local keys = say.keys(source)
  local parts, length = {}, 0
  for index, key in ipairs(keys) do
    local inner = rawget(source, key)
    local text = say.value(inner, depth + 1)
    if key ~= index then text = key_text(key) .. " = " .. text end
    length = length + #text + 2
    if length > longest_table then
      parts[index] = "..."
      break
    end
    parts[index] = text
  end
  return #parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }"
end

--- Writes a value as a spec would, shortened where it is long.
-- @param value anything
-- @tparam[opt] integer depth how many tables it stands in
-- @treturn string one line
function say.value(value, depth)
  depth = depth or 0
  local kind = type(value)
  if kind == "nil" then return "missing" end
  if kind == "string" then return quoted(value) end
  if math.type(value) == "float" then return say.float(value) end
  if kind == "number" or kind == "boolean" then return tostring(value) end
  if kind == "table" then return depth < 3 and table_text(value, depth) or "{...}" end
  return "a " .. kind
end

--- The words of a list with commas between and a last word before the last one.
-- @tparam {any,...} values written by say.value
-- @string last "or" or "and"
-- @treturn string for instance: "end" or "start"
function say.list(values, last)
  local parts = {}
  for index, value in ipairs(values) do parts[index] = say.value(value) end
  local count = #parts
  if count < 2 then return parts[1] or "nothing" end
  return table.concat(parts, ", ", 1, count - 1) .. " " .. last .. " " .. parts[count]
end

-- Edits that make b of a: one for a letter more, less, another, or two neighbours swapped.
local function edits(a, b)
  local before, row = nil, {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local next_row = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local swapped = j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j)
      local count = math.min(row[j] + 1, next_row[j - 1] + 1, row[j - 1] + (same and 0 or 1))
      if before and swapped then
        count = math.min(count, before[j - 2] + 1)
      end
      next_row[j] = count
    end
    before, row = row, next_row
  end
  return row[#b]
end

-- Case, hyphens and underscores are what people mix up most.
local function plain(text) return (text:lower():gsub("[-_ ]", "")) end

--- The known word that a wrong one is nearest to.
-- @param word what was written
-- @tparam {string,...} known the words there are
-- @treturn ?string the nearest, where it is near at all
function say.nearest(word, known)
  if type(word) ~= "string" or #word > longest_string then return nil end
  local best, best_edits
  for _, candidate in ipairs(known) do
    local count = edits(plain(word), plain(candidate))
    local near = count <= math.max(1, #candidate // 3) and count < #plain(candidate)
    if near and (not best or count < best_edits) then best, best_edits = candidate, count end
  end
  return best
end

return say
