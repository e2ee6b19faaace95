--- The first stage: input norm, the projections of query, key and value, qk norm, rope, and the
-- place of keys in panels and of values in rows.

local project = require "kernels.project"
local rows = require "kernels.rows"

local qkv = {}

local function round_up(n, to) return (n + to - 1) // to * to end

--- The C of the input norm of rows into a room.
local function norm_rows(context, room, field, most, unit)
  local s, c, names = context.spec, context.c, context.names
  local stride = "call->" .. field .. "_row"
  return rows.each(context, most, unit, function(row)
    return context.writer:call("norm_input", {
      x = c.offset("call->" .. field, c.mul(math.type(row) and row or "(ptrdiff_t)row", stride)),
      gamma = c.offset("packed", names.part("input_gamma")),
      beta = names.has("input_beta") and c.offset("packed", names.part("input_beta")) or "packed",
      y = c.offset("rooms->" .. room, c.mul(row, s.d_q)),
    }) .. ";\n"
  end)
end

--- The statements of project_q.
local function query_body(context)
  local s, p, c = context.spec, context.plan, context.c
  local field = context.layer.one_input and "x" or "q"
  local unit = p.q and p.q.rows or 1
  local x, x_row = "call->" .. field, "call->" .. field .. "_row"
  local text = {}
  local x_head = "call->q_head"
  if s.norms.input then
    if s.project.q then
      text[1] = norm_rows(context, "normed_q", field, s.tokens.max, unit)
    else
      rows.define(context, "gather_query", "gather_query",
        "Query `row`, its heads side by side, normed.", {})
      text[1] = rows.each(context, s.tokens.max, unit, function(row)
        return context.writer:call("gather_query", { row = row }) .. ";\n"
      end)
    end
    x, x_row, x_head = "rooms->normed_q", s.d_q, s.p_q
  end
  local scale_after = s.qk_norm ~= nil
  local stride = round_up(s.heads * s.p_q, 16)
  if s.project.q then
    text[#text + 1] = project.statements(context, {
      role = "wq", tile = p.q, columns = s.heads * s.p_q, depth = s.d_q,
      bias = s.bias.q and "bq", x = x, x_row = x_row, y = "rooms->q", y_row = stride,
      scaled = not scale_after and c.float(p.query_scale), most = s.tokens.max,
    })
    if not (s.qk_norm or s.position.rope) then return table.concat(text) end
  end
  rows.define(context, "place_query", "place_query",
    "Query `row`, head by head: taken over, normed, turned, scaled as the layer has it.",
    { stride = stride, scale_after = scale_after, source = x, source_row = x_row,
      source_head = x_head })
  text[#text + 1] = rows.each(context, s.tokens.max, unit, function(row)
    return context.writer:call("place_query", { row = row }) .. ";\n"
  end)
  return table.concat(text)
end

--- A call of a row function, as a function of the row.
local function caller(context, name)
  return function(row) return context.writer:call(name, { row = row }) .. ";\n" end
end

--- Keys and values into their places, written out: keys by eights where all eight are this call's.
local function placed_rows(context, unit)
  local l = context.layer
  local eights = not context.spec.cache and unit % 8 == 0
  local one, eight = caller(context, "place_key"), caller(context, "place_eight_keys")
  local value = caller(context, "place_value")
  return rows.each(context, l.fresh_max, unit, function(row)
    if not eights or row // 8 * 8 + 8 > l.fresh_max then return one(row) .. value(row) end
    return (row % 8 == 0 and eight(row) or "") .. value(row)
  end)
end

--- The same as loops: eight positions at once where they stand together in a panel.
local function placed_by_loops(context, unit)
  local slot = "(rooms->past + row)"
  if context.spec.cache == "ring" then slot = slot .. " % rooms->positions" end
  return ([[
for (size_t row = from; row < to;) {
if (%s %% 8 == 0 && to - row >= 8) {
%srow += 8;
} else {
%srow++;
}
}
]]):format(slot, caller(context, "place_eight_keys")("row"), caller(context, "place_key")("row"))
    .. rows.each(context, context.layer.fresh_max, unit, caller(context, "place_value"))
end

--- Defines how keys and values find their places, and gives the statements.
local function place_body(context, unit)
  local s, l = context.spec, context.layer
  local k_stride = round_up(s.kv_heads * s.p_q, 16)
  local turned = s.qk_norm or s.position.rope
  local own_row = (s.project.k or turned) and true or false
  local text = ""
  if turned then
    rows.define(context, "turn_key", "turn_key", "Key `row`, head by head: normed, turned.",
      { stride = k_stride })
    text = rows.each(context, l.fresh_max, unit, caller(context, "turn_key"))
  end
  rows.define(context, "place_key", "place_key",
    "Key `row` into its panel: [kv_head][panel][p_q][16].",
    { stride = k_stride, own_row = own_row, rows = 1 })
  rows.define(context, "place_eight_keys", "place_key",
    "Keys `row` to row + 7, which share a panel.",
    { stride = k_stride, own_row = own_row, rows = 8 })
  rows.define(context, "place_value", "place_value", "Value `row` into [kv_head][position][p_v].",
    { stride = round_up(s.kv_heads * s.p_v, 16) })
  return text .. (context.full and placed_rows or placed_by_loops)(context, unit)
end

--- The statements of project_kv.
local function key_value_body(context)
  local s, p, l = context.spec, context.plan, context.layer
  local text, unit = {}, (p.k or p.v or { rows = 1 }).rows
  local normed = l.one_input and s.norms.input
  if normed then text[1] = norm_rows(context, "normed_kv", "x", l.fresh_max, unit) end
  local function projection(field, columns)
    local x, x_row = "call->" .. field, "call->" .. field .. "_row"
    if l.one_input then x, x_row = "call->x", "call->x_row" end
    if normed then x, x_row = "rooms->normed_kv", s.d_k end
    text[#text + 1] = project.statements(context, {
      role = "w" .. field, tile = p[field], columns = columns,
      depth = s["d_" .. field], bias = s.bias[field] and "b" .. field, x = x, x_row = x_row,
      y = "rooms->" .. field .. "_rows", y_row = round_up(columns, 16), most = l.fresh_max,
    })
  end
  if s.project.k then projection("k", s.kv_heads * s.p_q) end
  if s.project.v then projection("v", s.kv_heads * s.p_v) end
  text[#text + 1] = place_body(context, unit)
  return table.concat(text)
end

--- Writes the stage into the context's writer.
-- @treturn table list of { name, body } of the stage functions
function qkv.write(context)
  local s = context.spec
  if s.norms.input then
    rows.define_norm(context, "norm_input", "Input norm of one row.", s.norms.input, s.d_q)
  end
  if s.qk_norm then
    rows.define_norm(context, "norm_query", "Norm of one query head.", s.qk_norm, s.p_q)
    rows.define_norm(context, "norm_key", "Norm of one key head.", s.qk_norm, s.p_q)
  end
  rows.define_rope(context)
  return {
    { name = "project_q", body = query_body(context) },
    { name = "project_kv", body = key_value_body(context) },
  }
end

return qkv
