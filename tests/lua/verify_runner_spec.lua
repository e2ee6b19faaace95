-- The runner of golden cases against layers with faults: a fault fails the case that has it, by
-- name, and no other. The layers are written here, by the interface of emitted ones, and do one
-- thing: y[t] = w * o[t], elementwise.

local lfs = require "lfs"
local files = dofile "tests/lua/checkpoint_files.lua"
local json = require "read.json"
local verify = require "verify"

local header = [[
#include <stddef.h>
typedef enum { N_OK, N_SIZE, N_TARGET } L_status;
typedef enum { N_TARGET_BEST, N_TARGET_PORTABLE } L_target;
#define N_PACKED_BYTES ((size_t)100)
typedef struct { const float *data; ptrdiff_t head, row, col; } L_matrix;
typedef struct { L_matrix wo; } L_weights;
typedef struct { const void *packed; L_target target; } L_layer;
typedef struct { const float *o; ptrdiff_t o_row; float *y; ptrdiff_t y_row; } L_call;
const char *L_status_text(L_status status);
L_status L_pack(const L_weights *weights, void *packed, size_t bytes);
L_status L_open(L_layer *layer, const void *packed, size_t bytes, L_target target);
size_t L_workspace(size_t tokens);
L_status L_forward(const L_layer *layer, const L_call *call, void *workspace, size_t bytes);
L_status L_output(const L_layer *layer, const L_call *call, void *workspace, size_t bytes,
                  size_t from, size_t to);
]]

local source = [[
#include "L.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
GLOBAL
const char *L_status_text(L_status status) { return status == N_SIZE ? "too small" : "fine"; }

L_status L_pack(const L_weights *weights, void *packed, size_t bytes)
{
  float *to = packed;
  memset(to, 0, bytes);
  for (ptrdiff_t i = 0; i < 4; i++) {
    const ptrdiff_t head = i / 2, row = i % 2;
    to[i] = weights->wo.data[head * weights->wo.head + row * weights->wo.row + i * weights->wo.col];
  }
  PACK
  return N_OK;
}

L_status L_open(L_layer *layer, const void *packed, size_t bytes, L_target target)
{
  OPEN
  layer->packed = packed;
  layer->target = target;
  return bytes ? N_OK : N_SIZE;
}

size_t L_workspace(size_t tokens) { return 64 * tokens; }

L_status L_output(const L_layer *layer, const L_call *call, void *workspace, size_t bytes,
                  size_t from, size_t to)
{
  const float *w = layer->packed;
  const size_t o_row = call->o_row ? (size_t)call->o_row : 4;
  const size_t y_row = call->y_row ? (size_t)call->y_row : 4;
  const unsigned char *old = workspace;
  const unsigned char before = old[0];
  (void)before;
  for (size_t t = from; t < to; t++)
    for (size_t i = 0; i < 4; i++) call->y[t * y_row + i] = w[i] * call->o[t * o_row + i];
  memset(workspace, 0, bytes);
  OUTPUT
  return N_OK;
}

L_status L_forward(const L_layer *layer, const L_call *call, void *workspace, size_t bytes)
{
  FORWARD
  return L_output(layer, call, workspace, bytes, 0, 3);
}
]]

-- What is put where, and what the line of the case must say; none: it passes.
local faults <const> = {
  { name = "none" },
  { name = "shared", GLOBAL = "int shared_by_two;\nint shared_by_two = 1;" },
  { name = "twice", GLOBAL = "int shared_by_two;\nint shared_by_two = 2;" },
  { name = "behind", OUTPUT = "call->y[2 * y_row + 4] = 1;", says = "ended by signal 11" },
  { name = "front", OUTPUT = "call->y[-2] = 1;", says = "y: written 8 bytes before its buffer" },
  { name = "workspace", OUTPUT = "((char *)workspace)[bytes] = 1;", says = "ended by signal 11" },
  {
    name = "blob", PACK = "((char *)packed)[bytes] = 1;",
    says = "packed: written 0 bytes behind its buffer (pack)",
  },
  { name = "input", OUTPUT = "*(float *)(size_t)call->o = 9;", says = "o: changed at byte" },
  {
    name = "weights", PACK = "*(float *)(size_t)weights->wo.data = 9;",
    says = "wo: changed at byte",
  },
  {
    name = "hole", PACK = "((unsigned char *)packed)[36] = (unsigned char)(rand() % 251);",
    says = "packed: byte 36 was not written",
  },
  {
    name = "view", OUTPUT = "*(float *)(size_t)(w + 8) = 9;", says = "packed: changed at byte 34",
  },
  {
    name = "unwritten", OUTPUT = "memset(&call->y[2 * y_row + 3], 0xff, 4);",
    says = "y[2][3]: got nan, want -4 (forward)",
  },
  {
    name = "memory", OUTPUT = "if (before == 0x7f) call->y[0] = nextafterf(call->y[0], 9);",
    says = "the first run gave 1 (forward again)",
  },
  { name = "range", OUTPUT = "if (from > 0) call->y[y_row] = 1;", says = "want 5 (by stages)" },
  {
    name = "stride", OUTPUT = "if (call->y_row) call->y[4] = 1;",
    says = "y: written between its rows, at byte 16 (by stages)",
  },
  { name = "status", FORWARD = "if (bytes) return N_SIZE;", says = "forward: status 1: too small" },
  {
    name = "abort", OUTPUT = "if (from > 0) abort();",
    says = "ended by signal 6, abort (by stages)",
  },
  { name = "exit", OUTPUT = "exit(7);", says = "ended by exit 7 (forward)" },
  { name = "report", OUTPUT = 'fprintf(stderr, "x.c:1: runtime error: odd\\n");',
    says = "x.c:1: runtime error: odd" },
  { name = "warning", OUTPUT = "int unused;", says = "does not compile: " },
  { name = "symbol", OUTPUT = "extern int absent; call->y[0] = (float)absent;",
    says = "can not be linked: " },
  { name = "target", OPEN = "if (target != N_TARGET_BEST) return N_TARGET;",
    says = "nothing ran: not available here: portable" },
}

