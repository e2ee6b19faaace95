--- Golden cases against generated C: reads, generates, compiles, runs, compares, tells.
-- In: paths and options. Out: lines and an exit code.

local case_module = require "verify.case"
local find = require "verify.find"
local glue = require "verify.glue"
local layer_module = require "layer"
local programs = require "verify.programs"
local rename = require "verify.rename"
local results = require "verify.results"

local verify = {}

-- Cases that share a program at most: linking and starting cost a case's share of it.
local MOST_CASES <const> = 8

-- ---- One case: from its files to C -------------------------------------------------------------

local function joined(complaints)
  return type(complaints) == "table" and table.concat(complaints, "; ") or tostring(complaints)
end

-- The targets to run a layer on: all that it has, or those asked for.
local function targets_of(spec, wanted)
  if not wanted then return spec.targets end
  local list = {}
  for _, name in ipairs(spec.targets) do
    for _, other in ipairs(wanted) do
      if name == other and list[#list] ~= name then list[#list + 1] = name end
    end
  end
  return list
end

-- The files and the glue of a case; or the outcome that it has without a program.
local function generated(case, name, options)
  local content, complaint = case_module.read(case.path)
  if not content then return nil, { failed = complaint } end
  content.file.path = find.absolute(content.file.path)
  local raw, spec, layer
  raw, complaint = case_module.spec(content, name, options)
  if not raw then return nil, { refused = complaint } end
  spec, complaint = require("spec").complete(raw)
  if not spec then return nil, { refused = joined(complaint) } end
  layer = layer_module.of(spec)
  local job = {
    number = case.number, name = name, targets = targets_of(spec, options.targets),
    cflags = options.cflags,
  }
  job.glue, complaint = glue.text(content, layer, job)
  if not job.glue then return nil, { failed = complaint } end
  job.files, complaint = require("emit").files(spec)
  if not job.files then return nil, { refused = joined(complaint) } end
  return job
end

local function traced(fault) return debug.traceback(tostring(fault), 2) end

-- The same; a fault of the generator fails the case that found it.
local function prepared(case, name, options)
  local called, job, outcome = xpcall(generated, traced, case, name, options)
  if called then return job, outcome end
  if tostring(job):find("interrupted!", 1, true) then error(job, 0) end
  return nil, { failed = "a fault of the generator: " .. tostring(job):match("[^\n]*") }
end

-- ---- Lines -------------------------------------------------------------------------------------

local function one_line(text) return (text:gsub("%s*\n%s*", " ")) end

local function line_of(case, outcome)
  if outcome.refused then
    return ("REFUSED %s: %s"):format(case.label, one_line(outcome.refused))
  end
  if outcome.failed then return ("FAIL %s  %s"):format(case.label, one_line(outcome.failed)) end
  local skipped = ""
  if #outcome.skipped > 0 then
    skipped = "  skipped, not available here: " .. table.concat(outcome.skipped, ", ")
  end
  return ("ok   %s  max abs %.2g  max rel %.2g%s"):format(case.label, outcome.absolute,
    outcome.relative, skipped)
end

-- Says the lines in the order of the cases, each as soon as those before it are known.
local function reporter(cases, say)
  local outcomes, said = {}, 0
  local count = { passed = 0, failed = 0, refused = 0 }
  local function set(number, outcome)
    outcomes[number] = outcome
    while outcomes[said + 1] do
      said = said + 1
      local one = outcomes[said]
      say(line_of(cases[said], one))
      local bad = one.refused or one.failed
      if one.refused then count.refused = count.refused + 1 end
      count[bad and "failed" or "passed"] = count[bad and "failed" or "passed"] + 1
    end
  end
  return set, count
end

-- ---- All cases ---------------------------------------------------------------------------------

-- Shares jobs out to programs: enough of them that all processors have work, none too large.
local function shared_out(jobs, processors)
  local size = math.max(1, math.min(MOST_CASES, #jobs // (2 * processors)))
  local list = {}
  for index, job in ipairs(jobs) do
    if (index - 1) % size == 0 then
      list[#list + 1] = { name = ("program_%d"):format(#list + 1), jobs = {} }
    end
    table.insert(list[#list].jobs, job)
  end
  return list
end

local function generate_all(cases, options, set)
  local jobs = {}
  for _, case in ipairs(cases) do
    local job, outcome = prepared(case, case.name or "case_" .. case.number, options)
    if job then jobs[#jobs + 1] = job else set(case.number, outcome) end
  end
  return jobs
end

local function write_all(folder, list)
  for _, program in ipairs(list) do
    for _, job in ipairs(program.jobs) do
      local written, complaint = programs.add(folder, program.name, job)
      if not written then return nil, complaint end
      job.files, job.glue = nil, nil
    end
  end
  return true
end

local function run_all(folder, list, options, set)
  local by_name = {}
  for _, program in ipairs(list) do by_name[program.name] = program end
  local function finish(program)
    for index, outcome in ipairs(results.of(folder, program)) do
      set(program.jobs[index].number, outcome)
    end
    by_name[program.name] = nil
  end
  for name in programs.run(folder, list, options) do finish(by_name[name]) end
  for _, program in ipairs(list) do
    if by_name[program.name] then finish(program) end
  end
end

local function verified(cases, folder, options, say)
  local ready, complaint = programs.prepare(folder, options)
  if not ready then return 3, complaint end
  if options.rename then
    ready, complaint = rename.cases(cases, folder, options.rename)
    if not ready then return 3, complaint end
  end
  local set, count = reporter(cases, say)
  local list = shared_out(generate_all(cases, options, set), options.jobs)
  ready, complaint = write_all(folder, list)
  if not ready then return 3, complaint end
  run_all(folder, list, options, set)
  say(("%d refused"):format(count.refused))
  say(("%d passed, %d failed"):format(count.passed, count.failed))
  return count.failed == 0 and 0 or 1
end

--- Verifies golden cases.
-- @tparam {string,...} paths .json files, stems, folders
-- @tparam table options cc, cflags, run (strings, "" for none), and optional targets (a list),
--   unroll, jobs, keep (a folder to work in and leave), rename (a seed for random names)
-- @tparam function say prints one line
-- @treturn integer the exit code
-- @treturn ?string what went wrong before any case could
function verify.run(paths, options, say)
  local cases, complaints = find.cases(paths)
  if not cases then return 2, table.concat(complaints, "\n") end
  for number, case in ipairs(cases) do case.number = number end
  options.jobs = options.jobs or programs.processors()
  local folder, complaint, code = programs.folder(options.keep)
  if not folder then return code, complaint end
  local finished
  finished, code, complaint = xpcall(verified, traced, cases, folder, options, say)
  if not options.keep then programs.remove(folder) end
  if not finished then error(code, 0) end
  return code, complaint
end

return verify
