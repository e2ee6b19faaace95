--- A model's own config to the spec of one of its layers.
--
-- In: the decoded config and what is asked for. Out: the raw spec, its text, and what packing
-- needs to know beside it (rotary frequencies, pruned heads). Knows no file and no checkpoint.

local config = require "import.config"
local counts = require "import.counts"
local families = require "families"
local heads = require "import.heads"
local json = require "read.json"
local parts = require "import.parts"
local spec_module = require "spec"
local text = require "import.text"

local import = {}

--- What of a layer a spec may cover.
import.parts = {
  block = "The attention half of the block: its norms, the attention, the residual.",
  module = "The attention module alone: the projections q, k, v, o and the attention.",
  attention = "The attention without its output projection: q, k, v and the attention.",
  output = "What follows the heads: output projection, residual, norm.",
}

-- Pieces of a name that a key about attention is likely to hold.
local telling <const> = {
  "attn", "attention", "head", "rope", "rotary", "posi", "pos_", "window", "scal", "softcap",
  "soft_cap", "bias", "norm", "mask", "kv", "qk", "sink", "alibi", "relative", "causal", "sliding",
  "layer_types", "query", "key", "value", "clip", "residual", "parallel", "bidirectional",
}

local function may_change_attention(key)
  local lower = key:lower()
  for _, piece in ipairs(telling) do
    if lower:find(piece, 1, true) then return true end
  end
  return false
end

