--- The second stage: scores, softmax and weighted values of a tile of queries, block of keys by block;
-- partner of templates/attend/, scores/ and masks/. The softmax runs over blocks anchored at key 0:
-- a new block rescales what stands by e^(old largest - new largest).

local plan_module = require "plan"
local product = require "kernels.product"

local attention = {}

local function round_up(n, to) return (n + to - 1) // to * to end

--- The steps of a score in their order, each a template below scores/.
local function steps_of(s)
  local list = {}
  local function add(condition, name, setup)
    if condition then list[#list + 1] = { name = name, setup = setup } end
  end
  local show = s.return_scores
  local position = s.position
  add(position.relative, "relative")
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

--- Small functions that the texts share, defined where a text names them.
local EDGES <const> = {
  { "lanes_below", "How many of a vector's lanes stand below n.", "ptrdiff_t", { { "ptrdiff_t", "n" } } },
  { "near_distance", "A distance within the table.", "ptrdiff_t",
    { { "ptrdiff_t", "distance" }, { "ptrdiff_t", "low" }, { "ptrdiff_t", "high" } } },
  { "left_at", "How many stand from `here` on.", "size_t", { { "size_t", "end" }, { "size_t", "here" } } },
  { "bounded", "n within 0 .. most.", "size_t", { { "ptrdiff_t", "n" }, { "size_t", "most" } } },
  { "load_edge", "A vector of which only `left` floats exist.", "vec", { { "const float *", "p" }, { "size_t", "left" } } },
  { "flags_edge", "Bits of flags of which only `left` exist.", "vec",
    { { "const uint8_t *", "p" }, { "size_t", "left" } } },
  { "store_edge", "Stores the lanes that have a place.", "void",
    { { "float *", "p" }, { "vec", "a" }, { "size_t", "left" } } },
  { "kept_in", "Whether one of the next 16 flags is set.", "int",
    { { "const uint8_t *", "p" }, { "size_t", "left" } } },
}

local function define_edges(context)
  for _, edge in ipairs(EDGES) do
    local name, title, result, list = table.unpack(edge)
    context.writer:define(name, {
      title = title, result = result, parameters = list,
      body = context:render("attend/edges.c.in", { edge = name }),
    })
  end
end

-- ---- Tiles ------------------------------------------------------------------------------------

local SCORES <const> = { { "const float *", "q" }, { "const float *", "k" }, { "float *", "scores" } }

--- A tile of scores: positions x heads queries against `panels` panels of keys.
local function define_scores(context, a, positions, panels, suffix, columns)
  local s, c, lanes = context.spec, context.c, context.lanes
  local query_row = round_up(s.heads * s.p_q, 16)
  local rows = positions * a.heads
  local vectors = ((columns or panels * 16) + lanes - 1) // lanes
  local parts = context.full
    and product.parts(s.p_q, rows * vectors, plan_module.STATEMENTS_A_FUNCTION)
    or { { from = 0, to = s.p_q } }
  local names = {}
  for _, part in ipairs(parts) do
    names[#names + 1] = product.define(context, {
      name = ("scores_%dx%d%s%s"):format(rows, vectors * lanes, suffix, #parts > 1 and "_p" .. part.from or ""),
      title = ("Scores of %d queries and %d keys."):format(rows, vectors * lanes),
      parameters = SCORES, rows = rows, vectors = vectors,
      depth = function() return context.loop("p", part.from, part.to) end,
      value_a = function(r, p)
        return c.index("q", p, r // a.heads * query_row + r % a.heads * s.p_q)
      end,
      load_b = function(p, v)
        local panel, lane = v * lanes // 16, v * lanes % 16
        return ("vec_load(%s)"):format(c.offset("k", c.mul(p, 16), panel * 16 * s.p_q + lane))
      end,
      open = function(r, v)
        if part.from == 0 then return "vec_zero()" end
        return ("vec_load(%s)"):format(c.offset("scores", r * a.block + v * lanes))
      end,
      close = function(r, v, sum)
        return ("vec_store(%s, %s);"):format(c.offset("scores", r * a.block + v * lanes), sum)
      end,
    })
  end
  return names
end

local MIX <const> = {
  { "const float *", "scores" }, { "const float *", "values" }, { "size_t", "first" }, { "size_t", "stop" },
  { "const float *", "fade" }, { "const float *", "share" }, { "int", "masked" }, { "float *", "mixed" },
  { "float *", "out" },
}

--- A tile of weighted values: rows of weights times the values from column `column` on.
-- @tparam table part nil, or the keys from .. to - 1 that a written-out tile holds
local function define_mix(context, a, rows, column, suffix, part)
  local s, c, lanes = context.spec, context.c, context.lanes
  local width = math.min(s.p_v - column, a.mix_panels * 16)
  local vectors = (width + lanes - 1) // lanes
  local rest = width % lanes
  local opens = not part or part.from == 0
  local closes = not part or part.to == part.most
  local function out_at(r, v)
    return c.offset("out", r // a.heads * s.heads * s.p_v + r % a.heads * s.p_v + v * lanes)
  end
  local function last(v) return v == vectors - 1 and rest > 0 and "_" .. rest or "" end
  return product.define(context, {
    name = ("mix_%dx%d%s%s"):format(rows, vectors * lanes, rest > 0 and "_last" .. rest or "", suffix),
    title = ("Weights of %d rows times values, %d columns."):format(rows, width),
    parameters = MIX, rows = rows, vectors = vectors, check = context.layer.masked,
    depth = function()
      if not part then return context.loop("key", "first", "stop") end
      if part.static then return context:span("key", part.from, part.to, 1, part.to, part.from) end
      return context:span("key", "first", "stop", 1, part.to, part.from)
    end,
    value_a = function(r, key) return c.index("scores", key, r * a.block) end,
    load_b = function(key, v)
      return ("vec_load%s(%s)"):format(last(v), c.offset("values", c.mul(key, s.p_v), v * lanes))
    end,
    open = function(r, v)
      if opens and a.single then return "vec_zero()" end
      if not opens and a.single then return ("vec_load%s(%s)"):format(last(v), out_at(r, v)) end
      local stands = ("vec_load(%s)"):format(c.offset("mixed", r * a.value_width + v * lanes))
      if not opens then return stands end
      return ("vec_mul(%s, vec_splat(fade[%d]))"):format(stands, r)
    end,
    close = function(r, v, sum)
      if a.single then
        if closes then sum = ("vec_mul(%s, vec_splat(share[%d]))"):format(sum, r) end
        return ("vec_store%s(%s, %s);"):format(last(v), out_at(r, v), sum)
      end
      return ("vec_store(%s, %s);"):format(c.offset("mixed", r * a.value_width + v * lanes), sum)
    end,
  })
end

-- ---- A row of scores ----------------------------------------------------------------------------

local function soften_parameters(name)
  return {
    { "const " .. name .. "_call *", "call" }, { "const " .. name .. "_rooms *", "rooms" },
    { "const float *", "packed" }, { "const float *", "query" }, { "const float *", "keys" },
    { "size_t", "head" }, { "size_t", "position" }, { "size_t", "block" }, { "size_t", "first" },
    { "size_t", "last" }, { "size_t", "stop" }, { "float *", "scores" }, { "int32_t *", "keep" }, { "float *", "top" },
    { "float *", "total" }, { "float *", "fade" },
  }
end

--- Lines that a row needs before its keys.
local function setups(s, names, masked)
  local lines = {}
  if s.return_scores then
    lines[#lines + 1] = "float *shown = call->scores ? call->scores + (ptrdiff_t)head * call->scores_head"
      .. " + (ptrdiff_t)position * call->scores_row : NULL;"
  end
  if s.position.bias then
    lines[#lines + 1] = ("const float *distance_bias = packed + %d + head * %d;"):format(
      names.part("bias_table") + 15 + names.l.reach.bias_table.left, names.l.packed.parts.bias_table.width)
  end
  local function map(field, ctype)
    local head = s.mask[field] == "per_head" and (" + (ptrdiff_t)head * call->%s_head"):format(field) or ""
    lines[#lines + 1] = ("%s%s = call->%s ? call->%s%s + (ptrdiff_t)position * call->%s_row : NULL;")
      :format(ctype, field, field, field, head, field)
  end
  if masked and s.mask.boolean then map("boolean", "const uint8_t *") end
  if s.mask.additive then map("additive", "const float *") end
  return lines
end

--- Defines soften_kept or soften_masked and gives a maker of its calls.
local function define_soften(context, a, masked, suffix, static)
  local s = context.spec
  local name = (masked and "soften_masked" or "soften_kept") .. suffix
  local steps, masks = steps_of(s), masked and masks_of(s) or {}
  local uses_place = s.position.relative or s.position.alibi or s.position.bias
    or masked and (s.mask.causal or s.mask.window)
  local render = function(file, key, step)
    return context:render(file, { key = key, step = step, show = s.return_scores or false })
  end
  local body = context:render("attend/soften.c.in", {
    masked = masked, masks = masks, steps = steps, setups = setups(s, context.names, masked),
    uses_place = uses_place or false, uses_here = masked or #steps > (s.softcap and 1 or 0) or s.return_scores ~= nil,
    show = s.return_scores or false, block = a.block, render = render,
    single = a.single, static = static or false,
    keys = context.layer.keys_max, exponential = a.log2 and "vec_exp2" or "vec_exp",
  })
  context.writer:define(name, {
    title = masked and "A row of scores, some keys dropped: steps, mask, largest; then weights and their sum."
      or "A row of scores, all keys kept: steps, largest; then weights e^(score - largest), their sum.",
    parameters = soften_parameters(context.layer.name), body = body,
  })
  return function(given) return context.writer:call(name, given) .. ";" end
end

-- ---- A tile of queries --------------------------------------------------------------------------

--- A function that calls the tile for a count of positions that is known at run time.
local function define_switch(context, name, title, parameters, most, call)
  local lines = { "switch (positions) {" }
  for count = most, 1, -1 do
    lines[#lines + 1] = ("case %d:\n%s\nbreak;"):format(count, call(count))
  end
  lines[#lines + 1] = "default: break;\n}\n"
  local list = { { "size_t", "positions" } }
  for _, parameter in ipairs(parameters) do list[#list + 1] = parameter end
  context.writer:define(name, { title = title, parameters = list, body = table.concat(lines, "\n") })
end

--- Keys of the block that begins at `at`, at the most.
local function keys_of(context, a, at)
  return math.max(0, math.min(a.block, context.layer.keys_max - at))
end

--- The C that makes a tile's scores: of(block, slot), panels of keys from first to last.
local function scores_maker(context, a, positions, place)
  local w, c, s = context.writer, context.c, context.spec
  local function call(name, slot, key)
    return w:call(name, {
      q = "q", k = c.offset("keys", c.mul(c.add(slot, key), s.p_q)), scores = c.offset("scores", key),
      positions = positions,
    }) .. ";"
  end
  if context.full then
    return function(block, slot)
      local lines = {}
      for key = 0, keys_of(context, a, block) - 1, a.panels * 16 do
        local columns = math.min(a.panels * 16, context.layer.keys_max - block - key)
        lines[#lines + 1] = ("if (first < %d && last > %d) {"):format(key + a.panels * 16, key)
        for _, name in ipairs(define_scores(context, a, positions, a.panels, place .. "_k" .. block + key, columns)) do
          lines[#lines + 1] = call(name, slot, key)
        end
        lines[#lines + 1] = "}"
      end
      return table.concat(lines, "\n")
    end
  end
  local function switch(panels)
    local name = "scores_" .. panels * 16
    if a.positions == 1 then return define_scores(context, a, 1, panels, "")[1] end
    define_switch(context, name, ("Scores of a tile and %d keys."):format(panels * 16), SCORES, a.positions,
      function(count) return w:call(define_scores(context, a, count, panels, "")[1], {}) .. ";" end)
    return name
  end
  local wide = a.panels > 1 and switch(a.panels)
  local narrow = switch(1)
  return function(_, slot)
    if not wide then
      return "for (size_t key = first; key < last; key += 16) {\n" .. call(narrow, slot, "key") .. "\n}"
    end
    return ("size_t key = first;\nfor (; key + %d <= last; key += %d) {\n%s\n}\nfor (; key < last; key += 16) {\n%s\n}")
      :format(a.panels * 16, a.panels * 16, call(wide, slot, "key"), call(narrow, slot, "key"))
  end
end

--- How the tile makes its weighted values: call(block) -> C text.
local function mix_maker(context, a, positions, place, static)
  local w, c, s = context.writer, context.c, context.spec
  local masked = context.layer.masked
  local function careful(column, rows, calls)
    if not masked then return table.concat(calls, "; ") .. ";" end
    local width = math.min(s.p_v - column, a.mix_panels * 16)
    local name = w:define("mix_careful_" .. width, {
      title = "One row, element by element: dropped keys, whose values may be NaN, are left out.",
      parameters = {
        { "const float *", "scores" }, { "const int32_t *", "keep" }, { "const float *", "values" },
        { "size_t", "first" }, { "size_t", "stop" }, { "const float *", "fade" }, { "const float *", "share" },
        { "float *", "mixed" }, { "float *", "out" },
      },
      body = context:render("attend/careful.c.in", { width = width, single = a.single, block = a.block }),
    })
    local lines = { "if (!" .. table.concat(calls, " || !") .. ") {" }
    local function row(r, text, out)
      lines[#lines + 1] = w:call(name, {
        scores = c.offset("scores", c.mul(r, a.block)), keep = c.offset("keep", c.mul(r, a.block)),
        values = c.offset(text.values, column), fade = c.offset("fade", r),
        mixed = c.offset("mixed", c.mul(r, a.value_width), column), share = c.offset("share", r),
        out = c.offset("out", out, column),
      }) .. ";"
    end
    local text = { values = rows.values }
    if context.full then
      for r = 0, rows.count - 1 do
        row(r, text, r // a.heads * s.heads * s.p_v + r % a.heads * s.p_v)
      end
    else
      lines[#lines + 1] = ("for (size_t r = 0; r < %s; r++) {"):format(rows.count)
      row("r", text, a.heads == 1 and c.mul("r", s.heads * s.p_v)
        or ("r / %d * %d + r %% %d * %d"):format(a.heads, s.heads * s.p_v, a.heads, s.p_v))
      lines[#lines + 1] = "}"
    end
    lines[#lines + 1] = "}"
    return table.concat(lines, "\n")
  end
  local step = a.mix_panels * 16
  if not context.full then
    for column = 0, s.p_v - 1, step do
      local width = math.min(step, s.p_v - column)
      local name = "mix_" .. width
      local lines = { "switch (positions) {" }
      for count = a.positions, 1, -1 do
        local tile = define_mix(context, a, count * a.heads, column, "")
        local call = w:call(tile, {})
        lines[#lines + 1] = ("case %d:\n%s%s;"):format(count, masked and "return " or "", call)
          .. (masked and "" or "\nbreak;")
      end
      lines[#lines + 1] = masked and "default: return 1;\n}\n" or "default: break;\n}\n"
      local list = { { "size_t", "positions" } }
      for _, parameter in ipairs(MIX) do list[#list + 1] = parameter end
      w:define(name, {
        title = ("Weighted values of a tile, %d columns."):format(width), parameters = list,
        result = masked and "int" or "void", body = table.concat(lines, "\n"),
      })
    end
  end
  return function(block, slot)
    local values = c.offset("values", c.mul(slot, s.p_v))
    local lines = {}
    for column = 0, s.p_v - 1, step do
      local width = math.min(step, s.p_v - column)
      local given = {
        scores = "scores", values = c.offset(values, column), mixed = c.offset("mixed", column),
        out = c.offset("out", column), share = "share", fade = "fade", masked = "masked", positions = positions,
      }
      local calls = {}
      if context.full then
        local keys = keys_of(context, a, block)
        local vectors = (width + context.lanes - 1) // context.lanes
        for _, part in ipairs(product.parts(keys, positions * a.heads * vectors, plan_module.STATEMENTS_A_FUNCTION)) do
          part.static, part.most = static, keys
          local suffix = ("%s_b%d_c%d_k%d"):format(place, block, column, part.from)
          calls[#calls + 1] = w:call(define_mix(context, a, positions * a.heads, column, suffix, part), given)
        end
        lines[#lines + 1] = careful(column, { count = positions * a.heads, values = values }, calls)
      else
        calls[1] = w:call("mix_" .. width, given)
        lines[#lines + 1] = careful(column, { count = c.mul(positions, a.heads), values = values }, calls)
      end
    end
    return table.concat(lines, "\n")
  end
end

--- Defines the tile of queries at (head, part, row), `positions` of them; literal places in a full
-- layer, the function's parameters in a tiled one.
local function define_tile(context, a, at, suffix)
  local s, l = context.spec, context.layer
  local place = context.full and suffix or ""
  local static = context.full and a.single and l.keys_fixed and not l.masked
    and not s.return_scores and not s.return_weights
  local positions_most = math.type(at.positions) == "integer" and at.positions or a.positions
  local soften = {}
  local own = context.full and s.position.relative and place or ""
  if l.masked then
    soften.masked = define_soften(context, a, true, own)
  end
  if not (s.mask.boolean or s.mask.additive) then
    soften.kept = define_soften(context, a, false, own,
      static)
  end
  local name = "attend_tile" .. suffix
  local body = context:render("attend/tile.c.in", {
    head = at.head, part_at = at.part, row = at.row, positions = at.positions,
    positions_most = positions_most, heads = a.heads, rows = a.rows, block = a.block, panels = a.panels,
    blocks = math.max(1, math.ceil(l.keys_max / a.block)), value_width = a.value_width,
    single = a.single, masks = l.masked, soften = soften,
    query_row = round_up(s.heads * s.p_q, 16), show = s.return_scores or false,
    uses_place = s.mask.causal or s.mask.window or false,
    scores_of = scores_maker(context, a, at.positions, place),
    mix_of = mix_maker(context, a, at.positions, place, static),
    each_block = function()
      if not a.single then
        return context:span("block", 0, "rooms->live", a.block, math.max(l.keys_max, 1))
      end
      local turn = 0
      return function()
        turn = turn + 1
        return turn == 1 and 0 or nil
      end
    end,
  })
  context.writer:define(name, {
    title = "A tile of queries: softmax(scores) times values, over all keys that they may see.",
    body = body,
    parameters = {
      { "const " .. l.name .. "_call *", "call" }, { "const " .. l.name .. "_rooms *", "rooms" },
      { "const float *", "packed" }, { "float *", "scratch" }, { "size_t", "head" }, { "size_t", "part" },
      { "size_t", "row" }, { "size_t", "positions" },
    },
  })
  return name
end

--- Writes the stage into the context's writer.
-- @treturn table list of { name, body } of the stage functions
function attention.write(context)
  local s, a, w = context.spec, context.plan.attention, context.writer
  define_edges(context)
  if s.position.alibi then
    local slopes = {}
    for i, slope in ipairs(s.position.alibi.slopes) do
      slopes[i] = context.c.float(slope * a.unit)
    end
    w:append(("/* Slopes of the distance, head by head. */\nstatic const float slope[%d] = {\n%s\n};\n\n")
      :format(#slopes, table.concat(slopes, ", ")))
  end
  local lines = {}
  if context.full then
    for head = 0, s.kv_heads - 1 do
      for part = 0, a.parts - 1 do
        for row = 0, s.tokens.max - 1, a.positions do
          local positions = math.min(a.positions, s.tokens.max - row)
          local suffix = ("_h%d%s_r%d"):format(head, a.parts > 1 and "_g" .. part or "", row)
          local name = define_tile(context, a,
            { head = head, part = part, row = row, positions = positions }, suffix)
          lines[#lines + 1] = ("if (head_from <= %d && head_to > %d && from <= %d && to > %d) {\n%s;\n}")
            :format(head, head, row, row, w:call(name, { scratch = "scratch" }))
        end
      end
    end
  else
    local part = a.parts > 1 and "part" or 0
    local positions = a.positions > 1 and "positions" or 1
    local name = define_tile(context, a, { head = "head", part = part, row = "row", positions = positions }, "")
    lines[#lines + 1] = "for (size_t head = head_from; head < head_to; head++) {"
    if a.parts > 1 then lines[#lines + 1] = ("for (size_t part = 0; part < %d; part++) {"):format(a.parts) end
    lines[#lines + 1] = ("for (size_t row = from; row < to; row += %d) {"):format(a.positions)
    if a.positions > 1 then
      lines[#lines + 1] = ("const size_t positions = to - row < %d ? to - row : %d;"):format(a.positions, a.positions)
    end
    lines[#lines + 1] = w:call(name, {}) .. ";\n}"
    if a.parts > 1 then lines[#lines + 1] = "}" end
    lines[#lines + 1] = "}"
  end
  return { { name = "attend", body = table.concat(lines, "\n") .. "\n" } }
end

return attention
