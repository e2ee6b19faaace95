--- Measures layers on this machine: builds them, runs the harness, works out shares and limits.
-- In: completed specs and options. Out: lines and an exit code.

local build = require "bench.build"
local counts = require "bench.counts"
local layer_module = require "layer"
local programs = require "verify.programs"
local report = require "bench.report"

local bench = {}

--- Seconds of samples that each way to run a cell gets.
local SECONDS <const> = 0.4

local LOOPS <const> = { none = "0", auto = "1", loops = "2" }

-- ---- What the harness says ---------------------------------------------------------------------

local function words_of(line)
  local words = {}
  for word in line:gmatch("%S+") do words[#words + 1] = word end
  return words
end

--- Speed of a unit of the machine in the best and in the middle sample.
local function unit_of(words)
  local work = tonumber(words[5])
  return { middle = work / tonumber(words[6]), best = work / tonumber(words[7]) }
end

local function result_of(words)
  return {
    build = math.tointeger(words[3]) + 1, way = words[4], is_loops = words[4]:find("^loops") ~= nil,
    median = tonumber(words[5]), minimum = tonumber(words[6]), calls = math.tointeger(words[7]),
    share = tonumber(words[8]), frobenius = tonumber(words[9]) or 0 / 0,
    maximum = tonumber(words[10]) or 0 / 0,
  }
end

local function new_cell(call, work)
  return { call = call, work = work, results = {}, left = {}, machine = {} }
end

local read_line = {
  machine = function(cell, words)
    local isa = words[3]
    local last = cell.machine[#cell.machine]
    if not last or last.isa ~= isa then
      last = { isa = isa }
      cell.machine[#cell.machine + 1] = last
    end
    last[words[4]] = unit_of(words)
  end,
  result = function(cell, words) table.insert(cell.results, result_of(words)) end,
  left = function(cell, words)
    table.insert(cell.left, { build = math.tointeger(words[3]) + 1, way = words[4] })
  end,
}

-- ---- Shares ------------------------------------------------------------------------------------

--- The ceilings that a target is measured against: those of its instruction set, or the fastest.
local function ceilings(machine, target)
  local fastest = machine[1]
  for _, one in ipairs(machine) do
    if one.isa == target then return one end
    if one.fma.best > fastest.fma.best then fastest = one end
  end
  return fastest
end

--- The time of the faster plain loops of a build.
local function loops_minimum(cell, number)
  local least
  for _, r in ipairs(cell.results) do
    if r.is_loops and r.build == number and (not least or r.minimum < least) then
      least = r.minimum
    end
  end
  return least
end

local function work_out(cell)
  for _, r in ipairs(cell.results) do
    local ceiling = ceilings(cell.machine, r.way)
    r.speed = cell.work.operations / r.median
    r.peak, r.read = ceiling.fma.best, ceiling.read.best
    r.peak_share = cell.work.operations / r.minimum / r.peak
    r.limit, r.limit_by = counts.limit(cell.work, {
      fma = ceiling.fma.best, exp = ceiling.exp.best, read = ceiling.read.best,
    })
    r.limit_share = r.limit / r.minimum
    local plain = loops_minimum(cell, r.build)
    r.loops_ratio = plain and not r.is_loops and plain / r.minimum or nil
  end
end

-- ---- One layer ---------------------------------------------------------------------------------

local function arguments_of(layer, calls, options)
  local words = { tostring(options.rounds), (tostring(SECONDS):gsub(",", ".")),
    LOOPS[options.compare], options.clock }
  local cells = {}
  for i, call in ipairs(calls) do
    local work = counts.of(layer, call)
    cells[i] = new_cell(call, work)
    words[#words + 1] = ("%d:%d:%d:%d:%d"):format(call.tokens, call.fresh, call.past, work.bytes,
      work.operations)
  end
  words[#words + 1] = "--"
  for number = 1, #options.builds do
    words[#words + 1] = ("./%s.%d.so"):format(layer.name, number)
  end
  return words, cells
end

local function model()
  local text = programs.read("/proc/cpuinfo") or ""
  return text:match("model name%s*:%s*([^\n]+)") or "a processor that does not say its name"
end

--- Says what a cell gave; returns a complaint where a result is wrong.
local function tell(cell, given, options, say)
  work_out(cell)
  local lines = options.json and report.json(cell, given) or report.rows(cell, given)
  for _, line in ipairs(lines) do say(line) end
  for _, r in ipairs(cell.results) do
    if report.class(r.frobenius) ~= "f32" then
      return ("%s: %s at %d tokens: relative error %g"):format(given.layer.name, r.way,
        cell.call.tokens, r.frobenius)
    end
  end
end

local function measured(layer, calls, folder, options, say)
  local words, cells = arguments_of(layer, calls, options)
  local given = {
    layer = layer, builds = options.builds, machine = { model = model() }, clock = options.clock,
  }
  local lines, finish = build.run(folder, words)
  local told, wrong = 0, nil
  local function tell_until(last)
    while told < last do
      told = told + 1
      wrong = tell(cells[told], given, options, say) or wrong
    end
  end
  for line in lines do
    local fields = words_of(line)
    if fields[1] == "cpu" then
      given.machine.cpu = math.tointeger(fields[2])
      if not options.json then
        for _, text in ipairs(report.title(given)) do say(text) end
        say(report.head())
      end
    elseif fields[1] == "absent" then
      if not options.json then say(fields[3] .. ": not measured, this machine lacks it") end
    else
      local number = math.tointeger(fields[2])
      tell_until(number)
      read_line[fields[1]](cells[number + 1], fields)
    end
  end
  local done, complaint = finish()
  if not done then return 3, layer.name .. ": " .. complaint end
  tell_until(#cells)
  return wrong and 1 or 0, wrong
end

-- ---- All layers --------------------------------------------------------------------------------

local function calls_of(requests, options)
  local layers, calls, complaints = {}, {}, {}
  for i, one in ipairs(requests) do
    local list, found = counts.calls(one.spec, options)
    for _, complaint in ipairs(found or {}) do
      complaints[#complaints + 1] = one.path .. ": " .. complaint
    end
    layers[i], calls[i] = layer_module.of(one.spec), list
  end
  return layers, calls, complaints
end

local function say_libraries(layers, folder, options, say)
  for _, layer in ipairs(layers) do
    for number in ipairs(options.builds) do
      say(("%s/%s.%d.so"):format(folder, layer.name, number))
    end
  end
end

local function run_in(folder, layers, calls, options, say)
  local made, complaint = build.harness(folder, options.builds)
  if not made then return 3, complaint end
  local code
  made, complaint, code = build.layers(folder, layers, options.builds)
  if not made then return code, complaint end
  if options.rounds == 0 then
    say_libraries(layers, folder, options, say)
    return 0
  end
  local worst, complaints = 0, {}
  for i, layer in ipairs(layers) do
    if i > 1 and not options.json then say("") end
    code, complaint = measured(layer, calls[i], folder, options, say)
    if code == 3 then return code, complaint end
    worst = math.max(worst, code)
    complaints[#complaints + 1] = complaint
  end
  return worst, worst > 0 and table.concat(complaints, "\n") or nil
end

--- Measures layers.
-- @tparam {{path=,spec=},...} requests from request.specs
-- @tparam table options tokens (a list), context, past, builds ({cc, cflags} each), rounds (0: only
--   build), compare ("none", "auto", "loops"), clock ("wall", "cpu"), json, keep (a folder to work
--   in and leave)
-- @tparam function say prints one line
-- @treturn integer the exit code: 1 where a result is wrong
-- @treturn ?string what went wrong
function bench.run(requests, options, say)
  local layers, calls, complaints = calls_of(requests, options)
  if #complaints > 0 then return 2, table.concat(complaints, "\n") end
  local folder, complaint, code = programs.folder(options.keep)
  if not folder then return code, complaint end
  local finished
  finished, code, complaint = xpcall(run_in, debug.traceback, folder, layers, calls, options, say)
  if not options.keep then programs.remove(folder) end
  if not finished then error(code, 0) end
  return code, complaint
end

return bench
