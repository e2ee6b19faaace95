--- C as text: literals, index expressions, loops that may be written out, indentation.
-- Knows C's syntax; knows nothing of attention or of machines.

local c = {}

c.indent = require "c.indent"

local function f32(x) return (string.unpack("<f", string.pack("<f", x))) end

--- The shortest literal with a point, whatever the locale, that `round` takes back to x.
local function literal(x, most_digits, round)
  local text
  for digits = 1, most_digits do
    text = ("%." .. digits .. "g"):format(x):gsub(",", ".")
    if round(tonumber(text)) == x then break end
  end
  return text:find("[.e]") and text or text .. ".0"
end

--- A float literal that gives back the value, rounded to f32.
-- @tparam number x finite
-- @treturn string such as `0.125f`
function c.float(x)
  x = f32(x)
  assert(x == x and x ~= math.huge and x ~= -math.huge, "a float literal must be finite")
  return literal(x, 9, f32) .. "f"
end

--- A double literal that gives back the value.
-- @tparam number x finite
-- @treturn string such as `0.125`
function c.double(x)
  return literal(x, 17, function(rounded) return rounded end)
end

local function factor(a)
  if type(a) == "string" and a:find(" [+-] ") then return "(" .. a .. ")" end
  return tostring(a)
end

--- A product of integers and C expressions, folded where both are known.
-- @tparam integer|string a
-- @tparam integer|string b
-- @treturn integer|string
function c.mul(a, b)
  if math.type(a) == "integer" and math.type(b) == "integer" then return a * b end
  if math.type(a) == "integer" then a, b = b, a end
  if b == 0 then return 0 end
  if b == 1 then return a end
  return factor(a) .. " * " .. factor(b)
end

--- A sum of integers and C expressions: the expressions in the order given, then the folded number.
-- @tparam integer|string ... terms
-- @treturn integer|string
function c.add(...)
  local words, number = {}, 0
  for _, term in ipairs({ ... }) do
    if math.type(term) == "integer" then number = number + term else words[#words + 1] = term end
  end
  if #words == 0 then return number end
  local text = table.concat(words, " + ")
  if number == 0 then return text end
  return number > 0 and text .. " + " .. number or text .. " - " .. -number
end

--- pointer + offset, without a `+ 0`.
-- @tparam string pointer
-- @tparam integer|string ... terms of the offset
-- @treturn string
function c.offset(pointer, ...)
  local by = c.add(...)
  if by == 0 then return pointer end
  return pointer .. " + " .. by
end

--- pointer[offset].
-- @tparam string pointer
-- @tparam integer|string ... terms of the offset
-- @treturn string
function c.index(pointer, ...)
  return pointer .. "[" .. c.add(...) .. "]"
end

--- Each turn of a loop whose bounds are known.
local function turns(from, to, step)
  local at = from - step
  return function()
    at = at + step
    if at < to then return at end
  end
end

--- Each turn that a loop may have, in a branch of its own; `line` takes the branches.
local function guarded_turns(line, from, to, step, most)
  local at = from - step
  return function()
    if at >= from then line("}") end
    at = at + step
    if at < most then
      line(("if (%s > %d) {"):format(factor(to), at))
      return at
    end
  end
end

--- One turn, in a C loop; `line` takes the loop's head and end.
local function c_loop(line, name, from, to, step)
  local entered = false
  return function()
    if entered then return line("}") end
    entered = true
    local next_turn = step == 1 and name .. "++" or name .. " += " .. step
    local head = "for (size_t %s = %s; %s < %s; %s) {"
    line(head:format(name, from, name, to, next_turn))
    return name
  end
end

--- The loops of a template. In a tile layer a loop is a C loop; in a full one it is written out,
-- with a forward branch around each turn that a call may not have.
-- @tparam boolean full whether to write loops out
-- @tparam table output where the enclosing template's `emit` stands as `line` (see render.source)
-- @treturn function loop(name, from, to, step, most): an iterator over index expressions
function c.loops(full, output)
  local function line(text) output.line(text) end
  return function(name, from, to, step, most)
    step = step or 1
    local known = math.type(from) == "integer" and math.type(to) == "integer"
    if known and (full or to - from <= step) then return turns(from, to, step) end
    if not full then return c_loop(line, name, from, to, step) end
    assert(math.type(from) == "integer" and most, "a full loop needs literal bounds: " .. name)
    return guarded_turns(line, from, to, step, most)
  end
end

return c
