--- What binds a call on a target: time of its multiply-adds, of its softmax, of its traffic with
-- each cache and with memory; and what the cost model says of all of it together.
-- In: a layer, its plan, a call. Out: nanoseconds. Reads the first machine of generator/costs/.

local cost = require "cost"
local counts = require "bench.counts"

local limit = {}

local PANEL_BYTES <const> = 64   -- of one step of k
local FLOAT <const> = 4

local function panels_of(columns) return (columns + 15) // 16 end

--- The projections of a call: { tile, rows, panels, depth }.
local function projections(layer, plan, call)
  local s, list = layer.spec, {}
  local function add(role, rows, columns, depth)
    if not plan[role] then return end
    list[#list + 1] = {
      tile = plan[role], rows = rows, panels = panels_of(columns), depth = depth,
      bytes = layer.packed.bytes,
    }
  end
  add("q", call.tokens, s.heads * s.p_q, s.d_q)
  add("k", call.fresh, s.kv_heads * s.p_q, s.d_k)
  add("v", call.fresh, s.kv_heads * s.p_v, s.d_v)
  add("o", call.tokens, s.p_o, s.heads * s.p_v)
  return list
end

--- Keys that a query of the call sees, in the mean.
local function keys_seen(layer, call, work)
  if work.exps == 0 then return call.past + call.fresh end
  return math.max(1, math.ceil(work.exps / (layer.spec.heads * call.tokens)))
end

--- Bytes that the tiles load from the first cache, that come to it from the second, and from
-- beyond.
local function traffic(layer, plan, call, view, keys)
  local s, bytes = layer.spec, { first = 0, second = 0, beyond = 0 }
  local place = cost.place(view, layer.packed.bytes)
  for _, m in ipairs(projections(layer, plan, call)) do
    local alone = m.rows == 1 and m.tile.single
    local rows, panels = m.tile.rows, (alone or m.tile).panels
    local tiles = (m.rows + rows - 1) // rows
    local weights = m.panels * m.depth * PANEL_BYTES
    local inputs = m.rows * m.depth * FLOAT
    bytes.first = bytes.first + tiles * weights + (m.panels + panels - 1) // panels * inputs
    local again = panels * m.depth * PANEL_BYTES > view.caches.first and tiles or 1
    if place ~= "near" then bytes.second = bytes.second + again * weights + inputs end
    if place == "beyond" then bytes.beyond = bytes.beyond + weights end
  end
  local a = plan.attention
  if a then
    local tiles = (call.tokens + a.positions - 1) // a.positions * (s.heads // a.heads)
    local cached = keys * (s.p_q + s.p_v) * FLOAT
    bytes.first = bytes.first + tiles * cached + 3 * call.tokens * s.heads * keys * FLOAT
    local all = (call.past + call.fresh) * s.kv_heads * (s.p_q + s.p_v) * FLOAT
    if cost.place(view, all) ~= "near" then bytes.second = bytes.second + tiles * cached end
    if cost.place(view, all) == "beyond" then bytes.beyond = bytes.beyond + all end
  end
  return bytes
end

--- Floats that are moved beside the products: keys and values to their places, norms, residual.
local function floats_moved(layer, call)
  local s, floats = layer.spec, 0
  if s.attention then floats = call.fresh * s.kv_heads * (s.p_q + s.p_v) end
  local after = (s.norms.output and 2 or 0) + (s.norms.after and 2 or 0) + (s.residual and 1 or 0)
  return floats + call.tokens * s.p_o * after + (s.norms.input and 2 * call.tokens * s.d_q or 0)
end

--- What the cost model says of a whole call.
local function predicted(layer, plan, call, view, keys)
  local s, total = layer.spec, view.calls.forward + view.calls.float * floats_moved(layer, call)
  for _, m in ipairs(projections(layer, plan, call)) do
    total = total + cost.projection(view, m.tile, m)
  end
  if plan.attention and call.tokens > 0 then
    total = total + cost.attention(view, plan.attention, {
      tokens = call.tokens, keys = keys, p_q = s.p_q, p_v = s.p_v, heads = s.heads,
    })
  end
  return total
end

--- The counted limit of a call.
-- @tparam table layer
-- @tparam table plan
-- @tparam table call { tokens, fresh, past }
-- @treturn table nanoseconds: fma, softmax, first, second, beyond, limit, predicted; binds = a name
function limit.of(layer, plan, call)
  local view = cost.views(plan.target)[1]
  local speed = cost.speeds(view)
  local work = counts.of(layer, call)
  local keys = keys_seen(layer, call, work)
  local bytes = traffic(layer, plan, call, view, keys)
  local found = {
    fma = work.operations / speed.fma, softmax = work.exps / speed.softmax,
    first = bytes.first / speed.first, second = bytes.second / speed.second,
    beyond = bytes.beyond / speed.beyond,
    predicted = predicted(layer, plan, call, view, keys),
  }
  found.limit, found.binds = found.fma + found.softmax,
    found.fma >= found.softmax and "fma" or "softmax"
  for _, one in ipairs { { "first", "L1" }, { "second", "L2" }, { "beyond", "memory" } } do
    if found[one[1]] > found.limit then found.limit, found.binds = found[one[1]], one[2] end
  end
  return found
end

return limit
