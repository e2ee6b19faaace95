--- Which tensors of a checkpoint are the weights of a layer, by the names and layouts that a
-- family states.
--
-- In: a layer, an open checkpoint, a family's group of tensors. Out: the source of each role, or
-- every complaint at once. Nothing is guessed: a tensor of another shape is refused, and so is
-- one that nothing takes. Reads no numbers and knows no packed form.

local shapes = require "pack.shapes"

local tensors = {}

-- ---- Names ---------------------------------------------------------------------------------

local function with_layer(pattern, layer)
  return (pattern:gsub("{layer}", function() return tostring(layer) end))
end

-- An entry of a family's list with its roles and names spelt out.
local function spelt(entry, group)
  local names = {}
  for index = 2, #entry do
    local name = entry[index]
    local is_plain = type(name) == "string"
    names[index - 1] = {
      name = is_plain and name or name[1], layout = is_plain and group.layout or name.layout,
    }
  end
  return {
    roles = type(entry[1]) == "table" and entry[1] or { entry[1] }, names = names,
    per_head = entry.split == "per_head", unless = entry.unless, layer = entry.layer,
    absent = entry.absent,
  }
end

local function has_any(search, pattern)
  local prefix = with_layer(pattern, search.layer)
  for _, entry in ipairs(search.entries) do
    for _, named in ipairs(entry.names) do
      if search.checkpoint.tensors[prefix .. named.name] then return true end
    end
  end
  return false
end

-- The first prefix under which the checkpoint has tensors of the group, else the first of all and
-- a remark on the others.
local function find_prefix(search, prefixes)
  for _, pattern in ipairs(prefixes) do
    if has_any(search, pattern) then return pattern, "" end
  end
  if #prefixes == 1 then return prefixes[1], "" end
  return prefixes[1], (" (nor is there one that begins with %s)"):format(
    with_layer(table.concat(prefixes, ", ", 2), search.layer))
end

-- The tensor that an entry names and its layout; or nil and the name it should have.
local function find_tensor(search, entry)
  local prefix = with_layer(search.pattern, entry.layer or search.layer)
  for _, named in ipairs(entry.names) do
    local name = prefix .. named.name
    if search.checkpoint.tensors[name] then return name, named.layout end
  end
  return nil, prefix .. entry.names[1].name
end

-- ---- Checks --------------------------------------------------------------------------------

local layout_text <const> = {
  out_in = "stored [out][in]", in_out = "stored [in][out]",
  in_heads = "stored with an axis of heads",
}

local function describe(entry, weight, layout)
  local text = table.concat(entry.roles, ", ")
  if weight.kind == "matrix" then text = text .. ", " .. layout_text[layout] end
  if entry.per_head then text = text .. ", head by head" end
  return text
end

local function complain(search, ...)
  table.insert(search.complaints, search.checkpoint.path .. ": " .. string.format(...))
end

