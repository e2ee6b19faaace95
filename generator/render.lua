--- The template engine: text in which lines that start with `@` are Lua and `${expression}` is a value.
-- In: a template's text and the names it may use. Out: text. Knows nothing of C.
-- A name the template was not given is an error, and so is a value that is neither string nor integer,
-- so that a hole or a `32.0` can not slip into the output.

local render = {}

local folder = (debug.getinfo(1, "S").source:match("^@(.*)render%.lua$") or "./") .. "../templates/"

--- One line of template text as the Lua source that appends it: literal pieces and values in turn.
local function text_line(line)
  local pieces, from = {}, 1
  while true do
    local open = line:find("${", from, true)
    if not open then break end
    if open > from then pieces[#pieces + 1] = ("%q"):format(line:sub(from, open - 1)) end
    local expression = line:match("^%b{}", open + 1)
    if not expression then return nil, "unclosed ${" end
    pieces[#pieces + 1] = "__value(" .. expression:sub(2, -2) .. ")"
    from = open + 1 + #expression
  end
  if from <= #line or #pieces == 0 then pieces[#pieces + 1] = ("%q"):format(line:sub(from)) end
  return "__line(" .. table.concat(pieces, ", ") .. ")"
end

--- The Lua source of a template; line n of the one is line n of the other, so errors name the place.
local function translate(source, name)
  local lines, number = {}, 0
  for line in (source:gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    local code = line:match("^%s*@(.*)$")
    if not code then
      local message
      code, message = text_line(line)
      if not code then error(("%s:%d: %s"):format(name, number, message), 0) end
    end
    lines[number] = code
  end
  return table.concat(lines, "\n")
end

local function value(given, level)
  if type(given) == "string" then return given end
  if math.type(given) == "integer" then return tostring(given) end
  error("a value must be a string or an integer, not " .. type(given) .. " " .. tostring(given), level or 2)
end

local library <const> = {
  ipairs = ipairs, math = math, string = string, table = table, tostring = tostring, type = type,
  assert = assert, error = error,
}

local chunks = {}

--- The template as a Lua function of the environment that its names come from.
local function compiled(source, name)
  local chunk = chunks[name .. "\0" .. source]
  if chunk then return chunk end
  local message
  chunk, message = load("local _ENV = ...; " .. translate(source, name), "@" .. name, "t")
  if not chunk then error(message, 0) end
  chunks[name .. "\0" .. source] = chunk
  return chunk
end

--- Renders template source.
-- @tparam string source the template
-- @tparam string name what errors call it
-- @tparam table names what the template may use, beside Lua's own math, string, table and ipairs;
--   a function called `emit` is added, which appends whole lines
-- @treturn string the text, each line ended by a newline
function render.source(source, name, names)
  local out = {}
  local function line(...) out[#out + 1] = table.concat({ ... }) end
  local function emit(text)
    if text ~= "" then out[#out + 1] = (value(text, 3):gsub("\n$", "")) end
  end
  local own = { __line = line, __value = value, emit = emit }
  local environment = setmetatable({}, {
    __index = function(_, key)
      local found = own[key]
      if found == nil then found = names[key] end
      if found == nil then found = library[key] end
      if found == nil then error(("%s: unknown name '%s'"):format(name, tostring(key)), 2) end
      return found
    end,
    __newindex = function(_, key) error(("%s: assigns to '%s'"):format(name, tostring(key)), 2) end,
  })
  local chunk = compiled(source, name)
  local output = names.output
  local outer = output and output.line
  if output then output.line = emit end
  chunk(environment)
  if output then output.line = outer end
  if #out == 0 then return "" end
  return table.concat(out, "\n") .. "\n"
end

local cache = {}

--- Renders a file of templates/.
-- @tparam string file name below templates/
-- @tparam table names as in `render.source`
-- @treturn string the text
function render.template(file, names)
  local source = cache[file]
  if not source then
    local handle <close> = assert(io.open(folder .. file, "rb"))
    source = handle:read("a")
    cache[file] = source
  end
  return render.source(source, "templates/" .. file, names)
end

return render
