--- The names that the tests of a layer's Check test are written with: weights, fields of the call,
-- what may be left out, aliased or dropped.
-- In: a layer. Out: a table of names for the templates below templates/layer_test/.

local c = require "c"
local plan = require "plan"
local targets = require "targets"

local scene = {}

--- How large queries and keys must be for scores of about 1.5 either way.
local function size_of_scores(s)
  local factor = math.abs(s.scale or 0) * math.sqrt(s.p_q or 1)
  if factor == 0 then return 1.0 end
  return math.sqrt(1.5 / factor)
end

--- Mean and deviation of the random numbers that a weight gets.
local function spread(s, role, size)
  local input, norms = role:match("^(.-)gamma$"), s.norms
  if input then
    local place = input == "" and "after" or input:sub(1, -2)
    return norms[place].plus_one and 0.0 or 1.0, 0.2
  end
  local known = {
    wq = { 0.0, size / math.sqrt(s.d_q or 1) }, wk = { 0.0, size / math.sqrt(s.d_k or 1) },
    wv = { 0.0, 1 / math.sqrt(s.d_v or 1) }, wo = { 0.0, 1 / math.sqrt(s.heads * s.p_v) },
    bq = { 0.0, 0.3 * size }, bk = { 0.0, 0.3 * size }, q_norm = { size, 0.2 * size }, k_norm = { size, 0.2 * size },
    rope_frequencies = { 0.5, 0.3 }, relative = { 0.0, 0.5 * size }, bias_table = { 0.0, 0.7 },
    sinks = { 0.0, 1.0 },
  }
  local found = known[role] or { 0.0, 0.3 }
  return found[1], found[2]
end

local function weights_of(layer, size)
  local list = {}
  for i, w in ipairs(layer.weights) do
    local floats = 1
    for _, n in ipairs(w.shape) do floats = floats * n end
    local mean, deviation = spread(layer.spec, w.role, size)
    local strides
    if w.role == "wo" then
      strides = ("%d, 1, %d"):format(w.rows, w.heads * w.rows)
    elseif w.kind == "matrix" then
      strides = ("%d, %d, 1"):format(w.rows * w.cols, w.cols)
    end
    list[i] = {
      role = w.role, kind = w.kind, heads = w.heads, rows = w.rows, cols = w.cols, floats = floats,
      strides = strides, mean = c.double(mean), deviation = c.double(deviation),
    }
  end
  return list
end

--- What a field of the call is filled with: kind, mean, deviation.
local function filling(s, f, size)
  local role = f.field
  if role == "padding" or role == "boolean" then return "flags" end
  if role == "additive" then return "normal", 0.0, 0.7 end
  if role == "head_mask" then return "normal", 1.0, 0.3 end
  if (role == "q" or role == "k") and not s.project[role] then return "normal", 0.0, size end
  return "normal", 0.0, 1.0
end

