--- The Check test that stands beside a layer's sources: the layer against a float64 reference.
-- In: a layer. Out: the C of <layer>_test.c, which needs the layer's files, Check and libm only.
-- Knows the interface and the spec; knows nothing of kernels and machines.

local banner = require "banner"
local c = require "c"
local reference = require "check_test.reference"
local render = require "render"
local runs = require "check_test.runs"
local scene = require "check_test.scene"

local check_test = {}

local function counts_text(run, members)
  local values = {}
  for i, member in ipairs(members) do values[i] = tostring(run[member] or 1) end
  return table.concat(values, ", ")
end

--- The runs as initialisers, with the names that the templates know them by.
local function run_names(layer)
  local s = layer.spec
  local list, long, chunks = runs.of(layer), runs.long(layer), runs.chunks(layer)
  local members = { "tokens" }
  if s.context then members[#members + 1] = "context" end
  if s.cache then members[#members + 1] = "past" end
  if s.context_length then members[#members + 1] = "live" end
  if long then members[#members + 1] = "every" end
  local all = table.move(list, 1, #list, 1, {})
  all[#all + 1] = long
  local text = {}
  for i, run in ipairs(all) do text[i] = "{ " .. counts_text(run, members) .. " }" end
  local total = chunks and chunks.total or 0
  return {
    runs = text, run_count = #text, small_run = list.small - 1, large_run = list.large - 1,
    counts_members = table.concat(members, ", "), long_run = long or false,
    every_parameter = long and ", ptrdiff_t every" or "", every_given = long and ", every" or "",
    every_of_scene = long and ", s->n.every" or "",
    watch_note = long and "; of each `every` queries one is judged" or "",
    chunks = chunks or false, chunk_total = total,
    chunk_lengths = chunks and table.concat(chunks.lengths, ", ") or "",
    chunk_counts = counts_text({ tokens = total, past = 0, live = total }, members),
  }
end

--- Each mistake that a call can make: what is changed in it, and the status that must come back.
local function faults_of(layer, tables)
  local s, list = layer.spec, {}
  local function fault(change, status, text)
    list[#list + 1] = { change = change, status = status, text = text }
  end
  if not s.tokens.fixed then
    fault(("call.tokens = %d"):format(s.tokens.max + 1), "TOKENS", "one token too many")
    fault("call.tokens = SIZE_MAX", "TOKENS", "far too many tokens")
  end
  if s.context and not s.context.fixed then
    fault(("call.context = %d"):format(s.context.max + 1), "CONTEXT", "one context row too many")
    fault("call.context = SIZE_MAX", "CONTEXT", "far too much context")
  end
  if s.context_length then
    fault(("call.context_length = (size_t)s.n.%s + 1"):format(s.context and "context" or "tokens"), "CONTEXT",
      "more live keys than there are")
  end
  if not s.past.fixed then
    fault(("call.past = %d"):format(s.past.max + 1), "PAST", "one past position too many")
    fault("call.past = SIZE_MAX", "PAST", "far too much past")
  end
  if s.cache then
    fault("call.cache.capacity = 0", "CAPACITY", "a cache without room")
    fault("call.cache.capacity -= 1", "CAPACITY", "a cache of odd capacity")
    fault("call.cache.keys = NULL", "NULL", "no keys in the cache")
    fault("call.cache.values = NULL", "NULL", "no values in the cache")
  end
  for _, field in ipairs(tables) do
    if field.row_width then
      if not field.optional then fault(("call.%s = NULL"):format(field.field), "NULL", "no " .. field.field) end
      if field.least_row and field.least_row > 1 then
        fault(("call.%s_row = %d"):format(field.field, field.least_row - 1), "STRIDE",
          "rows of " .. field.field .. " that overlap")
      end
    end
  end
  return list
end

--- Suites: groups of tests, each with how many runs of a loop it has.
local function groups_of(n)
  local groups = {}
  local function group(name) groups[#groups + 1] = { name = name, tests = {} } end
  local function test(condition, name, count)
    local tests = groups[#groups].tests
    if condition then tests[#tests + 1] = { name = name, count = count or 1 } end
  end
  group("results")
  test(true, "results_are_right", n.run_count)
  test(true, "strides_are_followed", n.stride_runs)
  test(#n.optional > 0, "fields_may_be_left_out", #n.optional + (#n.optional > 1 and 1 or 0))
  test(n.in_place, "result_may_replace_its_input", 2 * #(n.in_place or {}))
  test(true, "stages_may_be_split", 3)
  if n.drops then
    group("dropped keys")
    test(n.dropping, "dropped_keys_are_not_read", 4 * #(n.dropping or {}))
    test(true, "nan_goes_where_it_is_kept", 4)
  end
  if n.s.cache then
    group("cache")
    test(true, "cache_is_read_as_written")
    test(n.s.cache == "linear", "full_cache_stays_as_it_is")
    test(n.chunks, "prompt_may_come_in_chunks", n.chunks and #n.chunks.lengths)
    test(true, "wrong_use_of_the_cache_is_refused")
  end
  group("packing and opening")
  test(true, "packed_form_is_one")
  test(true, "targets_are_named")
  test(true, "wrong_blobs_are_refused")
  test(true, "wrong_packing_is_refused")
  group("wrong use")
  test(true, "wrong_calls_are_refused")
  test(true, "header_tells_the_spec")
  return groups
end

--- The Check test of a layer.
-- @tparam table layer from layer.of
-- @treturn string C
function check_test.text(layer)
  local names = reference.names(layer, runs.reach(layer))
  local function add(more)
    for key, value in pairs(more) do      -- a set of names: no order comes out
      assert(names[key] == nil, key)
      names[key] = value
    end
  end
  add(run_names(layer))
  add(scene.names(layer))
  add {
    L = layer.name, N = layer.upper, s = layer.spec, f64 = c.double, hash = ("0x%08xu"):format(layer.hash),
    faults = faults_of(layer, names.tables),
  }
  names.groups = groups_of(names)
  names.part = function(part) return render.template("layer_test/" .. part .. ".c.in", names) end
  local text = render.template("layer_test.c.in", names)
  return c.indent(banner.text(layer, "_test.c", "the layer against a float64 reference") .. "\n" .. text)
end

return check_test
