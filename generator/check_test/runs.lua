--- The run-time counts that a layer's Check test calls the layer with.
-- In: a layer. Out: lists of counts, from none to many, of which the slow float64 reference can be
-- worked out in a fraction of a second. Knows shapes only.

local runs = {}

--- Multiply-adds of the reference: in the largest run, in one that many tests use; and of the layer
-- itself in a long call.
local REFERENCE_MOST <const> = 20000000
local LARGE_MOST <const> = 6000000
local LAYER_MOST <const> = 1000000000

--- Keys of a long call: more than 256, an odd number; and one key of so many is kept in it.
local LONG <const> = 277
local KEPT <const> = 29

--- Rows of a prompt in chunks, and the past before it where there may be so much.
local CHUNKED <const> = 45
local CHUNK_PAST <const> = 240

--- Counts to try, of which those that the layer allows remain, and its maximum.
local TOKENS <const> = { 0, 1, 2, 3, 7, 16, 17, 33, 40, 70, 130 }
local CONTEXT <const> = { 7, 1, 0, 16, 33, 17, 40, 70, 300, 15, 130 }
local PAST <const> = { 0, 16, 1, 33, 15, 17, 70, 300, 5, 130, 2 }
local MAXIMUM_TRIED <const> = 1000

local function values(count, list)
  if not count then return { 0 } end
  if count.fixed then return { count.max } end
  local out, seen = {}, {}
  for _, n in ipairs(list) do
    if n <= count.max then out[#out + 1], seen[n] = n, true end
  end
  if not seen[count.max] and count.max < MAXIMUM_TRIED then out[#out + 1] = count.max end
  return out
end

--- Multiply-adds of a call with so many queries worked out, keys made, and keys in all.
local function cost(s, queries, keys, all)
  local total = 0
  local function add(there, product) if there then total = total + product end end
  add(s.project.q, queries * (s.d_q or 0) * s.heads * (s.p_q or 0))
  add(s.project.k, keys * (s.d_k or 0) * s.kv_heads * (s.p_q or 0))
  add(s.project.v, keys * (s.d_v or 0) * s.kv_heads * s.p_v)
  add(s.attention, queries * all * s.heads * (2 * (s.p_q or 0) + s.p_v))
  add(s.project.o, queries * s.heads * s.p_v * s.p_o)
  return total
end

local function fresh(s, run) return s.context and run.context or run.tokens end

local function cost_of_run(s, run)
  return cost(s, run.tokens, fresh(s, run), run.past + fresh(s, run))
end

--- The live keys of a run: once none, else all or some in turn.
local function live(s, number, given)
  if not s.context_length then return given end
  if number == 2 then return 0 end
  return number // 2 % 2 == 0 and given or (3 * given + 3) // 4
end

--- All pairings of the counts that are tried, in turn.
local function candidates(s)
  local tokens, context = values(s.tokens, TOKENS), values(s.context, CONTEXT)
  local past, list = values(s.past, PAST), {}
  local function turn(of, number) return of[(number - 1) % #of + 1] end
  local most = math.max(#tokens, #context, #past)
  for number = 1, most + (s.context_length and 3 or 0) do
    local run = { tokens = turn(tokens, number), context = turn(context, number) }
    run.past = turn(past, number)
    run.live = live(s, number, fresh(s, run))
    list[number] = run
  end
  return list
end

--- The position of the run whose cost is nearest below a bound; of the cheapest with rows and keys
-- where there is none.
local function nearest(s, list, bound)
  local best, least
  for i, run in ipairs(list) do
    local here = cost_of_run(s, run)
    if run.tokens > 0 and (run.live > 0 or not s.attention) then
      if not least or here < cost_of_run(s, list[least]) then least = i end
      if here <= bound and (not best or here > cost_of_run(s, list[best])) then best = i end
    end
  end
  return best or least or 1
end

--- The list of runs {tokens, context, past, live}; the first three whatever they cost.
-- @tparam table layer from layer.of
-- @treturn table runs; `small` and `large` are positions of two that have rows and keys
function runs.of(layer)
  local s, list, seen = layer.spec, {}, {}
  for _, run in ipairs(candidates(s)) do
    local key = ("%d %d %d %d"):format(run.tokens, run.context, run.past, run.live)
    if not seen[key] and (#list < 3 or cost_of_run(s, run) <= REFERENCE_MOST) then
      list[#list + 1], seen[key] = run, true
    end
  end
  list.large = nearest(s, list, LARGE_MOST)
  list.small = nearest(s, list, cost_of_run(s, list[list.large]) // 3)
  return list
end

--- Whether a reference need not make the keys that padding drops: nothing else shows them.
local function padding_spares_keys(s)
  local shown = s.return_weights or s.return_scores == "raw" or s.return_scores == "capped"
  return s.attention and s.mask.padding and not s.cache and not shown
end

--- The counts of a long call, where the layer may have so many keys.
local function long_counts(s)
  local count = s.context or s.tokens
  if count.max < LONG or count.fixed and count.max > 2 * LONG then return nil end
  local keys = count.fixed and count.max or LONG
  if not s.context then return keys, keys end
  return s.tokens.fixed and s.tokens.max or math.min(s.tokens.max, 5), keys
end

--- A call with more keys than are softened at once, judged in some of its rows only: padding keeps
-- few keys, so that the reference need not make the others.
-- @tparam table layer from layer.of
-- @treturn ?table {tokens, context, past, live, every, kept}; nil where the layer has no such call
function runs.long(layer)
  local s = layer.spec
  if not padding_spares_keys(s) then return nil end
  local queries, keys = long_counts(s)
  if not queries or queries == 0 then return nil end
  local every = (queries + 2) // 3
  local watched, kept = (queries + every - 1) // every + 1, keys // KEPT + 1
  if cost(s, watched, kept, kept) > REFERENCE_MOST or cost(s, queries, keys, keys) > LAYER_MOST then
    return nil
  end
  return { tokens = queries, context = keys, past = 0, live = keys, every = every, kept = KEPT }
end

--- Whether the rows of a prompt are the same in one call and in several.
local function takes_chunks(s)
  local right = s.mask.window and s.mask.window.right
  local ahead = s.mask.causal or right == 0
  return s.cache and ahead and not (s.context or s.past.fixed or s.tokens.fixed)
end

--- How a prompt is handed over in chunks.
-- @tparam table layer from layer.of
-- @treturn ?table {past, total, lengths}; nil where the layer can not take one so
function runs.chunks(layer)
  local s = layer.spec
  if not takes_chunks(s) then return nil end
  local past = s.past.max >= CHUNK_PAST + CHUNKED and CHUNK_PAST or 0
  local total = math.min(s.tokens.max, s.past.max - past + 1, CHUNKED)
  while total > 1 and cost(s, total, total, past + total) > REFERENCE_MOST do total = total - 1 end
  if total < 2 then return nil end
  local lengths = {}
  for _, n in ipairs { 1, 3, 16, 17 } do
    if n < total then lengths[#lengths + 1] = n end
  end
  return { past = past, total = total, lengths = lengths }
end

--- The farthest that a key is from a query in these calls.
-- @tparam table layer from layer.of
-- @treturn integer
function runs.reach(layer)
  local s, most = layer.spec, 1
  for _, run in ipairs(runs.of(layer)) do
    most = math.max(most, run.tokens + run.past + fresh(s, run))
  end
  local long, chunks = runs.long(layer), runs.chunks(layer)
  if long then most = math.max(most, long.tokens + fresh(s, long)) end
  if chunks then most = math.max(most, chunks.past + 2 * chunks.total) end
  return most
end

return runs
