--- A golden case as it stands in its two files, and the layer spec that it asks for.
-- In: the path of a .json. Out: plain data. Knows the format; knows nothing of C.

local json = require "read.json"
local safetensors = require "read.safetensors"

local case = {}

local choices <const> = {
  { field = "layout", allowed = { out_in = true, in_out = true } },
  { field = "fused", allowed = { blocks = true, per_head = true } },
  { field = "io_layout", allowed = { head_major = true } },
}

local function shown(value)
  if type(value) == "table" then return json.encode(value) end
  return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

local function read_text(path)
  local handle <close>, complaint = io.open(path, "rb")
  if not handle then return nil, complaint end
  return handle:read("a")
end

local function check_roles(content, field, complaints)
  local roles = content[field]
  if roles == nil and field == "weights" then
    content[field] = {}
  elseif json.kind(roles) ~= "object" then
    complaints[#complaints + 1] = ("%s %s: must be an object, role -> tensor name")
      :format(field, shown(roles))
  else
    for _, name in pairs(roles) do -- order does not matter: one complaint at most
      if type(name) ~= "string" then
        complaints[#complaints + 1] = field .. ": each role must name a tensor"
        break
      end
    end
  end
end

local function check_tolerance(content, complaints)
  local tolerance = content.tolerance
  for _, field in ipairs { "atol", "rtol" } do
    local value = json.kind(tolerance) == "object" and tolerance[field]
    if type(value) ~= "number" or value < 0 then
      complaints[#complaints + 1] = ("tolerance.%s %s: must be a number of 0 or more")
        :format(field, shown(value or nil))
    end
  end
end

local function check_content(content)
  local complaints = {}
  if json.kind(content.spec) ~= "object" then
    complaints[1] = ("spec %s: must be an object"):format(shown(content.spec))
  end
  for _, field in ipairs { "inputs", "weights", "expected" } do
    check_roles(content, field, complaints)
  end
  check_tolerance(content, complaints)
  for _, choice in ipairs(choices) do
    local value = content[choice.field]
    if value ~= nil and not choice.allowed[value] then
      complaints[#complaints + 1] = ("%s %s: not a known value"):format(choice.field, shown(value))
    end
  end
  local batch = content.batch
  if batch ~= nil and (math.type(batch) ~= "integer" or batch < 1) then
    complaints[#complaints + 1] = ("batch %s: must be a whole number of 1 or more")
      :format(shown(batch))
  end
  return complaints
end

--- Reads a case: the JSON, and the header of the safetensors file beside it.
-- @string path of the .json
-- @treturn ?table the JSON's fields, and `file` as from safetensors.open; or nil
-- @treturn string what is wrong, naming file or field, value and rule
function case.read(path)
  local text, complaint = read_text(path)
  if not text then return nil, complaint end
  local content
  content, complaint = json.decode(text, path)
  if content == nil then return nil, complaint end
  if json.kind(content) ~= "object" then return nil, path .. ": must be one object" end
  local complaints = check_content(content)
  if #complaints > 0 then return nil, table.concat(complaints, "; ") end
  content.file, complaint = safetensors.open((path:gsub("%.json$", "")) .. ".safetensors")
  if not content.file then return nil, complaint end
  return content
end

-- ---- The spec -----------------------------------------------------------------------------------

local function copied(value)
  if type(value) ~= "table" or value == json.null then return value end
  local copy = setmetatable({}, getmetatable(value))
  for key, inner in pairs(value) do copy[key] = copied(inner) end -- order does not matter: a copy
  return copy
end

-- Whether a mask has a row for each head: its tensor alone tells.
local function is_per_head(content, role)
  local tensor = content.file.tensors[content.inputs[role]]
  local heads = tensor and tensor.shape[content.batch and 2 or 1]
  return heads ~= nil and heads > 1
end

local function mask_kind(item)
  if type(item) == "string" then return item end
  if type(item) ~= "table" then return nil end
  return item.boolean and "boolean" or item.additive and "additive" or nil
end

local function set_masks(spec, content)
  if type(spec.mask) ~= "table" then return end
  for index, item in ipairs(spec.mask) do
    local kind = mask_kind(item)
    if kind == "boolean" or kind == "additive" then
      spec.mask[index] = is_per_head(content, kind) and { [kind] = "per_head" } or kind
    end
  end
end

local function has_input_norm(spec)
  local norm = type(spec.norm) == "table" and spec.norm or {}
  for _, one in ipairs(norm[1] and norm or { norm }) do
    if type(one) == "table" and one.place == "input" then return true end
  end
  return false
end

-- Keys and values are the q input (and normed with it) or tensors of their own: the roles tell.
-- Where they are the q input, the layer is self-attention; where not, it has a context.
local function set_context(spec, inputs)
  if spec.attention == false then return end
  local k_own = (inputs.k or inputs.q) ~= inputs.q
  local v_own = (inputs.v or inputs.k or inputs.q) ~= inputs.q
  if has_input_norm(spec) then
    if k_own ~= v_own then
      return ("inputs: of k and v one is the q input, which is normed, and one is not: "
        .. "a layer norms both or neither")
    end
    if not k_own then spec.context = nil end
  end
  -- a ring has no context; without projections, its keys are tensors of their own all the same
  if (k_own or v_own) and spec.context == nil and spec.cache ~= "ring" then
    spec.context = copied(spec.tokens)
  end
end

--- The spec of the layer that a case asks for: its own, and what the format leaves to the tensors.
-- @tparam table content from case.read
-- @string name the layer's C identifier
-- @tparam table options targets and unroll, where they replace those of the spec
-- @treturn ?table a spec for spec.complete; or nil
-- @treturn string what no layer can be
function case.spec(content, name, options)
  local spec = copied(content.spec)
  spec.name = name
  spec.targets = options.targets or spec.targets
  spec.unroll = options.unroll or spec.unroll
  set_masks(spec, content)
  local complaint = set_context(spec, content.inputs)
  if complaint then return nil, complaint end
  if content.inputs.context_length then spec.context_length = true end
  return spec
end

return case
