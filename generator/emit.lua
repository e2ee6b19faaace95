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
local targets_module = require "targets"
local words = require "words"

local emit = {}

--- The stages in the order they run: file, kernel, and the functions each offers.
local STAGES <const> = {
  { name = "qkv", kernel = "kernels.qkv", text = "queries, keys and values" },
  { name = "attention", kernel = "kernels.attention", text = "softmax of scores times values" },
  { name = "output", kernel = "kernels.output", text = "output projection, norms, residual" },
}

local function stages_of(l)
  if not l.spec.attention then return { STAGES[3] } end
  return STAGES
end

--- One stage's C for one target.
local function stage_source(l, p, stage)
  local context = context_module.new(l, p, stage.name)
  local functions = require(stage.kernel).write(context)
  local entries = {}
  for _, f in ipairs(functions) do
    local attend = f.name == "attend"
    local declared = ("const %s_call *call, const %s_rooms *rooms, const float *packed, %ssize_t from, size_t to%s")
      :format(l.name, l.name, attend and "float *scratch, " or "", attend and ", size_t head_from, size_t head_to" or "")
    local body = f.body
    local unused = {}
    for _, name in ipairs { "call", "rooms", "packed" } do
      if not body:find("%f[%w_]" .. name .. "%f[^%w_]") then unused[#unused + 1] = "(void)" .. name .. ";" end
    end
    entries[#entries + 1] = ("%svoid %s_%s_%s(%s)\n{\n%s%s}\n"):format(context.writer.on, l.name, f.name,
      p.target.name, declared, #unused > 0 and table.concat(unused, " ") .. "\n" or "", body)
  end
  local text = context.writer:source(table.concat(entries, "\n"))
  return words.source(text, p.target) .. words.tables(text) .. text
end

--- All files of a layer.
-- @tparam table spec from spec.complete
-- @treturn table list of { path = "<name>/<file>", text = C }, or nil and a list of complaints
function emit.files(spec)
  local l = layer_module.of(spec)
  local plans, complaints = {}, {}
  for i, name in ipairs(spec.targets) do
    local p, message = plan_module.of(l, targets_module.get(name))
    plans[i] = p
    if not p then complaints[#complaints + 1] = message end
  end
  if #complaints > 0 then return nil, complaints end
  local list = {}
  local function add(suffix, title, text, plan)
    local source = banner.text(l, suffix, title, plan) .. "\n" .. text
    list[#list + 1] = { path = l.name .. "/" .. l.name .. suffix, text = c.indent(source) }
  end
  local names = interface.names(l, plans)
  add(".h", "the interface", render.template("header.h.in", names))
  add("_stages.h", "what the stages share", render.template("stages.h.in", names))
  add(".c", "packing, opening, checks, forward", render.template("layer.c.in", names))
  for i, p in ipairs(plans) do
    local machine = i > 1 and "_" .. p.target.name or ""
    for _, stage in ipairs(stages_of(l)) do
      local text = stage_source(l, p, stage)
      local guard = p.target.guard
      local body = ('#include "%s_stages.h"\n\n'):format(l.name)
      if guard then
        body = body .. "#if " .. guard .. "\n"
        for _, header in ipairs(p.target.headers) do body = body .. "#include <" .. header .. ">\n" end
      end
      if text:find("FLT_MAX", 1, true) then body = body .. "#include <float.h>\n" end
      if text:find("%f[%w_]sqrtf%(") or text:find("%f[%w_]cos%(") then body = body .. "#include <math.h>\n" end
      body = body .. "\n" .. text .. (guard and "\n#endif\n" or "")
      add("_" .. stage.name .. machine .. ".c", stage.text .. ", target " .. p.target.name, body, p)
    end
  end
  list[#list + 1] = { path = l.name .. "/" .. l.name .. "_test.c", text = check_test.text(l) }
  return list
end

return emit
