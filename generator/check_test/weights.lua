--- The random weights of a layer's Check test: shapes, strides, and sizes for scores that are
-- neither all alike nor far apart.
-- In: a layer. Out: plain data for the templates below templates/layer_test/.

local c = require "c"

local weights = {}

--- Deviation of the scores before position terms and masks.
local SCORES <const> = 1.5

--- How large the components of queries and keys must be for that.
-- @tparam table layer from layer.of
-- @treturn number
function weights.size_of_queries(layer)
  local s = layer.spec
  if not s.attention or s.scale == 0 then return 1.0 end
  return math.sqrt(SCORES / (math.abs(s.scale) * math.sqrt(s.p_q)))
end

--- Mean and deviation of a projection's elements, for outputs of the size given.
local function of_projection(size)
  return function(w) return 0.0, size / math.sqrt(w.cols) end
end

--- Means and deviations by role; a role that is not here has mean 0 and deviation 0.3.
local function spreads(size)
  local function fixed(mean, deviation) return function() return mean, deviation end end
  local bias = fixed(0.0, 0.3 * size)
  local gamma_of_head = fixed(size, 0.2 * size)
  return {
    wq = of_projection(size), wk = of_projection(size), wv = of_projection(1.0),
    wo = function(w) return 0.0, 1 / math.sqrt(w.heads * w.rows) end,
    bq = bias, bk = bias, q_norm = gamma_of_head, k_norm = gamma_of_head,
    rope_frequencies = fixed(0.5, 0.3), relative = fixed(0.0, 0.5 * size),
    bias_table = fixed(0.0, 0.7), sinks = fixed(0.0, 1.0),
  }
end

local NORM_OF <const> = { gamma = "after", input_gamma = "input", output_gamma = "output" }

local function spread(s, w, known)
  local place = NORM_OF[w.role]
  if place then return s.norms[place].plus_one and 0.0 or 1.0, 0.2 end
  if known[w.role] then return known[w.role](w) end
  return 0.0, 0.3
end

local function strides_of(w)
  if w.kind ~= "matrix" then return nil end
  if w.role == "wo" then return ("%d, 1, %d"):format(w.rows, w.heads * w.rows) end
  return ("%d, %d, 1"):format(w.rows * w.cols, w.cols)
end

--- The weights in the order of the struct.
-- @tparam table layer from layer.of
-- @treturn table list of {role, kind, heads, rows, cols, floats, strides, mean, deviation}, the
--   last three as C
function weights.of(layer)
  local list, known = {}, spreads(weights.size_of_queries(layer))
  for i, w in ipairs(layer.weights) do
    local floats = 1
    for _, n in ipairs(w.shape) do floats = floats * n end
    local mean, deviation = spread(layer.spec, w, known)
    list[i] = {
      role = w.role, kind = w.kind, heads = w.heads, rows = w.rows, cols = w.cols, floats = floats,
      strides = strides_of(w), mean = c.double(mean), deviation = c.double(deviation),
    }
  end
  return list
end

return weights
