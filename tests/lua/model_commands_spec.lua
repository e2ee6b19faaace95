local files = dofile "tests/lua/checkpoint_files.lua"
local lfs = require "lfs"
local stored = dofile "tests/lua/stored_models.lua"

local program <const> = "generator/qkvc"

describe("qkvc import and qkvc pack", function()
  local folder

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
  end)
  after_each(function()
    for name in lfs.dir(folder) do os.remove(folder .. "/" .. name) end
    os.remove(folder)
  end)

  local function read(path)
    local handle <close> = assert(io.open(path, "rb"))
    return handle:read("a")
  end

  -- Runs the program; "@" stands for the folder. Returns the exit code and all that was printed.
  local function run(words)
    local command = ("%s %s >%s/log 2>&1"):format(program, words:gsub("@", folder), folder)
    local _, _, code = os.execute(command)
    return code, read(folder .. "/log")
  end

  local function expect(code, words)
    local got, log = run(words)
    assert.equal(code, got, log)
    return log
  end

  local function place_model(name)
    local model = stored.named(name)
    files.write(folder .. "/config.json", model.config)
    files.safetensors(folder .. "/model.safetensors", model.tensors)
  end

  it("print a spec, or write it, and pack with it", function()
    place_model "bert"
    local text = expect(0, "import @/config.json")
    assert.truthy(text:find("name = \"bert_block\"", 1, true))
    expect(0, "import @/config.json -o @ --name narrow --tokens max=9")
    assert.truthy(read(folder .. "/narrow.lua"):find("tokens = { max = 9 }", 1, true))
    assert.truthy(expect(0, "import @/config.json -o @ --name narrow --tokens max=9")
      :find("unchanged", 1, true))
    local said = expect(0, "pack @/narrow.lua @/model.safetensors --layer 0 -o @/narrow.blob")
    assert.truthy(said:find("wrote", 1, true))
    local blob = read(folder .. "/narrow.blob")
    assert.equal("QKVC", blob:sub(1, 4))
    assert.truthy(said:find(("%d bytes packed"):format(#blob), 1, true))
  end)

  it("find config and checkpoint in a model's folder", function()
    place_model "gemma2"
    expect(0, "import @/config.json -o @ --layer 0 --name narrow")
    expect(0, "pack @/narrow.lua @ --layer 0 -o @/one.blob")
    expect(0, "pack @/narrow.lua @/model.safetensors --family gemma2 --layer 0 -o @/two.blob")
    assert.is_true(read(folder .. "/one.blob") == read(folder .. "/two.blob"))
  end)

  it("write a C table where the file's name or --form says so", function()
    place_model "bert"
    expect(0, "import @/config.json -o @ --name narrow")
    expect(0, "pack @/narrow.lua @ --layer 0 -o @/weights.c")
    expect(0, "pack @/narrow.lua @ --layer 0 --form c -o @/weights.inc")
    local text = read(folder .. "/weights.c")
    assert.is_true(text == read(folder .. "/weights.inc"))
    assert.truthy(text:find("const void *narrow_packed(void)", 1, true))
    for line in text:gmatch("[^\n]*") do assert.is_true(#line <= 100, line) end
  end)

  it("overwrite their own files and no others", function()
    place_model "bert"
    files.write(folder .. "/narrow.lua", "return {}\n")
    local said = expect(2, "import @/config.json -o @ --name narrow")
    assert.truthy(said:find("not written by qkvc", 1, true), said)
    assert.equal("return {}\n", read(folder .. "/narrow.lua"))
    os.remove(folder .. "/narrow.lua")
    expect(0, "import @/config.json -o @ --name narrow")
    files.write(folder .. "/narrow.blob", "mine")
    expect(2, "pack @/narrow.lua @ --layer 0 -o @/narrow.blob")
    assert.equal("mine", read(folder .. "/narrow.blob"))
    expect(0, "pack @/narrow.lua @ --layer 0 -o @/other.blob")
    files.safetensors(folder .. "/model.safetensors", (function()
      local list = stored.bert_tensors(0, 4)
      list[1].values[1] = 0.5
      return list
    end)())
    expect(0, "pack @/narrow.lua @ --layer 0 -o @/other.blob")
  end)

  it("say with exit 2 what is wrong, a line for each complaint", function()
    place_model "bert"
    local said = expect(2, "import @/nothing.json")
    assert.truthy(said:find("nothing.json", 1, true), said)
    files.write(folder .. "/broken.json", "{ \"a\": ")
    expect(2, "import @/broken.json")
    files.write(folder .. "/twice.json",
      '{ "model_type": "bert", "attention_one": 1, "rope_two": 2, "num_attention_heads": 0 }')
    said = expect(2, "import @/twice.json")
    local _, lines = said:gsub("\n", "")
    assert.equal(3, lines, said)
    expect(2, "import @/config.json --part half")
    expect(0, "import @/config.json -o @ --name narrow")
    expect(2, "pack @/narrow.lua @/absent.safetensors --layer 0")
    said = expect(2, "pack @/narrow.lua @ --layer 5 -o @/narrow.blob")
    assert.truthy(said:find("missing: wq", 1, true), said)
    said = expect(2, "pack @/narrow.lua @ --layer 0 --family llama -o @/narrow.blob")
    assert.truthy(said:find("q_proj.weight\": missing: wq", 1, true), said)
    assert.is_nil(lfs.attributes(folder .. "/narrow.blob", "mode"))
  end)
end)
