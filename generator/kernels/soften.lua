--- A row of scores: its steps, its mask, the largest; then weights e^(score - largest) and their
-- sum. Each step is a template below templates/scores/, each mask one below templates/masks/;
-- partner of templates/attend/soften.c.in.

local soften = {}

--- The steps of a score in their order. Written out, the relative term is a pass of its own.
local function steps_of(s, full)
  local show, position, list = s.return_scores, s.position, {}
  local function add(condition, name)
    if condition then list[#list + 1] = { name = name } end
  end
  add(position.relative and not full, "relative")
  add(show == "raw", "show")
  add(s.softcap, "softcap")
  add(show == "capped", "show")
  add(position.alibi, "alibi")
  add(position.bias, "buckets")
  add(s.mask.additive, "additive")
  return list
end

local function masks_of(s)
  local list = {}
  for _, name in ipairs { "padding", "causal", "window", "boolean", "additive" } do
    if s.mask[name] then list[#list + 1] = { name = name } end
  end
  return list
end

local function parameters(name)
  return {
    { "const " .. name .. "_call *", "call" }, { "const " .. name .. "_rooms *", "rooms" },
    { "const float *", "packed" }, { "const float *", "query" }, { "const float *", "keys" },
    { "size_t", "head" }, { "size_t", "position" }, { "size_t", "block" }, { "size_t", "first" },
    { "size_t", "last" }, { "size_t", "stop" }, { "float *", "scores" }, { "int32_t *", "keep" },
    { "float *", "top" }, { "float *", "total" }, { "float *", "fade" },
  }
end

--- Lines that a row needs before its keys.
local function setups(context, masked)
  local s, l, lines = context.spec, context.layer, {}
  local function line(text, ...) lines[#lines + 1] = text:format(...) end
  if s.return_scores then
    line("float *shown = call->scores ? call->scores + (ptrdiff_t)head * call->scores_head"
      .. " + (ptrdiff_t)position * call->scores_row : NULL;")
  end
  if s.position.bias then
    line("const float *distance_bias = packed + %d + head * %d;",
      context.names.part("bias_table") + 15 + l.reach.bias_table.left,
      l.packed.parts.bias_table.width)
  end
  local function map(field, ctype)
    local head = ""
    if s.mask[field] == "per_head" then
      head = (" + (ptrdiff_t)head * call->%s_head"):format(field)
    end
    line("%s%s = call->%s ? call->%s%s + (ptrdiff_t)position * call->%s_row : NULL;",
      ctype, field, field, field, head, field)
  end
  if masked and s.mask.boolean then map("boolean", "const uint8_t *") end
  if s.mask.additive then map("additive", "const float *") end
  return lines
end

local TITLES <const> = {
  [false] = "A row of scores, all keys kept: steps, largest; then weights and their sum.",
  [true] = "A row of scores, some keys dropped: steps, mask, largest; then weights and their sum.",
}

local PLACED <const> = { relative = true, alibi = true, buckets = true }

--- Whether a row's steps or masks ask where its query stands among the keys.
local function asks_place(s, masked, steps)
  for _, step in ipairs(steps) do
    if PLACED[step.name] then return true end
  end
  return masked and (s.mask.causal or s.mask.window) and true or false
end

--- Whether they ask which key is at hand.
local function asks_key(s, masked, steps)
  return masked or s.return_scores ~= nil or #steps > (s.softcap and 1 or 0)
end

--- Defines soften_kept (all keys kept) or soften_masked.
-- @tparam boolean masked which of the two
-- @tparam table at { place: behind the name, static: all keys are known at generation }
-- @treturn function of(arguments) -> the call as C
function soften.define(context, masked, at)
  local s, a, l = context.spec, context.plan.attention, context.layer
  local name = (masked and "soften_masked" or "soften_kept") .. at.place
  local steps, show = steps_of(s, context.full), s.return_scores or false
  local body = context:render("attend/soften.c.in", {
    masked = masked, masks = masked and masks_of(s) or {}, steps = steps,
    setups = setups(context, masked), uses_place = asks_place(s, masked, steps),
    uses_here = asks_key(s, masked, steps), show = show, block = a.block, single = a.single,
    static = at.static or false, keys = l.keys_max,
    exponential = a.log2 and "vec_exp2" or "vec_exp",
    render = function(file, key, step)
      return context:render(file, { key = key, step = step, show = show })
    end,
  })
  context.writer:define(name, {
    title = TITLES[masked], parameters = parameters(l.name), body = body,
  })
  return function(given) return context.writer:call(name, given) .. ";" end
end

return soften
