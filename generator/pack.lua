--- A layer's packed weights from a model's checkpoint.
--
-- In: a completed spec, an open checkpoint, what else is known of the model. Out: a blob or a C
-- file. Knows no command line and no disk beyond the checkpoint.

local families = require "families"
local form = require "pack.form"
local import = require "import"
local layer_module = require "layer"
local tensors = require "pack.tensors"
local values = require "pack.values"

local pack = {}

-- Which of the family's groups of tensors a spec means: keys from elsewhere are cross-attention,
-- and a causal layer of a family with two stacks is the decoder's.
local function group_of(family, spec)
  local groups = family.tensors
  if spec.context and groups.cross then return groups.cross end
  if groups.self then return groups.self end
  return spec.mask.causal and groups.decoder or groups.encoder
end

local function needs_layer(group, options)
  for _, pattern in ipairs(options.prefix and { options.prefix } or group.prefix) do
    if pattern:find("{layer}", 1, true) then return true end
  end
  return false
end

-- What the config says of the layer beside its spec; an empty table without one.
local function imported(spec, family, options)
  if not options.config then return {} end
  if not family.keys then
    return nil, { ("config: %s has none that is understood"):format(family.name) }
  end
  local stacks = family.stacks and (spec.context or spec.mask.causal) and "decoder" or nil
  return import.of(options.config, {
    family = family.name, layer = options.layer, ignore = options.ignore,
    cross = spec.context ~= nil and family.has_cross or nil, stack = stacks, name = spec.name,
  })
end

-- Compares what a config and a spec say of the same thing.
local function check_against(spec, known, complaints)
  local rope = spec.position.rope
  if not rope or not rope.frequencies then return end
  local stated = known.fields and known.fields.position and known.fields.position.rope
  if not known.frequencies then
    complaints[#complaints + 1] = "rope_frequencies: the spec takes them from the weights: "
      .. (known.fields and "the config states none" or "give the model's config")
    return
  end
  if stated.dim ~= rope.dim then
    complaints[#complaints + 1] = ("position.rope.dim: %d: the config says %d"):format(rope.dim,
      stated.dim)
  end
  local factor = stated.factor or 1.0
  if math.abs(factor - rope.factor) > 1e-6 * factor then
    complaints[#complaints + 1] = ("position.rope.factor: %s: the config says %s"):format(
      tostring(rope.factor), tostring(factor))
  end
end

local function removed_from(spec, known, complaints)
  local pruned = known.pruned or {}
  if #pruned > 0 and spec.heads ~= known.unpruned - #pruned then
    complaints[#complaints + 1] = ("heads: %d: the config prunes %d of %d"):format(spec.heads,
      #pruned, known.unpruned)
  end
  return pruned
end

local function family_of(options)
  if options.family then return families.named(options.family) end
  if not options.config then
    return nil, ("family: absent: must be stated, one of %s, or the model's config given"):format(
      families.names())
  end
  return families.of_config(options.config)
end

--- Finds and checks the tensors of a layer.
-- @tparam table spec completed
-- @tparam table checkpoint what checkpoint.open returned
-- @tparam table options { family = name, config = decoded config, layer, prefix, ignore }
-- @treturn ?table { layer, family, values_of }: what pack.blob and pack.c_table take; or nil
-- @treturn {string,...} all complaints
function pack.of(spec, checkpoint, options)
  local family, complaint = family_of(options)
  if not family then return nil, { complaint } end
  local layer = layer_module.of(spec)
  if #layer.weights == 0 then return nil, { "project: {}: the layer has no weights to pack" } end
  local group = group_of(family, spec)
  if not options.layer and needs_layer(group, options) then
    return nil, { "layer: absent: must be given" }
  end
  local known, complaints = imported(spec, family, options)
  if not known then return nil, complaints end
  complaints = {}
  check_against(spec, known, complaints)
  local pruned = removed_from(spec, known, complaints)
  if #complaints > 0 then return nil, complaints end
  local found
  found, complaints = tensors.find(layer, checkpoint, family, group, {
    layer = options.layer, prefix = options.prefix, pruned = pruned,
    given = { rope_frequencies = known.frequencies ~= nil },
  })
  if not found then return nil, complaints end
  local function values_of(role)
    if role == "rope_frequencies" then return known.frequencies end
    return values.of(found, role)
  end
  return { layer = layer, family = family, values_of = values_of }
end

--- The packed weights as bytes.
-- @tparam table packing what pack.of returned
-- @treturn ?string the blob, or nil
-- @treturn string a message that names file, tensor and element
function pack.blob(packing) return form.blob(packing.layer, packing.values_of) end

--- The packed weights as a C file.
-- @tparam table packing what pack.of returned
-- @string remark where they come from
-- @treturn ?string the text, or nil
-- @treturn string a message that names file, tensor and element
function pack.c_table(packing, remark)
  return form.c_table(packing.layer, packing.values_of, remark)
end

return pack
