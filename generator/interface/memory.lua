--- The memory of a call: rooms of the workspace, scratch, the form of a cache.

local c = require "c"
local form = require "layer.form"

local memory = {}

local PANEL <const> = form.PANEL
local round_up <const> = form.round_up

--- The rows of a room as C counts them at run time.
local function row_count(l, room)
  local fresh = l.spec.context and "context" or "tokens"
  if room.rows == "panels" then return ("(%s + %d) / %d"):format(fresh, PANEL - 1, PANEL) end
  if room.rows == "positions" then return fresh end
  return room.rows
end

--- The rows of a room when the counts are the largest.
local function most_rows(l, room)
  if room.rows == "tokens" then return l.spec.tokens.max end
  if room.rows == "panels" then return round_up(l.fresh_max, PANEL) // PANEL end
  return l.fresh_max
end

--- The floats of a room.
-- @tparam table l layer
-- @tparam table room of layer.rooms
-- @treturn string a C expression of the call's counts
function memory.room_floats(l, room) return c.mul(row_count(l, room), room.width) end

--- The shape of a room.
-- @tparam table room of layer.rooms
-- @treturn string
function memory.room_shape(room) return ("[%s][%d]"):format(room.rows, room.width) end

--- Bytes of the largest scratch that a target needs.
-- @tparam table plans of the targets
-- @treturn integer
function memory.scratch_bytes(plans)
  local most = 0
  for _, plan in ipairs(plans) do
    local floats = plan.attention and plan.attention.scratch_floats or 0
    most = math.max(most, 4 * round_up(floats, PANEL))
  end
  return most
end

--- Bytes of the workspace when the counts are the largest, one scratch included.
-- @tparam table l layer
-- @tparam table plans of the targets
-- @treturn integer
function memory.workspace_bytes(l, plans)
  local floats = 0
  for _, room in ipairs(l.rooms) do
    floats = floats + round_up(most_rows(l, room) * room.width, PANEL)
  end
  return 4 * floats + memory.scratch_bytes(plans)
end

--- What the capacity of a cache is a multiple of: a ring holds whole blocks of keys.
-- @tparam table l layer
-- @tparam table plans of the targets
-- @treturn integer
function memory.capacity_step(l, plans)
  if l.spec.cache == "ring" then return plans[1].attention.block end
  return PANEL
end

--- The least capacity of a ring: a call's positions and what its first query sees before them.
-- @tparam table l layer
-- @tparam table plans of the targets
-- @treturn integer
function memory.ring_capacity(l, plans)
  local window = l.spec.mask.window
  return round_up(l.fresh_max + (window and window.left or 0), memory.capacity_step(l, plans))
end

return memory
