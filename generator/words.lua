--- The vocabulary as C: just the words and tables that a text names, for one target.
-- In: the text of a file, a target. Out: the C that stands in front of it.

local render = require "render"
local vocabulary = require "vocabulary"

local words = {}

--- Each function that a word can be, in the order of printing: {name, word, count}.
local functions, by_name = {}, {}

local function add(name, word, count)
  local f = { name = name, word = word, count = count }
  functions[#functions + 1], by_name[name] = f, f
end

for _, word in ipairs(vocabulary.words) do
  if word.counted then
    for count = 1, 15 do add(("%s_%d"):format(word[1], count), word, count) end
  else
    add(word[1], word)
  end
end

local function body_of(target, f)
  local body = target.words[vocabulary.key(f.word)]
  if type(body) == "function" then return body(f.count) end
  if body then return body end
  return (render.template(f.word.template, { lanes = target.lanes }):gsub("\n$", ""))
end

--- Whether a text names an identifier.
local function names(text, identifier)
  return text:find("%f[%w_]" .. identifier .. "%f[^%w_]") ~= nil
end

--- Adds to `wanted` what a text names, and what the bodies of those words name in turn.
local function collect(text, target, wanted)
  for name in text:gmatch("%f[%w_]vec_([%w_]+)") do
    if not wanted[name] then
      wanted[name] = true
      collect(body_of(target, assert(by_name[name], "not a word: vec_" .. name)), target, wanted)
    end
  end
end

--- Those that are wanted, with their bodies, each behind those that it uses.
local function in_order(target, wanted)
  local list, done = {}, {}
  local function visit(f)
    if done[f] then return end
    done[f] = true
    local body = body_of(target, f)
    for _, other in ipairs(functions) do
      if wanted[other.name] and names(body, "vec_" .. other.name) then visit(other) end
    end
    list[#list + 1] = { f = f, body = body }
  end
  for _, f in ipairs(functions) do
    if wanted[f.name] then visit(f) end
  end
  return list
end

--- A word's meaning as a comment, and its definition.
local function definition(f, body, on)
  local result, parameters, meaning = table.unpack(f.word, 2, 4)
  if f.count then meaning = meaning:gsub("%f[%w]n%f[%W]", tostring(f.count)) end
  return ("/* %s */\n%sstatic inline %s vec_%s(%s)\n{\n%s\n}"):format(meaning, on, result, f.name,
    parameters, body)
end

--- The C of the words that `text` uses, and of ON_TARGET, the target's attribute.
-- @tparam string text the file's functions
-- @tparam table target
-- @treturn string
function words.source(text, target)
  local wanted = {}
  collect(text, target, wanted)
  local list = in_order(target, wanted)
  local on, attribute = "", ""
  if target.attribute then
    on = "ON_TARGET "
    attribute = ('#define ON_TARGET __attribute__((target("%s")))\n'):format(target.attribute)
  end
  if #list == 0 then return attribute ~= "" and attribute .. "\n" or "" end
  local title = ("Words: vectors of %d lanes; the only lines that know the machine"):format(
    target.lanes)
  local lines = { ("/* ---- %s ---- */\n\n%s%s"):format(title, attribute, target.preamble) }
  for _, item in ipairs(list) do lines[#lines + 1] = definition(item.f, item.body, on) end
  return table.concat(lines, "\n") .. "\n\n"
end

--- The C of the tables that `text` names.
-- @tparam string text the file's functions
-- @treturn string
function words.tables(text)
  local lines = {}
  for _, one in ipairs(vocabulary.tables) do
    if names(text, one.name) then
      local values = {}
      for i = 0, one.count - 1 do values[i + 1] = one.value(i) end
      lines[#lines + 1] = ("/* %s */\nstatic const %s %s[%d] = {\n%s\n};\n\n"):format(one.text,
        one.ctype, one.name, one.count, table.concat(values, ", "))
    end
  end
  return table.concat(lines)
end

return words
