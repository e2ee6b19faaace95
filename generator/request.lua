--- From what a user names to completed specs.
--
-- Goes in: the SPECs of a command line and what it overrides. Comes out: completed specs, or every
-- complaint about each of them. Does not know: what becomes of the specs.

local lfs = require "lfs"
local spec = require "spec"
local spec_file = require "read.spec_file"

local request = {}

local function shipped_folder()
  local own_folder = package.searchpath("request", package.path):match("^(.*)request%.lua$")
  local above = own_folder:match("^(.-)[^/.][^/]*/$")
  return (above or own_folder .. "../") .. "specs/"
end

--- Finds the file of a SPEC: a path, or the name of a shipped spec.
-- @string name as the user gave it
-- @treturn ?string a path, of which it is not known yet whether it can be read; or nil
-- @treturn string a message
function request.path_of(name)
  if not name:find("^[%w_]+$") then return name end
  local shipped = shipped_folder() .. name .. ".lua"
  if lfs.attributes(shipped, "mode") == "file" then return shipped end
  return nil, ("%s: neither a .lua or .json file nor the name of a shipped spec"):format(name)
end

local function overridden(raw, overrides)
  if overrides.targets and #overrides.targets > 0 then raw.targets = overrides.targets end
  if overrides.unroll then raw.unroll = overrides.unroll end
  return raw
end

--- Loads, overrides and completes specs.
-- @tparam {string,...} names SPECs as the user gave them; one given twice counts once
-- @tparam table overrides targets (a list, may be empty) and unroll, each optional
-- @treturn ?{{path=string,spec=table},...} in the order given, or nil
-- @treturn {string,...} all complaints about all of them, each naming its file
function request.specs(names, overrides)
  local requests, completed, complaints, seen = {}, {}, {}, {}
  for _, name in ipairs(names) do
    local path, complaint = request.path_of(name)
    local raw, one, list
    if path and not seen[path] then
      seen[path] = true
      raw, complaint = spec_file.load(path)
    end
    complaints[#complaints + 1] = complaint
    if raw then one, list = spec.complete(overridden(raw, overrides)) end
    for _, found in ipairs(list or {}) do complaints[#complaints + 1] = path .. ": " .. found end
    if one then requests[#requests + 1] = { path = path, spec = one } end
    completed[#completed + 1] = one
  end
  local clashes = spec.clashes(completed)
  table.move(clashes, 1, #clashes, #complaints + 1, complaints)
  if #complaints > 0 then return nil, complaints end
  return requests
end

--- The texts of several specs as one list.
-- @tparam {{path=string,spec=table},...} requests what request.specs returned
-- @treturn ?{{path=string,text=string},...} all files, or nil
-- @treturn {string,...} all complaints, each naming its spec's file
function request.files(requests)
  local emit = require "emit"
  local list, complaints = {}, {}
  for _, one in ipairs(requests) do
    local files, found = emit.files(one.spec)
    if not files then
      for _, complaint in ipairs(type(found) == "table" and found or { found }) do
        complaints[#complaints + 1] = one.path .. ": " .. complaint
      end
    end
    table.move(files or {}, 1, #(files or {}), #list + 1, list)
  end
  if #complaints > 0 then return nil, complaints end
  return list
end

return request
