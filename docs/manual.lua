--- The tables of the manual and of the design that are made from the program's own: between a line
-- `<!-- made: NAME -->` and a line `<!-- end -->`.
-- Usage: lua5.4 docs/manual.lua [--check]. With --check nothing is written; exit 1 names each file
-- that is not current.

local root = arg[0]:gsub("[^/]*$", "") .. "../"
package.path = root .. "generator/?.lua;" .. package.path

local interface = require "interface"
local layer = require "layer"
local plan = require "plan"
local spec = require "spec"
local targets = require "targets"
local vocabulary = require "vocabulary"

local function cell(text) return (text:gsub("|", "\\|")) end

local function row(...)
  local cells = table.pack(...)
  for i = 1, cells.n do cells[i] = cell(cells[i] or "") end
  return "| " .. table.concat(cells, " | ") .. " |"
end

local function head(...)
  return row(...) .. "\n|" .. ("---|"):rep(select("#", ...))
end

local function code(text) return "`" .. text .. "`" end

local function value_text(field)
  local rule = field.rule:gsub("^must be ", ""):gsub("(an integer from %d) to 2147483647", "%1")
  if not field.later then return rule end
  local later = {}
  for i, value in ipairs(field.later) do later[i] = tostring(value) end
  return ("%s (not built yet: %s)"):format(rule, table.concat(later, ", "))
end

local add_fields

--- One table for each field that has fields or items of its own.
local function add_inner(lines, fields, path)
  for _, field in ipairs(fields) do
    local name = path .. field.name
    if field.fields or field.items then lines[#lines + 1] = ("\n### %s\n"):format(name) end
    if field.fields then add_fields(lines, field.fields, name .. ".") end
    if field.items then
      lines[#lines + 1] = head("in the list", "meaning")
      for _, item in ipairs(field.items) do
        local written = item.fields and ("{ %s = { ... } }"):format(item.name)
          or ("%q"):format(item.name)
        if item.values then written = ('%s, or { %s = "per_head" }'):format(written, item.name) end
        lines[#lines + 1] = row(code(written), item.text)
      end
      add_inner(lines, field.items, name .. ".")
    end
  end
end

--- A table of fields, then those of the fields inside.
function add_fields(lines, fields, path)
  lines[#lines + 1] = head("field", "value", "default", "meaning")
  for _, field in ipairs(fields) do
    lines[#lines + 1] = row(code(field.name), value_text(field), spec.default_text(field),
      field.text)
  end
  add_inner(lines, fields, path)
end

local makers = {}

function makers.fields()
  local lines = {}
  add_fields(lines, spec.fields, "")
  return table.concat(lines, "\n")
end

function makers.statuses()
  local completed = assert(spec.complete({ name = "any", heads = 1, p_v = 1, d = 1, tokens = 1 }))
  local one = layer.of(completed)
  local names = interface.names(one, { assert(plan.of(one, targets.get "portable")) })
  local lines = { head("status", "meaning") }
  for _, status in ipairs(names.statuses) do
    lines[#lines + 1] = row(code("<NAME>_" .. status[1]), status[2])
  end
  return table.concat(lines, "\n")
end

function makers.words()
  local lines = { head("word", "takes", "gives", "meaning") }
  for _, word in ipairs(vocabulary.words) do
    lines[#lines + 1] = row(code("vec_" .. word[1] .. (word.counted and "_n" or "")), code(word[3]),
      code(word[2]), word[4])
  end
  return table.concat(lines, "\n")
end

local files = { "docs/manual.md", "docs/using.md", "docs/design.md" }

local function read(path)
  local handle <close> = assert(io.open(path, "rb"))
  return handle:read("a")
end

local function made(path, text)
  return (text:gsub("(<!%-%- made: (%a+) %-%->\n).-(<!%-%- end %-%->)", function(first, name, last)
    local maker = assert(makers[name], path .. ": nothing makes " .. name)
    return first .. maker() .. "\n" .. last
  end))
end

local stale = false
for _, file in ipairs(files) do
  local path = root .. file
  local text = read(path)
  local current = made(path, text)
  if current ~= text and arg[1] == "--check" then
    print(file .. " is not current: run make docs")
    stale = true
  elseif current ~= text then
    local handle <close> = assert(io.open(path, "wb"))
    assert(handle:write(current))
    print("wrote " .. file)
  end
end
if stale then os.exit(1) end
