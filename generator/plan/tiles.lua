--- The choice of register tiles: of all that fit, the one whose loss over machines and counts is
-- least. In: a target and shapes. Out: tiles. Plain data, the same everywhere.

local cost = require "cost"

local tiles = {}

--- Counts of rows that a tile is judged by where the number is open.
local FEW <const>, SOME <const> = 1, 8

--- Losses this near each other are the same: then the shorter text is taken. For a lone row, where
-- memory may bind, measurements scatter more.
local ALIKE <const>, ALIKE_ALONE <const> = 0.006, 0.03

--- Panels of keys or values that a tile of attention holds at the most.
local MOST_PANELS <const> = 4

--- A lone row gets tiles of its own where some machine gains this much.
local WORTH <const> = 1.03

--- The counts that a stage is judged by.
-- @tparam integer most the largest
-- @tparam boolean fixed whether it is the only one
-- @treturn {integer,...}
function tiles.counts(most, fixed)
  if fixed or most <= FEW then return { math.max(most, 1) } end
  if most <= SOME then return { FEW, most } end
  return { FEW, SOME, most }
end

--- What each candidate loses on one machine, the mean over the counts.
local function mean_losses(candidates, view, counts, time)
  local losses = {}
  for i = 1, #candidates do losses[i] = 0 end
  for _, count in ipairs(counts) do
    local times = {}
    for i, candidate in ipairs(candidates) do times[i] = time(view, candidate, count) end
    local best = math.min(table.unpack(times))
    for i = 1, #candidates do losses[i] = losses[i] + (times[i] / best - 1) / #counts end
  end
  return losses
end

--- The candidate of least loss: on the machine where it does worst, the mean over the counts of its
-- time beside the best candidate's.
-- @tparam {table,...} candidates each with `size`, what its text takes
-- @tparam {table,...} views
-- @tparam {integer,...} counts
-- @tparam function time of(view, candidate, count)
-- @tparam ?number alike losses this near each other are the same
-- @treturn table a candidate
-- @treturn number its loss
function tiles.least(candidates, views, counts, time, alike)
  local loss = {}
  for i = 1, #candidates do loss[i] = 0 end
  for _, view in ipairs(views) do
    for i, mean in ipairs(mean_losses(candidates, view, counts, time)) do
      loss[i] = math.max(loss[i], mean)
    end
  end
  local enough, chosen = math.min(table.unpack(loss)) + (alike or ALIKE), nil
  for i, candidate in ipairs(candidates) do
    local shorter = not chosen or candidate.size < candidates[chosen].size
    if loss[i] <= enough and shorter then chosen = i end
  end
  return candidates[chosen], loss[chosen]
end

--- Counts beside that of a lone row, where there are any.
local function without_one(counts)
  return #counts > 1 and table.move(counts, 2, #counts, 1, {}) or counts
end

local function sized(list)
  for _, one in ipairs(list) do one.size = one.rows * (one.rows + 1) // 2 * one.panels end
  return list
end

--- Panels for a call of one row, where they gain on those of the tile.
local function single_of(views, target, tile, time)
  local chosen = tiles.least(sized(cost.shapes(target, 1, tile.most)), views, { 1 }, time,
    ALIKE_ALONE)
  if chosen.panels == tile.panels then return nil end
  local gain, worst = 0, math.huge
  for _, view in ipairs(views) do
    local ratio = time(view, tile, 1) / time(view, chosen, 1)
    gain, worst = math.max(gain, ratio), math.min(worst, ratio)
  end
  if gain < WORTH or worst < 1 / WORTH then return nil end
  return { panels = chosen.panels }
end

--- The tile of a projection.
-- @tparam table target
-- @tparam table m { panels = of its columns, depth, bytes = of the layer's weights, most = rows at
--   the most, fixed, rows_most = of a tile }
-- @treturn table { rows, panels, single = nil or { panels } for calls of one row }
function tiles.projection(target, m)
  local views = cost.views(target)
  local function time(view, tile, rows)
    return cost.projection(view, tile,
      { rows = rows, panels = m.panels, depth = m.depth, bytes = m.bytes })
  end
  local counts = tiles.counts(m.most, m.fixed)
  local open = #counts > 1 and m.rows_most > 1
  local judged = open and without_one(counts) or counts
  local chosen = tiles.least(sized(cost.shapes(target, m.rows_most, m.panels)), views, judged, time)
  local tile = { rows = chosen.rows, panels = chosen.panels, most = m.panels }
  tile.single = open and single_of(views, target, tile, time) or nil
  tile.most = nil
  return tile
end

--- All tiles of attention that fit.
local function attention_shapes(target, m)
  local list = {}
  local value_panels = (m.p_v + 15) // 16
  local function add(heads, positions, panels, mix_panels)
    local rows = heads * positions
    if cost.fits(target, rows, panels) and cost.fits(target, rows, mix_panels) then
      list[#list + 1] = {
        positions = positions, heads = heads, rows = rows, panels = panels,
        mix_panels = mix_panels, size = rows * (positions + 1) // 2 * (panels + mix_panels),
      }
    end
  end
  for heads = 1, math.min(m.group, cost.MOST_ROWS) do
    if m.group % heads == 0 then
      for positions = 1, math.min(math.max(m.positions, 1), cost.MOST_ROWS // heads) do
        for panels = 1, math.min(m.panels, MOST_PANELS) do
          for mix_panels = 1, math.min(value_panels, MOST_PANELS) do
            add(heads, positions, panels, mix_panels)
          end
        end
      end
    end
  end
  return list
end

--- The tile of attention: rows of queries, panels of keys and of values at once.
-- @tparam table target
-- @tparam table m { heads = all query heads, group = of them that share a key head, positions = of
--   a tile and panels = of a block of keys at the most, p_q, p_v, tokens, tokens_fixed, keys }
-- @treturn table { positions, heads, rows, panels, mix_panels }
function tiles.attention(target, m)
  local counts = without_one(tiles.counts(m.tokens, m.tokens_fixed))
  return tiles.least(attention_shapes(target, m), cost.views(target), counts,
    function(view, a, tokens)
      return (cost.attention(view, a, {
        tokens = tokens, keys = math.max(m.keys - m.tokens + tokens, 1), p_q = m.p_q, p_v = m.p_v,
        heads = m.heads,
      }))
    end)
end

return tiles
