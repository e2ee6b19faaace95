--- The vocabulary as C: just the words and tables that a text names, for one target.
-- In: the text of a file, a target. Out: the C that stands in front of it.

local render = require "render"
local vocabulary = require "vocabulary"

local words = {}

local function body_of(target, word, key, count)
  local body = target.words[key]
  if type(body) == "function" then return body(count) end
  if body then return body end
  return (render.template(word.template, {}):gsub("\n$", ""))
end

--- Adds to `wanted` what a text names, and what the bodies of those words name in turn.
local function collect(text, target, wanted)
  for name in text:gmatch("%f[%w_]vec_([%a%d_]+)%f[^%w_]") do
    local stem, digits = name:match("^(%a+)_(%d+)$")
    local count = math.tointeger(tonumber(digits))
    if not wanted[name] then
      for _, word in ipairs(vocabulary.words) do
        if count and word.counted and word[1] == stem or not count and not word.counted and word[1] == name then
          wanted[name] = true
          collect(body_of(target, word, count and stem .. "_part" or name, count), target, wanted)
        end
      end
      assert(wanted[name], "not a word: vec_" .. name)
    end
  end
end

local function signature(word, name)
  return ("%s vec_%s(%s)"):format(word[2], name, word[3])
end

--- The words in an order in which each stands behind those that it uses.
local function in_order(target, wanted)
  local list, done = {}, {}
  local function visit(word, name, key, count)
    if done[name] then return end
    done[name] = true
    local body = body_of(target, word, key, count)
    local inner = {}
    for used in body:gmatch("%f[%w_]vec_([%a%d_]+)%f[^%w_]") do inner[used] = true end
    for _, other in ipairs(vocabulary.words) do
      if not other.counted and inner[other[1]] then visit(other, other[1], other[1]) end
    end
    list[#list + 1] = { word = word, name = name, body = body, count = count }
  end
  for _, word in ipairs(vocabulary.words) do
    if word.counted then
      for count = 1, 15 do
        local name = word[1] .. "_" .. count
        if wanted[name] then visit(word, name, word[1] .. "_part", count) end
      end
    elseif wanted[word[1]] then
      visit(word, word[1], word[1])
    end
  end
  return list
end

--- The C of the words that `text` uses.
-- @tparam string text the file's functions
-- @tparam table target
-- @treturn string
function words.source(text, target)
  local wanted, lines = {}, {}
  collect(text, target, wanted)
  local list = in_order(target, wanted)
  local on = target.attribute and "ON_TARGET " or ""
  local attribute = ('#define ON_TARGET __attribute__((target("%s")))'):format(target.attribute)
  if #list == 0 then return on ~= "" and attribute .. "\n\n" or "" end
  lines[1] = ("/* ---- Words: vectors of %d lanes; the only lines that know the machine ---- */\n"):format(target.lanes)
  if target.attribute then lines[#lines + 1] = attribute end
  lines[#lines + 1] = target.preamble
  for _, item in ipairs(list) do
    local meaning = item.word[4]:gsub("%f[%w]n%f[%W]", item.count and tostring(item.count) or "n")
    lines[#lines + 1] = ("/* %s */"):format(meaning)
    lines[#lines + 1] = ("%sstatic inline %s\n{\n%s\n}"):format(on, signature(item.word, item.name), item.body)
  end
  return table.concat(lines, "\n") .. "\n\n"
end

--- The C of the tables that `text` names.
function words.tables(text)
  local lines = {}
  for _, t in ipairs(vocabulary.tables) do
    if text:find("%f[%w_]" .. t.name .. "%f[^%w_]") then
      local values = {}
      for i = 0, t.count - 1 do values[#values + 1] = t.value(i) end
      lines[#lines + 1] = ("/* %s */\nstatic const %s %s[%d] = {\n%s\n};\n"):format(t.text, t.ctype, t.name,
        t.count, table.concat(values, ", "))
    end
  end
  return table.concat(lines, "\n") .. (#lines > 0 and "\n" or "")
end

return words
