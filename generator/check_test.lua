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

--- The templates below templates/layer_test/ in the order of the text.
local PARTS <const> = {
  "number", "reference", "inputs", "attention", "finish", "rooms", "weights", "scene", "judge",
  "tests", "dropped", "cache", "packing", "refusals",
}

local function when(condition, yes, no) if condition then return yes end return no or "" end

--- The members of the test's counts in order.
local function members_of(s, in_part)
  local list = { "tokens" }
  local function add(condition, member) if condition then list[#list + 1] = member end end
  add(s.context, "context")
  add(s.cache, "past")
  add(s.context_length, "live")
  add(in_part, "every")
  return list
end

local function counts_text(run, members)
  local values = {}
  for i, member in ipairs(members) do values[i] = tostring(run[member]) end
  return table.concat(values, ", ")
end

local function chunk_names(layer, members)
  local chunks = runs.chunks(layer)
  if not chunks then return { chunks = false } end
  local counts = { tokens = chunks.total, past = chunks.past, live = chunks.total, every = 1 }
  return {
    chunks = chunks, chunk_total = chunks.total, chunk_lengths = table.concat(chunks.lengths, ", "),
    chunk_counts = counts_text(counts, members),
  }
end

--- The runs as initialisers, with the names that the templates know them by.
local function run_names(layer, members)
  local list, text = runs.of(layer), {}
  for i, run in ipairs(list) do text[i] = "{ " .. counts_text(run, members) .. " }" end
  local part = list.in_part
  return {
    runs = text, run_count = #text, small_run = list.small - 1, large_run = list.large - 1,
    counts_members = table.concat(members, ", "), in_part = part,
    spares_keys = part and runs.padding_spares_keys(layer) or false,
    every_parameter = when(part, ", ptrdiff_t every"), every_given = when(part, ", every"),
    every_of_scene = when(part, ", s->n.every"),
    watch_note = when(part, "; of each `every` queries one is judged, and the last"),
  }
end

--- Groups of tests, each test with how many turns its loop has.
local function groups_of(n)
  local groups = {}
  local function group(name, ...)
    local tests = {}
    for _, test in ipairs { ... } do
      if test.count > 0 then tests[#tests + 1] = test end
    end
    if #tests > 0 then groups[#groups + 1] = { name = name, tests = tests } end
  end
  local function test(name, count) return { name = name, count = count or 1 } end
  local function only(condition) return condition and 1 or 0 end
  local optional = #n.optional
  group("results", test("results_are_right", n.run_count),
    test("strides_are_followed", n.stride_runs),
    test("fields_may_be_left_out", optional > 1 and optional + 1 or optional),
    test("inputs_may_be_one_tensor", only(n.one_tensor)),
    test("result_may_replace_its_input", 2 * #(n.in_place or {})),
    test("stages_may_be_split", #n.cuts))
  group("dropped keys", test("dropped_keys_are_not_read", 4 * #(n.dropping or {})),
    test("nan_goes_where_it_is_kept", 4 * only(n.drops)))
  local cached = only(n.s.cache)
  group("cache", test("cache_is_read_as_written", cached),
    test("full_cache_stays_as_it_is", only(n.s.cache == "linear")),
    test("prompt_may_come_in_chunks", n.chunks and #n.chunks.lengths or 0),
    test("wrong_use_of_the_cache_is_refused", cached))
  group("packing and opening", test("packed_form_is_one"), test("targets_are_named"),
    test("wrong_blobs_are_refused"), test("wrong_packing_is_refused"))
  group("wrong use", test("wrong_calls_are_refused"), test("header_tells_the_spec"))
  return groups
end

--- All names of the templates in one table; none may be given twice.
local function together(lists)
  local names = {}
  for _, list in ipairs(lists) do
    for _, part in ipairs(list) do
      for name, value in pairs(part) do   -- order does not matter: a set
        assert(names[name] == nil, name)
        names[name] = value
      end
    end
  end
  return names
end

--- The Check test of a layer.
-- @tparam table layer from layer.of
-- @treturn string C
function check_test.text(layer)
  local members = members_of(layer.spec, runs.of(layer).in_part)
  local names = together {
    reference.names(layer, runs.reach(layer)), scene.names(layer),
    { run_names(layer, members), chunk_names(layer, members) },
    { {
      L = layer.name, N = layer.upper, s = layer.spec, f64 = c.double,
      hash = ("0x%08xu"):format(layer.hash),
    } },
  }
  names.groups, names.parts = groups_of(names), PARTS
  names.part = function(part) return render.template("layer_test/" .. part .. ".c.in", names) end
  local text = render.template("layer_test.c.in", names)
  local title = "the layer against a float64 reference"
  return c.indent(banner.text(layer, "_test.c", title) .. "\n" .. text)
end

return check_test
