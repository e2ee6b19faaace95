--- qkvc import: a model's config.json to a spec.

local files = require "files"
local import = require "import"

local command = {}

local function text_of(path)
  local handle <close>, complaint = io.open(path, "rb")
  if not handle then return nil, complaint end
  local text = handle:read("a")
  if not text then return nil, ("%s: not a file that can be read"):format(path) end
  return text
end

local function named(path, complaints)
  local lines = {}
  for index, complaint in ipairs(complaints) do lines[index] = path .. ": " .. complaint end
  return table.concat(lines, "\n")
end

local function write(dir, result, say)
  local path = result.name .. ".lua"
  local done, complaint, kind = files.write(dir, { { path = path, text = result.text } })
  if not done then return kind == "foreign" and 2 or 3, complaint end
  say(("%-9s %s/%s"):format(#done.written > 0 and "wrote" or "unchanged", dir, path))
  return 0
end

--- Runs the command.
-- @tparam table arguments config, dir, and the options of import.of
-- @tparam function say prints one line
-- @treturn integer the exit code
-- @treturn ?string what went wrong, a line for each complaint
function command.run(arguments, say)
  local source, complaint = text_of(arguments.config)
  if not source then return 2, complaint end
  local object
  object, complaint = import.decode(source, arguments.config)
  if not object then return 2, complaint end
  local result, complaints = import.of(object, {
    family = arguments.family, name = arguments.name, layer = arguments.layer,
    part = arguments.part, stack = arguments.stack, cross = arguments.cross,
    cache = arguments.cache, tokens = arguments.tokens, context = arguments.context,
    past = arguments.past, ignore = arguments.ignore,
    source = arguments.config:match("[^/]*$"),
  })
  if not result then return 2, named(arguments.config, complaints) end
  if arguments.dir then return write(arguments.dir, result, say) end
  say((result.text:gsub("\n$", "")))
  return 0
end

return command
