--- From times to a costs file: fits, text, and what differs from the file before.

local cost = require "cost"
local program = require "tune_program"
local targets = require "targets"

local fit = {}

--- What a call takes beside its stages, where no file says so yet.
local CALLS <const> = { forward = 30, float = 0.1 }

local PANEL_BYTES <const> = 64   -- of one step of k

local function round(x, digits) return math.floor(x * 10 ^ digits + 0.5) / 10 ^ digits end

local function number(x, digits)
  local text = ("%." .. digits .. "f"):format(x):gsub(",", ".")
  if text:find(".", 1, true) then text = text:gsub("0+$", ""):gsub("%.$", "") end
  return text
end

--- One tile: what a call takes beside its steps, a step with weights in the first cache, and in
-- the second. Calls follow one another and may overlap, so what is beside them is never below 0.
local function tile_of(times, shape, first_cache)
  local function time(depth)
    return times[("tile:%d:%d:%d"):format(shape.rows, shape.panels, depth)]
  end
  local short, long, deep = table.unpack(program.DEPTHS)
  local near
  if long * shape.panels * PANEL_BYTES <= first_cache // 4 * 3 then
    near = time(long) / long
  else
    near = time(short) / short
  end
  local call = math.max(0, time(short) - short * near)
  return { shape.rows, shape.panels, round(call, 1), round(near, 3), round(time(deep) / deep, 3) }
end

local function variant_of(variant, times, first_cache)
  local target = targets.get(variant.target)
  local fitted = { target = variant.target, flags = variant.flags, tiles = {}, stream = {} }
  for _, shape in ipairs(cost.shapes(target)) do
    fitted.tiles[#fitted.tiles + 1] = tile_of(times, shape, first_cache)
    if shape.rows == 1 then
      local panels = program.STREAMED // shape.panels * shape.panels
      local bytes = panels * PANEL_BYTES * program.DEPTHS[#program.DEPTHS]
      fitted.stream[shape.panels] = round(bytes / times["stream:" .. shape.panels], 0)
    end
  end
  local few, many = table.unpack(program.KEYS)
  local short, long = times["soften:" .. few] / 4, times["soften:" .. many] / 4   -- of four rows
  local vector = (long - short) / ((many - few) / target.lanes)
  fitted.soften = {
    row = round(math.max(0, short - few / target.lanes * vector), 1),
    vector = round(vector, 2),
  }
  return fitted
end

--- Fits the measured times.
-- @tparam {table,...} variants { name, target, flags }
-- @tparam table least by variant name, times by key
-- @tparam table caches { first, second } in bytes
-- @treturn table as a costs file
function fit.fitted(variants, least, caches)
  local list = {}
  for i, variant in ipairs(variants) do
    list[i] = variant_of(variant, least[variant.name], caches.first)
  end
  return { caches = caches, calls = CALLS, variants = list }
end

local function find(costs, variant)
  for _, one in ipairs(costs.variants) do
    if one.target == variant.target and one.flags == variant.flags then return one end
  end
end

--- Takes over from an older file what was not measured now.
function fit.keep(fitted, old, variants)
  local list = {}
  for _, variant in ipairs(variants) do
    list[#list + 1] = find(fitted, variant) or find(old, variant)
  end
  fitted.variants, fitted.calls = list, old.calls or CALLS
end

local function add_variant(lines, variant)
  local function line(text, ...) lines[#lines + 1] = text:format(...) end
  line("    {")
  line("      target = %q, flags = %q,", variant.target, variant.flags)
  line("      soften = { row = %s, vector = %s },", number(variant.soften.row, 1),
    number(variant.soften.vector, 2))
  local stream = {}
  for i, speed in ipairs(variant.stream) do stream[i] = number(speed, 0) end
  line("      stream = { %s },", table.concat(stream, ", "))
  line("      tiles = {")
  local texts = {}
  for i, t in ipairs(variant.tiles) do
    texts[i] = ("{ %d, %d, %s, %s, %s },"):format(t[1], t[2], number(t[3], 1), number(t[4], 3),
      number(t[5], 3))
  end
  for i = 1, #texts, 3 do
    line("        %s", table.concat(texts, " ", i, math.min(i + 2, #texts)))
  end
  line("      },")
  line("    },")
end

--- The text of a costs file.
function fit.text(costs)
  local lines = {
    "-- Measured by `make tune`, nanoseconds; minima of many rounds. tiles: rows, panels of 16",
    "-- columns, a call beside its steps, a step of k with weights in the first cache and in the",
    "-- second. stream: bytes a ns from beyond it for 1, 2, ... panels at once. soften: a row of",
    "-- the softmax, and each vector of it. calls: beside the stages, a call and each float that",
    "-- is moved or normed, fitted to whole layers by hand.",
    "return {",
  }
  local function line(text, ...) lines[#lines + 1] = text:format(...) end
  line("  machine = {")
  line("    model = %q,", costs.machine.model)
  line("    compiler = %q,", costs.machine.compiler)
  line("  },")
  line("  caches = { first = %d, second = %d },", costs.caches.first, costs.caches.second)
  line("  calls = { forward = %s, float = %s },", number(costs.calls.forward, 1),
    number(costs.calls.float, 3))
  line("  variants = {")
  for _, variant in ipairs(costs.variants) do add_variant(lines, variant) end
  line("  },")
  line("}")
  return table.concat(lines, "\n") .. "\n"
end

--- What differs by more than 5 % from the file before.
-- @tparam ?table old
-- @tparam table new
-- @treturn {string,...} lines
function fit.changes(old, new)
  if not old then return { "no file before: all is new" } end
  local lines = {}
  local function compare(what, before, after)
    if math.abs(after - before) > 0.05 * math.max(before, 0.05) then
      lines[#lines + 1] = ("  %s: %s -> %s"):format(what, number(before, 3), number(after, 3))
    end
  end
  for _, variant in ipairs(new.variants) do
    local before = find(old, variant)
    if before then
      local name = variant.target .. " " .. variant.flags
      compare(name .. ": soften row", before.soften.row, variant.soften.row)
      compare(name .. ": soften vector", before.soften.vector, variant.soften.vector)
      for i, t in ipairs(variant.tiles) do
        local b = before.tiles[i] or {}
        local tile = ("%s: %d x %d panels"):format(name, t[1], t[2])
        if b[1] == t[1] and b[2] == t[2] then
          compare(tile .. ", near", b[4], t[4])
          compare(tile .. ", far", b[5], t[5])
        end
      end
    else
      lines[#lines + 1] = ("  %s %s: new"):format(variant.target, variant.flags)
    end
  end
  table.insert(lines, 1, #lines == 0 and "nothing changed by more than 5 %" or
    "changed by more than 5 %:")
  return lines
end

return fit
