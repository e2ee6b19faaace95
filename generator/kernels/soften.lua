--- A row of scores, in two passes: its steps, its mask and the largest; then the weights
-- e^(score - largest) and their sum. Largest and sum stay lane by lane, for the tile to fold those
-- of all its rows at once. Each step is a template below templates/scores/, each mask one below
-- templates/masks/; partner of templates/attend/soften.c.in.

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
    { "const float *", "top" }, { "const float *", "largest" }, { "float *", "to" },
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
  score = {
    [false] = "Steps of a row's scores, all keys kept, and the largest of each lane.",
    [true] = "Steps and mask of a row's scores, some keys dropped, and the largest of each lane.",
  },
  weigh = {
    [false] = "A row's weights, all keys kept, and their sum lane by lane.",
    [true] = "A row's weights, some keys dropped, and their sum lane by lane.",
  },
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

--- Defines one pass over a row, for rows whose keys are all kept or for others.
-- @tparam string pass "score" or "weigh"
-- @tparam boolean masked which rows
-- @tparam table options { static: whether all keys are known at generation; alone: whether no
--   other row is folded beside this one, so that largest and sum become numbers at once }
-- @treturn function of(arguments) -> the call as C
function soften.define(context, pass, masked, options)
  local s, a, l = context.spec, context.plan.attention, context.layer
  local scores, show = pass == "score", s.return_scores or false
  local steps = steps_of(s, context.full)
  local body = context:render("attend/soften.c.in", {
    weighs = not scores, masked = masked, masks = masked and masks_of(s) or {}, steps = steps,
    setups = scores and setups(context, masked) or {},
    uses_place = scores and asks_place(s, masked, steps), uses_here = asks_key(s, masked, steps),
    show = show, block = a.block, keys = l.keys_max, exponential = a.exponential,
    static = options.static, alone = options.alone,
    render = function(file, key, step)
      return context:render(file, { key = key, step = step, show = show })
    end,
  })
  local row = options.alone and "_row" or ""
  local name = pass .. row .. (masked and "_masked" or "_kept")
  context.writer:define(name, {
    title = TITLES[pass][masked], parameters = parameters(l.name), body = body,
  })
  return function(given) return context.writer:call(name, given) .. ";" end
end

return soften
