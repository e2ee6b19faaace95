local layer_matrix = dofile "tests/lua/layer_matrix.lua"
local layer_module = require "layer"
local spec = require "spec"

local function layer_of(raw)
  local completed, complaints = spec.complete(raw)
  assert(completed, table.concat(complaints or {}, "\n"))
  return layer_module.of(completed)
end

--- A small layer with some changes.
local function small(changes)
  local raw = { name = "small", heads = 4, p_v = 3, d = 8, tokens = 5 }
  for field, value in pairs(changes or {}) do   -- order does not matter: fields of a table
    if value == "none" then raw[field] = nil else raw[field] = value end
  end
  return layer_of(raw)
end

--- One value of each entry of a list, in order, as text.
local function each(list, field)
  local values = {}
  for i, entry in ipairs(list) do values[i] = tostring(entry[field]) end
  return table.concat(values, " ")
end

local function shapes(list)
  local texts = {}
  for i, entry in ipairs(list) do
    texts[i] = entry.role .. "[" .. table.concat(entry.shape, "][") .. "]"
  end
  return table.concat(texts, " ")
end

describe("the fields of a call", function()
  it("stand in their order, only those that the layer has", function()
    assert.equal("x y", each(small().call, "field"))
    assert.equal("tokens x y", each(small({ tokens = { max = 5 } }).call, "field"))
    assert.equal("x residual padding y", each(small({
      residual = true, mask = { "padding" },
    }).call, "field"))
    assert.equal("tokens context q k v y", each(small({
      tokens = { max = 5 }, context = { max = 6 },
    }).call, "field"))
    assert.equal("q k v y", each(small({ project = { "v" }, d = "none", d_v = 8 }).call, "field"))
    assert.equal("q k v y", each(small({ d = "none", d_q = 8, d_k = 8, d_v = 9 }).call, "field"))
    assert.equal("o residual y", each(small({
      attention = false, p_o = 8, d = "none", residual = true,
    }).call, "field"))
  end)

  it("are all there where the layer has everything", function()
    local all = small({
      tokens = { max = 5 }, context = { max = 6 }, cache = true, past = { max = 7 },
      context_length = true, residual = true, head_mask = true, return_weights = true,
      return_scores = "raw", mask = { "padding", "boolean", { additive = "per_head" } },
    })
    assert.equal("tokens context past context_length cache q k v residual padding boolean additive "
      .. "head_mask y weights scores", each(all.call, "field"))
    for _, field in ipairs(all.call) do
      if field.shape then assert.equal("table", type(field.shape), field.field) end
      assert.truthy(({
        size_t = true, cache = true, ["const float *"] = true, ["const uint8_t *"] = true,
        ["float *"] = true,
      })[field.ctype], field.ctype)
    end
  end)

  it("have a row stride each, and a head stride where heads are apart", function()
    local strides = {}
    for _, field in ipairs(small({
      project = {}, d = "none", mask = { "padding", "boolean" }, return_weights = true,
    }).call) do
      strides[#strides + 1] = field.field .. ":" .. table.concat(field.strides, ",")
    end
    assert.equal("q:q_row,q_head k:k_row,k_head v:v_row,v_head padding: "
      .. "boolean:boolean_row,boolean_head y:y_row,y_head weights:weights_row,weights_head",
      table.concat(strides, " "))
    strides = {}
    for _, field in ipairs(small({ context = 3, residual = true }).call) do
      strides[#strides + 1] = table.concat(field.strides, ",")
    end
    assert.equal("q_row k_row v_row residual_row y_row", table.concat(strides, " "))
  end)

  it("may be NULL where something else is meant then", function()
    local function optional(layer)
      local list = {}
      for _, field in ipairs(layer.call) do
        if field.optional then list[#list + 1] = field.field end
      end
      return table.concat(list, " ")
    end
    assert.equal("", optional(small()))
    assert.equal("residual padding boolean additive head_mask weights scores", optional(small({
      residual = true, head_mask = true, return_weights = true, return_scores = "raw",
      mask = { "padding", "boolean", "additive" },
    })))
    assert.equal("v", optional(small({ context = 4 })))
    -- k and v in different forms have different strides
    assert.equal("v", optional(small({ project = {}, d = "none" })))
    assert.equal("", optional(small({ project = { "q", "k" }, d = 12 })))
    assert.equal("", optional(small({ project = { "q", "v" }, d = 12 })))
    assert.equal("", optional(small({ d = "none", d_q = 8, d_k = 7, d_v = 9 })))
    assert.equal("", optional(small({ residual = true, p_o = 9 })))
    assert.equal("", optional(small({ attention = false, d = "none", p_o = 8, residual = true })))
  end)
end)

describe("the weights", function()
  it("stand in their order with their shapes", function()
    assert.equal("wq[12][8] wk[12][8] wv[12][8] wo[8][12] bq[12] bk[12] bv[12] bo[8]",
      shapes(small().weights))
    assert.equal("wq[20][6] wk[10][7] wv[6][9] wo[11][12] bq[20] bo[11]", shapes(small({
      d = "none", d_q = 6, d_k = 7, d_v = 9, p_q = 5, p_o = 11, kv_heads = 2,
      bias = { q = true, k = false, v = false, o = true },
    }).weights))
    assert.equal("", shapes(small({ project = {}, d = "none" }).weights))
    assert.equal("wo[8][12] bo[8] gamma[8] beta[8]", shapes(small({
      attention = false, d = "none", p_o = 8, norm = { kind = "layer", eps = 1e-5 },
    }).weights))
  end)

  it("of norms, positions and sinks are there where the layer has them", function()
    assert.equal("input_gamma[8] input_beta[8] q_norm[6] k_norm[6] rope_frequencies[2] sinks[4] "
      .. "output_gamma[8] gamma[8]", shapes(small({
        bias = false, p_q = 6, sinks = true, qk_norm = { kind = "rms", eps = 1e-6 },
        position = { rope = { frequencies = true, dim = 4 } },
        norm = {
          { kind = "rms", eps = 1e-6 }, { kind = "layer", eps = 1e-6, place = "input" },
          { kind = "rms", eps = 1e-6, place = "output" },
        },
      }).weights):gsub("^.*wo%b[]%b[] ", ""))
    assert.truthy(shapes(small({ position = { relative = { kind = "key", max = 9 } } }).weights)
      :find("relative[17][3]", 1, true))
    assert.truthy(shapes(small({ position = { relative = { kind = "key", left = 2, right = 4 } } })
      .weights):find("relative[7][3]", 1, true))
    assert.truthy(shapes(small({ position = { bias = {
      buckets = 8, max_distance = 20, bidirectional = true,
    } } }).weights):find("bias_table[8][4]", 1, true))
  end)

  it("have heads, rows and columns where they are matrices", function()
    for _, raw in ipairs(layer_matrix.specs("tile")) do
      for _, weight in ipairs(layer_of(raw).weights) do
        if weight.kind == "matrix" then
          local outer = weight.heads * weight.rows
          if weight.role == "wo" then
            assert.same({ weight.cols, outer }, weight.shape)
          else
            assert.same({ outer, weight.cols }, weight.shape)
          end
        else
          assert.equal("vector", weight.kind)
        end
      end
    end
  end)
end)

describe("the packed form", function()
  it("has a part for each weight, aligned, beside each other and within its bytes", function()
    for _, raw in ipairs(layer_matrix.specs("tile")) do
      local layer = layer_of(raw)
      local packed = layer.packed
      assert.equal(#layer.weights, #packed.parts, raw.name)
      local free = packed.header
      assert.equal(64, packed.header)
      for i, part in ipairs(packed.parts) do
        local where = raw.name .. ": " .. part.role
        assert.equal(layer.weights[i].role, part.role, where)
        assert.equal(part, packed.parts[part.role], where)
        assert.equal(0, part.offset % 64, where)
        assert.is_true(part.offset >= free, where)
        free = part.offset + 4 * part.floats
        assert.is_true(free <= packed.bytes, where)
      end
      assert.equal(0, packed.bytes % 64, raw.name)
      assert.is_true(packed.bytes - free < 64, raw.name)
    end
  end)

  it("has panels of 16 columns, zeros beyond the last", function()
    local parts = small({ d = 10, p_v = 5, p_o = 17 }).packed.parts
    assert.equal(2 * 10 * 16, parts.wq.floats)        -- 4 heads of 5: 20 columns, 2 panels
    assert.equal(2 * 20 * 16, parts.wo.floats)        -- 17 columns of depth 20
    assert.equal(32, parts.bq.floats)
    assert.equal("rows", parts.wq.across)
    assert.equal("cols", parts.wo.across)
  end)

  it("does not depend on targets or unrolling", function()
    local tiled, full = small({ unroll = "tile" }), small({ unroll = "full" })
    assert.equal(tiled.packed.bytes, full.packed.bytes)
    assert.equal(tiled.hash, full.hash)
    assert.not_equal(tiled.hash, small({ tokens = 6 }).hash)
  end)

  it("holds the distances that a call can have, with copies of the ends", function()
    local part = small({ position = { relative = { kind = "key", left = 2, right = 4 } } })
      .packed.parts.relative
    assert.is_true(part.width >= 2 + 4 + 1 + 2 * 15)
    assert.equal(part.rows * part.width, part.floats)
    assert.equal(3, part.rows)
  end)
end)

--- The multiply-adds of a call, one by one.
local function counted(raw)
  local tokens = math.type(raw.tokens) == "integer" and raw.tokens or raw.tokens.max
  local context = raw.context or tokens
  local keys = (raw.past and raw.past.max or 0) + context
  local kv_heads, p_q = raw.kv_heads or raw.heads, raw.p_q or raw.p_v
  local count = 0
  local function products(rows, columns, depth)
    for _ = 1, rows do
      for _ = 1, columns do count = count + depth end
    end
  end
  products(tokens, raw.heads * p_q, raw.d)
  products(context, kv_heads * p_q, raw.d)
  products(context, kv_heads * raw.p_v, raw.d)
  for _ = 1, raw.heads do
    products(tokens, keys, p_q)
    products(tokens, raw.p_v, keys)
  end
  products(tokens, raw.p_o or raw.d, raw.heads * raw.p_v)
  return count
end

describe("the multiply-adds", function()
  it("of known layers are known", function()
    local minilm = layer_of({
      name = "minilm", heads = 12, p_v = 32, d = 384, tokens = { max = 256 },
    })
    assert.equal(4 * 256 * 384 * 384 + 2 * 256 * 256 * 384, minilm.multiply_adds.total)
    local bert = layer_of({ name = "bert", heads = 12, p_v = 64, d = 768, tokens = 128 })
    assert.equal(327155712, bert.multiply_adds.total)     -- 654 million operations
    local full = layer_of({ name = "s", heads = 2, p_v = 8, d = 16, tokens = 4 })
    assert.equal(4608, full.multiply_adds.total)
  end)

  it("are those that one counts one by one", function()
    for _, raw in ipairs({
      { heads = 2, p_v = 3, d = 5, tokens = 4 },
      { heads = 4, kv_heads = 2, p_q = 3, p_v = 2, d = 5, tokens = { max = 4 } },
      { heads = 3, p_v = 2, d = 7, p_o = 9, tokens = 2, context = 6 },
      { heads = 2, kv_heads = 1, p_v = 4, d = 8, tokens = 3, cache = true, past = { max = 9 },
        mask = { "causal" } },
    }) do
      raw.name = "counted"
      assert.equal(counted(raw), layer_of(raw).multiply_adds.total)
    end
  end)

  it("are counted part by part", function()
    local counts = small({
      project = { "q", "o" }, tokens = 2, context = 6, d_q = 8, d = "none",
      position = { relative = { kind = "key_query", max = 8 } },
    }).multiply_adds
    assert.equal(2 * 8 * 12, counts.q)
    assert.equal(0, counts.k + counts.v)
    assert.equal(2 * 6 * 4 * 3, counts.scores)
    assert.equal(2 * counts.scores, counts.position)
    assert.equal(2 * 6 * 4 * 3, counts.mix)
    assert.equal(2 * 12 * 8, counts.o)
    assert.equal(counts.q + counts.scores * 3 + counts.mix + counts.o, counts.total)
    counts = small({ attention = false, d = "none", p_o = 8 }).multiply_adds
    assert.equal(5 * 12 * 8, counts.total)
    assert.equal(counts.o, counts.total)
  end)
end)

describe("the rooms of the workspace", function()
  it("are whole rows of positive width, linear in rows: never rows times keys", function()
    for _, raw in ipairs(layer_matrix.specs("tile")) do
      local names = {}
      for _, room in ipairs(layer_of(raw).rooms) do
        local where = raw.name .. ": " .. room.name
        assert.is_nil(names[room.name], where)
        names[room.name] = true
        assert.is_true(math.type(room.width) == "integer" and room.width > 0, where)
        assert.equal("string", type(room.rows), where)
        assert.equal("string", type(room.text), where)
      end
    end
    -- the widths do not grow with the counts
    local function widths(tokens)
      return each(small({ tokens = { max = tokens } }).rooms, "width")
    end
    assert.equal(widths(8), widths(8000))
  end)

  it("are not there for what a layer does not do", function()
    assert.equal("", each(small({ attention = false, d = "none", p_o = 8 }).rooms, "name"))
    local cached = small({ cache = true, past = { max = 9 } })
    assert.falsy((" " .. each(cached.rooms, "name") .. " "):find(" keys ", 1, true))
  end)
end)

describe("a layer", function()
  it("is the same whenever it is derived", function()
    local function text(value, indent)
      if type(value) ~= "table" then return tostring(value) end
      if #indent > 12 then return "..." end
      local keys, lines = {}, {}
      for key in pairs(value) do keys[#keys + 1] = key end   -- order does not matter: sorted next
      table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
      for i, key in ipairs(keys) do
        lines[i] = indent .. tostring(key) .. "=" .. text(value[key], indent .. "  ")
      end
      return "{\n" .. table.concat(lines, "\n") .. "}"
    end
    for _, raw in ipairs(layer_matrix.specs("auto")) do
      assert.equal(text(layer_of(raw), ""), text(layer_of(raw), ""))
    end
  end)
end)
