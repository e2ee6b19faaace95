local buckets = require "buckets"

-- Whole numbers of any size, as digits to a base, least first: a way of its own to decide where a
-- bucket begins, distance by distance, beside the module's search for the edges.
local BASE <const> = 1 << 24

local function times(a, b)
  local product = {}
  for i = 1, #a + #b do product[i] = 0 end
  for i = 1, #a do
    local carry = 0
    for j = 1, #b do
      local sum = product[i + j - 1] + a[i] * b[j] + carry
      product[i + j - 1], carry = sum % BASE, sum // BASE
    end
    product[i + #b] = carry
  end
  while #product > 1 and product[#product] == 0 do product[#product] = nil end
  return product
end

local function power(n, exponent)
  local result, square = { 1 }, { n }
  while exponent > 0 do
    if exponent % 2 == 1 then result = times(result, square) end
    square, exponent = times(square, square), exponent // 2
  end
  return result
end

local function below(a, b)
  if #a ~= #b then return #a < #b end
  for i = #a, 1, -1 do
    if a[i] ~= b[i] then return a[i] < b[i] end
  end
  return false
end

--- The bucket of a distance m in one direction that has B buckets, by its definition: m below
-- E = B/2; else E + r with the largest r <= B-E-1 for which m^(B-E) E^r >= max^r E^(B-E).
local function bucket_of(m, count, max_distance)
  local exact = count // 2
  if m < exact then return m end
  local steps = count - exact
  local r = 0
  while r + 1 < steps do
    local left = times(power(m, steps), power(exact, r + 1))
    local right = times(power(max_distance, r + 1), power(exact, steps))
    if below(left, right) then break end
    r = r + 1
  end
  return exact + r
end

--- The bucket of a distance by the list of edges.
local function bucket_by_edges(m, edges)
  local bucket = 0
  while bucket < #edges and m >= edges[bucket + 1] do bucket = bucket + 1 end
  return bucket
end

describe("whole numbers of any size", function()
  it("are right", function()
    assert.same({ 1 }, power(7, 0))
    assert.same({ 5 ^ 10 // 1 | 0 }, power(5, 10))
    local n = power(3, 39)      -- 4052555153018976267
    local value = 0
    for i = #n, 1, -1 do value = value * BASE + n[i] end
    assert.equal(4052555153018976267, value)
    assert.is_true(below(power(2, 100), power(3, 64)))
    assert.is_false(below(power(2, 100), power(2, 100)))
    assert.is_false(below(power(3, 64), power(2, 100)))
  end)
end)

describe("the buckets of one direction", function()
  local SHAPES <const> = {
    -- buckets of the direction, max_distance, distances to walk
    { 32, 128, 300 }, { 16, 128, 300 }, { 8, 20, 60 }, { 32, 20, 100 }, { 16, 64, 130 },
    { 64, 256, 300 }, { 31, 100, 130 }, { 7, 50, 80 }, { 5, 5, 20 }, { 3, 10, 20 }, { 2, 8, 20 },
    { 1, 4, 10 }, { 9, 13, 30 }, { 12, 1000, 1010 }, { 4, 2, 12 }, { 33, 129, 140 }, { 32, 16, 40 },
    { 32, 17, 40 }, { 10, 1, 12 },
  }

  for _, shape in ipairs(SHAPES) do
    local count, max_distance, walk = shape[1], shape[2], shape[3]
    it(("of %d up to %d begin where the integers say"):format(count, max_distance), function()
      local edges = buckets.edges(count, max_distance)
      assert.equal(count - 1, #edges)
      for m = 0, walk do
        assert.equal(bucket_of(m, count, max_distance), bucket_by_edges(m, edges), "distance " .. m)
      end
    end)
  end

  it("have edges that are integers and ascend", function()
    for _, shape in ipairs(SHAPES) do
      local edges = buckets.edges(shape[1], shape[2])
      for i, edge in ipairs(edges) do
        assert.equal("integer", math.type(edge))
        assert.is_true(edge >= 1 and edge >= (edges[i - 1] or 1))
      end
    end
  end)

  it("are T5's: the distances that its code gives for 32 buckets up to 128", function()
    -- where a bucket begins in the encoder (16 a direction) and the decoder (32)
    assert.equal("1 2 3 4 5 6 7 8 12 16 23 32 46 64 91", table.concat(buckets.edges(16, 128), " "))
    assert.equal("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 19 21 24 27 31 35 40 46 52 59 67 77 87 99 "
      .. "113", table.concat(buckets.edges(32, 128), " "))
  end)

  it("take as many as a spec may have", function()
    local began = os.clock()
    local edges = buckets.edges(1024, 1000000)
    assert.equal(1023, #edges)
    assert.equal(512, edges[512])
    assert.is_true(edges[1023] < 1000000)
    assert.is_true(os.clock() - began < 2, "took " .. os.clock() - began .. " s")
  end)
end)

-- ---- The buckets in the C -----------------------------------------------------------------------

--- What each distance from -most to most reads from the table in the C of a layer: the biased
-- scores of a bare core whose queries and keys are 0, where entry b of the table is b.
local function distances_of(bias, most)
  local spec = require "spec"
  local completed = assert(spec.complete({
    name = "far", heads = 1, p_v = 1, tokens = most + 1, project = {}, unroll = "tile",
    position = { bias = bias }, return_scores = "biased",
  }))
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. folder))
  local function put(path, text)
    local handle <close> = assert(io.open(folder .. "/" .. path, "wb"))
    handle:write(text)
  end
  local sources = {}
  for _, file in ipairs(require("emit").files(completed)) do
    local name = file.path:match("[^/]*$")
    put(name, file.text)
    if name:find("%.c$") and not name:find("_test%.c$") then sources[#sources + 1] = name end
  end
  put("walk.c", ([[
#include "far.h"
#include <stdio.h>
#include <stdlib.h>
enum { N = %d };
static float zero[N], y[N], scores[N * N], table[%d];
int main(void)
{
  void *packed = aligned_alloc(64, FAR_PACKED_BYTES);
  void *workspace = aligned_alloc(64, FAR_WORKSPACE_BYTES);
  for (int i = 0; i < %d; i++) { table[i] = (float)i; }
  const far_weights weights = { .bias_table = table };
  far_layer layer;
  const far_call call = { .q = zero, .k = zero, .v = zero, .y = y, .scores = scores };
  if (far_pack(&weights, packed, FAR_PACKED_BYTES) != FAR_OK) { return 1; }
  if (far_open(&layer, packed, FAR_PACKED_BYTES, FAR_TARGET_PORTABLE) != FAR_OK) { return 1; }
  if (far_forward(&layer, &call, workspace, FAR_WORKSPACE_BYTES) != FAR_OK) { return 1; }
  for (int t = 0; t < N; t++) {
    for (int j = 0; j < N; j++) {
      if (t == 0 || j == 0) printf("%%d %%g\n", j - t, (double)scores[t * N + j]);
    }
  }
  /* each distance reads the same everywhere */
  for (int t = 1; t < N; t++) {
    for (int j = 1; j < N; j++) {
      if (scores[t * N + j] != scores[(t - 1) * N + j - 1]) return 2;
    }
  }
  return 0;
}
]]):format(most + 1, bias.buckets, bias.buckets))
  local command = "cd %s && cc -O1 -std=c11 -o walk walk.c %s -lm && ./walk && echo done"
  local pipe = assert(io.popen(command:format(folder, table.concat(sources, " "))))
  local printed = pipe:read("a")
  pipe:close()
  os.execute("rm -r " .. folder)
  assert.truthy(printed:find("done\n$"), printed)
  local list = {}
  for distance, entry in printed:gmatch("(%-?%d+) (%d+)\n") do
    list[math.tointeger(distance)] = math.tointeger(entry)
  end
  return list
end

describe("the buckets in the C", function()
  local LAYERS <const> = {
    { bias = { buckets = 32, max_distance = 128, bidirectional = true }, most = 260 },
    { bias = { buckets = 32, max_distance = 128, bidirectional = false }, most = 200 },
    { bias = { buckets = 14, max_distance = 50, bidirectional = true }, most = 70 },
    { bias = { buckets = 9, max_distance = 5, bidirectional = false }, most = 33 },
    { bias = { buckets = 4, max_distance = 3, bidirectional = true }, most = 20 },
    { bias = { buckets = 32, max_distance = 500, bidirectional = true }, most = 40 },
  }

  for _, layer in ipairs(LAYERS) do
    local bias = layer.bias
    it(("read the right entry for each distance: %d up to %d, %s"):format(bias.buckets,
        bias.max_distance, bias.bidirectional and "both directions" or "one direction"), function()
      local read = distances_of(bias, layer.most)
      local count = bias.bidirectional and bias.buckets // 2 or bias.buckets
      for distance = -layer.most, layer.most do
        local m = bias.bidirectional and math.abs(distance) or math.max(-distance, 0)
        local base = bias.bidirectional and distance > 0 and count or 0
        assert.equal(base + bucket_of(m, count, bias.max_distance), read[distance],
          "distance " .. distance)
      end
    end)
  end
end)
