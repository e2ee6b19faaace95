--- qkvc bench: measures generated C on this machine.

local request = require "request"

local bench = {}

local function or_default(list, default)
  if list and #list > 0 then return list end
  return { default }
end

--- Each compiler with each set of flags.
local function builds_of(arguments)
  local list = {}
  for _, cc in ipairs(or_default(arguments.cc, os.getenv("CC") or "cc")) do
    for _, cflags in ipairs(or_default(arguments.cflags, "-O3")) do
      list[#list + 1] = { cc = cc, cflags = cflags }
    end
  end
  return list
end

--- Runs the command.
-- @tparam table arguments specs, tokens, context, past, targets, unroll, cc, cflags, rounds,
--   compare, clock, keep, json
-- @tparam function say prints one line
-- @treturn integer the exit code
-- @treturn ?string what went wrong, a line for each complaint
function bench.run(arguments, say)
  local requests, complaints = request.specs(arguments.specs, arguments)
  if not requests then return 2, table.concat(complaints, "\n") end
  return require("bench").run(requests, {
    tokens = arguments.tokens, context = arguments.context, past = arguments.past,
    builds = builds_of(arguments), rounds = arguments.rounds or 20,
    compare = arguments.compare or "auto", clock = arguments.clock or "wall",
    json = arguments.json, keep = arguments.keep,
  }, say)
end

return bench
