--- The names that the tests of a layer's Check test are written with: what a call consists of, what
-- in it may be left out, aliased or dropped, and what may be asked of the layer beside forward.
-- In: a layer. Out: a table of names for the templates below templates/layer_test/.

local c = require "c"
local fields = require "check_test.fields"
local memory = require "interface.memory"
local plan = require "plan"
local targets = require "targets"
local weights = require "check_test.weights"

local scene = {}

local STATUSES <const> = {
  "OK", "NULL", "ALIGNMENT", "SIZE", "TOKENS", "CONTEXT", "PAST", "CAPACITY", "STRIDE", "RANGE",
  "BLOB", "TARGET",
}

--- How the stages are split: the run, the rows of the last part, how many more each before it has,
-- and heads; so that parts of 1 to 14 rows come about where a call has 40.
local CUTS <const> = {
  { "SMALL, 1, 0", ", 1" }, { "LARGE, 3, 0", ", 2" }, { "LARGE, 17, 0", ", KV_HEADS" },
  { "LARGE, 1, 1", ", KV_HEADS" }, { "LARGE, 9, 1", ", 2" }, { "LARGE, 12, 1", ", 1" },
}

local function when(condition, yes, no) if condition then return yes end return no or "" end

local function joined(list, format)
  local out = {}
  for i, item in ipairs(list or {}) do out[i] = format:format(item) end
  return table.concat(out, ", ")
end

local function target_names(layer)
  local upper = {}
  for i, name in ipairs(layer.spec.targets) do upper[i] = name:upper() end
  return {
    target_list = joined(upper, layer.upper .. "_TARGET_%s"),
    target_names = joined(layer.spec.targets, '"%s"'), target_count = #upper,
    other_targets = #upper > 1,
    in_bits = when(#upper > 1, ", to the bit but for portable C"),
  }
end

--- What L_workspace is called with: the largest counts, and counts beyond them.
local function workspace_names(s)
  local two = s.context ~= nil
  local function call(tokens, context)
    return two and tokens .. ", " .. context or tostring(tokens)
  end
  local t, n = s.tokens.max, two and s.context.max
  local beyond = { call(t + 1, n), call("SIZE_MAX", n), call("SIZE_MAX / 64", n) }
  if two then table.move({ call(t, n + 1), call(t, "SIZE_MAX") }, 1, 2, 4, beyond) end
  return {
    workspace_call = call("(size_t)n.tokens", "(size_t)n.context"),
    workspace_most = call(t, n), workspace_beyond = beyond,
  }
end

local function stages_of(s)
  local function stage(name, rows, scratch, heads)
    return { name = name, rows = rows, scratch = scratch or "", heads = heads or "" }
  end
  local output = stage("output", "tokens")
  if not s.attention then return { output } end
  return {
    stage("project_q", "tokens"),
    stage("project_kv", s.context and "(size_t)s.n.context" or "tokens"),
    stage("attend", "tokens", "s.scratch.at, ", ", 0, KV_HEADS"), output,
  }
end

--- The capacity of a cache: what it is a multiple of, and the least; the places its round trip is
-- tried with, across the end where it is a ring.
local function cache_names(layer)
  local s = layer.spec
  if s.cache ~= "ring" then
    return { capacity_step = 16, capacity_least = 16, places = 48, places_from = 5, places_to = 37 }
  end
  local plans = { plan.of(layer, targets.get(s.targets[1])) }
  local least = memory.ring_capacity(layer, plans)
  return {
    capacity_step = memory.capacity_step(layer, plans), capacity_least = least,
    places = least, places_from = least - 7, places_to = least + 9,
  }
end

--- Inputs that the result may replace: those of its width.
local function in_place_of(s, tables)
  local replaced = { x = true, q = true, residual = s.residual }
  if not s.project.o then return false end
  return fields.where(tables, function(f)
    return replaced[f.field] and f.width == s.p_o and not f.side_by_side
  end)
end

--- Keys and values that may be the very tensor of the queries.
local function one_tensor_of(s, tables)
  if s.context then return false end
  return fields.where(tables, function(f)
    return (f.field == "k" or f.field == "v") and f.width == s.d_q
  end)
end

--- Names of the fields that tests treat alike.
local function groups_of(s, tables)
  local function where(test) return fields.where(tables, test) end
  local outputs = joined(where(function(f) return not f.input end), "&s->%s.in")
  local in_place = in_place_of(s, tables)
  local side_by_side = where(function(f) return f.side_by_side end)
  return {
    tables = tables,
    optional = where(function(f) return f.optional end) or {},
    flags = where(function(f) return f.flags end),
    dropping = where(function(f) return f.input and (f.map or f.field == "padding") end),
    spoiled = where(function(f) return f.field == "x" or f.field == "k" or f.field == "v" end),
    map_results = where(function(f) return f.map and not f.input end),
    result_rooms = outputs .. when(s.cache, ", &s->keys.in, &s->values.in"),
    one_tensor = one_tensor_of(s, tables),
    in_place = in_place, in_place_tables = joined(in_place, "&s.%s"),
    unread_rows = s.context_length and where(function(f) return f.field == "k" end),
    head_major = side_by_side and true or false,
    head_major_layout = when(side_by_side, ", HEAD_MAJOR"),
    wide_note = when(side_by_side, "; HEAD_MAJOR: heads one after the other"),
    stride_runs = side_by_side and 4 or 2,
  }
end

--- Expressions for the counts of a scene.
local function count_names(layer)
  local s = layer.spec
  local fresh = s.context and "context" or "tokens"
  local live = s.context_length and "live" or fresh
  local past = when(s.cache, "s->n.past + ")
  return {
    fresh_count = fresh, live_count = live, keys_of_scene = past .. "s->n." .. live,
    call_counts = fields.counts(layer),
    columns = when(s.cache, "n.past + ") .. "n." .. fresh,
  }
end

local function result_names(layer)
  local s, y = layer.spec, nil
  for _, f in ipairs(layer.call) do
    if f.field == "y" then y = f end
  end
  return {
    y_part = y.strides[2] and y.part or y.width,
    truth_arguments = when(s.cache, ", floats_of(&s->past_keys), floats_of(&s->past_values)"),
    cuts = CUTS,
    and_heads = when(s.attention, " and heads"),
    drops = s.attention and (layer.masked or s.context_length) or false,
  }
end

local function weight_names(layer)
  local list, matrices = weights.of(layer), false
  for _, w in ipairs(list) do matrices = matrices or w.kind == "matrix" end
  return {
    weights = list, has_weights = #list > 0, matrices = matrices,
    given_first = when(#list > 0, "&given, ", "NULL, "),
    key_size = c.double(weights.size_of_queries(layer)),
  }
end

--- The names of the scenes and tests.
-- @tparam table layer from layer.of
-- @treturn table list of tables of names for render.template
function scene.names(layer)
  local s = layer.spec
  local counts = count_names(layer)
  local tables = fields.tables(layer, counts.columns)
  return {
    counts, groups_of(s, tables), target_names(layer), workspace_names(s), cache_names(layer),
    result_names(layer), weight_names(layer),
    {
      stages = stages_of(s), faults = fields.faults(layer, tables),
      status_list = joined(STATUSES, layer.upper .. "_%s"),
    },
  }
end

return scene
