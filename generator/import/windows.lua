--- Which layers of a model look through a sliding window, and how wide it is. In: values of a
-- config with layer_types, sliding_window_pattern, sliding_window, layers. Out: a mask item of
-- the spec, or nothing. Knows no family.

local config = require "import.config"

local windows = {}

local SLIDING <const>, FULL <const> = "sliding_attention", "full_attention"

-- The kind of each layer, 0-based; or nil and a message.
local function kinds_of(values, count, slides)
  local kinds = {}
  if values.layer_types then
    if #values.layer_types ~= count then
      return nil, ("layer_types: %d entries: must be as many as layers, %d"):format(
        #values.layer_types, count)
    end
    for index, kind in ipairs(values.layer_types) do
      if kind ~= SLIDING and kind ~= FULL then
        return nil, ("layer_types[%d]: %s: must be %s or %s"):format(index - 1, config.show(kind),
          SLIDING, FULL)
      end
      kinds[index - 1] = kind
    end
    return kinds
  end
  local pattern = values.sliding_window_pattern
  for layer = 0, count - 1 do
    local sliding
    if pattern then sliding = (layer + 1) % pattern ~= 0 else sliding = slides(layer) end
    kinds[layer] = sliding and SLIDING or FULL
  end
  return kinds
end

-- Whether layers differ in what they see.
local function differ(kinds, count)
  for layer = 1, count - 1 do
    if kinds[layer] ~= kinds[0] then return true end
  end
  return false
end

--- The window of a layer. W visible keys, the query's own included, are W - 1 to the left of it.
-- @tparam table values of the config
-- @tparam integer count number of layers
-- @tparam ?integer layer which of them; may be nil where all are of one kind
-- @tparam function slides layer -> whether it slides when the config does not say
-- @treturn table { window = { left = W - 1 } } or an empty table for a full layer; nil on a fault
-- @treturn string a message that names the key
function windows.of(values, count, layer, slides)
  local width = values.sliding_window
  local kinds, complaint = kinds_of(values, count, slides)
  if not kinds then return nil, complaint end
  if width and not layer and differ(kinds, count) then
    local key = values.layer_types and "layer_types" or "sliding_window"
    return nil, ("%s: %s: layers differ, so a layer must be given"):format(key,
      config.show(values[key]))
  end
  if kinds[layer or 0] == FULL then return {} end
  if not width and values.layer_types then
    return nil, ("sliding_window: null: layer_types names %s, which needs one"):format(SLIDING)
  end
  if not width then return {} end
  return { window = { left = width - 1 } }
end

return windows