--- The fields of the call that point somewhere, as tables [heads][rows][part].
local function tables_of(layer, columns, size)
  local s, list = layer.spec, {}
  for _, f in ipairs(layer.call) do
    if f.ctype ~= "size_t" and f.ctype ~= "cache" then
      local out = { field = f.field, ctype = f.ctype, optional = f.optional or false }
      local map = f.strides[2] and not f.rows
      out.input = f.ctype:find("^const") ~= nil
      out.const = out.input and "const " or ""
      out.size = f.ctype:find("uint8_t", 1, true) and "sizeof(uint8_t)" or "sizeof(float)"
      out.apart = tostring(map or false)
      if f.rows then
        local heads = f.strides[2] and f.heads or 1
        out.heads_text, out.rows_text = tostring(heads), "n." .. f.rows
        out.part_text = tostring(f.strides[2] and f.part or f.width)
        out.row_width = f.width
        out.least_row = not f.strides[2] and f.width or nil
      elseif map then
        out.heads_text, out.rows_text, out.part_text = tostring(f.heads), "n.tokens", columns
        out.of_map = true
      else
        out.heads_text, out.rows_text = "1", "1"
        out.part_text = f.field == "head_mask" and "HEADS" or columns
      end
      out.of_rows = f.rows == "tokens" or map and out.input or false
      if f.strides[1] then
        out.strides = { { name = f.strides[1], side = "row" } }
        if f.strides[2] then out.strides[2] = { name = f.strides[2], side = "head" } end
      end
      if out.input then
        local mean, deviation
        out.fill, mean, deviation = filling(s, f, size)
        if mean then out.mean, out.deviation = c.double(mean), c.double(deviation) end
      end
      list[#list + 1] = out
    end
  end
  return list
end

--- Inputs that the result may replace: {field, or the fields that share its memory}.
local function in_place_of(layer, fields)
  local s, list = layer.spec, {}
  local function add(name)
    local f = fields[name]
    if f and f.width == s.p_o and not f.strides[2] and not fields.y.strides[2] then list[#list + 1] = name end
  end
  add "x"
  add "q"
  add "residual"
  return #list > 0 and list or false
end

local function in_place_tables(list)
  local tables = {}
  for i, name in ipairs(list or {}) do tables[i] = "&s." .. name end
  return table.concat(tables, ", ")
end

local function names_of_targets(layer)
  local list, names = {}, {}
  for i, name in ipairs(layer.spec.targets) do
    list[i] = layer.upper .. "_TARGET_" .. name:upper()
    names[i] = '"' .. name .. '"'
  end
  return table.concat(list, ", "), table.concat(names, ", "), #list
end

local function most(count) return tostring(count.max) end

--- What L_workspace is called with: the largest counts, and counts beyond them.
local function workspace_names(s)
  local two = s.context ~= nil
  local function call(tokens, context) return two and tokens .. ", " .. context or tokens end
  local beyond = {
    call(most { max = s.tokens.max + 1 }, two and most(s.context)),
    call("SIZE_MAX", two and most(s.context)), call("SIZE_MAX / 64", two and most(s.context)),
  }
  if two then
    beyond[4] = call(most(s.tokens), most { max = s.context.max + 1 })
    beyond[5] = call(most(s.tokens), "SIZE_MAX")
  end
  return {
    workspace_call = call("(size_t)n.tokens", "(size_t)n.context"),
    workspace_most = call(most(s.tokens), two and most(s.context)), workspace_beyond = beyond,
  }
end

local function stages_of(s)
  local tokens, fresh = "tokens", s.context and "(size_t)s.n.context" or "tokens"
  local output = { name = "output", rows = tokens, scratch = "", heads = "" }
  if not s.attention then return { output } end
  return {
    { name = "project_q", rows = tokens, scratch = "", heads = "" },
    { name = "project_kv", rows = fresh, scratch = "", heads = "" },
    { name = "attend", rows = tokens, scratch = "s.scratch.at, ", heads = ", 0, KV_HEADS" },
    output,
  }
end

--- The capacity of a cache: what it is a multiple of, and the least.
local function capacity_of(layer)
  local s = layer.spec
  if s.cache ~= "ring" then return { step = 16, least = 16 } end
  local step = plan.of(layer, targets.get(s.targets[1])).attention.block
  return { step = step, least = (layer.fresh_max + s.mask.window.left + step - 1) // step * step }
end

--- The names of the scenes and tests.
-- @tparam table layer from layer.of
-- @treturn table names for render.template
function scene.names(layer)
  local s, fields = layer.spec, {}
  for _, f in ipairs(layer.call) do fields[f.field] = f end
  local size = s.attention and size_of_scores(s) or 1.0
  local fresh_count = s.context and "context" or "tokens"
  local columns = (s.cache and "n.past + " or "") .. "n." .. fresh_count
  local tables = tables_of(layer, columns, size)
  local optional, dropping, spoiled, maps, rooms, counts = {}, {}, {}, {}, {}, {}
  local flags, head_strides = false, false
  for _, f in ipairs(tables) do
    if f.optional then optional[#optional + 1] = f.field end
    if f.fill == "flags" then flags = true end
    if f.field == "padding" or f.of_map and f.input then dropping[#dropping + 1] = f.field end
    if f.of_map and not f.input then maps[#maps + 1] = f.field end
    if not f.input then rooms[#rooms + 1] = "&s->" .. f.field .. ".in" end
    if f.row_width and f.strides[2] then head_strides = true end
  end
  for _, name in ipairs { "x", "k", "v" } do
    if fields[name] then spoiled[#spoiled + 1] = name end
  end
  if s.cache then table.move({ "&s->keys.in", "&s->values.in" }, 1, 2, #rooms + 1, rooms) end
  for _, f in ipairs(layer.call) do
    if f.ctype == "size_t" then
      counts[#counts + 1] = { field = f.field, member = f.field == "context_length" and "live" or f.field }
    end
  end
  local list, names, count = names_of_targets(layer)
  local statuses = {}
  for i, name in ipairs { "OK", "NULL", "ALIGNMENT", "SIZE", "TOKENS", "CONTEXT", "PAST", "CAPACITY", "STRIDE",
    "RANGE", "BLOB", "TARGET" } do
    statuses[i] = layer.upper .. "_" .. name
  end
  local weights = weights_of(layer, size)
  local matrices = false
  for _, w in ipairs(weights) do matrices = matrices or w.kind == "matrix" end
  local capacity = capacity_of(layer)
  local in_place = in_place_of(layer, fields)
  local out = workspace_names(s)
  local more = {
    weights = weights, has_weights = #weights > 0, matrices = matrices, tables = tables, flags = flags,
    optional = optional, dropping = #dropping > 0 and dropping or false, spoiled = spoiled,
    drops = s.attention and (layer.masked or s.context_length) or false,
    map_results = #maps > 0 and maps or false, result_rooms = table.concat(rooms, ", "),
    call_counts = counts, fresh_count = fresh_count, live_count = s.context_length and "live" or fresh_count,
    keys_of_scene = (s.cache and "s->n.past + " or "") .. "s->n." .. (s.context_length and "live" or fresh_count),
    y_part = fields.y.strides[2] and fields.y.part or fields.y.width,
    key_size = c.double(size), target_list = list, target_names = names, target_count = count,
    other_targets = count > 1, in_place = in_place,
    in_bits = count > 1 and ", to the bit but for portable C" or "",
    and_heads = s.attention and " and heads" or "", heads_parameter = s.attention and ", ptrdiff_t heads" or "",
    heads_given = s.attention and ", cuts[_i].heads" or "",
    head_major_layout = head_strides and ", HEAD_MAJOR" or "",
    wide_note = head_strides and "; HEAD_MAJOR: heads one after the other" or "",
    stride_runs = head_strides and 4 or 2,
    stages = stages_of(s), status_list = table.concat(statuses, ", "),
    capacity_step = capacity.step, capacity_least = capacity.least,
    chunk_tokens = not s.tokens.fixed,
    truth_arguments = s.cache and ", floats_of(&s->past_keys), floats_of(&s->past_values)" or "",
    in_place_tables = in_place_tables(in_place), given_first = #weights > 0 and "&given, " or "NULL, ",
    unread_rows = s.context_length and fields.k ~= nil,
  }
  for key, value in pairs(more) do out[key] = value end      -- a set of names: no order comes out
  return out
end

return scene