-- Only a sanitizer sees these.
local silent <const> = {
  { name = "none" },
  {
    name = "peek", OUTPUT = "call->y[0] += call->o[-1] * 0.0f;",
    says = "ERROR: AddressSanitizer",
  },
  {
    name = "overflow", OUTPUT = "volatile int most = 2147483647; most = most + 1;",
    says = "runtime error: signed integer overflow",
  },
}

local function text_of(template, name, fault)
  local text = template:gsub("%f[%w](%u+)%f[^%w_]", function(word)
    if word == "GLOBAL" or word == "PACK" or word == "OPEN" or word == "OUTPUT"
      or word == "FORWARD" then
      return fault[word] or ""
    end
  end)
  return (text:gsub("%f[%w]L([_.])", name .. "%1"):gsub("%f[%w]N_", name:upper() .. "_"))
end

-- In place of the generator: the layer of the fault that the case's number stands for.
local emitter = {}

function emitter.files(spec)
  local fault = emitter.faults[tonumber(spec.name:match("%d+$"))]
  local stem = spec.name .. "/" .. spec.name
  return {
    { path = stem .. ".h", text = text_of(header, spec.name, fault) },
    { path = stem .. ".c", text = text_of(source, spec.name, fault) },
  }
end

describe("the runner of golden cases", function()
  local dir, generator

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(lfs.mkdir(dir))
    generator, package.loaded.emit = package.loaded.emit, emitter
  end)

  after_each(function()
    package.loaded.emit = generator
    os.execute("rm -r " .. dir)
  end)

  local function put_case(name)
    files.safetensors(dir .. "/" .. name .. ".safetensors", {
      { name = "o", shape = { 3, 4 }, values = { 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1, -1 } },
      {
        name = "w", shape = { 4, 4 },
        values = { 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4 },
      },
      { name = "y", shape = { 3, 4 }, values = { 1, 4, 9, 16, 5, 12, 21, 32, -1, -2, -3, -4 } },
    })
    local handle <close> = assert(io.open(dir .. "/" .. name .. ".json", "wb"))
    handle:write(json.encode {
      spec = {
        name = "any", heads = 2, p_v = 2, p_o = 4, tokens = 3, attention = false, bias = false,
        project = { "o" },
      },
      inputs = { o = "o" }, weights = { wo = "w" }, expected = { y = "y" },
      tolerance = { atol = 1e-5, rtol = 0 },
    })
    return dir .. "/" .. name
  end

  local function judge(list, cflags)
    local paths, lines, passing = {}, {}, 0
    emitter.faults = list
    for index, fault in ipairs(list) do paths[index] = put_case(fault.name) end
    local options = { cc = "cc", cflags = cflags, run = "", jobs = 2 }
    local code = verify.run(paths, options, function(line) lines[#lines + 1] = line end)
    assert.equal(1, code)
    for index, fault in ipairs(list) do
      local line = lines[index]
      local start = (fault.says and "FAIL " or "ok   ") .. dir:match("[^/]*$") .. "/" .. fault.name
      passing = fault.says and passing or passing + 1
      assert.equal(start, line:sub(1, #start), line)
      assert.truthy(not fault.says or line:find(fault.says, 1, true),
        ("%q is not in:\n%s"):format(fault.says, line))
    end
    assert.equal(("%d passed, %d failed"):format(passing, #list - passing), lines[#lines])
  end

  it("fails each fault by name and only that", function() judge(faults, "-O1") end)

  it("blames a sanitizer's report on its case", function()
    judge(silent, "-O1 -fsanitize=address,undefined")
  end)
end)
