--- A layer spec from a file, as plain values.
--
-- A *.lua spec is a program of somebody else's. It runs as text only, in an empty environment,
-- without the methods of strings, and with a limit on instructions and on memory; what it returns
-- is copied.
--
-- Goes in: a path. Comes out: a table of plain values. Does not know: what a spec's fields mean.

local json = require "read.json"

local spec_file = {}

local file_limit <const> = 1 << 20
local instruction_limit <const> = 1000000
-- One concatenation can join some 250 strings, each at most as large as this, before it is noticed.
local memory_limit_kb <const> = 2048
local depth_limit <const> = 16
local value_limit <const> = 10000

local function read_text(path)
  local handle <close>, complaint = io.open(path, "rb")
  if not handle then return nil, complaint end
  local text
  text, complaint = handle:read(file_limit + 1)
  if complaint then return nil, ("%s: %s"):format(path, complaint) end
  text = text or ""
  if #text > file_limit then
    return nil, ("%s: larger than %d bytes, which no spec needs"):format(path, file_limit)
  end
  return text
end

local limit_complaint <const> = "more than %d %s: a spec is a table, not a computation"

-- A hook for each instruction, which ends the chunk once a limit is passed. Its messages are made
-- before, since strings have no methods while the chunk runs.
local function limiter()
  local too_long = limit_complaint:format(instruction_limit, "instructions")
  local too_large = limit_complaint:format(memory_limit_kb, "KB of memory")
  collectgarbage()
  local highest_kb = collectgarbage("count") + memory_limit_kb
  local instructions = 0
  return function()
    instructions = instructions + 1
    if instructions > instruction_limit then error(too_long, 0) end
    if collectgarbage("count") > highest_kb then
      collectgarbage()
      if collectgarbage("count") > highest_kb then error(too_large, 0) end
    end
  end
end

-- Runs the chunk with nothing in reach, in a coroutine, so that the hook sees its steps only.
local function run_confined(chunk)
  local strings = getmetatable("")
  local methods = strings.__index
  local thread = coroutine.create(chunk)
  debug.sethook(thread, limiter(), "", 1)
  strings.__index = nil
  local results = table.pack(coroutine.resume(thread))
  strings.__index = methods
  return results
end

-- Keys in one order: integers ascending, then strings; or nil and what another key is.
local function ordered_keys(source)
  local keys = {}
  for key in pairs(source) do -- order does not matter: the keys are sorted below
    if math.type(key) ~= "integer" and type(key) ~= "string" then
      return nil, type(key) == "number" and tostring(key) or "a " .. type(key)
    end
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) == "number" end
    return a < b
  end)
  return keys
end

local function inner_path(path, key)
  if math.type(key) == "integer" then return ("%s[%d]"):format(path, key) end
  return path == "" and key or path .. "." .. key
end

local is_plain <const> = { number = true, string = true, boolean = true }

local plain_copy

local function table_copy(source, path, depth, state)
  if state.open[source] then return nil, ("%s: the table holds itself"):format(path) end
  if depth > depth_limit then
    return nil, ("%s: tables may be nested at most %d deep"):format(path, depth_limit)
  end
  local keys, wrong_key = ordered_keys(source)
  if not keys then
    return nil, ("%s: a key is %s: keys must be strings or integers")
      :format(path == "" and "the spec" or path, wrong_key)
  end
  state.open[source] = true
  local copy = {}
  for _, key in ipairs(keys) do
    local complaint
    copy[key], complaint = plain_copy(source[key], inner_path(path, key), depth + 1, state)
    if complaint then return nil, complaint end
  end
  state.open[source] = nil
  return copy
end

-- Copies a value; state holds the open tables and the count of values, so that neither a cycle nor
-- a table that holds another many times over goes on for ever.
function plain_copy(value, path, depth, state)
  state.values = state.values + 1
  if state.values > value_limit then
    return nil, ("%s: more than %d values"):format(path, value_limit)
  end
  if is_plain[type(value)] then return value end
  if type(value) == "table" then return table_copy(value, path, depth, state) end
  return nil, ("%s: a %s: only numbers, strings, booleans and tables are allowed")
    :format(path, type(value))
end

-- The message of a chunk that failed, with the file instead of the chunk's name.
local function located(complaint, path)
  local first_line = tostring(complaint):match("^[^\n]*")
  local place, what = first_line:match("^spec(:%d+: )(.*)$")
  return path .. (place or ": ") .. (what or first_line)
end

local function load_lua(text, path)
  -- a stack overflow of the parser would go to the message handler of whoever called us
  local _, chunk, complaint = pcall(load, text, "=spec", "t", {})
  if type(chunk) ~= "function" then return nil, located(complaint or chunk, path) end
  local results = run_confined(chunk)
  if not results[1] then return nil, located(results[2], path) end
  if results.n ~= 2 or type(results[2]) ~= "table" then
    return nil, ("%s: must return one table, returns %s"):format(path,
      results.n == 2 and "a " .. type(results[2]) or ("%d values"):format(results.n - 1))
  end
  local copy
  copy, complaint = plain_copy(results[2], "", 1, { values = 0, open = {} })
  if not copy then return nil, ("%s: %s"):format(path, complaint) end
  return copy
end

local function load_json(text, path)
  local value, complaint = json.decode(text, path)
  if value == nil then return nil, complaint end
  if json.kind(value) ~= "object" then return nil, ("%s: must be one object"):format(path) end
  return value
end

--- Loads a spec that has not been checked yet.
-- @string path a *.lua file that returns a table, or a *.json file that holds an object
-- @treturn ?table the fields as they stand in the file, or nil
-- @treturn string a message that names the file and, where it can, the line
function spec_file.load(path)
  local extension = path:match("%.(%w+)$")
  if extension ~= "lua" and extension ~= "json" then
    return nil, ("%s: a spec must be a .lua or a .json file"):format(path)
  end
  local text, complaint = read_text(path)
  if not text then return nil, complaint end
  return (extension == "lua" and load_lua or load_json)(text, path)
end

return spec_file
