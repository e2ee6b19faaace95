--- Rotary embedding as configs state it: base, width, and the known ways to stretch the context.
-- In: values of a config (rope_theta, rope_scaling, rope_parameters, max_position_embeddings,
-- partial_rotary_factor). Out: the spec's rope table, and the frequencies where they are not
-- powers of the base. Knows no family.

local config = require "import.config"
local json = require "read.json"

local rotary = {}

local always <const> = { "type", "rope_type", "rope_theta", "partial_rotary_factor" }
local understood = {
  default = {},
  linear = { "factor" },
  llama3 = {
    "factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings",
  },
  yarn = {
    "factor", "beta_fast", "beta_slow", "truncate", "attention_factor", "mscale", "mscale_all_dim",
    "original_max_position_embeddings",
  },
}

local function powers(base, dim)
  local list = {}
  for m = 0, dim // 2 - 1 do list[m + 1] = base ^ (-2.0 * m / dim) end
  return list
end

local stretch = {}

function stretch.linear(frequencies, p)
  for index, frequency in ipairs(frequencies) do frequencies[index] = frequency / p.factor end
end

-- Long waves are slowed by the factor, short ones stay, between them the two are blended.
function stretch.llama3(frequencies, p)
  local old, low, high = p.original_max_position_embeddings, p.low_freq_factor, p.high_freq_factor
  for index, frequency in ipairs(frequencies) do
    local turns = old * frequency / (2 * math.pi)       -- whole waves within the old context
    if turns < low then
      frequencies[index] = frequency / p.factor
    elseif turns <= high then
      local blend = (turns - low) / (high - low)
      frequencies[index] = (1 - blend) * frequency / p.factor + blend * frequency
    end
  end
end

local function yarn_factor(p)
  local function grown(scale)
    return p.factor <= 1 and 1.0 or 0.1 * scale * math.log(p.factor) + 1.0
  end
  if p.attention_factor then return p.attention_factor end
  if p.mscale and p.mscale ~= 0 and p.mscale_all_dim and p.mscale_all_dim ~= 0 then
    return grown(p.mscale) / grown(p.mscale_all_dim)
  end
  return grown(1)
end

-- Components that turn often keep their frequency, slow ones are divided by the factor, with a
-- ramp between the components that turn beta_fast and beta_slow times in the old context.
function stretch.yarn(frequencies, p, base, dim)
  local function component(turns)
    return dim * math.log(p.original_max_position_embeddings / (turns * 2 * math.pi))
      / (2 * math.log(base))
  end
  local low, high = component(p.beta_fast), component(p.beta_slow)
  if p.truncate then low, high = math.floor(low), math.ceil(high) end
  low, high = math.max(low, 0), math.min(high, dim - 1)
  if low == high then high = high + 0.001 end
  for index, frequency in ipairs(frequencies) do
    local ramp = math.min(math.max((index - 1 - low) / (high - low), 0), 1)
    frequencies[index] = frequency / p.factor * ramp + frequency * (1 - ramp)
  end
  return yarn_factor(p)
end

-- The object that states the parameters, its key, and the type; or nil and a message.
local function stated(values)
  local key = values.rope_parameters and "rope_parameters" or "rope_scaling"
  if values.rope_parameters and values.rope_scaling then
    return nil, ("rope_scaling: %s: rope_parameters states the same; only one may"):format(
      config.show(values.rope_scaling))
  end
  local object = values[key] or {}
  local name = object.rope_type and "rope_type" or "type"
  local kind = object[name] or "default"
  if (object.type or kind) ~= kind then
    return nil, ("%s.type: %s: contradicts rope_type = %s"):format(key, config.show(object.type),
      config.show(kind))
  end
  if not understood[kind] then
    return nil, ("%s.%s: %s: must be default, linear, llama3 or yarn"):format(key, name,
      config.show(kind))
  end
  return object, key, kind
end

local function names_of(object)
  local names = {}
  for name in pairs(object) do names[#names + 1] = name end -- order does not matter: sorted below
  table.sort(names)
  return names
end

local function is_known(name, kind)
  for _, list in ipairs({ always, understood[kind] }) do
    for _, known in ipairs(list) do
      if known == name then return true end
    end
  end
  return false
end

local function positive(value)
  return math.type(value) and value - value == 0 and value > 0
end

-- The rule that a parameter breaks, or nil.
local function broken_rule(name, value, kind)
  if not is_known(name, kind) then return "not understood for the type " .. kind end
  if name == "type" or name == "rope_type" then return nil end
  if name == "truncate" then
    return type(value) ~= "boolean" and "must be true or false" or nil
  end
  return not positive(value) and "must be a number above 0" or nil
end

local function add_defaults(p, kind, values)
  local length = values.max_position_embeddings
  p.beta_fast, p.beta_slow = p.beta_fast or 32, p.beta_slow or 1
  p.original_max_position_embeddings = p.original_max_position_embeddings or length
  if kind == "yarn" and not p.factor and length then
    p.factor = length / p.original_max_position_embeddings
  end
end

local needed <const> = { "factor", "low_freq_factor", "high_freq_factor" }

-- The parameters with their defaults; or nil and a message that names the key inside the object.
local function parameters(object, key, kind, values)
  local p = { truncate = true }
  for _, name in ipairs(names_of(object)) do
    local value = object[name]
    local rule = value ~= json.null and broken_rule(name, value, kind)
    if rule then return nil, ("%s.%s: %s: %s"):format(key, name, config.show(value), rule) end
    if value ~= json.null then p[name] = value end
  end
  add_defaults(p, kind, values)
  for _, name in ipairs(needed) do
    if is_known(name, kind) and not p[name] then
      return nil, ("%s.%s: null: the type %s needs it"):format(key, name, kind)
    end
  end
  if kind == "llama3" and p.high_freq_factor <= p.low_freq_factor then
    return nil, ("%s.high_freq_factor: %s: must be above low_freq_factor = %s"):format(key,
      config.show(p.high_freq_factor), config.show(p.low_freq_factor))
  end
  return p
end

--- The rotary embedding of a head.
-- @tparam table values of the config
-- @tparam integer width components of one head
-- @treturn ?table { base, dim } or { frequencies = true, dim, factor }, or nil
-- @treturn ?{number,...}|string the frequencies where the spec takes them from the weights; a
--   message
function rotary.of(values, width)
  local object, key, kind = stated(values)
  if not object then return nil, key end
  local p, complaint = parameters(object, key, kind, values)
  if not p then return nil, complaint end
  local share = p.partial_rotary_factor or values.partial_rotary_factor or 1
  local dim = math.floor(width * share)
  if dim % 2 ~= 0 or dim < 2 or dim > width then
    return nil, ("rotary width: %d: must be even and from 2 to the head's %d "
      .. "(partial_rotary_factor = %s)"):format(dim, width, config.show(share))
  end
  local base = p.rope_theta or values.rope_theta
  if kind == "default" then return { base = base, dim = dim } end
  local frequencies = powers(base, dim)
  local factor = stretch[kind](frequencies, p, base, dim)
  return { frequencies = true, dim = dim, factor = factor }, frequencies
end

return rotary
