--- qkvc generate: specs to files.

local files = require "files"
local request = require "request"

local generate = {}

--- Runs the command.
-- @tparam table arguments specs, dir, targets, unroll
-- @tparam function say prints one line
-- @treturn integer the exit code
-- @treturn ?string what went wrong, a line for each complaint
function generate.run(arguments, say)
  local requests, complaints = request.specs(arguments.specs, arguments)
  local list
  if requests then list, complaints = request.files(requests) end
  if not list then return 2, table.concat(complaints, "\n") end
  local done, complaint, kind = files.write(arguments.dir, list)
  if not done then return kind == "foreign" and 2 or 3, complaint end
  for _, path in ipairs(done.written) do say("wrote   ", arguments.dir, "/", path) end
  for _, path in ipairs(done.removed) do say("removed ", arguments.dir, "/", path) end
  say(("%d written, %d unchanged, %d removed")
    :format(#done.written, #done.unchanged, #done.removed))
  return 0
end

return generate
