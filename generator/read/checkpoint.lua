--- One way to read the tensors of a checkpoint, whatever its form: a .safetensors file, one in
-- shards with its index, or NumPy's .npz.
--
-- Goes in: a path. Comes out: names, shapes and numbers. Does not know: specs, roles, models.

local json = require "read.json"
local lfs = require "lfs"
local npz = require "read.npz"
local safetensors = require "read.safetensors"

local checkpoint = {}

local function of_one_file(reader, path)
  local file, complaint, cause = reader.open(path)
  if not file then return nil, complaint, cause end
  local names, tensors, stored = {}, {}, {}
  for _, name in ipairs(file.names) do
    -- TensorFlow counts the outputs of an operation; a variable has the one
    local plain = name:match("^(.*):0$")
    local known = plain and not file.tensors[plain] and plain or name
    names[#names + 1], tensors[known], stored[known] = known, file.tensors[name], name
  end
  return {
    path = path, names = names, tensors = tensors,
    floats = function(name) return reader.floats(file, stored[name]) end,
  }
end

local function text_of(path)
  local handle <close>, complaint = io.open(path, "rb")
  if not handle then return nil, complaint end
  local text = handle:read("a")
  if not text then return nil, ("%s: not a file that can be read"):format(path) end
  return text
end

local function sorted_keys(object)
  local keys = {}
  for key in pairs(object) do keys[#keys + 1] = key end -- order does not matter: sorted below
  table.sort(keys)
  return keys
end

-- The map of an index from tensor to shard, or nil and a message.
local function weight_map(path)
  local text, complaint = text_of(path)
  if not text then return nil, complaint end
  local index
  index, complaint = json.decode(text, path)
  if not index then return nil, complaint end
  local map = json.kind(index) == "object" and index.weight_map
  if json.kind(map) ~= "object" then
    return nil, ("%s: weight_map: must be an object from tensor to file"):format(path)
  end
  return map
end

local function of_shards(path)
  local map, complaint = weight_map(path)
  if not map then return nil, complaint end
  local folder = path:match("^(.*/)") or ""
  local shards, names, tensors = {}, {}, {}
  for _, name in ipairs(sorted_keys(map)) do
    local file = map[name]
    if type(file) ~= "string" or file:find("/", 1, true) or not file:find("%.safetensors$") then
      return nil, ("%s: weight_map.%s: %s: must be a .safetensors file beside the index"):format(
        path, name, tostring(file))
    end
    if not shards[file] then
      shards[file], complaint = safetensors.open(folder .. file)
      if not shards[file] then return nil, complaint end
    end
    tensors[name] = shards[file].tensors[name]
    if not tensors[name] then
      return nil, ("%s: weight_map.%s: %s has no such tensor"):format(path, name, file)
    end
    names[#names + 1] = name
  end
  return {
    path = path, names = names, tensors = tensors,
    floats = function(name) return safetensors.floats(shards[map[name]], name) end,
  }
end

local function in_folder(path)
  local folder = path:gsub("/*$", "/")
  for _, name in ipairs({ "model.safetensors.index.json", "model.safetensors" }) do
    if lfs.attributes(folder .. name, "mode") == "file" then return folder .. name end
  end
  return nil, ("%s: holds neither model.safetensors nor its index"):format(path)
end

--- Opens a checkpoint: a file, an index of shards, or a folder with a model.
-- @string path
-- @treturn ?table { path, names = sorted list, tensors = { [name] = { dtype, shape } },
--   floats = function(name) -> row-major numbers, or nil and a message }, or nil
-- @treturn string a message that names file, tensor, value and rule
-- @treturn ?string "environment" where a module is missing
function checkpoint.open(path)
  if lfs.attributes(path, "mode") == "directory" then
    local found, complaint = in_folder(path)
    if not found then return nil, complaint end
    path = found
  end
  if path:find("%.safetensors$") then return of_one_file(safetensors, path) end
  if path:find("%.npz$") then return of_one_file(npz, path) end
  if path:find("%.json$") then return of_shards(path) end
  return nil, ("%s: must be a .safetensors file, its .index.json or an .npz file; other "
    .. "checkpoints have to be converted"):format(path)
end

return checkpoint
