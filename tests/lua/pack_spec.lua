local checkpoint = require "read.checkpoint"
local files = dofile "tests/lua/checkpoint_files.lua"
local import = require "import"
local layer_module = require "layer"
local lfs = require "lfs"
local pack = require "pack"
local spec_module = require "spec"
local stored = dofile "tests/lua/stored_models.lua"

local number, of_role = stored.number, stored.of_role

describe("pack", function()
  local folder

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
  end)
  teardown(function()
    for name in lfs.dir(folder) do os.remove(folder .. "/" .. name) end
    os.remove(folder)
  end)

  local function checkpoint_of(tensors)
    local path = folder .. "/model.safetensors"
    files.safetensors(path, tensors)
    return assert(checkpoint.open(path))
  end

  local function spec_of(model)
    local fields = model.spec
    if model.config then
      local result, complaints = import.of(assert(import.decode(model.config, model.name)),
        model.import or {})
      assert(result, complaints and table.concat(complaints, "\n"))
      fields = result.fields
    end
    local spec, faults = spec_module.complete(fields)
    assert(spec, faults and table.concat(faults, "\n"))
    return spec
  end

  local function options_of(model, more)
    local options = { layer = (model.import or {}).layer, family = model.family }
    if model.config then options.config = assert(import.decode(model.config, model.name)) end
    for _, key in ipairs { "layer", "prefix", "family", "config" } do
      if more and more[key] ~= nil then options[key] = more[key] end
    end
    return options
  end

  local function packed(model, tensors, more)
    local packing, complaints = pack.of(spec_of(model), checkpoint_of(tensors or model.tensors),
      options_of(model, more))
    return packing, complaints
  end

  local function refused(pattern, model, tensors, more)
    local packing, complaints = packed(model, tensors, more)
    assert.is_nil(packing)
    local text = table.concat(complaints, "\n")
    assert.truthy(text:find(pattern, 1, true), text)
    return complaints
  end

  -- ---- What stands in a blob ---------------------------------------------------------------

  local function float_at(blob, part, index)
    return (string.unpack("<f", blob, part.offset + 4 * index + 1))
  end

  local function check_panels(blob, part, name)
    for column = 0, part.columns - 1 do
      for k = 0, part.depth - 1 do
        local got = float_at(blob, part, (column // 16 * part.depth + k) * 16 + column % 16)
        if got ~= number(part.role, column, k) then
          error(("%s: %s[%d][%d]: %s, not %s"):format(name, part.role, column, k, got,
            number(part.role, column, k)))
        end
      end
    end
  end

  local function check_vector(blob, part, name)
    for index = 0, part.count - 1 do
      local more = part.plus_one and 1 or 0
      assert.equal(number(part.role, index, 0) + more, float_at(blob, part, index),
        name .. " " .. part.role)
    end
  end

  local function check_blob(model, blob, layer)
    assert.equal(layer.packed.bytes, #blob)
    for _, part in ipairs(layer.packed.parts) do
      if part.form == "panels" then
        check_panels(blob, part, model.name)
      elseif part.form == "vector" and part.role ~= "rope_frequencies"
        and not (model.constant or {})[part.role] then
        check_vector(blob, part, model.name)
      end
    end
  end

  for _, model in ipairs(stored.models) do
    it("finds every weight of " .. model.name, function()
      local packing, complaints = packed(model)
      assert(packing, complaints and table.concat(complaints, "\n"))
      check_blob(model, assert(pack.blob(packing)), packing.layer)
    end)
  end

  it("reads f16, bf16 and f64 as it reads f32", function()
    local model = stored.named "bert"
    local small = {}
    for index, tensor in ipairs(model.tensors) do
      local values = {}
      for place, value in ipairs(tensor.values) do values[place] = value % 64 end
      small[index] = { name = tensor.name, shape = tensor.shape, values = values }
    end
    local function blob_as(dtype)
      for _, tensor in ipairs(small) do tensor.dtype = dtype end
      return assert(pack.blob(assert(packed(model, small))))
    end
    local expected = blob_as "F32"
    for _, dtype in ipairs { "F16", "BF16", "F64" } do
      assert.is_true(expected == blob_as(dtype), dtype)
    end
  end)

  it("reads npz and shards as it reads one file", function()
    local model = stored.named "tf_bert"
    local expected = assert(pack.blob(assert(packed(model))))
    local members = {}
    for index, tensor in ipairs(model.tensors) do
      members[index] = { name = tensor.name .. ":0.npy", bytes = files.npy(tensor) }
    end
    files.write(folder .. "/variables.npz", files.zip(members))
    local opened = assert(checkpoint.open(folder .. "/variables.npz"))
    local packing = assert(pack.of(spec_of(model), opened, options_of(model)))
    assert.is_true(expected == assert(pack.blob(packing)))
  end)

  it("fills the layer norm's beta that MPT has not", function()
    local packing = assert(packed(stored.named "mpt"))
    local blob = assert(pack.blob(packing))
    local part = packing.layer.packed.parts.input_beta
    for index = 0, part.count - 1 do assert.equal(0.0, float_at(blob, part, index)) end
  end)

  it("computes rotary frequencies from the config", function()
    local model = stored.named "gpt_oss"
    local packing = assert(packed(model))
    local blob = assert(pack.blob(packing))
    local part = packing.layer.packed.parts.rope_frequencies
    assert.equal(1.0, float_at(blob, part, 0))
    assert.equal(part.count, packing.layer.spec.position.rope.dim // 2)
    local spec = spec_of(model)
    spec.position.rope.factor = 1.0
    local none, complaints = pack.of(spec, checkpoint_of(model.tensors), options_of(model))
    assert.is_nil(none)
    assert.truthy(complaints[1]:find("position.rope.factor: 1.0: the config says", 1, true))
    none, complaints = pack.of(spec_of(model), checkpoint_of(model.tensors),
      { family = "gpt_oss", layer = 0 })
    assert.is_nil(none)
    assert.truthy(complaints[1]:find("rope_frequencies", 1, true))
  end)

  -- ---- Pruned heads ------------------------------------------------------------------------

  -- The numbers that a role has after heads were taken away.
  local function pruned_number(role, row, inner, kept, width)
    local function before(place) return kept[place // width + 1] * width + place % width end
    if role == "wo" then return number(role, row, before(inner)) end
    return number(role, before(row), inner)
  end

  local function check_pruned(blob, layer, kept)
    local width = layer.spec.p_v
    for _, role in ipairs { "wq", "wk", "wv", "wo" } do
      local part = layer.packed.parts[role]
      for column = 0, part.columns - 1 do
        for k = 0, part.depth - 1 do
          local got = float_at(blob, part, (column // 16 * part.depth + k) * 16 + column % 16)
          assert.equal(pruned_number(role, column, k, kept, width), got)
        end
      end
    end
  end

  for _, name in ipairs { "bert", "gpt2", "t5_encoder" } do
    it("takes pruned heads out of an unpruned checkpoint of " .. name, function()
      local model = stored.pruned(name, '"pruned_heads": { "1": [0, 2] }', 1)
      local packing, complaints = packed(model)
      assert(packing, complaints and table.concat(complaints, "\n"))
      assert.equal(2, packing.layer.spec.heads)
      check_pruned(assert(pack.blob(packing)), packing.layer, { 1, 3 })
    end)
  end

  it("takes a checkpoint that was saved after pruning as it is", function()
    local model = stored.pruned("bert", '"pruned_heads": { "1": [0, 2] }', 1)
    model.tensors = stored.bert_tensors(1, 2)
    local packing, complaints = packed(model)
    assert(packing, complaints and table.concat(complaints, "\n"))
    check_blob(model, assert(pack.blob(packing)), packing.layer)
  end)

  it("takes pruned heads out of the table of distances", function()
    local model = stored.pruned("t5_encoder", '"pruned_heads": { "1": [0, 2] }', 1)
    local packing = assert(packed(model))
    local blob = assert(pack.blob(packing))
    local part = packing.layer.packed.parts.bias_table
    -- at the query's own place stands bucket 0
    for row, head in ipairs { 1, 3 } do
      local at = (row - 1) * part.width + part.left + 15
      assert.equal(number("bias_table", 0, head), float_at(blob, part, at))
    end
  end)

  it("refuses a config that prunes other heads than the spec lacks", function()
    local model = stored.pruned("bert", '"pruned_heads": { "1": [0] }', 1)
    local spec = spec_of(stored.named "bert")
    local none, complaints = pack.of(spec, checkpoint_of(model.tensors), options_of(model))
    assert.is_nil(none)
    assert.truthy(complaints[1]:find("heads: 4: the config prunes 1 of 4", 1, true))
  end)

  -- ---- Wrong checkpoints -------------------------------------------------------------------

  local function with(model, name, change)
    local list, found = {}, false
    for index, tensor in ipairs(model.tensors) do
      list[index] = tensor
      if tensor.name == name then
        found = true
        list[index] = { name = name, shape = tensor.shape,
          values = table.move(tensor.values, 1, #tensor.values, 1, {}) }
        change(list[index], list, index)
      end
    end
    assert(found, name)
    return list
  end

  local function count_of(shape)
    local count = 1
    for _, dimension in ipairs(shape) do count = count * dimension end
    return count
  end

  local function reshaped(model, name, shape)
    return with(model, name, function(tensor)
      tensor.shape, tensor.values = shape, {}
      for index = 1, count_of(shape) do tensor.values[index] = 0.5 end
    end)
  end

  it("refuses a transposed matrix, naming tensor and both shapes", function()
    refused('tensor "model.layers.0.self_attn.q_proj.weight": shape [40, 24]: must be [24, 40] '
      .. "(wq, stored [out][in])", stored.named "llama",
      reshaped(stored.named "llama", "model.layers.0.self_attn.q_proj.weight", { 40, 24 }))
    refused('tensor "h.0.attn.c_attn.weight": shape [72, 24]: must be [24, 72] '
      .. "(wq, wk, wv, stored [in][out])", stored.named "gpt2",
      reshaped(stored.named "gpt2", "h.0.attn.c_attn.weight", { 72, 24 }))
  end)

  it("refuses query and key swapped in size, all at once", function()
    local model = stored.named "llama"
    local swapped = reshaped(model, "model.layers.0.self_attn.q_proj.weight", { 12, 40 })
    swapped = reshaped({ tensors = swapped }, "model.layers.0.self_attn.k_proj.weight", { 24, 40 })
    local complaints = refused("self_attn.k_proj.weight", model, swapped)
    assert.equal(2, #complaints)
    assert.truthy(complaints[1]:find("shape [12, 40]: must be [24, 40]", 1, true))
    assert.truthy(complaints[2]:find("shape [24, 40]: must be [12, 40]", 1, true))
  end)

  it("refuses three equal parts where heads are grouped", function()
    local model = stored.grouped_mpt
    refused('tensor "transformer.blocks.0.attn.Wqkv.weight": shape [72, 24]: must be [48, 24]',
      model)
    local bloom = stored.grouped_bloom
    refused("kv_heads: 2: tensor", bloom)
  end)

  it("names what is missing, and where else it was looked for", function()
    local model = stored.named "bert"
    local at = "bert.encoder.layer.0.attention.self."
    local list = with(model, at .. "key.weight", function(tensor)
      tensor.name = at .. "kay.weight"
    end)
    local complaints = refused(('tensor "%skey.weight": missing: wk'):format(at), model, list)
    assert.truthy(complaints[2]:find('self.kay.weight": left over: not known for bert', 1, true))
    refused("nor is there one that begins with encoder.layer.3.", model, nil, { layer = 3 })
  end)

  it("names what is left over", function()
    local model = stored.named "llama"
    local list = table.move(model.tensors, 1, #model.tensors, 1, {})
    list[#list + 1] = { name = "model.layers.0.self_attn.q_proj.bias", shape = { 24 },
      values = of_role("bq", 24).values }
    refused('self_attn.q_proj.bias": left over: the spec takes no bq from it', model, list)
    list[#list] = { name = "model.layers.0.self_attn.q_proj.lora_A", shape = { 1 }, values = { 1 } }
    refused('q_proj.lora_A": left over: not known for llama', model, list)
    list[#list] = { name = "model.layers.0.self_attn.rotary_emb.inv_freq", shape = { 1 },
      values = { 1 } }
    assert(packed(model, list))
    list[#list] = { name = "model.layers.1.self_attn.q_proj.bias", shape = { 1 }, values = { 1 } }
    assert(packed(model, list))
  end)

  it("refuses NaN and infinity with tensor and index", function()
    local model = stored.named "bert"
    local name = "bert.encoder.layer.0.attention.self.value.weight"
    for _, case in ipairs { { 0 / 0, "NaN" }, { 1 / 0, "infinity" }, { -1 / 0, "-infinity" } } do
      local list = with(model, name, function(tensor) tensor.values[2 * 24 + 5 + 1] = case[1] end)
      local blob, complaint = pack.blob(assert(packed(model, list)))
      assert.is_nil(blob)
      assert.truthy(complaint:find(('tensor %q: element [2][5]: %s: must be finite'):format(name,
        case[2]), 1, true), complaint)
    end
  end)

  it("refuses a double that is too large for f32", function()
    local model = stored.named "bert"
    local name = "bert.encoder.layer.0.attention.output.dense.bias"
    local list = with(model, name, function(tensor)
      tensor.values[4], tensor.dtype = 1e300, "F64"
    end)
    local blob, complaint = pack.blob(assert(packed(model, list)))
    assert.is_nil(blob)
    assert.truthy(complaint:find("element [3]: infinity", 1, true), complaint)
  end)

  it("refuses a family that keeps no such weights, and none at all", function()
    local model = stored.named "bert"
    local spec = assert(spec_module.complete { name = "gated", heads = 4, d = 24, p_v = 6,
      tokens = 4, sinks = true })
    local none, complaints = pack.of(spec, checkpoint_of(model.tensors),
      { family = "bert", layer = 0 })
    assert.is_nil(none)
    local text = table.concat(complaints, "\n")
    assert.truthy(text:find("sinks: the spec has it, but bert keeps no such weights", 1, true),
      text)
    none, complaints = pack.of(spec, checkpoint_of(model.tensors), { layer = 0 })
    assert.is_nil(none)
    assert.truthy(complaints[1]:find("family: absent", 1, true))
    none, complaints = pack.of(spec, checkpoint_of(model.tensors), { family = "bert" })
    assert.is_nil(none)
    assert.truthy(complaints[1]:find("layer: absent", 1, true))
  end)

  it("takes a prefix that the family does not have", function()
    local model = stored.named "bert"
    local list = {}
    for index, tensor in ipairs(model.tensors) do
      list[index] = { name = tensor.name:gsub("^bert%.encoder%.layer%.0", "student.7.block"),
        shape = tensor.shape, values = tensor.values }
    end
    refused("missing", model, list)
    assert(packed(model, list, { prefix = "student.{layer}.block.", layer = 7,
      config = false, family = "bert" }))
  end)

  -- ---- Against the emitted C ---------------------------------------------------------------

  local main_text <const> = [[
#include "%s.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
const void *%s_packed(void);
static float numbers[%d];
int main(int argc, char **argv)
{
  FILE *in = fopen(argv[1], "rb");
  FILE *out = fopen(argv[2], "wb");
  void *packed = aligned_alloc(%s_ALIGN, %s_PACKED_BYTES);
  %s_layer layer;
  %s_weights weights;
  if (argc != 3 || !in || !out || !packed) { return 2; }
  if (fread(numbers, sizeof(float), %d, in) != %d) { return 3; }
  memset(&weights, 0, sizeof weights);
  memset(packed, 0xff, %s_PACKED_BYTES);
%s
  if (%s_pack(&weights, packed, %s_PACKED_BYTES) != %s_OK) { return 4; }
  if (memcmp(%s_packed(), packed, %s_PACKED_BYTES) != 0) { return 5; }
  if (%s_open(&layer, %s_packed(), %s_PACKED_BYTES, %s_TARGET_BEST) != %s_OK) { return 6; }
  if (fwrite(packed, 1, %s_PACKED_BYTES, out) != %s_PACKED_BYTES) { return 7; }
  return fclose(out) == 0 ? 0 : 8;
}
]]

  -- The main program: dense weights from a file, one after the other, into the struct.
  local function main_of(layer)
    local lines, at = {}, 0
    for _, weight in ipairs(layer.weights) do
      local count = count_of(weight.shape)
      if weight.kind == "vector" then
        lines[#lines + 1] = ("  weights.%s = numbers + %d;"):format(weight.role, at)
      else
        local inner = weight.role == "wo" and weight.heads * weight.rows or weight.cols
        local is_output = weight.role == "wo"
        lines[#lines + 1] = ("  weights.%s = (%s_matrix){ numbers + %d, %d, %d, %d };"):format(
          weight.role, layer.name, at, is_output and weight.rows or weight.rows * inner,
          is_output and 1 or inner, is_output and inner or 1)
      end
      at = at + count
    end
    local n, u = layer.name, layer.upper
    return main_text:format(n, n, at, u, u, n, n, at, at, u, table.concat(lines, "\n"), n, u, u,
      n, u, n, n, u, u, u, u, u)
  end

  local function run(command)
    local done = os.execute(command .. " >" .. folder .. "/log 2>&1")
    if done then return end
    local handle <close> = assert(io.open(folder .. "/log"))
    error(command .. "\n" .. handle:read("a"))
  end

  local function write_numbers(packing)
    local pieces = {}
    for _, weight in ipairs(packing.layer.weights) do
      for _, value in ipairs(assert(packing.values_of(weight.role))) do
        pieces[#pieces + 1] = string.pack("<f", value)
      end
    end
    files.write(folder .. "/numbers", table.concat(pieces))
  end

  local function check_against_c(packing)
    local layer, sources = packing.layer, {}
    for _, file in ipairs(assert(require("emit").files(layer.spec))) do
      local path = folder .. "/" .. file.path:match("[^/]*$")
      files.write(path, file.text)
      if path:find("%.c$") and not path:find("_test%.c$") then sources[#sources + 1] = path end
    end
    local table_path = folder .. "/" .. layer.name .. "_weights.c"
    files.write(table_path, assert(pack.c_table(packing, "of a test")))
    files.write(folder .. "/main.c", main_of(layer))
    write_numbers(packing)
    run(("cc -std=c11 -O0 -Wall -Wextra -Wpedantic -Werror -Wno-unused-function -I%s -o %s/main "
      .. "%s/main.c %s %s -lm"):format(folder, folder, folder, table_path,
      table.concat(sources, " ")))
    run(("%s/main %s/numbers %s/packed"):format(folder, folder, folder))
    local handle <close> = assert(io.open(folder .. "/packed", "rb"))
    assert.is_true(handle:read("a") == assert(pack.blob(packing)), layer.name)
  end

  for _, name in ipairs { "bert", "gemma2", "t5_encoder", "t5_decoder", "qwen3", "gpt_oss", "mpt",
    "bert_relative_key", "t2t" } do
    it("makes the bytes of the emitted pack for " .. name, function()
      check_against_c(assert(packed(stored.named(name))))
    end)
  end

  it("makes the bytes of the emitted pack for clipped distances and free widths", function()
    local spec = assert(spec_module.complete { name = "wide", heads = 3, d_q = 10, d_k = 14,
      d_v = 18, p_q = 5, p_v = 7, p_o = 11, tokens = { max = 9 }, context = { max = 9 },
      position = { relative = { kind = "key", left = 4, right = 2 } } })
    local layer = layer_module.of(spec)
    check_against_c({
      layer = layer,
      values_of = function(role)
        for _, weight in ipairs(layer.weights) do
          if weight.role == role then return of_role(role, table.unpack(weight.shape)).values end
        end
      end,
    })
  end)
end)
