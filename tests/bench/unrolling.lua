--- Small layers written out, in tiles, and as plain loops: a table, and one for gnuplot.
-- Usage: lua5.4 tests/bench/unrolling.lua FOLDER. Runs qkvc bench on layers of two heads, width d
-- and T tokens; writes FOLDER/unrolling.md and FOLDER/unrolling.tsv.

local dkjson = require "dkjson"

local folder = arg[1]
local WIDTHS <const>, TOKENS <const> = { 8, 16, 32, 64 }, { 1, 2, 4, 8, 16 }
local MOST <const> = 8192   -- tokens x d^2: beyond it, the written-out text compiles slowly
local TARGETS <const> = { "portable", "avx2", "avx512" }
local UNROLLS <const> = { "full", "tile", "auto" }

local SPEC <const> = [[
return { name = "d%d_t%d", heads = 2, d = %d, p_v = %d, tokens = %d,
  targets = { "portable", "avx2", "avx512" } }
]]

local function write(path, text)
  local handle <close> = assert(io.open(path, "wb"))
  handle:write(text)
end

--- The counts of tokens that a width is measured with.
local function tokens_of(d)
  local list = {}
  for _, t in ipairs(TOKENS) do
    if t * d * d <= MOST then list[#list + 1] = t end
  end
  return list
end

local function specs()
  local list = {}
  for _, d in ipairs(WIDTHS) do
    for _, t in ipairs(tokens_of(d)) do
      local path = ("%s/d%d_t%d.lua"):format(folder, d, t)
      write(path, SPEC:format(d, t, d, d // 2, t))
      list[#list + 1] = path
    end
  end
  return table.concat(list, " ")
end

--- Minima in microseconds by "shape peer".
local function measured(unroll, paths)
  local found = {}
  local handle = assert(io.popen(("generator/qkvc bench %s --unroll %s --json --rounds 10 "
    .. "--cflags -O2 --compare %s"):format(paths, unroll, unroll == "full" and "loops" or "none"),
    "r"))
  for line in handle:lines() do
    local record = dkjson.decode(line)
    found[record.shape .. " " .. record.peer] = record.min_us
  end
  assert(handle:close(), "qkvc bench failed")
  return found
end

local function us(x) return x and (("%.3f"):format(x):gsub(",", ".")) or "-" end

local function loops_of(times, shape)
  local least
  for key, time in pairs(times) do   -- order does not matter: the least
    if key:find(shape .. " loops", 1, true) == 1 and (not least or time < least) then
      least = time
    end
  end
  return least
end

local paths = specs()
local times = {}
for _, unroll in ipairs(UNROLLS) do times[unroll] = measured(unroll, paths) end
local rows, points = {
  "| d | T | loops | " .. table.concat(TARGETS, ": full / tile / auto | ")
    .. ": full / tile / auto |",
  "|---|---|---" .. ("|---"):rep(#TARGETS) .. "|",
}, { "d\tT\tloops\t" .. table.concat(TARGETS, "\t\t\t") }
for _, d in ipairs(WIDTHS) do
  for _, t in ipairs(tokens_of(d)) do
    local shape = ("d%d-t%d"):format(d, t)
    local loops = loops_of(times.full, shape)
    local cells, points_of = {}, {}
    for i, target in ipairs(TARGETS) do
      local each = {}
      for j, unroll in ipairs(UNROLLS) do
        each[j] = us(times[unroll][shape .. " qkvc-" .. target])
      end
      cells[i] = table.concat(each, " / ")
      points_of[i] = table.concat(each, "\t")
    end
    rows[#rows + 1] = ("| %d | %d | %s | %s |"):format(d, t, us(loops), table.concat(cells, " | "))
    points[#points + 1] = ("%d\t%d\t%s\t%s"):format(d, t, us(loops), table.concat(points_of, "\t"))
  end
end
write(folder .. "/unrolling.md", table.concat(rows, "\n") .. "\n")
write(folder .. "/unrolling.tsv", table.concat(points, "\n") .. "\n")
