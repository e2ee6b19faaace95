--- The template engine: text in which lines that start with `@` are Lua and `${expression}` is a
-- value; a line of text that ends with `@` goes on in the next, whose indentation does not count.
-- In: a template's text and the names it may use. Out: text. Knows nothing of C.
-- A name the template was not given is an error, and so is a value that is neither string nor
-- integer, so that a hole or a `32.0` can not slip into the output.

local render = {}

local folder = (debug.getinfo(1, "S").source:match("^@(.*)render%.lua$") or "./") .. "../templates/"

--- One line of template text as the Lua source that appends it: literal pieces and values in turn.
local function text_line(line, fail)
  local pieces, from = {}, 1
  while true do
    local open = line:find("${", from, true)
    if not open then break end
    if open > from then pieces[#pieces + 1] = ("%q"):format(line:sub(from, open - 1)) end
    local expression = line:match("^%b{}", open + 1) or fail "unclosed ${"
    pieces[#pieces + 1] = "__value(" .. expression:sub(2, -2) .. ")"
    from = open + 1 + #expression
  end
  if from <= #line or #pieces == 0 then pieces[#pieces + 1] = ("%q"):format(line:sub(from)) end
  return "__line(" .. table.concat(pieces, ", ") .. ")"
end

--- The Lua source of a template; line n of the one is line n of the other, so errors name the place
-- (of joined lines, the last).
local function translate(source, name)
  local lines, joined = {}, nil
  local function fail(message) error(("%s:%d: %s"):format(name, #lines + 1, message), 0) end
  for line in (source:gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do
    local code = not joined and line:match("^%s*@(.*)$")
    if not code then
      local text = joined and joined .. line:gsub("^%s+", "") or line
      joined = text:match("^(.*)@$")
      code = joined and "" or text_line(text, fail)
    end
    lines[#lines + 1] = code
  end
  if joined then fail "the line before goes on here, where nothing is" end
  return table.concat(lines, "\n")
end

local chunks = {}

--- The template as a Lua function of the table that its names come from.
local function compiled(source, name)
  local key = name .. "\0" .. source
  if not chunks[key] then
    local text = "local _ENV = ...; " .. translate(source, name)
    local chunk, message = load(text, "@" .. name, "t")
    if not chunk then error(message, 0) end
    chunks[key] = chunk
  end
  return chunks[key]
end

local library <const> = {
  ipairs = ipairs, math = math, string = string, table = table, tostring = tostring, type = type,
  assert = assert, error = error,
}

--- What a template can name: the first of these tables that has it, and nothing else.
local function environment_of(name, tables)
  return setmetatable({}, {
    __index = function(_, key)
      for _, names in ipairs(tables) do
        local found = names[key]
        if found ~= nil then return found end
      end
      error(("%s: unknown name '%s'"):format(name, tostring(key)), 2)
    end,
    __newindex = function(_, key) error(("%s: assigns to '%s'"):format(name, tostring(key)), 2) end,
  })
end

--- A value as text; a complaint is of the line at `level` of the calls.
local function text_of(given, level)
  if type(given) == "string" then return given end
  if math.type(given) == "integer" then return tostring(given) end
  error(("a value must be a string or an integer, not %s %s"):format(type(given), tostring(given)),
    level)
end

local function value(given)
  local text = text_of(given, 3)
  return text
end

--- Renders template source.
-- @tparam string source the template
-- @tparam string name what errors call it
-- @tparam table names what the template may use, beside Lua's own math, string, table and ipairs;
--   a function called `emit` is added, which appends whole lines; where there is a table
--   `names.output`, it stands there as `line`, too, while the template runs
-- @treturn string the text, each line ended by a newline
function render.source(source, name, names)
  local out = {}
  local function line(...) out[#out + 1] = table.concat({ ... }) end
  local function emit(given)
    local text = text_of(given, 3)
    if text ~= "" then out[#out + 1] = text:gsub("\n$", "") end
  end
  local own = { __line = line, __value = value, emit = emit }
  local output = names.output or {}
  local outer = output.line
  output.line = emit
  compiled(source, name)(environment_of(name, { own, names, library }))
  output.line = outer
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
