--- The C that joins one case to its layer, from templates/verify_case.c.in.
-- In: a case and its layer. Out: text, or what is wrong with the case's tensors.

local form = require "layer.form"
local memory = require "interface.memory"
local plan = require "plan"
local render = require "render"
local targets = require "targets"
local source = require "verify.source"
local tensors = require "verify.tensors"
local weights = require "verify.weights"

local glue = {}

-- Any text as a C string: what is not plain is written in octal.
local function c_string(text)
  return '"' .. text:gsub("[^%w/._%- ]", function(character)
    return ("\\%03o"):format(character:byte())
  end) .. '"'
end

-- A double by its bits, so that neither locale nor rounding is in the way.
local function bits_of(number)
  return ("UINT64_C(0x%016x)"):format(string.unpack("<i8", string.pack("<d", number)))
end

local function place_of(tensor)
  if tensor.number then return tostring(tensor.number) end
  return ("offsetof(struct verify_call, %s)"):format(tensor.field)
end

--- Which flags let a compiler change values, so that equal bits are not to be expected.
local function changes_values(cflags)
  for flag in cflags:gmatch("%S+") do
    if flag == "-Ofast" or flag:find("^%-ffast%-math") or flag:find("^%-funsafe%-math")
      or flag:find("^%-fassociative%-math") or flag:find("^%-freciprocal%-math") then
      return true
    end
  end
  return false
end

local function listed(names, cflags)
  local list = {}
  for index, name in ipairs(names) do
    list[index] = { name = name, exact = name ~= "portable" and not changes_values(cflags) }
  end
  return list
end

local function names_of(layer, content, job)
  local spec = layer.spec
  local scratch = spec.attention and layer.upper .. "_SCRATCH_BYTES" or "0"
  return {
    number = job.number, name = layer.name, upper = layer.upper, spec = spec, call = layer.call,
    file = c_string(content.file.path), atol = bits_of(content.tolerance.atol),
    rtol = bits_of(content.tolerance.rtol), batch = content.batch or 1, scratch = scratch,
    attention = spec.attention, cached = spec.cache and true or false,
    two_counts = spec.context ~= nil, targets = listed(job.targets, job.cflags),
    stages = spec.attention and { "project_q", "project_kv", "output" } or { "output" },
    flag = function(set) return set and 1 or 0 end,
  }
end

-- The capacity of a case's cache is a multiple of step, at least `least`. A ring has the least that
-- its header allows, so that it goes round, unless all its positions are to be looked at.
local function cache_of(layer, content)
  local spec = layer.spec
  if not spec.cache then return { step = 1, least = 0, ring = false } end
  local plans = { plan.of(layer, targets.get(spec.targets[1])) }
  local shown = content.expected.present_k or content.expected.present_v
  local ring = spec.cache == "ring"
  return {
    step = memory.capacity_step(layer, plans), ring = ring and not shown,
    least = ring and memory.ring_capacity(layer, plans) or form.PANEL,
  }
end

--- Renders the glue of a case.
-- @tparam table content from case.read, its file's path absolute
-- @tparam table layer from layer.of
-- @tparam table job number of the case in this run, targets to run it on, cflags of the layer
-- @treturn ?string C; or nil where a tensor is missing or wrong
-- @treturn string all complaints
function glue.text(content, layer, job)
  local from = source.new(content)
  local counts = tensors.counts(from, layer.spec)
  local names = names_of(layer, content, job)
  names.loads, names.weights = weights.of(from, layer)
  if counts then names.tensors = tensors.of(from, layer, counts) end
  if #from.complaints > 0 then return nil, table.concat(from.complaints, "; ") end
  for _, tensor in ipairs(names.tensors) do tensor.place = place_of(tensor) end
  names.counts, names.live = counts, counts.live or false
  names.cache = cache_of(layer, content)
  return render.template("verify_case.c.in", names)
end

return glue