-- The heads that a tensor has beyond the layer's: none, or all that were pruned; nil for any
-- other shape, after a complaint.
local function removed_heads(search, entry, weight, name, layout)
  local shape = search.checkpoint.tensors[name].shape
  local expected = shapes.expected(search.spec, weight, entry.roles, layout, 0)
  if shapes.same(shape, expected) then return {} end
  local before = shapes.expected(search.spec, weight, entry.roles, layout, #search.pruned)
  if shapes.same(shape, before) then return search.pruned end
  local alternative = ""
  if not shapes.same(expected, before) then
    alternative = " or, before pruning, " .. shapes.text(before)
  end
  complain(search, "tensor %q: shape %s: must be %s%s (%s)", name, shapes.text(shape),
    shapes.text(expected), alternative, describe(entry, weight, layout))
end

-- A fused tensor can only be cut where the layer has all that is in it.
local function check_fused(search, entry)
  if #entry.roles == 1 then return true end
  for _, role in ipairs(entry.roles) do
    if not search.weights[role] then
      complain(search, "%s: the spec has none, but %q holds %s in one tensor", role,
        entry.names[1].name, table.concat(entry.roles, ", "))
      return false
    end
  end
  local spec = search.spec
  if entry.per_head and spec.heads ~= spec.kv_heads then
    complain(search, "kv_heads: %d: tensor %q is ordered head by head, so it must be heads = %d",
      spec.kv_heads, entry.names[1].name, spec.heads)
    return false
  end
  return true
end

-- Notes where each role of an entry comes from, or complains.
local function place(search, entry)
  local name, layout = find_tensor(search, entry)
  if not name and entry.absent then
    search.sources[entry.roles[1]] = { constant = entry.absent }
    return
  end
  if not name then
    complain(search, "tensor %q: missing: %s%s", layout, table.concat(entry.roles, ", "),
      search.remark)
    return
  end
  search.used[name] = true
  local removed = removed_heads(search, entry, search.weights[entry.roles[1]], name, layout)
  for _, role in ipairs(entry.roles) do
    search.sources[role] = {
      name = name, layout = layout, roles = entry.roles, per_head = entry.per_head,
      removed = removed,
    }
  end
end

-- ---- What is left over ---------------------------------------------------------------------

local norm_place <const> = {
  gamma = "after", beta = "after", input_gamma = "input", input_beta = "input",
  output_gamma = "output", output_beta = "output",
}

-- Whether a role belongs to a part of the block that the layer leaves out.
local function is_outside(spec, role)
  local which = shapes.projection_of[role]
  if which then return not spec.project[which] end
  local norm = norm_place[role]
  if norm then return not spec.norms[norm] end
  return not spec.attention
end

local function all_outside(spec, roles)
  for _, role in ipairs(roles) do
    if not is_outside(spec, role) then return false end
  end
  return true
end

local function has_ending(name, endings)
  for _, ending in ipairs(endings or {}) do
    if name:sub(-#ending) == ending then return true end
  end
  return false
end

local function is_ignored(group, rest)
  for _, known in ipairs(group.ignored or {}) do
    if rest == known then return true end
  end
  return has_ending(rest, group.ignored_endings)
end

local function in_scope(group, rest)
  for _, scope in ipairs(group.scope) do
    if rest:sub(1, #scope) == scope then return true end
  end
  return false
end

-- Complains about tensors of the layer's attention that nothing took.
local function check_rest(search)
  local prefix = with_layer(search.pattern, search.layer)
  local roles_of = {}
  for _, entry in ipairs(search.entries) do
    for _, named in ipairs(entry.names) do
      roles_of[named.name] = roles_of[named.name] or entry.roles
    end
  end
  for _, name in ipairs(search.checkpoint.names) do
    local rest = name:sub(1, #prefix) == prefix and name:sub(#prefix + 1)
    local concerns = rest and not search.used[name] and in_scope(search.group, rest)
    if concerns and not is_ignored(search.group, rest) then
      local roles = roles_of[rest]
      if not roles then
        complain(search, "tensor %q: left over: not known for %s", name, search.family.name)
      elseif not all_outside(search.spec, roles) then
        complain(search, "tensor %q: left over: the spec takes no %s from it", name,
          table.concat(roles, ", "))
      end
    end
  end
end

-- ---- The whole -----------------------------------------------------------------------------

local function is_wanted(search, entry)
  local prefix = with_layer(search.pattern, search.layer)
  if entry.unless and search.checkpoint.tensors[prefix .. entry.unless] then return false end
  for _, role in ipairs(entry.roles) do
    if search.weights[role] and not search.sources[role] then return true end
  end
  return false
end

local function place_all(search, given)
  for _, entry in ipairs(search.entries) do
    if is_wanted(search, entry) and check_fused(search, entry) then place(search, entry) end
  end
  local silent = #search.complaints == 0
  for _, weight in ipairs(search.list) do
    local role = weight.role
    if silent and not search.sources[role] and not given[role] then
      complain(search, "%s: the spec has it, but %s keeps no such weights", role,
        search.family.name)
    end
  end
end

--- Finds the tensors of a layer and checks their shapes.
-- @tparam table layer what layer.of returned
-- @tparam table checkpoint an open checkpoint
-- @tparam table family
-- @tparam table group the family's group of tensors, as self or cross
-- @tparam table options { layer, prefix, pruned = heads removed, given = set of roles that come
--   from elsewhere }
-- @treturn ?table { spec, checkpoint, weights by role, sources by role } for values.of, or nil
-- @treturn {string,...} all complaints, each naming file and tensor
function tensors.find(layer, checkpoint, family, group, options)
  local search = {
    spec = layer.spec, checkpoint = checkpoint, family = family, group = group,
    layer = options.layer, pruned = options.pruned or {}, entries = {}, sources = {}, used = {},
    weights = {}, list = layer.weights, complaints = {},
  }
  for _, weight in ipairs(layer.weights) do search.weights[weight.role] = weight end
  for index, entry in ipairs(group.list) do search.entries[index] = spelt(entry, group) end
  search.pattern, search.remark = find_prefix(search,
    options.prefix and { options.prefix } or group.prefix)
  place_all(search, options.given or {})
  check_rest(search)
  if #search.complaints > 0 then return nil, search.complaints end
  return search
end

return tensors
