--- The targets in the order they are tried, last to first. A new target is one file and one line
-- here.

local vocabulary = require "vocabulary"

local targets = {}

--- Names in order; each is generator/targets/<name>.lua.
targets.names = { "portable", "avx2", "avx512" }

local function check(target, name)
  assert(target.name == name, ("targets/%s.lua: name is %s"):format(name, tostring(target.name)))
  for _, number in ipairs { "lanes", "registers" } do
    local value = target[number]
    assert(math.type(value) == "integer" and value > 0, name .. ": " .. number .. " must be > 0")
  end
  local known = {}
  for _, word in ipairs(vocabulary.words) do
    local key = vocabulary.key(word)
    known[key] = true
    assert(target.words[key] or word.template, ("%s: the word '%s' is missing"):format(name, key))
  end
  for key in pairs(target.words) do   -- order does not matter: only a check
    assert(known[key], ("%s: unknown word '%s'"):format(name, key))
  end
end

local loaded = {}

--- A target by name, its words checked against the vocabulary.
-- @tparam string name
-- @treturn table the target's file: name, lanes, registers, words and so on
function targets.get(name)
  if not loaded[name] then
    local target = require("targets." .. name)
    check(target, name)
    loaded[name] = target
  end
  return loaded[name]
end

return targets
