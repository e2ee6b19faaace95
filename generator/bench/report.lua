--- Measurements as a table for people or as JSON lines for programs.
-- In: cells with their results. Out: lines of text. Knows no layer's insides and runs nothing.

local dkjson = require "dkjson"

local report = {}

local KEYS <const> = {
  "peer", "version", "shape", "T", "context", "past", "dtype", "threads", "layer", "median_us",
  "min_us", "calls", "gflops", "rel_err", "max_err", "class", "cpu_share", "clock", "cc", "cflags",
  "cpu", "peak_gflops", "peak_share", "limit_us", "limit_share", "limit_by", "read_gbs",
  "loops_ratio",
}

--- Bounds of the relative error by the precision that it tells.
local CLASSES <const> = {
  { 1e-5, "f32" }, { 1.2e-3, "f16/tf32" }, { 1e-2, "bf16" }, { 5e-2, "int8" },
}

--- The precision that an error tells.
-- @tparam number frobenius relative error, may be NaN
-- @treturn string
function report.class(frobenius)
  for _, one in ipairs(CLASSES) do
    if frobenius < one[1] then return one[2] end
  end
  return "wrong"
end

--- A number with so many digits behind the point, that do not depend on the locale.
local function decimals(x, digits) return (("%." .. digits .. "f"):format(x):gsub(",", ".")) end

local function rounded(x, digits) return tonumber(decimals(x, digits)) end

local function time_text(seconds)
  local us = seconds * 1e6
  return decimals(us, us < 10 and 3 or us < 1000 and 1 or 0)
end

local function error_text(x)
  if x ~= x or x == math.huge then return "not a number" end
  return (("%.1e"):format(x):gsub(",", "."))
end

--- Less than so much of the processor's time: somebody else was running, too.
local UNDISTURBED <const> = 0.97

local function percent(x) return decimals(100 * x, 1) .. "%" end

-- ---- The table ---------------------------------------------------------------------------------

local COLUMNS <const> = {
  { "tokens", 6 }, { "way", -20 }, { "median us", 11 }, { "min us", 11 }, { "GFLOP/s", 8 },
  { "of peak", 8 }, { "limit us", 9 }, { "of limit", 9 }, { "binds", -5 }, { "x loops", 8 },
  { "error", 9 },
}

local function row_of(texts)
  local list = {}
  for i, column in ipairs(COLUMNS) do
    list[i] = ("%" .. column[2] .. "s"):format(texts[i] or "")
  end
  return (table.concat(list, "  "):gsub("%s+$", ""))
end

--- The line of column names.
-- @treturn string
function report.head()
  local names = {}
  for i, column in ipairs(COLUMNS) do names[i] = column[1] end
  return row_of(names)
end

local CLOCKS <const> = { wall = "", cpu = ", processor time" }

--- What the layer and the machine are.
-- @tparam table given layer from layer.of; builds, a list of {cc, cflags}; machine, the processor's
--   model and its number cpu; clock, "wall" or "cpu"
-- @treturn {string,...} lines
function report.title(given)
  local layer, builds, machine = given.layer, given.builds, given.machine
  local s, clock = layer.spec, CLOCKS[given.clock]
  local lines = {
    ("%s: %d heads, p %d, d %d, %d bytes packed"):format(layer.name, s.heads, s.p_v, s.d_q or 0,
      layer.packed.bytes),
    ("%s, one thread, processor %d%s; shares compare minima"):format(machine.model, machine.cpu,
      clock),
  }
  for number, one in ipairs(builds) do
    local mark = #builds > 1 and ("[%d] "):format(number) or ""
    lines[#lines + 1] = ("%s%s %s"):format(mark, one.cc, one.cflags)
  end
  return lines
end

--- Where the wall's clock counts, time that others took is in the figures.
local function disturbed_text(r, clock)
  if clock == "cpu" or r.share >= UNDISTURBED then return "" end
  return ("  (got %s of the processor)"):format(percent(r.share))
end

local function way_text(result, builds)
  if #builds == 1 then return result.way end
  return ("%s [%d]"):format(result.way, result.build)
end

--- The rows of one cell.
-- @tparam table cell call, results (each with what bench.lua worked out), left, machine
-- @tparam table given layer, builds, machine, clock
-- @treturn {string,...} lines
function report.rows(cell, given)
  local lines, builds = {}, given.builds
  for i, r in ipairs(cell.results) do
    lines[#lines + 1] = row_of {
      i == 1 and tostring(cell.call.tokens) or "", way_text(r, builds), time_text(r.median),
      time_text(r.minimum), decimals(r.speed / 1e9, 1), percent(r.peak_share),
      time_text(r.limit), percent(r.limit_share), r.limit_by,
      r.loops_ratio and decimals(r.loops_ratio, 1) or "", error_text(r.frobenius),
    } .. disturbed_text(r, given.clock)
  end
  for _, r in ipairs(cell.left) do
    lines[#lines + 1] = row_of { "", way_text(r, builds), "left out: slow; --compare loops" }
  end
  for _, m in ipairs(cell.machine) do
    lines[#lines + 1] = ("        machine, %s: FMA %s GFLOP/s, exp %s G/s, weights %s GB/s"):format(
      m.isa, decimals(m.fma.best / 1e9, 1), decimals(m.exp.best / 1e9, 2),
      decimals(m.read.best / 1e9, 1))
  end
  return lines
end

-- ---- JSON --------------------------------------------------------------------------------------

local function layer_kind(s)
  local norms = s.norms.input or s.norms.output or s.norms.after
  if not norms and not s.residual then return "plain" end
  local after_only = s.norms.after and not (s.norms.input or s.norms.output)
  return s.residual and after_only and s.norms.after.kind == "layer" and "resln" or "other"
end

local function exponent(x)
  if x ~= x or x == math.huge then return tostring(x) end
  return tonumber((("%.3e"):format(x):gsub(",", ".")))
end

local function record_of(r, cell, given)
  local s, build = given.layer.spec, given.builds[r.build]
  return {
    peer = r.is_loops and r.way or "qkvc-" .. r.way, version = require "version",
    shape = (s.name:gsub("_", "-")), T = cell.call.tokens, dtype = s.dtype, threads = 1,
    context = s.context and cell.call.fresh or nil, past = s.cache and cell.call.past or nil,
    layer = layer_kind(s), median_us = rounded(r.median * 1e6, 3),
    min_us = rounded(r.minimum * 1e6, 3), calls = r.calls, gflops = rounded(r.speed / 1e9, 2),
    rel_err = exponent(r.frobenius), max_err = exponent(r.maximum),
    class = report.class(r.frobenius), cpu_share = rounded(r.share, 3), clock = given.clock,
    cc = build.cc, cflags = build.cflags, cpu = given.machine.model,
    peak_gflops = rounded(r.peak / 1e9, 1), peak_share = rounded(r.peak_share, 4),
    limit_us = rounded(r.limit * 1e6, 3),
    limit_share = rounded(r.limit_share, 4), limit_by = r.limit_by,
    read_gbs = rounded(r.read / 1e9, 1),
    loops_ratio = r.loops_ratio and rounded(r.loops_ratio, 2) or nil,
  }
end

--- One cell as JSON, a line for each way to run it.
-- @tparam table cell as for report.rows
-- @tparam table given as for report.rows
-- @treturn {string,...} lines
function report.json(cell, given)
  local lines = {}
  for i, r in ipairs(cell.results) do
    lines[i] = dkjson.encode(record_of(r, cell, given), { keyorder = KEYS })
  end
  return lines
end

return report
