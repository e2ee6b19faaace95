--- The second stage: scores, softmax and weighted values of a tile of queries, block of keys by
-- block; partner of templates/attend/tile.c.in. The softmax runs over blocks anchored at key 0: a
-- new block rescales what stands by e^(old largest - new largest) (Milakov and Gimelshein 2018).

local edges = require "kernels.edges"
local mix = require "kernels.mix"
local relative = require "kernels.relative"
local scores = require "kernels.scores"
local soften = require "kernels.soften"

local attention = {}

--- One turn without a loop, for a layer whose keys are one block.
local function once()
  local done = false
  return function()
    if done then return nil end
    done = true
    return 0
  end
end

--- The passes over a row, where some keys may be dropped and where all are kept.
local function passes_of(context, at)
  local s, list = context.spec, {}
  local function of(masked)
    local options = { static = not masked and at.static or false, alone = at.alone }
    return {
      score = soften.define(context, "score", masked, options),
      weigh = soften.define(context, "weigh", masked, options),
    }
  end
  if context.layer.masked then list.masked = of(true) end
  if not (s.mask.boolean or s.mask.additive) then list.kept = of(false) end
  if context.full and s.position.relative then
    list.before = function(given) return relative.calls(context, at, given) end
  end
  return list
end

--- Whether all keys of a written-out tile are known at generation.
local function is_static(context)
  local s, l = context.spec, context.layer
  if l.masked or s.return_scores or s.return_weights then return false end
  return context.full and context.plan.attention.single and l.keys_fixed and true or false
end

--- The names that the template of a tile asks for.
local function names_of(context, at, passes)
  local s, l, a = context.spec, context.layer, context.plan.attention
  local literal = math.type(at.positions) ~= nil
  return {
    head = at.head, part_at = at.part, row = at.row, positions = at.positions,
    positions_most = literal and at.positions or a.positions, heads = a.heads,
    rows = at.alone and 1 or a.rows, rows_of_4 = a.rows_of_4, alone = at.alone,
    block = a.block, single = a.single, static = at.static,
    value_width = a.value_width, query_row = a.query_row, masks = l.masked,
    exponential = a.exponential, show = s.return_scores or false,
    uses_place = l.place_masked and not (s.return_scores and not passes.kept),
    passes = passes, scores_of = scores.maker(context, at), mix_of = mix.maker(context, at),
    each_block = function()
      if a.single then return once() end
      return context:span("block", 0, "rooms->live", a.block, math.max(l.keys_max, 1))
    end,
  }
end

--- Defines the tile of queries at (head, part, row), `positions` of them: literal places in a full
-- layer, the function's parameters in a tiled one.
local function define_tile(context, at, suffix)
  at.place = context.full and suffix or ""
  at.static = is_static(context)
  at.alone = at.positions == 1 and context.plan.attention.heads == 1
  local layer_name = context.layer.name
  return context.writer:define((at.alone and "attend_row" or "attend_tile") .. suffix, {
    title = (at.alone and "One query" or "A tile of queries")
      .. ": softmax(scores) times values, over all keys that may be seen.",
    body = context:render("attend/tile.c.in", names_of(context, at, passes_of(context, at))),
    parameters = {
      { "const " .. layer_name .. "_call *", "call" },
      { "const " .. layer_name .. "_rooms *", "rooms" },
      { "const float *", "packed" }, { "float *", "scratch" }, { "size_t", "head" },
      { "size_t", "section" }, { "size_t", "row" }, { "size_t", "positions" },
    },
  })
end

--- Every tile by itself, each behind the ranges that hold its first row and its head.
local function written_out(context)
  local s, a, w = context.spec, context.plan.attention, context.writer
  local lines = {}
  local function tile(head, part, row)
    local suffix = ("_h%d%s_r%d"):format(head, a.parts > 1 and "_g" .. part or "", row)
    local name = define_tile(context, {
      head = head, part = part, row = row, positions = math.min(a.positions, s.tokens.max - row),
    }, suffix)
    lines[#lines + 1] = ("if (head_from <= %d && head_to > %d && from <= %d && to > %d) {\n%s;\n}")
      :format(head, head, row, row, w:call(name, {}))
  end
  for head = 0, s.kv_heads - 1 do
    for part = 0, a.parts - 1 do
      for row = 0, s.tokens.max - 1, a.positions do tile(head, part, row) end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Loops over heads, parts of a group and tiles of rows; a row that would be alone in its tile has
-- a text of its own.
local function looped(context)
  local a, w = context.plan.attention, context.writer
  local function tile(positions)
    return w:call(define_tile(context, {
      head = "head", part = a.parts > 1 and "section" or 0, row = "row", positions = positions,
    }, ""), {}) .. ";"
  end
  local lines, ends = {}, 2
  local function line(text, ...) lines[#lines + 1] = text:format(...) end
  line("for (size_t head = head_from; head < head_to; head++) {")
  if a.parts > 1 then
    line("for (size_t section = 0; section < %d; section++) {", a.parts)
    ends = 3
  end
  if a.positions > 1 then
    -- tiles share the rows evenly: one of one or two rows takes about as long as one of four
    line("for (size_t row = from, positions; row < to; row += positions) {")
    line("const size_t left = to - row, tiles = (left + %d) / %d;", a.positions - 1, a.positions)
    line("positions = (left + tiles - 1) / tiles;")
    if a.heads == 1 then
      line("if (positions == 1) {\n%s\n} else {\n%s\n}", tile(1), tile("positions"))
    else
      line("%s", tile("positions"))
    end
  else
    line("for (size_t row = from; row < to; row++) {")
    line("%s", tile(1))
  end
  return table.concat(lines, "\n") .. ("\n}"):rep(ends) .. "\n"
end

--- Writes the stage into the context's writer.
-- @treturn table list of { name, body } of the stage functions
function attention.write(context)
  local alibi, a = context.spec.position.alibi, context.plan.attention
  edges.define(context)
  if alibi then
    local slopes = {}
    for i, slope in ipairs(alibi.slopes) do slopes[i] = context.c.float(slope * a.unit) end
    local list = table.concat(slopes, ", ")
    context.writer:append("/* Slopes of the distance, head by head. */\n")
    context.writer:append(("static const float slope[%d] = {\n%s\n};\n\n"):format(#slopes, list))
  end
  return { { name = "attend", body = context.full and written_out(context) or looped(context) } }
end

return attention
