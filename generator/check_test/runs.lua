--- The run-time counts that a layer's Check test calls the layer with.
-- In: a layer. Out: lists of counts, from none to many, of which the slow float64 reference can be
-- worked out in a fraction of a second. Knows shapes only.

local runs = {}

--- Multiply-adds of the reference: in one run, in the run that many tests use, and there where only
-- some rows of the run are judged; and of the layer itself in a long call.
local REFERENCE_MOST <const> = 20000000
local LARGE_MOST <const> = 6000000
local WATCHED_MOST <const> = 15000000
local LAYER_MOST <const> = 1000000000

--- Keys of a long call: more than 256, an odd number.
local LONG <const> = 277

--- Rows of a prompt in chunks, and the past before it where there may be so much.
local CHUNKED <const> = 45
local CHUNK_PAST <const> = 240

--- Counts to try, of which those that the layer allows remain, and its maximum.
local TOKENS <const> = { 0, 1, 2, 3, 7, 16, 17, 33, 40, 70, 130 }
local CONTEXT <const> = { 7, 1, 0, 16, 33, 17, 40, 70, 300, 15, 130 }
local PAST <const> = { 0, 16, 1, 33, 15, 17, 70, 300, 5, 130, 2 }
local MAXIMUM_TRIED <const> = 1000

--- Rows of the run that many tests use, where only some of them are judged.
local WATCHED_TOKENS <const> = { 40, 17, 9, 5 }

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

--- Of a run with every > 1 the reference makes the queries 0, every, 2 * every, ... and the last.
local function watched(run)
  if run.every == 1 then return run.tokens end
  return (run.tokens + run.every - 1) // run.every + 1
end

--- Whether the reference need not make the keys that padding drops: nothing else shows them. A run
-- with every > 1 then keeps one key of `spacing`.
function runs.padding_spares_keys(layer)
  local s = layer.spec
  local shown = s.return_scores == "raw" or s.return_scores == "capped"
  return s.attention and s.mask.padding and not s.cache and not shown
end

local function spacing(run) return run.every // 3 + 1 end

local function cost_of_run(layer, run)
  local s = layer.spec
  local keys = fresh(s, run)
  if runs.padding_spares_keys(layer) then keys = keys // spacing(run) + 1 end
  return cost(s, watched(run), keys, run.past + fresh(s, run))
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
    local run = { tokens = turn(tokens, number), context = turn(context, number), every = 1 }
    run.past = turn(past, number)
    run.live = live(s, number, fresh(s, run))
    list[number] = run
  end
  return list
end

--- The position of the run whose cost is nearest below a bound; of the cheapest with rows and keys
-- where there is none.
local function nearest(layer, list, bound)
  local best, least
  for i, run in ipairs(list) do
    local here = cost_of_run(layer, run)
    if run.tokens > 0 and (run.live > 0 or not layer.spec.attention) then
      if not least or here < cost_of_run(layer, list[least]) then least = i end
      if here <= bound and (not best or here > cost_of_run(layer, list[best])) then best = i end
    end
  end
  return best or least or 1
end

--- Of a call with so many rows three are judged, the first, one between and the last.
local function judged_in_part(s, tokens, context, past)
  local run = { tokens = tokens, context = context, past = past }
  run.live = fresh(s, run)
  run.every = math.max((tokens + 1) // 2, 1)
  return run
end

--- A count's value near the one wanted, 0 for a count that the layer does not have.
local function at_most(count, wanted)
  if not count then return 0 end
  return count.fixed and count.max or math.min(count.max, wanted)
end

--- More rows than the run given, judged in part, where the reference is quick enough for it.
local function larger(layer, than)
  local s = layer.spec
  if s.tokens.fixed then return nil end
  for _, tokens in ipairs(WATCHED_TOKENS) do
    local run = judged_in_part(s, tokens, at_most(s.context, 40), at_most(s.past, 17))
    local more = tokens <= s.tokens.max and tokens > than.tokens
    if more and cost_of_run(layer, run) <= WATCHED_MOST then return run end
  end
end

--- A call with more keys than are softened at once, judged in part.
local function long(layer)
  local s = layer.spec
  local count = s.context or s.tokens
  if not runs.padding_spares_keys(layer) or count.fixed or count.max < LONG then return nil end
  local queries = at_most(s.tokens, s.context and 5 or LONG)
  if queries == 0 then return nil end
  local run = judged_in_part(s, queries, s.context and LONG or 0, 0)
  local whole = cost(s, queries, LONG, LONG)
  if cost_of_run(layer, run) > REFERENCE_MOST or whole > LAYER_MOST then return nil end
  return run
end

--- The list of runs {tokens, context, past, live, every}, with the first three candidates whatever
-- they cost; a fixed count whose reference would be slow is judged in part.
-- @tparam table layer from layer.of
-- @treturn table runs; `small` and `large` are positions of two that have rows and keys, `in_part`
--   tells whether some run is judged in part
function runs.of(layer)
  local s, list, seen = layer.spec, {}, {}
  for _, run in ipairs(candidates(s)) do
    local key = ("%d %d %d %d"):format(run.tokens, run.context, run.past, run.live)
    if not seen[key] and (#list < 3 or cost_of_run(layer, run) <= REFERENCE_MOST) then
      list[#list + 1], seen[key] = run, true
    end
  end
  for _, run in ipairs(list) do
    if s.tokens.fixed and cost_of_run(layer, run) > REFERENCE_MOST then
      run.every = math.max((run.tokens + 1) // 2, 1)
    end
  end
  list.large = nearest(layer, list, LARGE_MOST)
  list.small = nearest(layer, list, cost_of_run(layer, list[list.large]) // 3)
  list[#list + 1] = long(layer)
  local more = larger(layer, list[list.large])
  if more then
    list[#list + 1] = more
    list.large = #list
  end
  list.in_part = false
  for _, run in ipairs(list) do list.in_part = list.in_part or run.every > 1 end
  return list
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
  local bound = 2 * REFERENCE_MOST
  while total > 1 and cost(s, total, total, past + total) > bound do total = total - 1 end
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
  local chunks = runs.chunks(layer)
  return math.max(most, chunks and chunks.past + 2 * chunks.total or 0)
end

return runs
