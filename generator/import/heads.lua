--- How a config divides its width among heads, and which heads and layers it has.
-- In: values of a config. Out: widths, lists, or a message. Knows no family.

local config = require "import.config"

local heads = {}

--- The width of one head when a config states only the width of all.
-- @string all_key the key of the width of all heads
-- @tparam integer all its value
-- @string count_key the key of the number of heads
-- @tparam integer count its value
-- @treturn ?integer all / count, or nil
-- @treturn string a message that names both keys
function heads.width(all_key, all, count_key, count)
  if all % count ~= 0 then
    return nil, ("%s: %d: must be a multiple of %s = %d"):format(all_key, all, count_key, count)
  end
  return all // count
end

--- The width of one head where head_dim, when stated, wins over the quotient.
-- @tparam table values with head_dim, hidden_size, num_attention_heads
-- @treturn ?integer the width, or nil
-- @treturn string a message that names the keys
function heads.stated_width(values)
  if values.head_dim then return values.head_dim end
  return heads.width("hidden_size", values.hidden_size, "num_attention_heads",
    values.num_attention_heads)
end

--- Key/value heads: as stated, else as many as query heads.
-- @tparam table values with num_attention_heads, num_key_value_heads
-- @treturn ?integer their number, or nil
-- @treturn string a message that names both keys
function heads.grouped(values)
  local count, groups = values.num_attention_heads, values.num_key_value_heads
  if not groups then return count end
  if count % groups ~= 0 then
    return nil, ("num_key_value_heads: %d: must divide num_attention_heads = %d"):format(groups,
      count)
  end
  return groups
end

--- The heads that pruning removed from a layer.
-- @tparam ?table pruned the config's object: layer number as a string -> list of heads
-- @tparam ?integer layer the layer; nil is refused where any layer lost heads
-- @tparam integer count heads before pruning
-- @treturn ?{integer,...} removed heads in ascending order (empty: none), or nil
-- @treturn string a message that names the key
function heads.pruned(pruned, layer, count)
  if not pruned or next(pruned) == nil then return {} end
  if not layer then
    return nil, ("pruned_heads: %s: layers differ, so a layer must be given"):format(
      config.show(pruned))
  end
  local list, seen = {}, {}
  for _, head in ipairs(pruned[tostring(layer)] or {}) do
    local whole = math.type(head) and math.tointeger(head)
    if not whole or whole < 0 or whole >= count or seen[whole] then
      return nil, ("pruned_heads.%d: %s: must be different heads from 0 to %d"):format(
        layer, config.show(head), count - 1)
    end
    seen[whole] = true
    list[#list + 1] = whole
  end
  if #list == count then
    return nil, ("pruned_heads.%d: %s: at least one head must stay"):format(
      layer, config.show(pruned[tostring(layer)]))
  end
  table.sort(list)
  return list
end

return heads
