--- A C file in the making: static functions in the order they are defined, each with just the
-- parameters that its body names. Knows C's syntax; knows nothing of attention.

local writer = {}
writer.__index = writer

--- A new, empty file.
-- @tparam string on the target's function attribute, a word and a blank, or ""
-- @treturn table the writer
function writer.new(on)
  return setmetatable({ on = on, functions = {}, text = {} }, writer)
end

--- The identifiers that C text names; those of fields and in comments do not count.
local function identifiers(text)
  local set = {}
  text = text:gsub("/%*.-%*/", ""):gsub("%->%s*[%w_]+", "")
  for name in text:gmatch("[%a_][%w_]*") do set[name] = true end
  return set
end

--- Whether C text names an identifier; a field or a comment of that name does not count.
-- @tparam string text C
-- @tparam string identifier
-- @treturn boolean
function writer.names(text, identifier) return identifiers(text)[identifier] or false end

--- Comments, one a line.
local function comments(title)
  local lines = type(title) == "table" and title or { title }
  return "/* " .. table.concat(lines, " */\n/* ") .. " */"
end

--- Defines a static function, once: a second definition of the name is left out.
-- @tparam string name
-- @tparam table f { title = comment or lines of it, result = "void", body = text,
--   parameters = { {"const float *", "q"} } }
-- @treturn string name
function writer:define(name, f)
  if self.functions[name] then return name end
  local used, declared, named = {}, {}, identifiers(f.body)
  for _, parameter in ipairs(f.parameters) do
    local ctype, identifier = parameter[1], parameter[2]
    if named[identifier] then
      used[#used + 1] = identifier
      declared[#declared + 1] = ctype .. (ctype:sub(-1) == "*" and "" or " ") .. identifier
    end
  end
  self.functions[name] = used
  local parameters = #declared > 0 and table.concat(declared, ", ") or "void"
  local text = ("%s\n%sstatic %s %s(%s)\n{\n%s}\n\n"):format(comments(f.title), self.on,
    f.result or "void", name, parameters, f.body)
  self.text[#self.text + 1] = { name = name, text = text }
  return name
end

--- A call of a defined function, its arguments by parameter name; an argument that is not given is
-- the caller's variable of the parameter's name.
-- @tparam string name
-- @tparam table arguments by parameter name: strings or integers
-- @treturn string the call, without a semicolon
function writer:call(name, arguments)
  local used = assert(self.functions[name], "undefined function " .. name)
  local list = {}
  for i, parameter in ipairs(used) do list[i] = tostring(arguments[parameter] or parameter) end
  return name .. "(" .. table.concat(list, ", ") .. ")"
end

--- Appends C text that is not a static function.
-- @tparam string text
function writer:append(text) self.text[#self.text + 1] = { text = text } end

--- The functions that `entries` and each other name, in the order of their definition, then
-- `entries`.
-- @tparam string entries the C that uses them
-- @treturn string
function writer:source(entries)
  local named, wanted = identifiers(entries), {}
  for i = #self.text, 1, -1 do
    local item = self.text[i]
    wanted[i] = not item.name or named[item.name]
    if wanted[i] then
      for name in pairs(identifiers(item.text)) do   -- order does not matter: from set to set
        named[name] = true
      end
    end
  end
  local texts = {}
  for i, item in ipairs(self.text) do
    if wanted[i] then texts[#texts + 1] = item.text end
  end
  return table.concat(texts) .. entries
end

return writer
