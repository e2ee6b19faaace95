--- The weights of a layer as they are packed: panels, vectors and tables of distances in one blob.

local form = require "layer.form"
local sizes = require "spec.sizes"

local packed = {}

local PANEL <const> = form.PANEL
local round_up <const> = form.round_up

--- How far from the query each table of distances reaches; further keys share its ends.
-- @tparam table s a completed spec
-- @treturn table role -> { left, right }
function packed.reach(s)
  local relative, bias, reach = s.position.relative, s.position.bias, {}
  if relative then reach.relative = { left = relative.left, right = relative.right } end
  if bias then
    local most = math.min(bias.max_distance, sizes.reach(s))
    reach.bias_table = { left = most, right = bias.bidirectional and most or 0 }
  end
  return reach
end

--- Panels [columns/16][depth][16]; `across` tells which side of the matrix becomes the columns.
local function panels_part(w)
  local across, columns, depth = "rows", w.heads * w.rows, w.cols
  if w.role == "wo" then across, columns, depth = "cols", depth, columns end
  local panels = round_up(columns, PANEL) // PANEL
  return {
    form = "panels", across = across, columns = columns, depth = depth, panels = panels,
    floats = panels * depth * PANEL,
  }
end

--- A table [rows][width] by distance: column distance + left + 15 holds key place - query place =
-- distance, and 15 copies of the ends stand on each side, so that 16 neighbouring keys are always
-- one load.
local function distances_part(w, far)
  local rows = w.shape[2]
  local width = round_up(far.left + far.right + 1 + 2 * (PANEL - 1), PANEL)
  return {
    form = "distances", rows = rows, left = far.left, right = far.right, width = width,
    floats = rows * width,
  }
end

local NORM_OF <const> = { input_gamma = "input", output_gamma = "output", gamma = "after" }

local function vector_part(s, w)
  local count, norm = w.shape[1], s.norms[NORM_OF[w.role]]
  return {
    form = "vector", count = count, plus_one = norm and norm.plus_one or false,
    floats = round_up(count, PANEL),
  }
end

--- The parts of the blob in order, each at a multiple of 64 bytes.
-- @tparam table s a completed spec
-- @tparam table weights of weights.of
-- @tparam table reach of packed.reach
-- @treturn table { parts = list and by role, bytes, header, format, form }
function packed.of(s, weights, reach)
  local parts, at = {}, form.HEADER
  for i, w in ipairs(weights) do
    local part
    if w.kind == "matrix" then
      part = panels_part(w)
    elseif reach[w.role] then
      part = distances_part(w, reach[w.role])
    else
      part = vector_part(s, w)
    end
    part.role, part.offset = w.role, at
    at = at + round_up(4 * part.floats, form.ALIGN)
    parts[i], parts[part.role] = part, part
  end
  return { parts = parts, bytes = at, header = form.HEADER, format = form.FORMAT, form = 1 }
end

return packed
