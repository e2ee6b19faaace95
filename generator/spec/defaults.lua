--- The completed form of a spec: every default written out.
-- In: the values of the fields that were given and are right, and the paths with complaints. Out:
-- the completed spec; where it cannot be told because of a complaint, a part of it is nil.

local defaults = {}

local function times(a, b) return a and b and a * b end

-- The fields of one spec: a value that was given, or its default, or nil after a complaint.
local function chooser(given, bad)
  return function(name, default)
    if bad[name] then return nil end
    if given[name] == nil then return default end
    return given[name]
  end
end

local function project_of(given, bad, attention)
  if bad.project then return nil end
  local all = attention and given.project == nil
  local project = {}
  for _, which in ipairs { "q", "k", "v", "o" } do
    project[which] = all or given.project ~= nil and given.project[which] or false
  end
  if given.project == nil then project.o = true end
  return project
end

-- Where a projection is not there, its input is the projected form already.
local function add_widths(s, choose)
  local project = s.project or {}
  local d = choose("d")
  s.p_v, s.heads = choose("p_v"), choose("heads")
  s.p_q, s.kv_heads = choose("p_q", s.p_v), choose("kv_heads", s.heads)
  if s.attention == false then s.p_q, s.kv_heads = s.p_v, s.heads end
  local d_q = choose("d_q", d)
  s.d_q = times(s.heads, s.p_q)
  s.d_k, s.d_v = times(s.kv_heads, s.p_q), times(s.kv_heads, s.p_v)
  if project.q then s.d_q = d_q end
  if project.k then s.d_k = choose("d_k", d) end
  if project.v then s.d_v = choose("d_v", d) end
  s.p_o = times(s.heads, s.p_v)
  if project.o then s.p_o = choose("p_o", d_q or s.attention and s.d_q or nil) end
end

local function bias_of(given, project)
  local flags, bias = given.bias or {}, {}
  for _, which in ipairs { "q", "k", "v", "o" } do
    local wanted = flags.all
    if wanted == nil then wanted = flags[which] end
    bias[which] = wanted ~= false and project ~= nil and project[which]
  end
  return bias
end

local function mask_of(given)
  local mask = given.mask or {}
  return {
    padding = mask.padding or false, causal = mask.causal or false,
    boolean = mask.boolean or false, additive = mask.additive or false, window = mask.window,
  }
end

local function position_of(given, p_q)
  local position = given.position or {}
  local rope, relative = position.rope, position.relative
  return {
    rope = rope and {
      base = rope.base, frequencies = rope.frequencies, dim = rope.dim or p_q,
      interleaved = rope.interleaved, factor = rope.factor,
    },
    alibi = position.alibi,
    relative = relative and {
      kind = relative.kind, max = relative.max,
      left = relative.max and relative.max - 1 or relative.left,
      right = relative.max and relative.max - 1 or relative.right,
    },
    bias = position.bias,
  }
end

local function norms_of(given)
  local norms = {}
  for _, place in ipairs { "input", "output", "after" } do
    local norm = given.norm and given.norm[place]
    norms[place] = norm and { kind = norm.kind, eps = norm.eps, plus_one = norm.plus_one }
  end
  return norms
end

--- Writes every default out.
-- @tparam table given the fields that are right, by name
-- @tparam table bad the paths that have a complaint
-- @treturn table the completed spec
function defaults.complete(given, bad)
  local choose = chooser(given, bad)
  local s = { name = given.name, attention = choose("attention", true) }
  s.project = project_of(given, bad, s.attention)
  add_widths(s, choose)
  s.tokens, s.context = given.tokens, given.context
  s.cache = choose("cache", false)
  if s.cache == true then s.cache = "linear" end
  s.past = given.past or { max = 0, fixed = true }
  s.align = choose("align", "end")
  s.bias = bias_of(given, s.project)
  s.scale = choose("scale", s.p_q and 1 / math.sqrt(s.p_q))
  s.mask = mask_of(given)
  s.softcap, s.return_scores = given.softcap, given.return_scores
  for _, name in ipairs { "context_length", "sinks", "head_mask", "residual", "return_weights" } do
    s[name] = choose(name, false)
  end
  s.position = position_of(given, s.p_q)
  s.qk_norm = given.qk_norm
  s.norms = norms_of(given)
  s.dtype, s.precision, s.reproducible = choose("dtype", "f32"), choose("precision", "f32"), true
  s.io = choose("io", s.dtype)
  s.unroll = choose("unroll", "auto")
  s.targets = choose("targets", { "portable" })
  return s
end

return defaults
