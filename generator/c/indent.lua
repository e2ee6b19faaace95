--- C by its braces: indentation and the breaking of long lines, so that no formatter is needed.
-- Knows C's syntax; knows nothing of attention or of machines.

local blocks = require "c.blocks"

local WIDTH <const> = 99

--- Where the string or character that opens at a quote ends.
local function quote_end(line, at)
  local quote = line:sub(at, at)
  repeat
    at = line:find('["\'\\]', at + 1) or #line + 1
    local byte = line:sub(at, at)
    if byte == "\\" then at = at + 1 end
  until byte == quote or at > #line
  return at
end

--- What counts in a line: no comments, nothing in quotes.
-- @tparam string line
-- @tparam boolean comment whether a comment is open where the line begins
-- @treturn string the code
-- @treturn boolean whether a comment is open where the line ends
local function code_of(line, comment)
  if not comment and not line:find('["\'/]') then return line, false end
  local code, at = {}, 1
  while at <= #line do
    local last
    if comment then
      last = select(2, line:find("*/", at, true))
      comment = not last
    elseif line:find("^/%*", at) then
      comment, last = true, at + 1
    elseif line:find('^["\']', at) then
      last = quote_end(line, at)
    else
      last = (line:find('["\'/]', at + 1) or #line + 1) - 1
      code[#code + 1] = line:sub(at, last)
    end
    at = (last or #line) + 1
  end
  return table.concat(code):match("^%s*(.-)%s*$"), comment
end

--- Where to break a line: after the last comma or semicolon that fits, else before the last blank,
-- else after the first comma or semicolon beyond; never within a string or in the first `from`
-- columns.
local function break_of(line, from)
  local outside = line:gsub("\\.", "xx")
    :gsub('"[^"]*"?', function(quoted) return ("x"):rep(#quoted) end)
  local head = outside:sub(1, WIDTH)
  local comma = head:match("^.*()[,;] ")
  if comma and comma > from then return comma end
  local blank = head:match("^.*() ")
  if blank and blank > from then return blank - 1 end
  return (outside:find("[,;] ", WIDTH))
end

--- Appends a line, broken where it is too long; `further` stands in front of what follows.
local function append(out, margin, line, further)
  local from = #margin + 20
  line = margin .. line
  while #line > WIDTH do
    local cut = break_of(line, from)
    if not cut then break end
    out[#out + 1] = line:sub(1, cut)
    line = margin .. further .. line:sub(cut + 1):gsub("^ +", "")
    from = #margin + #further + 20
  end
  out[#out + 1] = line
end

-- What an open brace adds to the depth of the lines in it.
local BLOCK <const>, LINKAGE <const>, CASE <const> = 1, 0, 2

--- The open braces and parentheses of a text, as its lines go by.
local nesting = {}
nesting.__index = nesting

local function new_nesting() return setmetatable({ braces = {}, parens = 0 }, nesting) end

--- The indentation of a line, which stands outside the braces that it begins by closing.
function nesting:indent_of(code)
  local open, depth = #self.braces - #code:match("^}*"), 0
  for i = 1, open do depth = depth + self.braces[i] end
  local label = code:find("^case .*:") or code:find("^default:")
  if label and self.braces[open] == CASE then depth = depth - 1 end
  return ("  "):rep(depth) .. (self.parens > 0 and "    " or "")
end

--- Goes past a line. What stands below a case that has a line for itself is in the case.
function nesting:pass(code)
  local kind = code:find("^extern .*{$") and LINKAGE or BLOCK
  for bracket in code:gmatch("[{}()]") do
    if bracket == "{" then
      table.insert(self.braces, kind)
    elseif bracket == "}" then
      assert(table.remove(self.braces), "a brace of the emitted text closes none")
    else
      self.parens = self.parens + (bracket == "(" and 1 or -1)
    end
  end
  if code:find("^case .*:$") or code == "default:" then self.braces[#self.braces] = CASE end
end

--- The lines of a text: { bare = without indentation, code, within = whether a comment is open
-- where the line begins }.
local function lines_of(text)
  local lines, comment = {}, false
  for line in text:gmatch("(.-)\n") do
    local one = { bare = line:match("^%s*(.-)%s*$"), within = comment }
    one.code, comment = code_of(one.bare, comment)
    lines[#lines + 1] = one
  end
  return lines
end

--- Indents C by its braces and breaks long lines; preprocessor lines stand at the margin; a block
-- that is all of another goes.
-- @tparam string text C without indentation of its own
-- @treturn string the same C, two blanks a brace
local function indent(text)
  local out, open = {}, new_nesting()
  for _, line in ipairs(blocks.needed(lines_of(text))) do
    local bare, code = line.bare, line.code
    if bare == "" then
      if #out > 0 and out[#out] ~= "" then out[#out + 1] = "" end
    elseif line.within then
      append(out, open:indent_of("") .. " ", bare, bare:match("^%* ") or "")
      open:pass(code)
    elseif bare:sub(1, 1) == "#" then
      out[#out + 1] = bare
    else
      append(out, open:indent_of(code), bare, bare:find("^/%*") and "   " or "    ")
      open:pass(code)
    end
  end
  assert(#open.braces == 0 and open.parens == 0, "braces of the emitted text do not match")
  while out[#out] == "" do out[#out] = nil end
  return table.concat(out, "\n") .. "\n"
end

return indent
