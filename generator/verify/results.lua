--- What became of each case of a program: from the files that compiling and running it left.

local programs = require "verify.programs"

local results = {}

local signal_names <const> = {
  [4] = "illegal instruction", [6] = "abort", [7] = "bus error", [8] = "arithmetic fault",
  [9] = "killed", [11] = "segmentation fault", [14] = "took too long",
}

-- The first line that matters of what a tool said.
local function gist(text)
  for line in text:gmatch("[^\n]+") do
    if line:find("error", 1, true) or line:find("ERROR", 1, true)
      or line:find("undefined", 1, true) or line:find("multiple definition", 1, true) then
      return line
    end
  end
  return text:match("[^\n]+") or "nothing said"
end

-- The runner's lines, by case number and target: words[1] is the kind of line.
local function parse(text)
  local lines = {}
  for line in text:gmatch("[^\n]+") do
    local kind, number, target, rest = line:match("^(%l+)\t(%d+)\t(%w+)\t?(.*)$")
    if kind then
      local key = number .. " " .. target
      lines[key] = lines[key] or {}
      lines[key][kind] = rest
    end
  end
  return lines
end

local function ended_badly(said)
  if not said["end"] then return "did not end" end
  local how, number, step = said["end"]:match("^(%l+)\t(%d+)\t(.*)$")
  if how == "exit" and number == "0" then return nil end
  local name = how == "signal" and signal_names[tonumber(number)]
  return ("ended by %s %s%s (%s)"):format(how, number, name and ", " .. name or "", step)
end

-- One target of one case: what failed, or its errors, or that it was skipped.
local function of_target(said, stderr)
  if stderr ~= "" then return { failed = gist(stderr) } end
  if said.fail then return { failed = said.fail } end
  local complaint = ended_badly(said)
  if complaint then return { failed = complaint } end
  if said.skip then return { skipped = true } end
  if not said.ok then return { failed = "gave no result" } end
  local absolute, relative = said.ok:match("^(%S+)\t(%S+)$")
  return { absolute = tonumber(absolute), relative = tonumber(relative) }
end

local function of_targets(place, job, lines)
  local outcome = { absolute = 0.0, relative = 0.0, skipped = {} }
  local ran = 0
  for _, target in ipairs(job.targets) do
    local stderr = programs.read(("%s/case_%d.%s.stderr"):format(place, job.number, target)) or ""
    local one = of_target(lines[job.number .. " " .. target] or {}, stderr)
    if one.failed then
      outcome.failed = #job.targets > 1 and target .. ": " .. one.failed or one.failed
      return outcome
    elseif one.skipped then
      outcome.skipped[#outcome.skipped + 1] = target
    else
      ran = ran + 1
      outcome.absolute = math.max(outcome.absolute, one.absolute)
      outcome.relative = math.max(outcome.relative, one.relative)
    end
  end
  if ran == 0 then
    outcome.failed = "nothing ran: not available here: " .. table.concat(outcome.skipped, ", ")
  end
  return outcome
end

local function of_job(place, job, lines)
  local compile = programs.read(("%s/%s.compile"):format(place, job.name))
  if compile then return { failed = "does not compile: " .. gist(compile) } end
  local link = programs.read(("%s/%s.link"):format(place, job.name))
  if link then return { failed = "can not be linked: " .. gist(link) } end
  if not next(lines) then
    local errors = programs.read(place .. "/errors") or ""
    return { failed = "its program gave no result: " .. gist(errors) }
  end
  return of_targets(place, job, lines)
end

--- The outcomes of a program's cases.
-- @string folder
-- @tparam table program name and jobs
-- @treturn {table,...} one a job: failed = message; or absolute, relative, skipped = target names
function results.of(folder, program)
  local place = folder .. "/" .. program.name
  local lines, list = parse(programs.read(place .. "/output") or ""), {}
  for index, job in ipairs(program.jobs) do list[index] = of_job(place, job, lines) end
  return list
end

return results
