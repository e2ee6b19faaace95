--- The names that the float64 reference of a layer's Check test is written with.
-- In: a layer. Out: a table of names for the templates below templates/layer_test/, of which only
-- those steps print that the layer has. Knows the layer; knows no kernel, plan or target.

local c = require "c"

local reference = {}

local function either(condition, yes, no) if condition then return yes end return no or "" end

--- Where the counts of a call come from: an expression over `call`, or a literal.
local function counts_of(s, literal)
  local function count(given, field) return given.fixed and literal(given.max) or "(ptrdiff_t)call->" .. field end
  local tokens = count(s.tokens, "tokens")
  local fresh = s.context and count(s.context, "context") or tokens
  local past = count(s.past, "past")
  return {
    tokens = tokens, fresh = fresh, past = past,
    live = s.context_length and "(ptrdiff_t)call->context_length" or fresh,
    columns = s.context_length and "e->columns" or "e->keys",
  }
end

--- How the queries, the keys and the values come about: {name, field, width, projected, ...} each.
local function sides_of(layer)
  local s, fields = layer.spec, {}
  for _, field in ipairs(layer.call) do fields[field.field] = field end
  local function side(name, field, letter, more)
    field = fields.x and "x" or field
    local given, matrix = fields[field], fields.x == nil and fields[field].strides[2]
    local out = {
      name = name, field = field, width = "D_" .. letter:upper(), projected = s.project[letter],
      heads = letter == "q" and "HEADS" or "KV_HEADS", part = letter == "v" and "P_V" or "P_Q",
      matrix = "w" .. letter, bias = s.bias[letter] and "given.b" .. letter or "NULL",
      rows = letter == "q" and "tokens" or "fresh", head_stride = matrix ~= nil and matrix ~= false,
      optional = given.optional,
    }
    out.heads_name, out.part_name = out.heads, out.part
    for key, value in pairs(more) do out[key] = value end
    return out
  end
  local input = s.norms.input
  local q = side("query", "q", "q", {
    place = "e->start + r", qk_norm = "q_norm", normed = input and "",
    text = "Queries of all rows" .. either(input, ", of the normed input"),
  })
  local k = side("key", "k", "k", {
    place = "e->past + r", qk_norm = "k_norm",
    text = "Keys of all positions given with the call",
  })
  local v = side("value", "v", "v", { text = "Values of all positions given with the call" })
  if input and fields.x then
    k.normed, v.normed = "", ""
  elseif input and not s.context then           -- normed where it is the very tensor of the queries
    k.normed = s.d_k == s.d_q and "if (from == call->q) " or nil
    v.normed = s.d_v == s.d_q and "if (from == call->q) " or nil
  end
  return { q, k, v }, fields
end

--- What the scores look at, so that no parameter is printed that nothing reads.
local function needs_of(s)
  local mask = s.mask
  local per_head = mask.boolean == "per_head" or mask.additive == "per_head"
  local map = mask.boolean or mask.additive
  local kept = mask.padding or map or mask.causal or mask.window
  return {
    call_in_kept = mask.padding or map,
    call_in_extent = not (s.tokens.fixed and s.past.fixed and (not s.context or s.context.fixed))
      or s.context_length,
    extent_in_kept = mask.causal or mask.window or map,
    head_in_kept = per_head or mask.additive,
    query_in_kept = mask.causal or mask.window or map,
    call_in_attend = kept or mask.additive or s.head_mask,
  }
end

local function any_norm(s, test)
  for _, place in ipairs { "input", "output", "after" } do
    if s.norms[place] and test(s.norms[place]) then return true end
  end
  return false
end

--- Digits of 32 bits that the powers of a bucket's edge can fill.
local function bucket_names(bias, reach)
  local count = bias.bidirectional and bias.buckets // 2 or bias.buckets
  local exact = count // 2
  local bits = (count - exact) * (math.log(math.max(bias.max_distance, reach, 2), 2)
    + math.log(math.max(exact, 2), 2))
  return {
    count = count, exact = exact, max_distance = bias.max_distance, bidirectional = bias.bidirectional,
    digits = math.ceil(bits / 32) + 1, reach = reach,
  }
end

--- The names of the reference.
-- @tparam table layer from layer.of
-- @tparam integer reach the farthest a key is from a query in the runs of the test
-- @treturn table names for render.template
function reference.names(layer, reach)
  local s = layer.spec
  local position = s.position
  local sides, fields = {}, {}
  if s.attention then sides, fields = sides_of(layer) end
  for _, field in ipairs(layer.call) do fields[field.field] = field end
  local rms = any_norm(s, function(n) return n.kind == "rms" end)
  local plus_one = any_norm(s, function(n) return n.kind == "rms" and n.plus_one end)
  local score = {}
  if s.return_scores == "raw" or s.return_scores == "capped" then score[1] = s.return_scores end
  score[#score + 1] = "biased"
  local slopes = {}
  for i, slope in ipairs(position.alibi and position.alibi.slopes or {}) do slopes[i] = c.double(slope) end
  local placed = position.relative or position.alibi or position.bias
  local any_norms = any_norm(s, function() return true end)
  local truth = { "mixed", "y" }
  if s.attention then table.move({ "query", "key", "value" }, 1, 3, 3, truth) end
  if s.return_weights then truth[#truth + 1] = "weights" end
  if s.return_scores then truth[#truth + 1] = "scores" end
  local mask = s.mask
  local query_field = fields.x and "x" or "q"
  local residual_head = fields[query_field] and fields[query_field].strides[2] ~= nil
  return {
    attention = s.attention, masked = layer.masked,
    rope = position.rope or false, relative = position.relative or false, alibi = position.alibi or false,
    buckets = position.bias and bucket_names(position.bias, reach) or false,
    count_of = counts_of(s, function(n) return tostring(n) end),
    sides = sides, has_v = fields.v ~= nil, has_input = s.project.q or s.project.k or s.project.v,
    k_head_or_dense = fields.k and fields.k.strides[2] and "call->k_head" or "0",
    maps = mask.boolean or mask.additive or false,
    needs = needs_of(s),
    uses = {
      minus = s.attention or any_norm(s, function(n) return n.kind == "layer" end),
      constant = s.attention or any_norms,
      over = s.attention or any_norms,
      root = s.qk_norm or any_norms,
    },
    norm_kind = {
      layer = any_norm(s, function(n) return n.kind == "layer" end), rms = rms or s.qk_norm ~= nil,
    },
    plus_one_note = either(plus_one, ", or (1 + gamma)"),
    plus_one_parameter = either(plus_one, ", bool plus_one"),
    no_plus_one = either(plus_one, ", false"),
    norm_call = function(place, row, width)
      local norm, role = s.norms[place], place == "after" and "" or place .. "_"
      local text = ("%s_norm(%s, %s, constant(%s), given.%sgamma"):format(norm.kind, row, width,
        c.double(norm.eps), role)
      if norm.kind == "layer" then return text .. ", given." .. role .. "beta);" end
      return text .. either(plus_one, norm.plus_one and ", true" or ", false") .. ");"
    end,
    slopes = table.concat(slopes, ", "),
    score_members = table.concat(score, ", "),
    score_note = either(#score > 1, ": as it is shown, and as it enters the softmax"),
    score_call = either(mask.additive, "const " .. layer.name .. "_call *call, "),
    score_given = either(mask.additive, "call, "),
    placed_score = placed and true or false,
    residual_default = fields.residual and fields.residual.optional or false,
    residual_head = residual_head, query_field = query_field,
    past_parameters = either(s.cache, ", const float *past_keys, const float *past_values"),
    truth_members = truth,
  }
end

return reference
