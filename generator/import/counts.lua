--- How many positions a layer has: what a model allows, and what was asked for. In: limits of a
-- family, options. Out: the fields tokens, context, cache and past. Knows no family.

local counts = {}

-- "max", "N" or "max=N" as a count of the spec.
local function count_of(wanted, name, most, fixed, complaints)
  if wanted == nil then return fixed and most or { max = most } end
  if wanted == "max" then return { max = most } end
  local bounded = tostring(wanted):match("^max=(%d+)$")
  local count = math.tointeger(tonumber(bounded or wanted))
  if not count or count < 1 then
    complaints[#complaints + 1] = ("%s: %s: must be N, max or max=N with N of at least 1"):format(
      name, tostring(wanted))
    return nil
  end
  return bounded and { max = count } or count
end

local function most_of(count)
  return type(count) == "table" and count.max or count
end

--- Adds the counts to a spec's fields.
-- @tparam table fields
-- @tparam table limits { tokens, tokens_fixed, context, context_fixed }
-- @tparam table choice { cross, cache }
-- @tparam table options { tokens, context, past }
-- @tparam {string,...} complaints where the faults go
function counts.add(fields, limits, choice, options, complaints)
  fields.tokens = count_of(options.tokens, "tokens", limits.tokens, limits.tokens_fixed, complaints)
  if choice.cross then
    fields.context = count_of(options.context, "context", limits.context, limits.context_fixed,
      complaints)
  elseif options.context then
    complaints[#complaints + 1] = ("context: %s: only cross-attention has one"):format(
      options.context)
  end
  if not choice.cache then
    if options.past then
      complaints[#complaints + 1] = ("past: %s: only a layer with a cache has one"):format(
        options.past)
    end
    return
  end
  if fields.mask[1] ~= "causal" then
    complaints[#complaints + 1] = "cache: true: the layer is not causal, so later tokens would be "
      .. "missing"
  end
  fields.cache = true
  local room = math.max(limits.tokens - (most_of(fields.tokens) or 0), 1)
  if options.tokens == nil or options.tokens == "max" then room = limits.tokens end
  fields.past = count_of(options.past, "past", room, false, complaints)
end

return counts
