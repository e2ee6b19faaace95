--- The names that the float64 reference of a layer's Check test is written with.
-- In: a layer. Out: a table of names for the templates below templates/layer_test/, of which only
-- those steps print that the layer has. Knows the layer; knows no kernel, plan or target.

local c = require "c"

local reference = {}

local PLACES <const> = { "input", "output", "after" }

local function when(condition, yes, no) if condition then return yes end return no or "" end

--- Where the counts of a call come from: an expression over `call`, or a literal.
local function counts_of(s)
  local function count(given, field)
    return when(given.fixed, tostring(given.max), "(ptrdiff_t)call->" .. field)
  end
  local tokens = count(s.tokens, "tokens")
  local fresh = s.context and count(s.context, "context") or tokens
  return {
    tokens = tokens, fresh = fresh, past = count(s.past, "past"),
    live = when(s.context_length, "(ptrdiff_t)call->context_length", fresh),
    columns = when(s.context_length, "e->columns", "e->keys"),
  }
end

--- One of queries, keys and values: where it comes from and what becomes of it.
local function side(layer, fields, name, letter)
  local s = layer.spec
  local field = fields.x or fields[letter]
  return {
    name = name, letter = letter, field = field.field, width = "D_" .. letter:upper(),
    projected = s.project[letter], matrix = "w" .. letter,
    bias = when(s.bias[letter], "given.b" .. letter, "NULL"),
    heads = when(letter == "q", "HEADS", "KV_HEADS"), part = when(letter == "v", "P_V", "P_Q"),
    rows = when(letter == "q", "tokens", "fresh"), head_stride = field.strides[2] ~= nil,
    place = when(letter == "q", "e->start + r", "e->past + r"), head_norm = letter .. "_norm",
    turned = letter ~= "v",
  }
end

local function sides_of(layer, fields)
  local s = layer.spec
  if not s.attention then return {} end
  local list = { side(layer, fields, "query", "q"), side(layer, fields, "key", "k"),
    side(layer, fields, "value", "v") }
  local texts = { "Queries of all rows.", "Keys of all positions given with the call.",
    "Values of all positions given with the call." }
  for i, of in ipairs(list) do
    of.text, of.normed = texts[i], s.norms.input and (of.letter == "q" or fields.x)
  end
  return list
end

local function any_run_time(s)
  local fixed = s.tokens.fixed and s.past.fixed and (not s.context or s.context.fixed)
  return not fixed or s.context_length
end

--- What the functions look at: what they do not is voided, so that no compiler warns.
local function needs_of(s, masked)
  local mask = s.mask
  local map = mask.boolean or mask.additive
  local placed = mask.causal or mask.window or map
  local per_head = mask.boolean == "per_head" or mask.additive
  local kept = { call = mask.padding or map, e = placed, i = per_head, t = placed }
  local unread = {}
  for _, name in ipairs { "call", "e", "i", "t" } do
    if not kept[name] then unread[#unread + 1] = name end
  end
  return {
    unread_in_kept = unread,
    needs = {
      call_in_extent = any_run_time(s), call_in_attend = masked or s.head_mask,
    },
  }
end

local function any_norm(s, test)
  for _, place in ipairs(PLACES) do
    if s.norms[place] and test(s.norms[place]) then return true end
  end
  return false
end

local function norm_names(s)
  local any = any_norm(s, function() return true end)
  local layers = any_norm(s, function(n) return n.kind == "layer" end)
  local plus_one = {}
  for _, kind in ipairs { "layer", "rms" } do
    plus_one[kind] = any_norm(s, function(n) return n.kind == kind and n.plus_one end)
  end
  return {
    uses = {
      minus = s.attention or layers, constant = s.attention or any, over = s.attention or any,
      root = s.qk_norm or any, times = s.attention or any or s.project.o,
    },
    norm_kind = {
      layer = layers, rms = s.qk_norm or any_norm(s, function(n) return n.kind == "rms" end),
    },
    plus_one = plus_one, no_plus_one = when(plus_one.rms, ", false"),
    --- The call of a norm on a row of numbers.
    norm_call = function(place, row, width)
      local norm, role = s.norms[place], place == "after" and "" or place .. "_"
      local more = norm.kind == "layer" and ", given." .. role .. "beta" or ""
      if plus_one[norm.kind] then more = more .. when(norm.plus_one, ", true", ", false") end
      local call = "%s_norm(%s, %s, constant(%s), given.%sgamma%s);"
      return call:format(norm.kind, row, width, c.double(norm.eps), role, more)
    end,
  }
end

--- What the bucket bias needs: buckets a direction, how many are exact, digits of the powers.
local function buckets_of(bias, reach)
  if not bias then return false end
  local count = bias.bidirectional and bias.buckets // 2 or bias.buckets
  local exact = count // 2
  local function bits(n) return math.log(math.max(n, 2), 2) end
  local most = (count - exact) * (bits(math.max(bias.max_distance, reach)) + bits(exact))
  return {
    count = count, exact = exact, digits = math.ceil(most / 32) + 1, reach = reach,
    max_distance = bias.max_distance, bidirectional = bias.bidirectional,
  }
end

local function score_names(layer)
  local s = layer.spec
  local shown = s.return_scores == "raw" or s.return_scores == "capped"
  local position, slopes = s.position, {}
  local given = position.alibi and position.alibi.slopes or {}
  for i, slope in ipairs(given) do slopes[i] = c.double(slope) end
  return {
    maps = s.mask.boolean or s.mask.additive or false, shows_all_scores = shown,
    slopes = table.concat(slopes, ", "),
    score_members = when(shown, tostring(s.return_scores) .. ", biased", "biased"),
    score_note = when(shown, ": as it is shown, and as it enters the softmax"),
    score_call = when(s.mask.additive, "const " .. layer.name .. "_call *call, "),
    score_given = when(s.mask.additive, "call, "),
    placed_score = (position.relative or position.alibi or position.bias) and true or false,
  }
end

local function truth_members(s)
  local list = { "mixed", "y" }
  if s.attention then table.move({ "query", "key", "value" }, 1, 3, 3, list) end
  if s.return_weights then list[#list + 1] = "weights" end
  if s.return_scores then list[#list + 1] = "scores" end
  return list
end

local function residual_default(field) return field and field.optional or false end

--- The names of the reference.
-- @tparam table layer from layer.of
-- @tparam integer reach the farthest a key is from a query in the runs of the test
-- @treturn table list of tables of names for render.template
function reference.names(layer, reach)
  local s, fields = layer.spec, {}
  for _, field in ipairs(layer.call) do fields[field.field] = field end
  local query = fields.x or fields.q or fields.o
  local position = s.position
  return {
    norm_names(s), score_names(layer), needs_of(s, layer.masked),
    {
      attention = s.attention, masked = layer.masked, rope = position.rope or false,
      relative = position.relative or false, alibi = position.alibi or false,
      buckets = buckets_of(position.bias, reach), count_of = counts_of(s),
      sides = sides_of(layer, fields),
      has_input = s.project.q or s.project.k or s.project.v,
      query_field = query.field, residual_default = residual_default(fields.residual),
      residual_head = query.strides[2] ~= nil, truth_members = truth_members(s),
      past_parameters = when(s.cache, ", const float *past_keys, const float *past_values"),
    },
  }
end

return reference
