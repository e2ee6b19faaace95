-- From a model's own config and checkpoint to numbers: import, pack, generate, compile, run, and
-- compare with what the model's own program made of the same input (see tests/models/make.py).

local checkpoint = require "read.checkpoint"
local files = dofile "tests/lua/checkpoint_files.lua"
local import = require "import"
local json = require "read.json"
local lfs = require "lfs"
local pack = require "pack"
local spec_module = require "spec"

local models <const> = {
  "bert", "bert_relative", "bert_pruned", "bert_cross", "roberta", "distilbert", "vit", "gpt2",
  "gpt2_cross", "llama", "mistral", "phi", "gptj", "bloom", "mpt", "t5_encoder", "t5_decoder",
  "t5_cross", "mt5_encoder", "whisper_encoder", "whisper_decoder", "whisper_cross",
}

local main_text <const> = [[
#include "${name}.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static float x[${tokens} * ${width}], context[${keys} * ${width}], y[${tokens} * ${width}];
static int read_all(const char *path, void *to, size_t bytes)
{
  FILE *file = fopen(path, "rb");
  size_t got = file ? fread(to, 1, bytes, file) : 0;
  if (file) { fclose(file); }
  return got == bytes;
}
int main(int argc, char **argv)
{
  void *packed = aligned_alloc(${upper}_ALIGN, ${upper}_PACKED_BYTES);
  void *workspace = aligned_alloc(${upper}_ALIGN, (${upper}_WORKSPACE_BYTES + 63) / 64 * 64);
  ${name}_layer layer;
  ${name}_call call;
  FILE *out = argc == 5 ? fopen(argv[4], "wb") : NULL;
  if (!out || !packed || !workspace) { return 2; }
  if (!read_all(argv[1], packed, ${upper}_PACKED_BYTES)) { return 3; }
  if (!read_all(argv[2], x, sizeof x) || !read_all(argv[3], context, sizeof context)) { return 4; }
  if (${name}_open(&layer, packed, ${upper}_PACKED_BYTES, ${upper}_TARGET_BEST)) { return 5; }
  memset(&call, 0, sizeof call);
  ${fill}
  call.y = y;
  if (${name}_forward(&layer, &call, workspace, ${upper}_WORKSPACE_BYTES)) { return 6; }
  return fwrite(y, 1, sizeof y, out) == sizeof y && fclose(out) == 0 ? 0 : 7;
}
]]

local function read(path)
  local handle <close> = assert(io.open(path, "rb"))
  return handle:read("a")
end

local function floats_text(list)
  local pieces = {}
  for index, value in ipairs(list) do pieces[index] = string.pack("<f", value) end
  return table.concat(pieces)
end

describe("a model's own config and checkpoint", function()
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

  local function run(command)
    if os.execute(("%s >%s/log 2>&1"):format(command, folder)) then return end
    error(command .. "\n" .. read(folder .. "/log"))
  end

  local function load_model(name)
    local dir = "tests/models/" .. name .. "/"
    local case = assert(json.decode(read(dir .. "case.json"), "case.json"))
    local config = assert(import.decode(read(dir .. "config.json"), dir .. "config.json"))
    local result, complaints = import.of(config, {
      layer = case.layer, stack = case.stack, cross = case.cross, name = "layer_" .. name,
    })
    assert(result, complaints and table.concat(complaints, "\n"))
    local spec = assert(spec_module.complete(result.fields))
    local weights = assert(checkpoint.open(dir .. "model.safetensors"))
    local packing
    packing, complaints = pack.of(spec, weights, { config = config, layer = case.layer })
    assert(packing, complaints and table.concat(complaints, "\n"))
    return spec, packing, assert(checkpoint.open(dir .. "vectors.safetensors"))
  end

  local function fill_of(spec)
    local lines = {}
    if not spec.tokens.fixed then lines[1] = "call.tokens = sizeof x / sizeof *x / ${width};" end
    if spec.context then
      if not spec.context.fixed then
        lines[#lines + 1] = "call.context = sizeof context / sizeof *context / ${width};"
      end
      lines[#lines + 1] = "call.q = x; call.k = context;"
    else
      lines[#lines + 1] = "call.x = x;"
    end
    return table.concat(lines, "\n  ")
  end

  local function write_main(spec, vectors)
    local keys = vectors.tensors.context and vectors.tensors.context.shape[1] or 1
    local words = {
      name = spec.name, upper = spec.name:upper(), tokens = vectors.tensors.x.shape[1],
      width = spec.p_o, keys = keys,
    }
    local function replaced(text)
      return (text:gsub("%${(%w+)}", function(word) return tostring(words[word]) end))
    end
    words.fill = replaced(fill_of(spec))
    files.write(folder .. "/main.c", replaced(main_text))
    files.write(folder .. "/x", floats_text(vectors.floats "x"))
    local context = keys == 1 and {} or vectors.floats "context"
    if keys == 1 then for index = 1, spec.p_o do context[index] = 0.0 end end
    files.write(folder .. "/context", floats_text(context))
  end

  local function build(spec)
    local sources = {}
    for _, file in ipairs(assert(require("emit").files(spec))) do
      local path = folder .. "/" .. file.path:match("[^/]*$")
      files.write(path, file.text)
      if path:find("%.c$") and not path:find("_test%.c$") then sources[#sources + 1] = path end
    end
    run(("cc -std=c11 -O1 -I%s -o %s/main %s/main.c %s -lm"):format(folder, folder, folder,
      table.concat(sources, " ")))
  end

  -- The largest difference, and the largest value that was expected.
  local function compare(got, expected)
    local difference, largest = 0, 0
    for index, value in ipairs(expected) do
      local made = string.unpack("<f", got, 4 * index - 3)
      assert.is_true(made == made)
      difference = math.max(difference, math.abs(made - value))
      largest = math.max(largest, math.abs(value))
    end
    return difference, largest
  end

  for _, name in ipairs(models) do
    it("make the layer of the model: " .. name, function()
      local spec, packing, vectors = load_model(name)
      write_main(spec, vectors)
      build(spec)
      files.write(folder .. "/packed", assert(pack.blob(packing)))
      run(("%s/main %s/packed %s/x %s/context %s/y"):format(folder, folder, folder, folder, folder))
      local expected = vectors.floats "y"
      local got = read(folder .. "/y")
      assert.equal(4 * #expected, #got)
      local difference, largest = compare(got, expected)
      -- both sides sum in f32
      assert.is_true(difference <= 4e-6 * largest,
        ("%g of %g"):format(difference, largest))
    end)
  end

  it("are all the models of the folder", function()
    local count = 0
    for name in lfs.dir "tests/models" do
      if lfs.attributes("tests/models/" .. name .. "/case.json", "mode") then count = count + 1 end
    end
    assert.equal(#models, count)
  end)
end)
