--- A completed spec as one line, and the number that stands for it in headers and blobs.
-- The line holds everything that decides numbers, the packed form and the interface: not the name,
-- the targets and the unrolling. It does not depend on how defaults were written.

local say = require "spec.say"

local canonical = {}

local function text_of(value)
  if value == nil then return "none" end
  if math.type(value) == "float" then return say.float(value) end
  return tostring(value)
end

local function rows_text(rows)
  if not rows then return "none" end
  return (rows.fixed and "%d" or "0..%d"):format(rows.max)
end

local function fields_text(source, names)
  if not source then return "none" end
  local parts = {}
  for index, name in ipairs(names) do parts[index] = name .. ":" .. text_of(source[name]) end
  return table.concat(parts, ",")
end

local function slopes_text(alibi)
  if not alibi then return "none" end
  local parts = {}
  for index, slope in ipairs(alibi.slopes) do parts[index] = text_of(slope) end
  return table.concat(parts, ",")
end

local letters <const> = { "q", "k", "v", "o" }
local norm_fields <const> = { "kind", "eps", "plus_one" }

-- Pairs of a name and its text, in the order of the line.
local function parts_of(s)
  local parts = {}
  local function add(name, text) parts[#parts + 1] = name .. "=" .. text end
  local function plain(names)
    for _, name in ipairs(names) do add(name, text_of(s[name])) end
  end
  plain { "attention", "heads", "kv_heads", "p_q", "p_v", "p_o", "d_q", "d_k", "d_v" }
  add("project", fields_text(s.project, letters))
  add("bias", fields_text(s.bias, letters))
  add("tokens", rows_text(s.tokens))
  add("context", rows_text(s.context))
  plain { "cache" }
  add("past", rows_text(s.past))
  plain { "align", "scale" }
  add("mask", fields_text(s.mask, { "padding", "causal", "boolean", "additive" }))
  add("window", fields_text(s.mask.window, { "left", "right" }))
  plain { "context_length", "softcap", "sinks", "head_mask", "residual" }
  local position = s.position
  add("rope", fields_text(position.rope, { "base", "frequencies", "dim", "interleaved", "factor" }))
  add("alibi", slopes_text(position.alibi))
  add("relative", fields_text(position.relative, { "kind", "left", "right", "max" }))
  add("buckets", fields_text(position.bias, { "buckets", "max_distance", "bidirectional" }))
  add("qk_norm", fields_text(s.qk_norm, { "kind", "eps" }))
  for _, place in ipairs { "input", "output", "after" } do
    add(place .. "_norm", fields_text(s.norms[place], norm_fields))
  end
  plain { "return_weights", "return_scores", "dtype", "io", "precision", "reproducible" }
  return parts
end

--- Everything that decides the numbers of a layer, in one line and one order.
-- @tparam table s a completed spec
-- @treturn string
function canonical.line(s) return table.concat(parts_of(s), " ") end

--- The 32-bit FNV-1a hash of a text.
-- @string text
-- @treturn integer from 0 to 0xffffffff
function canonical.fnv1a(text)
  local hash = 0x811c9dc5
  for index = 1, #text do
    hash = ((hash ~ text:byte(index)) * 0x01000193) & 0xffffffff
  end
  return hash
end

return canonical
