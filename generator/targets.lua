--- The targets in the order they are tried last to first. A new target is one file and one line here.

local targets = {}

--- Names in order; each is generator/targets/<name>.lua.
targets.names = { "portable", "avx2", "avx512" }

local vocabulary = require "vocabulary"

local loaded = {}

local known = {}
for _, word in ipairs(vocabulary.words) do
  known[word[1] .. (word.counted and "_part" or "")] = word
end

--- A target by name, its words checked against the vocabulary.
-- @tparam string name
-- @treturn table the target's file: name, lanes, registers, words and so on
function targets.get(name)
  local target = loaded[name]
  if target then return target end
  target = require("targets." .. name)
  assert(target.name == name, "targets/" .. name .. ".lua: name is " .. tostring(target.name))
  for _, number in ipairs { "lanes", "registers" } do
    local value = target[number]
    assert(math.type(value) == "integer" and value > 0, name .. ": " .. number .. " must be > 0")
  end
  for word in pairs(target.words) do   -- order does not matter: only a check
    assert(known[word], name .. ": unknown word '" .. word .. "'")
  end
  for _, word in ipairs(vocabulary.words) do
    local key = word[1] .. (word.counted and "_part" or "")
    assert(target.words[key] or word.template, name .. ": the word '" .. key .. "' is missing")
  end
  loaded[name] = target
  return target
end

return targets
