--- qkvc explain: a layer's shapes, sizes and plan.

local request = require "request"

local explain = {}

--- Runs the command.
-- @tparam table arguments spec, targets, unroll
-- @tparam function say prints one line
-- @treturn integer the exit code
-- @treturn ?string what went wrong, a line for each complaint
function explain.run(arguments, say)
  local requests, complaints = request.specs({ arguments.spec }, arguments)
  if not requests then return 2, table.concat(complaints, "\n") end
  local text, complaint = require("explain").text(requests[1].spec)
  if not text then return 2, ("%s: %s"):format(requests[1].path, complaint) end
  say((text:gsub("\n$", "")))
  return 0
end

return explain
