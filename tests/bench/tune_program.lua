--- A C program that times the tiles of a target, made by the kernels that emit them.
-- It prints a line `KEY nanoseconds` for each thing:
--   tile:ROWS:PANELS:DEPTH   a tile, its weights read before
--   stream:PANELS            one row through a matrix beyond the second cache
--   soften:KEYS              four rows of the softmax, as a tile has them

local context_module = require "kernels.context"
local cost = require "cost"
local layer_module = require "layer"
local plan_module = require "plan"
local project = require "kernels.project"
local soften = require "kernels.soften"
local spec = require "spec"
local words = require "words"

local program = {}

--- Depths of the tiles: two that the first cache holds, one that it does not.
program.DEPTHS = { 32, 96, 768 }

--- Keys of the rows of the softmax.
program.KEYS = { 16, 256 }

--- Panels of the matrix that is streamed, 12 MB at the greatest depth.
program.STREAMED = 256

local MOST_ROWS <const> = 16

local HARNESS <const> = [=[
typedef struct {
  const char *key;
  void (*run)(const float *packed, const float *x, float *y, size_t from, size_t to);
  size_t rows, limit;
} thing;

static const thing things[] = {
THINGS};

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The least time of a call within some samples. */
static double least(const thing *t, const float *packed, const float *x, float *y)
{
  t->run(packed, x, y, 0, t->rows);
  double start = now(), best = 1e30;
  t->run(packed, x, y, 0, t->rows);
  const double once = now() - start;
  const size_t calls = once > 1e4 ? 1 : (size_t)(2e4 / (once + 20)) + 1;
  for (size_t sample = 0; sample < t->limit; sample++) {
    start = now();
    for (size_t call = 0; call < calls; call++) { t->run(packed, x, y, 0, t->rows); }
    const double ns = (now() - start) / (double)calls;
    if (ns < best) { best = ns; }
  }
  return best;
}

int main(int count, char **words)
{
  float *packed = aligned_alloc(64, PACKED), *x = aligned_alloc(64, ROWS * DEPTH * 4);
  float *y = aligned_alloc(64, ROWS * COLUMNS * 4);
  if (count < 2 || !packed || !x || !y) { return 1; }
  if (!supported()) { return 2; }
  if (words[1][0] == '0') { return 0; }
  for (size_t i = 0; i < PACKED / 4; i++) { packed[i] = 1e-3f * (float)(i % 1009) - 0.5f; }
  for (size_t i = 0; i < ROWS * DEPTH; i++) { x[i] = 1e-3f * (float)(i % 997) - 0.5f; }
  for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
    printf("%s %.2f\n", things[i].key, least(things + i, packed, x, y));
  }
  return 0;
}
]=]

local SIGNATURE <const> = "(const float *packed, const float *x, float *out, size_t from,"
  .. " size_t to)"

--- A layer of the size that is streamed.
local function context_of(target, stage)
  local s = assert(spec.complete {
    name = "tune", heads = program.STREAMED, p_v = 16, d = program.DEPTHS[#program.DEPTHS],
    tokens = { max = 256 }, unroll = "tile", targets = { "portable" },
  })
  local l = layer_module.of(s)
  return context_module.new(l, assert(plan_module.of(l, target)), stage)
end

local function add_projections(context, entries, things)
  local function add(name, panels, rows, columns, depth)
    local body = project.statements(context, {
      role = "wq", tile = { panels = panels, rows = rows }, columns = columns, depth = depth,
      bias = "bq", x = "x", x_row = depth, y = "out", y_row = columns, most = rows,
    })
    entries[#entries + 1] = ("%sstatic void %s%s\n{\n%s}\n"):format(context.writer.on, name,
      SIGNATURE, body)
  end
  local function thing(key, name, rows, limit)
    things[#things + 1] = ('{ "%s", %s, %d, %d },\n'):format(key, name, rows, limit)
  end
  for _, shape in ipairs(cost.shapes(context.target, MOST_ROWS)) do
    for _, depth in ipairs(program.DEPTHS) do
      local name = ("tile_%d_%d_%d"):format(shape.rows, shape.panels, depth)
      add(name, shape.panels, shape.rows, shape.panels * 16, depth)
      thing(("tile:%d:%d:%d"):format(shape.rows, shape.panels, depth), name, shape.rows, 4)
    end
    if shape.rows == 1 then
      local depth = program.DEPTHS[#program.DEPTHS]
      local panels = program.STREAMED // shape.panels * shape.panels
      add("stream_" .. shape.panels, shape.panels, 1, panels * 16, depth)
      thing("stream:" .. shape.panels, "stream_" .. shape.panels, 1, 2)
    end
  end
end

local BESIDE_OTHERS <const> = { static = false, alone = false }

local function add_softmax(context, entries, things)
  local score = soften.define(context, "score", false, BESIDE_OTHERS)
  local weigh = soften.define(context, "weigh", false, BESIDE_OTHERS)
  local lanes, block = context.lanes, context.plan.attention.block
  local row = {
    scores = ("scores + r * %d"):format(block), to = ("across + r * %d"):format(lanes),
    top = "&top", largest = "largest + r",
  }
  entries[#entries + 1] = ([[
%sstatic void soften%s
{
(void)packed; (void)x;
const size_t first = from, stop = to;
const float top = -FLT_MAX;
float *scores = out, *across = out + 4 * %d, *largest = across + 4 * %d, *total = largest + 4;
for (size_t r = 0; r < 4; r++) {
%s
}
vec_store_4(largest, vec_tops(across));
for (size_t r = 0; r < 4; r++) {
%s
}
vec_store_4(total, vec_sums(across));
}
]]):format(context.writer.on, SIGNATURE, block, lanes, score(row), weigh(row))
  for _, keys in ipairs(program.KEYS) do
    things[#things + 1] = ('{ "soften:%d", soften, %d, 8 },\n'):format(keys, keys)
  end
end

--- The program of a target.
-- @tparam table target of generator/targets/
-- @treturn string C
function program.text(target)
  local entries, things = {}, {}
  local context = context_of(target, "qkv")
  add_projections(context, entries, things)
  add_softmax(context, entries, things)
  local body = context.writer:source(table.concat(entries, "\n"))
  local depth, columns = program.DEPTHS[#program.DEPTHS], program.STREAMED * 16
  local lines = {
    "#define _POSIX_C_SOURCE 200809L",
    "#include <float.h>", "#include <stddef.h>", "#include <stdint.h>", "#include <stdio.h>",
    "#include <stdlib.h>", "#include <string.h>", "#include <time.h>",
  }
  for _, header in ipairs(target.headers or {}) do
    lines[#lines + 1] = "#include <" .. header .. ">"
  end
  lines[#lines + 1] = ("enum { ROWS = %d, DEPTH = %d, COLUMNS = %d, PACKED = %d };"):format(
    MOST_ROWS, depth, columns, (context.layer.packed.bytes + 63) // 64 * 64)
  lines[#lines + 1] = words.source(body, target) .. words.tables(body) .. body
  lines[#lines + 1] = ("static int supported(void)\n{\n%s\n}\n"):format(target.test or "return 1;")
  lines[#lines + 1] = (HARNESS:gsub("THINGS", function() return table.concat(things) end))
  return table.concat(lines, "\n")
end

return program
