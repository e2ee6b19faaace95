--- What a tile, a projection and attention take, in nanoseconds, on machines that were measured or
-- described. In: shapes and counts. Out: numbers. Measures nothing and asks no machine: what is
-- planned is the same wherever it is planned.

local cost = {}

--- The machines that plans are made for, each generator/costs/NAME.lua. The first stands in
-- `explain`.
local MACHINES <const> = { "zen4", "two_fma_units" }

local PANEL <const> = 16

--- Rows of a tile at the most.
cost.MOST_ROWS = 16

-- ---- Machines ----------------------------------------------------------------------------------

--- Whether plans ask a machine.
-- @tparam string name of generator/costs/NAME.lua
-- @treturn boolean
function cost.knows(name)
  for _, one in ipairs(MACHINES) do
    if one == name then return true end
  end
  return false
end

local function indexed(variant)
  local tiles = {}
  for _, t in ipairs(variant.tiles) do
    tiles[t[1] * 1000 + t[2]] = { call = t[3], near = t[4], far = t[5] }
  end
  return tiles
end

local views = {}

--- The machines as a target sees them: measured ones in each way its code was compiled, described
-- ones where the target has a fused multiply-add.
-- @tparam table target of generator/targets/
-- @treturn {table,...} views
function cost.views(target)
  local list = views[target.name]
  if list then return list end
  list = {}
  for _, name in ipairs(MACHINES) do
    local costs = require("costs." .. name)
    local function add(view)
      view.name, view.caches, view.machine = name, costs.caches, costs.machine
      view.lanes, view.split = target.lanes, PANEL // target.lanes
      list[#list + 1] = view
    end
    for _, variant in ipairs(costs.variants or {}) do
      if variant.target == target.name then
        add { tiles = indexed(variant), variant = variant, calls = costs.calls }
      end
    end
    if costs.described and target.fma then add { described = costs.described } end
  end
  assert(#list > 0, "no costs for the target " .. target.name)
  views[target.name] = list
  return list
end

-- ---- Tiles -------------------------------------------------------------------------------------

--- Whether a tile's sums, a row of weights and an input fit the registers. With one row each weight
-- is used once, so one at a time will do.
function cost.fits(target, rows, panels)
  local vectors = panels * (PANEL // target.lanes)
  local beside = rows == 1 and 1 or vectors
  return rows * vectors + beside + 1 <= target.registers
end

--- All tiles that fit, by panels and rows.
-- @tparam table target
-- @tparam ?integer most_rows
-- @tparam ?integer most_panels
-- @treturn {{rows=,panels=},...}
function cost.shapes(target, most_rows, most_panels)
  local list = {}
  for panels = 1, math.min(most_panels or PANEL, PANEL) do
    for rows = 1, math.min(most_rows or cost.MOST_ROWS, cost.MOST_ROWS) do
      if cost.fits(target, rows, panels) then list[#list + 1] = { rows = rows, panels = panels } end
    end
  end
  return list
end

--- Of a described machine: cycles of a step of k, the longest of what it keeps busy.
local function described_step(view, rows, panels, where)
  local d, vectors = view.described, panels * view.split
  local sums = rows * vectors
  local loads = rows + vectors
  local cycles = math.max(sums / d.fma_a_cycle, loads / d.loads_a_cycle, d.latency,
    (sums + loads + 2) / d.words_a_cycle)
  if where ~= "near" then
    cycles = math.max(cycles, vectors * view.lanes * 4 / d.second_bytes_a_cycle)
  end
  local short = math.max(0, 1 - sums / d.chains_wanted)
  return cycles * (1 + d.want * short) / d.cycles_a_ns
end

--- Nanoseconds of one tile.
-- @tparam table view
-- @tparam integer rows
-- @tparam integer panels
-- @tparam integer depth steps of its sums
-- @tparam string where its weights stand: "near" (first cache), "far" (second) or "beyond"
-- @treturn number
function cost.tile(view, rows, panels, depth, where)
  local ns
  if view.described then
    ns = view.described.call / view.described.cycles_a_ns
      + depth * described_step(view, rows, panels, where)
  else
    local t = view.tiles[rows * 1000 + panels]
      or error(("no tile %d x %d panels was measured"):format(rows, panels))
    ns = t.call + depth * (where == "near" and t.near or t.far)
  end
  if where ~= "beyond" then return ns end
  return math.max(ns, panels * PANEL * 4 * depth / cost.stream(view, panels))
end

--- Bytes a nanosecond from beyond the second cache, where so many panels are read at once.
function cost.stream(view, panels)
  if view.described then return view.described.beyond_bytes_a_ns end
  local list = view.variant.stream
  return list[math.min(panels, #list)]
end

--- Where so many bytes stay from call to call.
function cost.place(view, bytes)
  if bytes <= view.caches.first // 4 * 3 then return "near" end
  return bytes <= view.caches.second // 4 * 3 and "far" or "beyond"
end

--- The ceilings of a measured machine.
-- @tparam table view
-- @treturn table operations (fma), results (softmax) and bytes (first, second, beyond) a ns
function cost.speeds(view)
  local fma, first, second, beyond = 0, 0, 0, 0
  for _, t in ipairs(view.variant.tiles) do
    local rows, panels, near, far = t[1], t[2], t[4], t[5]
    fma = math.max(fma, 2 * rows * panels * PANEL / near)
    first = math.max(first, (panels * PANEL + rows) * 4 / near)
    if rows == 1 then second = math.max(second, panels * PANEL * 4 / far) end
  end
  for _, speed in ipairs(view.variant.stream) do beyond = math.max(beyond, speed) end
  return {
    fma = fma, softmax = view.lanes / view.variant.soften.vector, first = first,
    second = second, beyond = beyond,
  }
end

-- ---- Stages ------------------------------------------------------------------------------------

--- Nanoseconds of `rows` rows by tiles of `tile_rows`, the first of which finds its other operand
-- at `first`, the others at `next`; the last two tiles share their rows.
local function row_tiles(view, tile_rows, rows, panels, depth, first, next)
  if panels == 0 or rows == 0 then return 0 end
  local total, where = 0, first
  local function tile(count, times)
    for _ = 1, math.min(times, 2) do
      total = total + cost.tile(view, count, panels, depth, where)
      where = next
    end
    if times > 2 then
      total = total + (times - 2) * cost.tile(view, count, panels, depth, where)
    end
  end
  local last = rows % tile_rows + (rows > tile_rows and tile_rows or 0)
  if rows == tile_rows then last = tile_rows end
  tile(tile_rows, (rows - last) // tile_rows)
  if last > tile_rows then
    tile((last + 1) // 2, 1)
    last = last // 2
  end
  if last > 0 then tile(last, 1) end
  return total
end

--- Nanoseconds of a projection.
-- @tparam table view
-- @tparam table tile { rows, panels, single = panels of a lone row or nil }
-- @tparam table m { rows, panels = of all columns, depth, bytes = of the layer's weights }
-- @treturn number
function cost.projection(view, tile, m)
  local across = m.rows == 1 and tile.single and tile.single.panels or tile.panels
  across = math.min(across, m.panels)
  local first = cost.place(view, m.bytes)
  local next = across * PANEL * 4 * m.depth <= view.caches.first and "near" or "far"
  local function group(panels)
    return row_tiles(view, tile.rows, m.rows, panels, m.depth, first, next)
  end
  return m.panels // across * group(across) + group(m.panels % across)
end

--- Nanoseconds of a row of the softmax.
function cost.soften(view, keys)
  local vectors = (keys + view.lanes - 1) // view.lanes
  local d = view.described
  if d then return (d.soften_row + vectors * d.soften_vector) / d.cycles_a_ns end
  return view.variant.soften.row + vectors * view.variant.soften.vector
end

--- Nanoseconds of attention.
-- @tparam table view
-- @tparam table a the plan's: heads, rows, panels, mix_panels
-- @tparam table m { tokens, keys, p_q, p_v, heads = all query heads }
-- @treturn number
-- @treturn number those of them that are softmax
function cost.attention(view, a, m)
  local tiles_a_column = m.heads // a.heads
  local rows = m.tokens * a.heads
  local key_panels, value_panels = (m.keys + PANEL - 1) // PANEL, (m.p_v + PANEL - 1) // PANEL
  local function products(panels, depth)
    return row_tiles(view, a.rows, rows, panels, depth, "near", "near")
  end
  local scores = key_panels // a.panels * products(a.panels, m.p_q)
    + key_panels % a.panels * products(1, m.p_q)
  local mix = value_panels // a.mix_panels * products(a.mix_panels, m.keys)
    + products(value_panels % a.mix_panels, m.keys)
  local softmax = rows * cost.soften(view, m.keys)
  return tiles_a_column * (scores + mix + softmax), tiles_a_column * softmax
end

-- ---- Unrolling ---------------------------------------------------------------------------------

--- Up to where a stage runs faster written out than in tiles (docs/unrolling.md): vector
-- multiply-adds, and the depth of their sums. Without fused multiply-adds each is several
-- instructions, so that the text soon outgrows what the machine keeps decoded.
local WRITTEN_OUT <const> = {
  fused = { multiply_adds = 3072, depth = math.huge },
  other = { multiply_adds = 192, depth = 8 },
}

--- Whether a stage is written out where the choice is open.
-- @tparam table target
-- @tparam integer multiply_adds vectors of them in the stage
-- @tparam integer depth of their sums
-- @treturn boolean
function cost.writes_out(target, multiply_adds, depth)
  local most = WRITTEN_OUT[target.fma and "fused" or "other"]
  return multiply_adds <= most.multiply_adds and depth <= most.depth
end

return cost
