--- qkvc explain: a layer's shapes, sizes, plan and limits.

local explanation = require "explain"
local request = require "request"

local explain = {}

--- Runs the command.
-- @tparam table arguments spec, targets, unroll, tokens, context, past
-- @tparam function say prints one line
-- @treturn integer the exit code
-- @treturn ?string what went wrong, a line for each complaint
function explain.run(arguments, say)
  local requests, complaints = request.specs({ arguments.spec }, arguments)
  if not requests then return 2, table.concat(complaints, "\n") end
  local one = requests[1]
  local text, found = explanation.text(one.spec, arguments)
  if text then
    say(text)
    return 0
  end
  for i, complaint in ipairs(found) do found[i] = one.path .. ": " .. complaint end
  return 2, table.concat(found, "\n")
end

return explain
