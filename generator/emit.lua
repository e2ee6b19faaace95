--- The texts of a layer: a list of paths and C, nothing on disk.
-- In: a completed spec. Out: { {path, text} }. Puts together layer, plan, kernels and templates.

local banner = require "banner"
local c = require "c"
local check_test = require "check_test"
local context_module = require "kernels.context"
local interface = require "interface"
local layer_module = require "layer"
local plan_module = require "plan"
local render = require "render"
local stages = require "stages"
local targets_module = require "targets"
local words = require "words"

local emit = {}

--- What writes the functions of each stage.
local KERNELS <const> = {
  qkv = require "kernels.qkv", attention = require "kernels.attention",
  output = require "kernels.output",
}

--- Headers of the library that a stage's text may need, and what tells that it does.
local LIBRARY <const> = {
  { header = "float.h", signs = { "%f[%w_]FLT_MAX%f[^%w_]" } },
  { header = "math.h", signs = { "%f[%w_]sqrtf%(", "%f[%w_]cos%(" } },
}

local function plans_of(l)
  local plans, complaints = {}, {}
  for _, name in ipairs(l.spec.targets) do
    local plan, complaint = plan_module.of(l, targets_module.get(name))
    plans[#plans + 1] = plan
    complaints[#complaints + 1] = complaint
  end
  if #complaints > 0 then return nil, complaints end
  return plans
end

--- One function of a stage for one target.
local function entry(l, context, f)
  local unused = {}
  for _, name in ipairs { "call", "rooms", "packed" } do
    if not f.body:find("%f[%w_]" .. name .. "%f[^%w_]") then
      unused[#unused + 1] = "(void)" .. name .. ";"
    end
  end
  local first = #unused > 0 and table.concat(unused, " ") .. "\n" or ""
  return ("%svoid %s_%s_%s(%s)\n{\n%s%s}\n"):format(context.writer.on, l.name, f.name,
    context.target.name, stages.kernel_parameters(l, f.name), first, f.body)
end

--- One stage's C for one target: words, tables, functions.
local function stage_source(l, plan, stage)
  local context = context_module.new(l, plan, stage.name)
  local entries = {}
  for i, f in ipairs(KERNELS[stage.name].write(context)) do entries[i] = entry(l, context, f) end
  local text = context.writer:source(table.concat(entries, "\n"))
  return words.source(text, plan.target) .. words.tables(text) .. text
end

local function needs(text, library)
  for _, sign in ipairs(library.signs) do
    if text:find(sign) then return true end
  end
  return false
end

--- One stage's file for one target, empty where the compiler can not make the target.
local function stage_file(l, plan, stage)
  local text, guard = stage_source(l, plan, stage), plan.target.guard
  local lines = { ('#include "%s_stages.h"\n'):format(l.name) }
  local function line(text_line) lines[#lines + 1] = text_line end
  if guard then
    line("#if " .. guard)
    for _, header in ipairs(plan.target.headers) do line("#include <" .. header .. ">") end
  end
  for _, library in ipairs(LIBRARY) do
    if needs(text, library) then line("#include <" .. library.header .. ">") end
  end
  line("\n" .. text)
  if guard then line("#endif\n") end
  return table.concat(lines, "\n")
end

--- All files of a layer.
-- @tparam table spec from spec.complete
-- @treturn table list of { path = "<name>/<file>", text = C }, or nil and a list of complaints
function emit.files(spec)
  local l = layer_module.of(spec)
  local plans, complaints = plans_of(l)
  if not plans then return nil, complaints end
  local list = {}
  local function add(suffix, text)
    list[#list + 1] = { path = ("%s/%s%s"):format(l.name, l.name, suffix), text = text }
  end
  local function add_source(suffix, title, text, plan)
    add(suffix, c.indent(banner.text(l, suffix, title, plan) .. "\n" .. text))
  end
  local names = interface.names(l, plans)
  add_source(".h", "the interface", render.template("header.h.in", names))
  add_source("_stages.h", "what the stages share", render.template("stages.h.in", names))
  add_source(".c", "packing, opening, checks, forward", render.template("layer.c.in", names))
  for i, plan in ipairs(plans) do
    local target = plan.target.name
    local suffix = (i > 1 and "_" .. target or "") .. ".c"
    for _, stage in ipairs(stages.of(l)) do
      local title = ("%s, target %s"):format(stage.text, target)
      add_source("_" .. stage.name .. suffix, title, stage_file(l, plan, stage), plan)
    end
  end
  add("_test.c", check_test.text(l))
  return list
end

return emit
