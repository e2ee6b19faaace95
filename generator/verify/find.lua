--- Golden cases below the paths a user gives.
-- In: paths of .json files, stems, folders. Out: the cases in order, each once. Does not read them.

local lfs = require "lfs"

local find = {}

local function mode_of(path) return lfs.attributes(path, "mode") end

-- One file has one identity, by whatever path it is reached.
local function identity_of(path)
  local found = lfs.attributes(path)
  return found and ("%d:%d"):format(found.dev, found.ino)
end

local function absolute(path)
  return path:sub(1, 1) == "/" and path or lfs.currentdir() .. "/" .. path
end

local function sorted_entries(folder)
  local names = {}
  for name in lfs.dir(folder) do
    if name:sub(1, 1) ~= "." then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function add_folder(folder, found, folders)
  local identity = identity_of(folder)
  if folders[identity] then return end
  folders[identity] = true
  for _, name in ipairs(sorted_entries(folder)) do
    local path = folder:gsub("/+$", "") .. "/" .. name
    if mode_of(path) == "directory" then
      add_folder(path, found, folders)
    elseif name:find("%.json$") then
      found[#found + 1] = path
    end
  end
end

-- The .json of a path that is no folder: itself, or that of a stem.
local function json_of(path)
  if path:find("%.json$") and mode_of(path) == "file" then return path end
  local stem = path:gsub("%.safetensors$", "")
  if mode_of(stem .. ".json") == "file" then return stem .. ".json" end
end

local function short_label(path)
  local stem = path:gsub("%.json$", "")
  return stem:match("([^/]+/[^/]+)$") or stem
end

-- group/case where that tells the cases apart, the whole path elsewhere.
local function set_labels(cases)
  local count = {}
  for _, case in ipairs(cases) do
    case.label = short_label(absolute(case.path))
    count[case.label] = (count[case.label] or 0) + 1
  end
  for _, case in ipairs(cases) do
    if count[case.label] > 1 then case.label = case.path:gsub("%.json$", "") end
  end
end

--- Finds the cases.
-- @tparam {string,...} paths each a .json file, a stem beside which one lies, or a folder
-- @treturn ?{{path=,label=},...} the cases in the order of the paths, a folder's sorted; or nil
-- @treturn {string,...} a message for each path where there is none
function find.cases(paths)
  local found, complaints = {}, {}
  for _, path in ipairs(paths) do
    local before = #found
    if mode_of(path) == "directory" then
      add_folder(path, found, {})
    else
      found[#found + 1] = json_of(path)
    end
    if #found == before then
      complaints[#complaints + 1] = path
        .. ": no case found: must be a .json file, a stem of one, or a folder of them"
    end
  end
  if #complaints > 0 then return nil, complaints end
  local cases, seen = {}, {}
  for _, path in ipairs(found) do
    local identity = identity_of(path)
    if not seen[identity] then
      seen[identity] = true
      cases[#cases + 1] = { path = path }
    end
  end
  set_labels(cases)
  return cases
end

find.absolute = absolute

return find
