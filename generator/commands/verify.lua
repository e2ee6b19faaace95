--- qkvc verify: golden cases against generated C.

local verify = {}

--- Runs the command.
-- @tparam table arguments cases, targets, unroll, cc, cflags, run, keep, jobs, rename
-- @tparam function say prints one line
-- @treturn integer the exit code
-- @treturn ?string what went wrong, a line for each complaint
function verify.run(arguments, say)
  local targets = arguments.targets or {}
  return require("verify").run(arguments.cases, {
    cc = arguments.cc or os.getenv("CC") or "cc", cflags = arguments.cflags or "-O2",
    run = arguments.run or "", targets = #targets > 0 and targets or nil,
    unroll = arguments.unroll, keep = arguments.keep, jobs = arguments.jobs,
    rename = arguments.rename,
  }, say)
end

return verify
