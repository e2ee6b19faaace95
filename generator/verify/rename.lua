--- Cases under random names: copies whose files, cases, layers and tensors are called anything,
-- with the tensors in another order. A case that passes under its own names only is no proof.

local json = require "read.json"
local case_module = require "verify.case"
local programs = require "verify.programs"
local safetensors = require "read.safetensors"
local lfs = require "lfs"

local rename = {}

-- What names of tensors and files are made of: all that a shell, C or JSON might stumble over.
local odd <const> = { "a", "Z", "0", "_", ".", "-", " ", "'", '"', "\\", "$", "%", "é", "*", "?" }
local letters <const> = "abcdefghijklmnopqrstuvwxyz"

-- A sequence of its own for each seed, the same on all machines.
local function random_from(seed)
  local state = seed
  return function(most)
    state = (state * 6364136223846793005 + 1442695040888963407) & math.maxinteger
    return (state >> 24) % most + 1
  end
end

local function word(random, count)
  local text = {}
  for index = 1, count do
    local at = random(#letters)
    text[index] = letters:sub(at, at)
  end
  return table.concat(text)
end

-- Unique by the number in front.
local function odd_word(random, number)
  local text = { tostring(number) }
  for _ = 1, 3 + random(9) do text[#text + 1] = odd[random(#odd)] end
  return table.concat(text)
end

local function shuffle(list, random)
  for index = #list, 2, -1 do
    local other = random(index)
    list[index], list[other] = list[other], list[index]
  end
end

-- A list that is written as an array also where it is empty.
local function array(list) return table.move(list, 1, #list, 1, json.decode("[]", "array")) end

-- The tensors under new names and in a new order; gives back old name -> new name.
local function write_tensors(file, path, random)
  local order = table.move(file.names, 1, #file.names, 1, {})
  shuffle(order, random)
  local header, names, pieces, at = {}, {}, {}, 0
  for index, name in ipairs(order) do
    local tensor = file.tensors[name]
    local bytes, complaint = safetensors.bytes(file, name)
    if not bytes then return nil, complaint end
    names[name] = odd_word(random, index)
    header[names[name]] = {
      dtype = tensor.dtype, shape = array(tensor.shape), data_offsets = { at, at + #bytes },
    }
    pieces[index], at = bytes, at + #bytes
  end
  local text = json.encode(header)
  local written, complaint = programs.write(path, string.pack("<s8", text) .. table.concat(pieces))
  if not written then return nil, complaint end
  return names
end

local function renamed(content, names, random, number)
  for _, field in ipairs { "inputs", "weights", "expected" } do
    local roles = content[field]
    -- order does not matter: each role is renamed for itself
    for role, name in pairs(roles) do roles[role] = names[name] or name end
  end
  content.case, content.group = odd_word(random, number), odd_word(random, number)
  content.spec.name = word(random, 8)
  content.file = nil
  return content
end

local function copy(case, folder, random)
  local content = case_module.read(case.path)
  if not content then return true end -- is complained of when it is verified
  local stem = folder .. "/" .. odd_word(random, case.number)
  local names, complaint = write_tensors(content.file, stem .. ".safetensors", random)
  if not names then return nil, complaint end
  local text = json.encode(renamed(content, names, random, case.number))
  local written
  written, complaint = programs.write(stem .. ".json", text)
  if not written then return nil, complaint end
  case.path = stem .. ".json"
  case.name = ("%s_%d"):format(word(random, 3 + random(9)), case.number)
  return true
end

--- Replaces cases by copies under random names. A case that can not be read stays as it is.
-- @tparam {table,...} cases from find.cases, numbered; path and name (of the layer) are set
-- @string folder to write below
-- @tparam integer seed
-- @treturn ?boolean true; or nil
-- @treturn string what is wrong with the disk
function rename.cases(cases, folder, seed)
  local place = folder .. "/renamed"
  lfs.mkdir(place)
  local random = random_from(seed)
  for _, case in ipairs(cases) do
    local done, complaint = copy(case, place, random)
    if not done then return nil, complaint end
  end
  return true
end

return rename
