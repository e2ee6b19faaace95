--- qkvc explain: a layer's shapes, sizes and plan.

local layer_module = require "layer"
local plan_module = require "plan"
local request = require "request"
local targets_module = require "targets"

local explain = {}

local function shape_of(tensor) return "[" .. table.concat(tensor.shape, "][") .. "]" end

local function add_tensors(lines, layer)
  local parameters = 0
  lines[#lines + 1] = "weights"
  for _, tensor in ipairs(layer.weights) do
    local count = 1
    for _, width in ipairs(tensor.shape) do count = count * width end
    parameters = parameters + count
    lines[#lines + 1] = ("  %-18s %-16s %12d"):format(tensor.role, shape_of(tensor), count)
  end
  lines[#lines + 1] = ("  %-35s %12d"):format("parameters", parameters)
  lines[#lines + 1] = ("  %-35s %12d"):format("packed bytes", layer.packed.bytes)
  lines[#lines + 1] = "inputs and outputs of a call"
  for _, field in ipairs(layer.call) do
    local shape = field.shape and shape_of(field) or "count"
    lines[#lines + 1] = ("  %-18s %s"):format(field.field, shape)
  end
end

local function add_counts(lines, layer)
  local counts = layer.multiply_adds
  lines[#lines + 1] = "multiply-adds of a call with the largest counts"
  for _, part in ipairs({ "q", "k", "v", "scores", "position", "mix", "o", "total" }) do
    if counts[part] and counts[part] > 0 then
      lines[#lines + 1] = ("  %-35s %12d"):format(part, counts[part])
    end
  end
end

local function add_plans(lines, layer)
  for _, name in ipairs(layer.spec.targets) do
    local plan, complaint = plan_module.of(layer, targets_module.get(name))
    if not plan then return nil, complaint end
    lines[#lines + 1] = "plan for " .. name
    for part in (plan_module.text(plan) .. ", "):gmatch("(.-), ") do
      lines[#lines + 1] = "  " .. part
    end
  end
  return true
end

local function text_of(one)
  local layer = layer_module.of(one.spec)
  local lines = { layer.name }
  add_tensors(lines, layer)
  add_counts(lines, layer)
  local planned, complaint = add_plans(lines, layer)
  if not planned then return nil, { one.path .. ": " .. complaint } end
  local list, complaints = request.files({ one })
  if not list then return nil, complaints end
  lines[#lines + 1] = "bytes of text"
  for _, file in ipairs(list) do
    lines[#lines + 1] = ("  %-35s %12d"):format(file.path:match("[^/]*$"), #file.text)
  end
  return table.concat(lines, "\n")
end

--- Runs the command.
-- @tparam table arguments spec, targets, unroll
-- @tparam function say prints one line
-- @treturn integer the exit code
-- @treturn ?string what went wrong, a line for each complaint
function explain.run(arguments, say)
  local requests, complaints = request.specs({ arguments.spec }, arguments)
  local text
  if requests then text, complaints = text_of(requests[1]) end
  if not text then return 2, table.concat(complaints, "\n") end
  say(text)
  return 0
end

return explain
