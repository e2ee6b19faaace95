--- What a call of a layer has to do, counted: operations, exps, bytes read.
-- In: a layer and the counts of a call. Out: numbers. Knows no target and no time.

local counts = {}

--- Where a count is not told: rows of context and past that a call is measured with, at most.
local MOST <const> = 512

--- Numbers of tokens to measure where the spec leaves them open.
local TOKENS <const> = { 1, 8, 32, 128, 512 }

local function chosen(count, asked)
  if not count then return 0 end
  if count.fixed then return count.max end
  return asked or math.min(count.max, MOST)
end

local function complaint_of(field, count, asked)
  if not asked then return nil end
  if not count then return ("--%s %d: the layer has no %s"):format(field, asked, field) end
  if count.fixed and asked ~= count.max then
    return ("--%s %d: the layer takes %d, no more and no less"):format(field, asked, count.max)
  end
  if asked > count.max then
    return ("--%s %d: the layer takes at most %d"):format(field, asked, count.max)
  end
end

local function tokens_of(s, asked)
  if #asked > 0 then return asked end
  if s.tokens.fixed then return { s.tokens.max } end
  local list = {}
  for _, count in ipairs(TOKENS) do
    if count < s.tokens.max then list[#list + 1] = count end
  end
  if s.tokens.max <= MOST then list[#list + 1] = s.tokens.max end
  return list
end

--- The calls to measure.
-- @tparam table s a completed spec
-- @tparam table asked tokens (a list, may be empty), context, past (each may be nil)
-- @treturn ?table list of {tokens, fresh, past}, or nil
-- @treturn {string,...} what the layer can not do
function counts.calls(s, asked)
  local list, complaints = {}, {}
  local function complain(text) complaints[#complaints + 1] = text end
  local past = s.cache and s.past or nil
  complain(complaint_of("context", s.context, asked.context))
  complain(complaint_of("past", past, asked.past))
  for _, tokens in ipairs(tokens_of(s, asked.tokens)) do
    complain(tokens == 0 and "--tokens 0: nothing to measure"
      or complaint_of("tokens", s.tokens, tokens))
    list[#list + 1] = {
      tokens = tokens, fresh = s.context and chosen(s.context, asked.context) or tokens,
      past = chosen(past, asked.past),
    }
  end
  if #complaints > 0 then return nil, complaints end
  return list
end

--- Pairs of a query and a key that causal and window masks keep; other masks keep all when
-- measured.
local function pairs_kept(s, call)
  local keys, mask = call.past + call.fresh, s.mask
  local start = s.align == "start" and call.past or keys - call.tokens
  local total = 0
  for place = start, start + call.tokens - 1 do
    local from, to = 0, keys - 1
    local window = mask.window or {}
    if mask.causal then to = math.min(to, place) end
    if window.left then from = math.max(from, place - window.left) end
    if window.right then to = math.min(to, place + window.right) end
    total = total + math.max(0, to - from + 1)
  end
  return total
end

--- What one call has to do.
-- @tparam table layer from layer.of
-- @tparam table call tokens, fresh, past
-- @treturn table operations (a multiply-add is two; softmax, norms and biases are not counted),
--   exps, and bytes of weights and cache that are read at least once
function counts.of(layer, call)
  local s = layer.spec
  local multiply_adds, exps, bytes = 0, 0, layer.packed.bytes
  local function add(there, product) if there then multiply_adds = multiply_adds + product end end
  add(s.project.q, call.tokens * s.d_q * s.heads * s.p_q)
  add(s.project.k, call.fresh * s.d_k * s.kv_heads * s.p_q)
  add(s.project.v, call.fresh * s.d_v * s.kv_heads * s.p_v)
  add(s.project.o, call.tokens * s.heads * s.p_v * s.p_o)
  if s.attention then
    local kept, relative = pairs_kept(s, call), s.position.relative
    local depth = s.p_q + s.p_v
    if relative then depth = depth + s.p_q * (relative.kind == "key_query" and 2 or 1) end
    multiply_adds = multiply_adds + kept * s.heads * depth
    exps = kept * s.heads
    if s.cache then bytes = bytes + 4 * call.past * s.kv_heads * (s.p_q + s.p_v) end
  end
  return { operations = 2 * multiply_adds, exps = exps, bytes = bytes }
end

--- The least time of a call on a machine: multiply-adds and exps one after the other, since they
-- share the execution units, while weights and cache are read beside them.
-- @tparam table work from counts.of
-- @tparam table speed fma, exp, read: operations, results, bytes a second
-- @treturn number seconds
-- @treturn string which of them binds: "fma", "exp" or "read"
function counts.limit(work, speed)
  local fma, exp = work.operations / speed.fma, work.exps / speed.exp
  local read = work.bytes / speed.read
  if read > fma + exp then return read, "read" end
  return fma + exp, fma >= exp and "fma" or "exp"
end

return counts
