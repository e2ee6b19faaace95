--- qkvc check: whether the files of specs are current.

local files = require "files"
local request = require "request"

local check = {}

--- Runs the command.
-- @tparam table arguments specs, dir, targets, unroll
-- @tparam function say prints one line
-- @treturn integer the exit code
-- @treturn ?string what went wrong, a line for each complaint
function check.run(arguments, say)
  local requests, complaints = request.specs(arguments.specs, arguments)
  local list
  if requests then list, complaints = request.files(requests) end
  if not list then return 2, table.concat(complaints, "\n") end
  local found, complaint = files.check(arguments.dir, list)
  if not found then return 3, complaint end
  for _, kind in ipairs({ "stale", "missing", "orphaned" }) do
    for _, path in ipairs(found[kind]) do say(("%-8s %s/%s"):format(kind, arguments.dir, path)) end
  end
  say(("%d files: %d stale, %d missing, %d orphaned")
    :format(#list, #found.stale, #found.missing, #found.orphaned))
  return #found.stale + #found.missing + #found.orphaned == 0 and 0 or 1
end

return check
