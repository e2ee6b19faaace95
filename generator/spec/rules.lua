--- The rules that several fields of a spec must keep together.
-- In: a spec as it was given, as it was read and as it was completed, and a report. Out: complaints
-- in the report, each naming the fields. A rule is passed over where a field that it needs has a
-- complaint already.

local say = require "spec.say"
local report = require "spec.report"
local sizes = require "spec.sizes"

local rules = {}

-- Each rule: the fields that it needs to be right, and a check of the completed spec s, the fields
-- that were given, and complain(path, rule).
local list = {}

local function rule(needs, check) list[#list + 1] = { needs = needs, check = check } end

-- ---- Heads and widths ---------------------------------------------------------------------------

rule({ "heads", "kv_heads", "attention" }, function(s, _, complain)
  if s.attention and s.heads % s.kv_heads ~= 0 then
    complain("kv_heads", ("must divide heads (%d)"):format(s.heads))
  end
end)

local inputs = {
  { which = "q", field = "d_q", what = "query" },
  { which = "k", field = "d_k", what = "key" },
  { which = "v", field = "d_v", what = "value" },
}

rule({ "d", "d_q", "d_k", "d_v", "project", "attention" }, function(s, given, complain)
  if given.d or not s.attention then return end
  local missing = {}
  for _, input in ipairs(inputs) do
    if s.project[input.which] and not given[input.field] then missing[#missing + 1] = input end
  end
  if #missing == 3 then
    return complain("d", "must be given, or d_q, d_k and d_v: the widths of the inputs that "
      .. "q, k and v are projected from (project)")
  end
  for _, input in ipairs(missing) do
    complain(input.field, ("must be given, here or by d: the width of the %s input that %s "
      .. "is projected from (project)"):format(input.what, input.which))
  end
end)

rule({ "d", "d_q", "d_k", "d_v" }, function(_, given, complain)
  local d = given.d
  local all = d and given.d_q and given.d_k and given.d_v
  if all and d ~= given.d_q and d ~= given.d_k and d ~= given.d_v then
    complain("d", ("is used by nothing: d_q (%d), d_k (%d) and d_v (%d) are all given")
      :format(given.d_q, given.d_k, given.d_v))
  end
end)

rule({ "p_o", "d", "d_q", "attention", "project", "heads", "p_v" }, function(s, _, complain)
  if s.project.o and not s.p_o and not s.attention then
    complain("p_o", "must be given: its default is d_q (or d), which is missing, too")
  end
end)

rule({ "bias", "project", "attention" }, function(s, given, complain)
  for _, which in ipairs { "q", "k", "v", "o" } do
    if given.bias and given.bias[which] and not s.project[which] then
      complain("bias." .. which, ("%s is not projected (project)"):format(which))
    end
  end
end)

-- ---- Keys of earlier calls ----------------------------------------------------------------------

rule({ "past", "cache", "attention" }, function(s, _, complain)
  if s.attention and not s.cache and s.past.max > 0 then
    complain("past", "needs cache = true: without a cache nothing is past")
  end
end)

rule({ "cache", "mask" }, function(s, _, complain)
  local window = s.mask.window
  if s.cache == "ring" and not (window and window.left) then
    complain("cache", "needs a window with left in mask: a ring keeps that many keys only")
  end
end)

rule({ "cache", "context", "context_length" }, function(s, _, complain)
  if s.cache ~= "ring" then return end
  if s.context then
    complain("context",
      'cannot stand beside cache = "ring", whose keys are those of the queries')
  end
  if s.context_length then
    complain("context_length",
      'cannot stand beside cache = "ring": it moves the queries back to keys that are gone')
  end
end)

rule({ "cache", "return_scores" }, function(s, _, complain)
  local every_key = s.return_scores == "raw" or s.return_scores == "capped"
  if s.cache == "ring" and every_key then
    complain("return_scores",
      'cannot stand beside cache = "ring": these scores are of every key, also of those gone')
  end
end)

-- ---- Positions ----------------------------------------------------------------------------------

rule({ "position.rope" }, function(s, _, complain)
  local rope = s.position.rope
  if not rope then return end
  if rope.frequencies and rope.base then
    complain("position.rope.base", "cannot stand beside frequencies = true")
  elseif not rope.frequencies and not rope.base then
    complain("position.rope.base", "must be given, or frequencies = true")
  end
end)

rule({ "position.rope", "p_q", "p_v" }, function(s, given, complain)
  local rope = s.position.rope
  if not rope or not s.p_q then return end
  local default = given.position.rope.dim and "" or ", which is the default"
  if rope.dim % 2 ~= 0 then
    complain("position.rope.dim", ("must be even: components turn in pairs; p_q is %d%s")
      :format(s.p_q, default))
  end
  if rope.dim > s.p_q then
    complain("position.rope.dim", ("must be at most p_q (%d)"):format(s.p_q))
  end
end)

rule({ "position.alibi", "heads" }, function(s, _, complain)
  local alibi = s.position.alibi
  if alibi and #alibi.slopes ~= s.heads then
    complain("position.alibi.slopes", ("must be one a head: there are %d and heads is %d")
      :format(#alibi.slopes, s.heads))
  end
end)

-- The side of the relative table that is wrong, and why.
local function broken_sides(relative)
  local left, right = relative.left, relative.right
  if relative.max then
    return (left or right) and "max", "cannot stand beside left or right"
  end
  if not left and not right then return "max", "must be given, or left and right" end
  if not left then return "left", "must be given with right" end
  return not right and "right", "must be given with left"
end

rule({ "position.relative" }, function(_, given, complain)
  local relative = given.position and given.position.relative
  if not relative then return end
  local side, broken = broken_sides(relative)
  if side then complain("position.relative." .. side, broken) end
end)

rule({ "position.relative", "tokens", "context", "past", "align" }, function(s, given, complain)
  local relative = given.position and given.position.relative
  if not relative or not relative.max or broken_sides(relative) then return end
  local reach = sizes.reach(s)
  if relative.max <= reach then
    complain("position.relative.max", ("must be above %d, the distance that tokens, context and "
      .. "past reach with align = %s; left and right clip distances instead")
      :format(reach, say.value(s.align)))
  end
end)

rule({ "position.bias" }, function(s, _, complain)
  local bias = s.position.bias
  if not bias then return end
  local path = "position.bias."
  if bias.bidirectional and bias.buckets % 2 ~= 0 then
    return complain(path .. "buckets",
      "must be even with bidirectional = true: one half is for keys after the query")
  end
  local one_way = bias.bidirectional and bias.buckets // 2 or bias.buckets
  if one_way < 2 then
    return complain(path .. "buckets", ("must be at least %d with bidirectional = %s")
      :format(bias.bidirectional and 4 or 2, tostring(bias.bidirectional)))
  end
  if bias.max_distance <= one_way // 2 then
    complain(path .. "max_distance", ("must be above %d: with buckets = %d that "
      .. "many distances have a bucket of their own"):format(one_way // 2, bias.buckets))
  end
end)

-- ---- Norms --------------------------------------------------------------------------------------

-- In self-attention the input norm is on k and v, too, where they are the query's own rows. That is
-- told only where all three come from one input, or where their widths differ anyway.
rule({ "norm", "project", "attention", "context", "d", "d_q", "d_k", "d_v" },
  function(s, _, complain)
    if not s.norms.input or not s.attention or s.context then return end
    local project = s.project
    local one_input = project.q and project.k and project.v and s.d_q == s.d_k and s.d_k == s.d_v
    if not one_input and (s.d_q == s.d_k or s.d_q == s.d_v) then
      complain("norm", 'has place "input", which needs q, k and v projected from one input '
        .. "(project, d), or a context: else it cannot be told which inputs are normed")
    end
  end)

-- ---- Layers without attention -------------------------------------------------------------------

local of_attention = {
  "kv_heads", "context", "cache", "past", "align", "scale", "mask", "context_length", "softcap",
  "sinks", "position", "qk_norm", "head_mask", "return_weights", "return_scores",
}

-- A value that says no more than that the option is off.
local function is_off(name, value, s)
  if name == "kv_heads" then return value == s.heads end
  if name == "past" then return value.fixed and value.max == 0 end
  if name == "align" then return value == "end" end
  return value == false or type(value) == "table" and next(value) == nil
end

rule({ "attention" }, function(s, given, complain)
  if s.attention then return end
  for _, name in ipairs(of_attention) do
    local value = given[name]
    if value ~= nil and not is_off(name, value, s) then
      complain(name, "has no meaning with attention = false")
    end
  end
  if s.norms.input then
    complain("norm", 'has place "input", which has no meaning with attention = false')
  end
end)

rule({ "attention", "project" }, function(s, _, complain)
  if s.attention then return end
  for _, which in ipairs { "q", "k", "v" } do
    if s.project[which] then
      return complain("project", "may hold o only with attention = false")
    end
  end
end)

rule({ "attention", "project", "residual", "norm" }, function(s, _, complain)
  if s.attention or s.project.o or s.residual or next(s.norms) then return end
  complain("attention", "needs o in project, residual or norm: else the layer does nothing")
end)

-- ---- Sizes --------------------------------------------------------------------------------------

-- Where a size comes from that was not given.
local origins = {
  d_q = "d", d_k = "d", d_v = "d", p_o = "d_q", p_q = "p_v", kv_heads = "heads",
}

rule({ "heads", "kv_heads", "p_q", "p_v", "d", "d_q", "d_k", "d_v", "p_o", "tokens", "context",
  "past", "attention", "project", "position.relative" }, function(s, given, complain)
  local field, broken = sizes.broken_rule(s)
  if not field then return end
  while given[field] == nil and origins[field] do field = origins[field] end
  complain(field, broken)
end)

local function value_at(raw, path)
  local value = raw
  for name in path:gmatch("[^.]+") do value = type(value) == "table" and rawget(value, name) end
  return value
end

--- Checks a spec by all rules.
-- @tparam table s the completed spec
-- @tparam table given the fields that were given and are right
-- @tparam table raw the spec as it came in, whose values complaints show
-- @tparam table notes from report.new; complaints are added
function rules.check(s, given, raw, notes)
  local wrong_before = {}
  for path in next, notes.bad do wrong_before[path] = true end   -- a set: order does not matter
  local function complain(path, broken)
    report.complain(notes, path, value_at(raw, path), broken)
  end
  for _, one in ipairs(list) do
    local all_right = true
    for _, path in ipairs(one.needs) do all_right = all_right and not wrong_before[path] end
    if all_right then one.check(s, given, complain) end
  end
end

return rules
