--- C as text: literals, index expressions, loops that may be unrolled, indentation, the banner.
-- Knows C's syntax; knows nothing of attention or of machines.

local c = {}

local WIDTH <const> = 99

--- A float literal that gives back the value (rounded to f32), independent of the locale.
-- @tparam number x finite
-- @treturn string such as `0.125f`
function c.float(x)
  x = string.unpack("<f", string.pack("<f", x))
  assert(x == x and x ~= math.huge and x ~= -math.huge, "a float literal must be finite")
  local text
  for digits = 1, 9 do
    text = ("%." .. digits .. "g"):format(x):gsub(",", ".")
    if string.unpack("<f", string.pack("<f", tonumber(text))) == x then break end
  end
  if not text:find("[.e]") then text = text .. ".0" end
  return text .. "f"
end

--- A double literal that gives back the value.
-- @tparam number x finite
-- @treturn string
function c.double(x)
  local text
  for digits = 1, 17 do
    text = ("%." .. digits .. "g"):format(x):gsub(",", ".")
    if tonumber(text) == x then break end
  end
  if not text:find("[.e]") then text = text .. ".0" end
  return text
end

local function factor(a)
  if type(a) == "string" and a:find(" [+-] ") then return "(" .. a .. ")" end
  return tostring(a)
end

--- A product of integers and C expressions, folded where both are known.
function c.mul(a, b)
  if math.type(a) == "integer" and math.type(b) == "integer" then return a * b end
  if math.type(a) == "integer" then a, b = b, a end
  if b == 0 then return 0 end
  if b == 1 then return a end
  return factor(a) .. " * " .. factor(b)
end

--- A sum of integers and C expressions: the expressions in the order given, then the folded number.
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
function c.offset(pointer, ...)
  local by = c.add(...)
  if by == 0 then return pointer end
  return pointer .. " + " .. by
end

--- pointer[offset].
function c.index(pointer, ...)
  return pointer .. "[" .. c.add(...) .. "]"
end

--- The loops of a template. In a tile layer a loop is a C loop; in a full one it is written out, with
-- a forward branch around each turn that a call may not have.
-- @tparam boolean full whether to write loops out
-- @tparam table output where the enclosing template's `emit` stands as `line` (see render.source)
-- @treturn function loop(name, from, to, step, most): an iterator over index expressions
function c.loops(full, output)
  return function(name, from, to, step, most)
    step = step or 1
    local fixed = math.type(from) == "integer" and math.type(to) == "integer"
    local state = 0
    if fixed and (full or to - from <= step) then
      return function()
        local at = from + state * step
        state = state + 1
        if at < to then return at end
      end
    end
    if full then
      assert(math.type(from) == "integer" and most, "a full loop needs literal bounds: " .. name)
      return function()
        if state > 0 then output.line("}") end
        local at = from + state * step
        state = state + 1
        if at < most then
          output.line(("if (%s > %d) {"):format(factor(to), at))
          return at
        end
      end
    end
    return function()
      state = state + 1
      if state == 1 then
        local next_turn = step == 1 and name .. "++" or name .. " += " .. step
        local head = "for (size_t %s = %s; %s < %s; %s) {"
        output.line(head:format(name, from, name, to, next_turn))
        return name
      end
      output.line("}")
    end
  end
end

--- Where to break a line: after the last comma or semicolon that fits, else before the last blank,
-- never within a string or in the first `from` columns.
local function break_of(line, from)
  local head = line:sub(1, WIDTH)
  -- a string's own blanks and commas are no place to break
  head = head:gsub("\\.", "xx"):gsub('"[^"]*"?', function(quoted) return ("x"):rep(#quoted) end)
  local comma = head:match("^.*()[,;] ")
  if comma and comma > from and comma < WIDTH then return comma end
  local blank = head:match("^.*() ")
  if blank and blank > from then return blank - 1 end
end

--- Breaks a line that is too long, what follows indented further.
local function broken(line, indent, out)
  local first = true
  while #line > WIDTH do
    local cut = break_of(line, #indent + 20)
    if not cut then break end
    out[#out + 1] = line:sub(1, cut)
    if first then indent = indent .. (line:match("^%s*/%*") and "   " or "    ") end
    line = indent .. line:sub(cut + 1):gsub("^ +", "")
    first = false
  end
  out[#out + 1] = line
end

--- Indents C by its braces and breaks long lines; preprocessor lines stand at the margin.
-- @tparam string text C without indentation of its own
-- @treturn string the same C, two blanks a brace
function c.indent(text)
  local out, depth, parens, comment = {}, 0, 0, false
  local labelled   -- the depth at which a case stands alone on its line
  for line in text:gmatch("(.-)\n") do
    line = line:gsub("%s+$", "")
    local bare = line:gsub("^%s+", "")
    if bare == "" then
      if out[#out] ~= "" and #out > 0 then out[#out + 1] = "" end
    elseif comment then
      out[#out + 1] = ("  "):rep(depth) .. " " .. bare
      comment = not bare:find("%*/")
    elseif bare:sub(1, 1) == "#" then
      out[#out + 1] = bare
    else
      local code = bare:gsub('"[^"]*"', ""):gsub("/%*.-%*/", "")
      local closing = depth > 0 and code:match("^}+") or ""
      local here = depth - #closing
      local label = bare:match("^case .*:") or bare:match("^default:")
      if bare:match("^case .*:$") then labelled = depth elseif closing ~= "" then labelled = nil end
      local indent = ("  "):rep(here) .. (parens > 0 and "    " or "")
      if not label and labelled == depth then indent = indent .. "  " end
      broken(indent .. bare, indent, out)
      local _, opened = code:gsub("{", "")
      local _, closed = code:gsub("}", "")
      local _, left = code:gsub("%(", "")
      local _, right = code:gsub("%)", "")
      if code:match('^extern .*{$') then opened = 0 end
      if depth == 0 and opened == 0 then closed = 0 end
      depth = depth + opened - closed
      parens = parens + left - right
      comment = bare:find("/%*") ~= nil and not bare:match("^.*/%*(.*)$"):find("%*/")
    end
  end
  assert(depth == 0 and parens == 0, "braces of the emitted text do not match")
  while out[#out] == "" do out[#out] = nil end
  return table.concat(out, "\n") .. "\n"
end

return c
