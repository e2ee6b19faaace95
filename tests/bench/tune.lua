--- Measures tiles and the softmax on this machine and fits generator/costs/NAME.lua to them.
-- Usage: lua5.4 tests/bench/tune.lua NAME FOLDER SECONDS. The folder is for the programs that
-- are compiled; CC names the compiler.

local root = arg[0]:gsub("[^/]*$", "") .. "../../"
package.path = root .. "generator/?.lua;" .. root .. "tests/bench/?.lua;" .. package.path

local cost = require "cost"
local fit = require "tune_fit"
local program = require "tune_program"
local targets = require "targets"

local machine, folder, seconds = arg[1], arg[2], tonumber(arg[3])
local cc = os.getenv("CC") or "cc"

--- What is measured: a target as the compiler's flags make it.
local VARIANTS <const> = {
  { name = "portable", target = "portable", flags = "-O2" },
  { name = "portable_avx2", target = "portable", flags = "-O2 -mavx2 -mfma" },
  { name = "avx2", target = "avx2", flags = "-O2" },
  { name = "avx512", target = "avx512", flags = "-O2" },
}

local function run(command)
  local handle = assert(io.popen("LC_ALL=C " .. command, "r"))
  local text = handle:read("a")
  return handle:close() and text
end

local function must(command)
  return run(command) or error("failed: " .. command, 0)
end

local function write(path, text)
  local handle <close> = assert(io.open(path, "wb"))
  handle:write(text)
end

--- Compiles the program of each variant that this machine can run.
local function build()
  local list = {}
  for _, variant in ipairs(VARIANTS) do
    local path = folder .. "/" .. variant.name
    write(path .. ".c", program.text(targets.get(variant.target)))
    must(("%s -std=gnu11 %s -o %s %s.c -lm"):format(cc, variant.flags, path, path))
    if run(path .. " 0 >/dev/null 2>&1") then
      list[#list + 1] = variant
    else
      print(variant.name .. ": this machine lacks it, left as it was")
    end
  end
  return list
end

--- Runs all programs in turn until the time is over; the least time of each thing counts.
local function measure(list)
  local least = {}
  local last = os.time() + seconds
  local rounds = 0
  repeat
    for _, variant in ipairs(list) do
      local times = least[variant.name] or {}
      least[variant.name] = times
      for key, ns in must(folder .. "/" .. variant.name .. " 1"):gmatch("(%S+) (%S+)\n") do
        ns = tonumber(ns)
        if not times[key] then
          times[key] = ns
          times[#times + 1] = key
        elseif ns < times[key] then
          times[key] = ns
        end
      end
    end
    rounds = rounds + 1
  until os.time() >= last
  print(("%d rounds of %d programs"):format(rounds, #list))
  return least
end

local function model()
  local handle = io.open("/proc/cpuinfo", "r")
  local text = handle and handle:read("a") or ""
  if handle then handle:close() end
  local family = text:match("cpu family%s*:%s*(%d+)")
  return ("%s, family %s model %s"):format(text:match("model name%s*:%s*([^\n]+)") or "unknown",
    family or "?", text:match("\nmodel%s*:%s*(%d+)") or "?")
end

--- Bytes of the first and the second cache; common ones where the system does not tell.
local function caches()
  local function size(name, otherwise)
    local bytes = math.tointeger(tonumber(run("getconf " .. name .. " 2>/dev/null")))
    return bytes and bytes > 0 and bytes or otherwise
  end
  return { first = size("LEVEL1_DCACHE_SIZE", 32768), second = size("LEVEL2_CACHE_SIZE", 1048576) }
end

local list = build()
local fitted = fit.fitted(list, measure(list), caches())
local known, old = pcall(require, "costs." .. machine)
fitted.machine = { model = model(), compiler = must(cc .. " --version"):match("[^\n]*") }
if known then fit.keep(fitted, old, VARIANTS) end
write(root .. "generator/costs/" .. machine .. ".lua", fit.text(fitted))
for _, line in ipairs(fit.changes(known and old or nil, fitted)) do print(line) end
print(("wrote generator/costs/%s.lua"):format(machine))
if not cost.knows(machine) then
  print("plans do not ask it until generator/cost.lua lists it")
end
