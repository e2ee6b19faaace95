--- A C file in the making: static functions in the order they are defined, each with just the
-- parameters its body names. Knows C's syntax; knows nothing of attention.

local writer = {}
writer.__index = writer

--- A new, empty file.
-- @tparam string on the target's function attribute, a word and a blank, or ""
function writer.new(on)
  return setmetatable({ on = on, functions = {}, order = {}, text = {} }, writer)
end

--- The identifiers that C text names; those of fields and in comments do not count.
-- @treturn table identifier -> true
local function identifiers(text)
  local set = {}
  for name in text:gsub("/%*.-%*/", ""):gsub("%->%s*[%w_]+", ""):gmatch("[%a_][%w_]*") do
    set[name] = true
  end
  return set
end

--- Whether C text names an identifier; a field or a comment of that name does not count.
function writer.names(text, identifier) return identifiers(text)[identifier] or false end

--- Defines a static function, once: a second definition of the name is left out.
-- @tparam string name
-- @tparam table f { title = comment or lines of it, result = "void", parameters = { {"const float *", "q"} },
--   body = text }
-- @treturn string name
function writer:define(name, f)
  if self.functions[name] then return name end
  local used, declared, named = {}, {}, identifiers(f.body)
  for _, parameter in ipairs(f.parameters) do
    if named[parameter[2]] then
      used[#used + 1] = parameter[2]
      local blank = parameter[1]:sub(-1) == "*" and "" or " "
      declared[#declared + 1] = parameter[1] .. blank .. parameter[2]
    end
  end
  self.functions[name] = used
  self.order[#self.order + 1] = name
  local lines = {}
  for _, line in ipairs(type(f.title) == "table" and f.title or { f.title }) do
    lines[#lines + 1] = "/* " .. line .. " */"
  end
  lines[#lines + 1] = ("%sstatic %s %s(%s)\n{"):format(self.on, f.result or "void", name,
    #declared > 0 and table.concat(declared, ", ") or "void")
  lines[#lines + 1] = f.body .. "}\n"
  self.text[#self.text + 1] = { name = name, text = table.concat(lines, "\n") .. "\n" }
  return name
end

--- A call of a defined function, its arguments by parameter name; an argument that is not given is
-- the caller's variable of the parameter's name.
function writer:call(name, arguments)
  local used = assert(self.functions[name], "undefined function " .. name)
  local list = {}
  for i, parameter in ipairs(used) do list[i] = tostring(arguments[parameter] or parameter) end
  return name .. "(" .. table.concat(list, ", ") .. ")"
end

--- Appends C text that is not a static function.
function writer:append(text) self.text[#self.text + 1] = { text = text } end

--- The functions that `entries` and each other name, in the order of their definition, then `entries`.
-- @tparam string entries the C that uses them
-- @treturn string
function writer:source(entries)
  local kept, named = { entries }, identifiers(entries)
  for i = #self.text, 1, -1 do
    local item = self.text[i]
    if not item.name or named[item.name] then
      for name in next, identifiers(item.text) do named[name] = true end
      kept[#kept + 1] = item.text
    end
  end
  local ordered = {}
  for i = #kept, 1, -1 do ordered[#ordered + 1] = kept[i] end
  return table.concat(ordered)
end

return writer
