--- The run-time counts that a layer's Check test calls the layer with.
-- In: a layer. Out: lists of counts, from none to many, of which the float64 reference can be worked
-- out in a fraction of a second. Knows shapes only.

local runs = {}

--- Multiply-adds of the slow reference in one test, and of the layer itself in a long call.
local REFERENCE_MOST <const> = 16000000
local LAYER_MOST <const> = 1000000000

--- Keys beyond which a layer may go block by block.
local LONG <const> = 300

--- Counts to try, of which those between 0 and the layer's maximum remain.
local TOKENS <const> = { 0, 1, 2, 3, 7, 16, 17, 33, 40, 70, 130 }
local CONTEXT <const> = { 7, 1, 0, 16, 33, 17, 40, 70, 300, 15, 130 }
local PAST <const> = { 0, 16, 1, 33, 15, 17, 70, 300, 5, 130, 2 }

--- A count's values: one where it is fixed, else those of the list that the layer allows, and its maximum.
local function values(count, list)
  if not count then return { 0 } end
  if count.fixed then return { count.max } end
  local out, seen = {}, {}
  for _, n in ipairs(list) do
    if n <= count.max then out[#out + 1], seen[n] = n, true end
  end
  if not seen[count.max] and count.max < 1000 then out[#out + 1] = count.max end
  return out
end

--- Multiply-adds of one call: with `queries` of its rows, and as many keys as `keys` made and `all` in all.
local function cost(s, queries, keys, all)
  local total = s.project.o and queries * s.heads * s.p_v * s.p_o or 0
  if s.project.q then total = total + queries * s.d_q * s.heads * s.p_q end
  if s.project.k then total = total + keys * s.d_k * s.kv_heads * s.p_q end
  if s.project.v then total = total + keys * s.d_v * s.kv_heads * s.p_v end
  if s.attention then total = total + queries * all * s.heads * (2 * s.p_q + s.p_v) end
  return total
end

local function fresh(s, run) return s.context and run.context or run.tokens end

local function cost_of_run(s, run)
  return cost(s, run.tokens, fresh(s, run), run.past + fresh(s, run))
end

--- The live keys of a run: all of them, some or none in turn.
local function live(s, number, given)
  if not s.context_length then return given end
  return ({ given, given * 3 // 4, given // 2, 0 })[(number - 1) % 4 + 1]
end

--- The list of runs {tokens, context, past, live}, the cheap ones first; always the smallest of all.
-- @tparam table layer from layer.of
-- @treturn table runs; `small` and `large` are the positions of two that have rows and keys
function runs.of(layer)
  local s = layer.spec
  local tokens, context, past = values(s.tokens, TOKENS), values(s.context, CONTEXT), values(s.past, PAST)
  local list, seen = {}, {}
  for number = 1, math.max(#tokens, #context, #past) + 2 do
    local function turn(of, by) return of[(number * by - by) % #of + 1] end
    local run = { tokens = turn(tokens, 1), context = turn(context, 1), past = turn(past, 1) }
    run.live = live(s, number, fresh(s, run))
    local key = table.concat({ run.tokens, run.context, run.past, run.live }, " ")
    if not seen[key] and (#list < 3 or cost_of_run(s, run) <= REFERENCE_MOST) then
      list[#list + 1], seen[key] = run, true
    end
  end
  local function weight(run) return run.live > 0 and run.tokens > 0 and cost_of_run(s, run) or -1 end
  list.small, list.large = 1, 1
  for i, run in ipairs(list) do
    if weight(run) > weight(list[list.large]) then list.large = i end
  end
  for i, run in ipairs(list) do        -- the largest that is much cheaper than the large one
    local here, best = weight(run), weight(list[list.small])
    if here * 3 <= weight(list[list.large]) and here > best then list.small = i end
  end
  if weight(list[list.small]) < 0 then list.small = list.large end
  return list
end

--- A call with more keys than are softened at once, judged in some of its rows only: with padding
-- few keys are kept, so that the reference need not make the others.
-- @tparam table layer from layer.of
-- @treturn ?table {tokens, context, past, live, every, kept}; nil where the layer has no such call
function runs.long(layer)
  local s = layer.spec
  if not s.mask.padding or s.cache or not s.attention then return nil end
  if s.return_weights or s.return_scores == "raw" or s.return_scores == "capped" then return nil end
  local count = s.context or s.tokens
  if count.max < LONG or count.fixed and count.max > 2 * LONG then return nil end
  local keys = count.fixed and count.max or LONG
  local queries = keys
  if s.context then queries = s.tokens.fixed and s.tokens.max or math.min(s.tokens.max, 5) end
  local run = { tokens = queries, context = keys, past = 0, live = keys, every = (queries + 2) // 3, kept = 29 }
  local watched = (queries + run.every - 1) // run.every + 1
  if cost(s, watched, keys // run.kept + 1, keys // run.kept + 1) > REFERENCE_MOST then return nil end
  if cost(s, queries, keys, keys) > LAYER_MOST then return nil end
  return run
end

--- How a prompt is handed over in chunks: {total, lengths}, nil where the layer can not take one so.
-- @tparam table layer from layer.of
-- @treturn ?table
function runs.chunks(layer)
  local s = layer.spec
  if not s.cache or s.context or s.past.fixed or s.tokens.fixed then return nil end
  local window = s.mask.window
  if not (s.mask.causal or window and window.right == 0) then return nil end
  local total = math.min(s.tokens.max, s.past.max + 1, 45)
  while total > 1 and cost(s, total, total, total) > REFERENCE_MOST do total = total - 1 end
  if total < 2 then return nil end
  local lengths = {}
  for _, n in ipairs { 1, 3, 16, 17 } do
    if n < total then lengths[#lengths + 1] = n end
  end
  return { total = total, lengths = lengths }
end

--- The farthest that a key is from a query in these calls.
-- @tparam table layer from layer.of
-- @treturn integer
function runs.reach(layer)
  local most = 1
  local function count(run)
    local s = layer.spec
    most = math.max(most, run.tokens + run.past + fresh(s, run))
  end
  for _, run in ipairs(runs.of(layer)) do count(run) end
  local long, chunks = runs.long(layer), runs.chunks(layer)
  if long then count(long) end
  return math.max(most, chunks and 2 * chunks.total or 0)
end

return runs