local function sorted_keys(object)
  local keys = {}
  for key in pairs(object) do keys[#keys + 1] = key end -- order does not matter: sorted below
  table.sort(keys)
  return keys
end

-- The members of the object that a family keeps its attention keys in, beside all others.
local function flattened(object, inside)
  if not inside then return object end
  local flat = {}
  for _, key in ipairs(sorted_keys(object)) do
    local value = object[key]
    if key == inside and json.kind(value) == "object" then
      for _, inner in ipairs(sorted_keys(value)) do flat[key .. "." .. inner] = value[inner] end
    elseif key ~= inside or value ~= json.null then
      flat[key] = value
    end
  end
  return flat
end

local function names_read(family)
  local known = { model_type = true }
  for _, entry in ipairs(family.keys) do
    known[entry[1]] = true
    for _, name in ipairs(entry.also or {}) do known[name] = true end
  end
  return known
end

local function listed(list)
  local set = {}
  for _, key in ipairs(list or {}) do set[key] = true end
  return set
end

-- Sorts out the keys that the family does not read: ignored ones, or complaints.
local function check_rest(object, family, options, complaints)
  local known, own, asked = names_read(family), listed(family.ignored), listed(options.ignore)
  local ignored = {}
  for _, key in ipairs(sorted_keys(object)) do
    local value = object[key]
    if known[key] then goto continue end
    local empty = value == json.null or type(value) == "table" and next(value) == nil
    local harmless = empty or own[key] or asked[key] or families.ignores(key)
    if harmless or not may_change_attention(key) then
      ignored[#ignored + 1] = key
    else
      complaints[#complaints + 1] = ("%s: %s: not understood for %s, and it may change the "
        .. "attention (--ignore %s if it does not)"):format(key, config.show(value), family.name,
        key)
    end
    ::continue::
  end
  return ignored
end

-- ---- What is asked for -------------------------------------------------------------------

local function stack_of(family, options, complaints)
  if not family.stacks then
    if options.stack then
      complaints[#complaints + 1] = ("stack: %s: %s has one stack only"):format(options.stack,
        family.name)
    end
    return nil
  end
  local stack = options.stack or (options.cross or options.cache) and "decoder" or "encoder"
  if stack == "encoder" and options.cross then
    complaints[#complaints + 1] = "stack: encoder: only the decoder has cross-attention"
  end
  return stack
end

local function check_layer(layer, family, values, stack, complaints)
  local key = family.layers
  if type(key) == "table" then key = key[stack] end
  local count = values[key] or values.num_layers
  if layer and count and (layer < 0 or layer >= count) then
    complaints[#complaints + 1] = ("layer: %d: must be from 0 to %d (%s = %d)"):format(layer,
      count - 1, key, count)
  end
end

local function choice_of(family, values, options, complaints)
  if options.cross and not family.has_cross then
    complaints[#complaints + 1] = ("cross: %s has no cross-attention"):format(family.name)
  end
  if options.cross and options.cache then
    complaints[#complaints + 1] = "cache, cross: the keys of cross-attention do not grow: "
      .. "make them once and keep them instead"
  end
  local stack = stack_of(family, options, complaints)
  check_layer(options.layer, family, values, stack, complaints)
  return { cross = options.cross, cache = options.cache, layer = options.layer, stack = stack }
end

-- ---- The whole ---------------------------------------------------------------------------

local function default_name(family, choice, part)
  local words = { family.name }
  words[2] = choice.cross and "cross" or choice.stack
  words[#words + 1] = part
  if choice.layer then words[#words + 1] = tostring(choice.layer) end
  return table.concat(words, "_")
end

local function all_of(bias)
  return type(bias) == "table" and bias.q and bias.k and bias.v and bias.o
end

-- Drops what is the spec's default anyway.
local function tidied(fields)
  if fields.kv_heads == fields.heads then fields.kv_heads = nil end
  if fields.mask and #fields.mask == 0 then fields.mask = nil end
  if fields.bias == true or all_of(fields.bias) then fields.bias = nil end
  if fields.position and fields.position.rope and fields.position.rope.factor == 1.0 then
    fields.position.rope.factor = nil
  end
  return fields
end

local function remarks_of(frequencies, pruned, layer)
  local remarks = {}
  if frequencies then
    remarks[#remarks + 1] = "The rotary frequencies are weights: qkvc pack --config computes them "
      .. "from this config."
  end
  if #pruned > 0 then
    remarks[#remarks + 1] = ("Heads pruned from layer %d: %s."):format(layer,
      table.concat(pruned, " "))
  end
  return remarks
end

local function family_of(object, options)
  if not options.family then return families.of_config(object) end
  local family, complaint = families.named(options.family)
  if family and not family.keys then
    return nil, ("family: %s: has no config, its weights alone are known"):format(family.name)
  end
  return family, complaint
end

-- Lines of the config that matter for this choice: not those of the other stack.
local function lines_for(lines, family, stack)
  local chosen = {}
  for index, line in ipairs(lines) do
    local of_stack = family.keys[index].stack
    if not of_stack or of_stack == stack then chosen[#chosen + 1] = line end
  end
  return chosen
end

local function fields_of(family, values, choice, options, complaints)
  local fields, limits = family.spec(values, choice)
  if not fields then
    complaints[#complaints + 1] = limits
    return nil
  end
  local pruned, complaint = heads.pruned(values.pruned_heads, choice.layer, fields.heads)
  if not pruned then
    complaints[#complaints + 1] = complaint
    return nil
  end
  local unpruned = fields.heads
  fields.heads = fields.heads - #pruned
  counts.add(fields, limits, choice, options, complaints)
  return tidied(fields), limits, pruned, unpruned
end

-- Values of keys whose default does not hold where another key is stated.
local function drop_overridden(values, lines, family)
  for index, entry in ipairs(family.keys) do
    if entry.unless and values[entry.unless] ~= nil and lines[index].origin == "default" then
      values[entry[1]], lines[index].value = nil, nil
    end
  end
end

--- Decodes a config, nulls included: in a config null says "none", which absence does not.
-- @string source the JSON text
-- @string name what the messages call it, usually the file
-- @treturn ?table the object, or nil
-- @treturn string a message that names place and fault
function import.decode(source, name)
  local object, complaint = json.decode(source, name, true)
  if object == nil then return nil, complaint end
  if json.kind(object) ~= "object" then return nil, ("%s: must be an object"):format(name) end
  return object
end

--- Makes the spec of a layer from a config.
-- @tparam table object what import.decode returned
-- @tparam[opt] table options { family, name, layer, part, stack, cross, cache, tokens, context,
--   past, ignore, source }
-- @treturn ?table { name, text, fields, family, part, frequencies, pruned, unpruned }, or nil
-- @treturn {string,...} all complaints, each naming key or option, value and rule
function import.of(object, options)
  options = options or {}
  local family, complaint = family_of(object, options)
  if not family then return nil, { complaint } end
  local part = options.part or "block"
  if not import.parts[part] then
    return nil, { ("part: %s: must be block, module, attention or output"):format(part) }
  end
  local complaints = {}
  local flat = flattened(object, family.inside)
  local values, lines = config.read(flat, family.keys, complaints)
  drop_overridden(values, lines, family)
  local ignored = check_rest(flat, family, options, complaints)
  if #complaints > 0 then return nil, complaints end
  local choice = choice_of(family, values, options, complaints)
  if #complaints > 0 then return nil, complaints end
  local fields, limits, pruned, unpruned = fields_of(family, values, choice, options, complaints)
  if #complaints > 0 then return nil, complaints end
  fields = parts[part](fields)
  fields.name = options.name or default_name(family, choice, part)
  local complete, faults = spec_module.complete(fields)
  if not complete then return nil, faults end
  local about = {
    source = options.source or "a config", title = family.title, module = family.module,
    part = import.parts[part], lines = lines_for(lines, family, choice.stack), ignored = ignored,
    remarks = remarks_of(limits.frequencies, pruned, options.layer),
  }
  return {
    name = fields.name, text = text.of(fields, about), fields = fields, family = family,
    part = part, frequencies = limits.frequencies, pruned = pruned, unpruned = unpruned,
  }
end

return import
