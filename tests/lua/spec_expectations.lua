--- Specs that are refused, and by which complaints.

local assert = require "luassert"
local spec = require "spec"

local expect = {}

--- Stands for a field that is taken out of the base.
expect.absent = {}

--- A small spec that is right, with some changes.
function expect.base(changes)
  local raw = { name = "base", heads = 4, p_v = 4, d = 16, tokens = 8 }
  for key, value in pairs(changes) do   -- order does not matter: a set
    if value == expect.absent then raw[key] = nil else raw[key] = value end
  end
  return raw
end

--- All complaints about the base with some changes.
function expect.complaints_of(changes)
  local completed, complaints = spec.complete(expect.base(changes))
  if completed then return {} end
  assert.truthy(#complaints > 0)
  return complaints
end

--- Each line: the changes of the base, then the beginnings of all complaints, in order.
function expect.refuses(lines)
  for index, line in ipairs(lines) do
    local complaints = expect.complaints_of(line[1])
    local all = table.concat(complaints, "\n")
    local number = ("line %d: %s"):format(index, all)
    assert.equal(#line - 1, #complaints, number)
    for place = 2, #line do
      local complaint = complaints[place - 1]
      assert.equal(line[place], complaint:sub(1, #line[place]), number)
      assert.truthy(complaint:find("^[^:]+: .+: .+"), number)
    end
  end
end

--- Each entry: changes of the base that break no rule.
function expect.accepts(list)
  for index, changes in ipairs(list) do
    assert.same({}, expect.complaints_of(changes), "line " .. index)
  end
end

return expect
