--- The stages of a layer and the functions they offer: names and parameters in C.
-- In: a layer. Out: lists and C. Knows nothing of kernels.

local stages = {}

local ALL <const> = {
  { name = "qkv", text = "queries, keys and values", functions = { "project_q", "project_kv" } },
  { name = "attention", text = "softmax of scores times values", functions = { "attend" } },
  { name = "output", text = "output projection, norms, residual", functions = { "output" } },
}

--- The stages in the order they run.
-- @tparam table l layer
-- @treturn table list of { name, text = what it gives, functions = list of names }
function stages.of(l)
  if l.spec.attention then return ALL end
  return { ALL[#ALL] }
end

--- The functions of all stages in the order they run.
-- @tparam table l layer
-- @treturn table list of names
function stages.functions(l)
  local list = {}
  for _, stage in ipairs(stages.of(l)) do
    for _, name in ipairs(stage.functions) do list[#list + 1] = name end
  end
  return list
end

-- Which part of its stage a function does: rows, and of attention key/value heads, too.
local function part(name, scratch_type)
  if name ~= "attend" then return "size_t from, size_t to" end
  return scratch_type .. "scratch, size_t from, size_t to, size_t head_from, size_t head_to"
end

--- The parameters that forward and all stages share.
-- @tparam table l layer
-- @treturn string
function stages.call_parameters(l)
  return ("const %s_layer *layer, const %s_call *call, void *workspace, size_t bytes"):format(
    l.name, l.name)
end

--- The parameters of a function of the interface.
-- @tparam table l layer
-- @tparam string name of the function
-- @treturn string
function stages.public_parameters(l, name)
  return stages.call_parameters(l) .. ", " .. part(name, "void *")
end

--- The parameters of the function that chooses a target.
-- @tparam table l layer
-- @tparam string name of the function
-- @treturn string
function stages.run_parameters(l, name)
  return ("const %s_layer *layer, const %s_call *call, const %s_rooms *rooms, %s"):format(
    l.name, l.name, l.name, part(name, "float *"))
end

--- The parameters of a target's function.
-- @tparam table l layer
-- @tparam string name of the function
-- @treturn string
function stages.kernel_parameters(l, name)
  return ("const %s_call *call, const %s_rooms *rooms, const float *packed, %s"):format(
    l.name, l.name, part(name, "float *"))
end

--- The arguments that hand on a function's part of its stage.
-- @tparam string name of the function
-- @treturn string
function stages.arguments(name)
  if name ~= "attend" then return "from, to" end
  return "scratch, from, to, head_from, head_to"
end

return stages
