--- The first stage: input norm, the projections of query, key and value, qk norm, rope, and the place
-- of keys and values in panels and rows; partner of templates/rows/.

local project = require "kernels.project"

local qkv = {}

local function round_up(n, to) return (n + to - 1) // to * to end

--- Defines a norm over rows of a width. Shared with the output stage.
-- @tparam table norm { kind, eps }
function qkv.define_norm(context, name, title, norm, width)
  local body = context:render("rows/norm.c.in", { kind = norm.kind, eps = norm.eps, width = width })
  return context.writer:define(name, {
    title = title, body = body,
    parameters = {
      { "const float *", "x" }, { "const float *", "gamma" }, { "const float *", "beta" }, { "float *", "y" },
    },
  })
end

--- Statements for each row from .. to - 1, where `body(row)` gives them for one. Written out, rows go
-- with the tile of `unit` rows that they are projected in: with the range that holds its first row.
local function each_row(context, most, unit, body)
  if not context.full then
    return "for (size_t row = from; row < to; row++) {\n" .. body("row") .. "}\n"
  end
  local lines = {}
  for first = 0, most - 1, unit do
    lines[#lines + 1] = ("if (from <= %d && to > %d) {"):format(first, first)
    for row = first, math.min(first + unit, most) - 1 do lines[#lines + 1] = body(row) end
    lines[#lines + 1] = "}"
  end
  return table.concat(lines, "\n") .. "\n"
end
qkv.each_row = each_row

local ROW_PARAMETERS <const> = {
  { "const PREFIX_call *", "call" }, { "const PREFIX_rooms *", "rooms" }, { "const float *", "packed" },
  { "size_t", "row" },
}

local function parameters(context)
  local list = {}
  for i, p in ipairs(ROW_PARAMETERS) do list[i] = { p[1]:gsub("PREFIX", context.layer.name), p[2] } end
  return list
end

--- Defines place_query, place_key or place_value.
local function define_place(context, name, template, title, more)
  more.call = function(f, arguments) return context.writer:call(f, arguments) end
  local body = context:render("rows/" .. template .. ".c.in", more)
  context.writer:define(name, { title = title, parameters = parameters(context), body = body })
end

local function define_rope(context)
  local rope = context.spec.position.rope
  if not rope then return end
  local w, frequencies = context.writer, "frequency"
  if rope.frequencies then
    frequencies = "packed"
    context.names.frequency_at = context.names.part("rope_frequencies")
  else
    local values = {}
    for m = 0, rope.dim // 2 - 1 do
      values[#values + 1] = context.c.double((rope.base + 0.0) ^ (-2.0 * m / rope.dim))
    end
    w:append(("/* Frequencies of rope: base^(-2m/dim). */\nstatic const double frequency[%d] = {\n%s\n};\n\n")
      :format(#values, table.concat(values, ", ")))
  end
  local function at(_, m)
    if frequencies == "frequency" then return "frequency[" .. m .. "]" end
    return "(double)packed[" .. context.c.add(m, context.names.frequency_at) .. "]"
  end
  w:define("angles", {
    title = "Cosine and sine of place * frequency, in double.",
    parameters = {
      { "const float *", "packed" }, { "ptrdiff_t", "place" }, { "float *", "cosine" }, { "float *", "sine" },
    },
    body = context:render("rows/angles.c.in", { rope = rope, frequencies = frequencies, index = at }),
  })
  w:define("turn", {
    title = rope.interleaved and "Rotates the pairs (2m, 2m + 1) of one head."
      or ("Rotates the pairs (m, m + %d) of one head."):format(rope.dim // 2),
    parameters = { { "float *", "x" }, { "const float *", "cosine" }, { "const float *", "sine" } },
    body = context:render("rows/turn.c.in", { rope = rope }),
  })
end

--- The C of the input norm of rows into a room.
local function norm_rows(context, room, field, most, unit)
  local s, c = context.spec, context.c
  local layer_kind = s.norms.input.kind == "layer"
  return each_row(context, most, unit, function(row)
    return context.writer:call("norm_input", {
      x = c.offset("call->" .. field, c.mul(math.type(row) and row or "(ptrdiff_t)row", "call->" .. field .. "_row")),
      gamma = c.offset("packed", context.names.part("input_gamma")),
      beta = layer_kind and c.offset("packed", context.names.part("input_beta")) or "packed",
      y = c.offset("rooms->" .. room, c.mul(row, s.d_q)),
    }) .. ";\n"
  end)
end

--- The two stage functions' bodies: queries, and keys with values.
local function query_body(context)
  local s, p, c = context.spec, context.plan, context.c
  local field = context.layer.one_input and "x" or "q"
  local unit = p.q and p.q.rows or 1
  local x, x_row = "call->" .. field, "call->" .. field .. "_row"
  local text = {}
  if s.norms.input then
    text[1] = norm_rows(context, "normed_q", field, s.tokens.max, unit)
    x, x_row = "rooms->normed_q", s.d_q
  end
  local scale_after = s.qk_norm ~= nil
  local stride = round_up(s.heads * s.p_q, 16)
  if s.project.q then
    text[#text + 1] = project.statements(context, {
      role = "wq", tile_name = "project_q", tile = p.q, columns = s.heads * s.p_q, depth = s.d_q,
      bias = s.bias.q and "bq", x = x, x_row = x_row, y = "rooms->q", y_row = stride,
      scaled = not scale_after and c.float(p.query_scale), rows = { most = s.tokens.max },
    })
  end
  if not s.project.q or s.qk_norm or s.position.rope then
    define_place(context, "place_query", "place_query",
      { "Query `row`, head by head: " .. (s.project.q and "" or "taken over, ") .. "normed, turned, scaled as the layer has it." },
      { stride = stride, scale_after = scale_after, source = x, source_row = x_row })
    text[#text + 1] = each_row(context, s.tokens.max, unit, function(row)
      return context.writer:call("place_query", { row = row }) .. ";\n"
    end)
  end
  return table.concat(text)
end

--- Defines how keys and values find their places, and gives the statements: keys by eights of
-- positions where they stand together in a panel.
local function place_body(context, unit, k_stride, v_stride)
  local s, l, w = context.spec, context.layer, context.writer
  local own_row = (s.project.k or s.qk_norm or s.position.rope) and true or false
  local function name(f, more)
    return function(row) return w:call(f, { row = row }) .. ";\n" .. (more or "") end
  end
  local text = {}
  if s.qk_norm or s.position.rope then
    define_place(context, "turn_key", "turn_key", "Key `row`, head by head: normed, turned.", { stride = k_stride })
    text[1] = each_row(context, l.fresh_max, unit, name "turn_key")
  end
  define_place(context, "place_key", "place_key", "Key `row` into its panel: [kv_head][panel][p_q][16].",
    { stride = k_stride, own_row = own_row, rows = 1 })
  define_place(context, "place_eight_keys", "place_key", "Keys `row` to row + 7, which share a panel.",
    { stride = k_stride, own_row = own_row, rows = 8 })
  define_place(context, "place_value", "place_value", "Value `row` into [kv_head][position][p_v].",
    { stride = v_stride })
  if context.full then
    local eights = not s.cache and unit % 8 == 0
    text[#text + 1] = each_row(context, l.fresh_max, unit, function(row)
      local value = w:call("place_value", { row = row }) .. ";\n"
      if not eights or row // 8 * 8 + 8 > l.fresh_max then return name "place_key" (row) .. value end
      return (row % 8 == 0 and name "place_eight_keys" (row) or "") .. value
    end)
  else
    local slot = s.cache == "ring" and "(rooms->past + row) % rooms->positions" or "(rooms->past + row)"
    text[#text + 1] = ([[
for (size_t row = from; row < to;) {
if (%s %% 8 == 0 && to - row >= 8) {
%s;
row += 8;
} else {
%s;
row++;
}
}
]]):format(slot, w:call("place_eight_keys", { row = "row" }), w:call("place_key", { row = "row" }))
    text[#text + 1] = each_row(context, l.fresh_max, unit, name "place_value")
  end
  return table.concat(text)
end

local function key_value_body(context)
  local s, p, l = context.spec, context.plan, context.layer
  local text, unit = {}, (p.k or p.v or { rows = 1 }).rows
  local function source(field, d)
    if l.one_input and s.norms.input then return "rooms->normed_kv", d end
    if l.one_input then return "call->x", "call->x_row" end
    return "call->" .. field, "call->" .. field .. "_row"
  end
  if l.one_input and s.norms.input then
    text[1] = norm_rows(context, "normed_kv", "x", l.fresh_max, unit)
  end
  local k_stride = round_up(s.kv_heads * s.p_q, 16)
  local v_stride = round_up(s.kv_heads * s.p_v, 16)
  if s.project.k then
    local x, x_row = source("k", s.d_k)
    text[#text + 1] = project.statements(context, {
      role = "wk", tile_name = "project_k", tile = p.k, columns = s.kv_heads * s.p_q, depth = s.d_k,
      bias = s.bias.k and "bk", x = x, x_row = x_row, y = "rooms->k_rows", y_row = k_stride,
      rows = { most = l.fresh_max },
    })
  end
  if s.project.v then
    local x, x_row = source("v", s.d_v)
    text[#text + 1] = project.statements(context, {
      role = "wv", tile_name = "project_v", tile = p.v, columns = s.kv_heads * s.p_v, depth = s.d_v,
      bias = s.bias.v and "bv", x = x, x_row = x_row, y = "rooms->v_rows", y_row = v_stride,
      rows = { most = l.fresh_max },
    })
  end
  text[#text + 1] = place_body(context, unit, k_stride, v_stride)
  return table.concat(text)
end

--- Writes the stage into the context's writer.
-- @treturn table list of { name, body } of the stage functions
function qkv.write(context)
  local s = context.spec
  if s.norms.input then
    qkv.define_norm(context, "norm_input", "Input norm of one row.", s.norms.input, s.d_q)
  end
  if s.qk_norm then
    qkv.define_norm(context, "norm_query", "Norm of one query head.", s.qk_norm, s.p_q)
    qkv.define_norm(context, "norm_key", "Norm of one key head.", s.qk_norm, s.p_q)
  end
  define_rope(context)
  return {
    { name = "project_q", body = query_body(context) },
    { name = "project_kv", body = key_value_body(context) },
  }
end

return qkv
