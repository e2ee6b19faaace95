--- A layer explained: shapes, sizes, plans, what binds it, the size of its code. Lines of text.

local cost = require "cost"
local counts = require "bench.counts"
local emit = require "emit"
local layer_module = require "layer"
local limit = require "explain.limit"
local plan_module = require "plan"
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
  local adds = layer.multiply_adds
  lines[#lines + 1] = "multiply-adds of a call with the largest counts"
  for _, part in ipairs({ "q", "k", "v", "scores", "position", "mix", "o", "total" }) do
    if adds[part] and adds[part] > 0 then
      lines[#lines + 1] = ("  %-35s %12d"):format(part, adds[part])
    end
  end
end

--- The plan, a stage or projection a line.
local function add_plan(lines, plan)
  lines[#lines + 1] = "plan for " .. plan.target.name
  for part in (plan_module.text(plan) .. ", "):gmatch("(.-), ") do
    lines[#lines + 1] = "  " .. part
  end
  lines[#lines + 1] = ("  %-35s %12d"):format(
    ("vector multiply-adds of %d lanes"):format(plan.lanes), plan.statements.total)
  local a = plan.attention
  if a then
    lines[#lines + 1] = ("  %-35s %12d"):format("bytes of scratch a worker", 4 * a.scratch_floats)
  end
end

local function us(ns)
  local text = ns < 1e4 and "%9.2f" or ns < 1e6 and "%9.1f" or "%9.0f"
  return (text:format(ns / 1000):gsub(",", "."))
end

--- A line for each number of tokens: what the parts take at least, what binds, what is predicted.
local function add_limits(lines, layer, plan, calls)
  local view = cost.views(plan.target)[1]
  lines[#lines + 1] = ("microseconds on %s, one thread, code as %s makes it"):format(
    view.machine.model, view.variant and "gcc " .. view.variant.flags or "a compiler")
  lines[#lines + 1] = "  tokens    keys       fma   softmax        L1        L2    memory"
    .. "     limit  binds    predicted"
  for _, call in ipairs(calls) do
    local l = limit.of(layer, plan, call)
    lines[#lines + 1] = ("  %6d  %6d %s %s %s %s %s %s  %-7s  %s"):format(call.tokens,
      call.past + call.fresh, us(l.fma), us(l.softmax), us(l.first), us(l.second), us(l.beyond),
      us(l.limit), l.binds, us(l.predicted))
  end
end

local function add_code(lines, spec)
  local files, complaints = emit.files(spec)
  if not files then return nil, complaints end
  lines[#lines + 1] = ("code%45s%13s"):format("bytes", "lines")
  local bytes, count = 0, 0
  for _, file in ipairs(files) do
    local _, ends = file.text:gsub("\n", "")
    bytes, count = bytes + #file.text, count + ends
    lines[#lines + 1] = ("  %-35s %11d %12d"):format(file.path:match("[^/]*$"), #file.text, ends)
  end
  lines[#lines + 1] = ("  %-35s %11d %12d"):format("all", bytes, count)
  return true
end

--- Explains a layer.
-- @tparam table spec from spec.complete
-- @tparam ?table asked tokens (a list), context, past: counts to tell times for
-- @treturn ?string lines, or nil
-- @treturn {string,...} complaints
function explain.text(spec, asked)
  asked = asked or {}
  local calls, complaints = counts.calls(spec, {
    tokens = asked.tokens or {}, context = asked.context, past = asked.past,
  })
  if not calls then return nil, complaints end
  local layer = layer_module.of(spec)
  local lines = { layer.name }
  add_tensors(lines, layer)
  add_counts(lines, layer)
  for _, name in ipairs(spec.targets) do
    local plan, complaint = plan_module.of(layer, targets_module.get(name))
    if not plan then return nil, { complaint } end
    add_plan(lines, plan)
    add_limits(lines, layer, plan, calls)
  end
  local done
  done, complaints = add_code(lines, spec)
  if not done then return nil, complaints end
  return table.concat(lines, "\n")
end

return explain
