local families = require "families"
local spec_file = require "read.spec_file"
local spec_module = require "spec"

local list = dofile "specs/list.lua"

local known_roles = {}
for role in ([[wq wk wv wo bq bk bv bo gamma beta input_gamma input_beta output_gamma q_norm k_norm
  sinks bias_table relative]]):gmatch("%S+") do known_roles[role] = true end

describe("families", function()
  it("are one list without doubles", function()
    local names, types = {}, {}
    for _, family in ipairs(families.list) do
      assert.is_nil(names[family.name], family.name)
      names[family.name] = true
      for _, kind in ipairs(family.model_types) do
        assert.is_nil(types[kind], kind)
        types[kind] = true
      end
      assert.equal(family, families.named(family.name))
    end
    for kind in ([[bert roberta distilbert gpt2 t5 whisper llama qwen3 gemma2 vit mistral mt5
      gpt_oss phi gptj bloom mpt]]):gmatch("%S+") do
      assert.is_true(types[kind], kind)
    end
  end)

  it("state each key once, none of them both read and ignored", function()
    for _, family in ipairs(families.list) do
      local seen = {}
      for _, entry in ipairs(family.keys or {}) do
        for _, name in ipairs({ entry[1], table.unpack(entry.also or {}) }) do
          assert.is_nil(seen[name], family.name .. ": " .. name)
          seen[name] = true
        end
      end
      for _, name in ipairs(family.ignored or {}) do
        assert.is_nil(seen[name], family.name .. ": " .. name)
        seen[name] = true
      end
    end
  end)

  local function check_entry(entry, name)
    local roles = type(entry[1]) == "table" and entry[1] or { entry[1] }
    for _, role in ipairs(roles) do
      assert.is_true(known_roles[role], name .. ": " .. tostring(role))
    end
    assert.is_true(#roles == 1 or entry.split == "blocks" or entry.split == "per_head", name)
    assert.is_true(#entry > 1, name)
  end

  local function check_group(group, name)
    for _, entry in ipairs(group.list) do check_entry(entry, name) end
    assert.is_true(group.layout == "out_in" or group.layout == "in_out", name)
    assert.is_true(#group.prefix > 0 and #group.scope > 0, name)
  end

  it("state names, roles and layouts of tensors", function()
    for _, family in ipairs(families.list) do
      for _, which in ipairs { "self", "encoder", "decoder", "cross" } do
        if family.tensors[which] then check_group(family.tensors[which], family.name) end
      end
      assert.is_not_nil(family.tensors.self or family.tensors.encoder, family.name)
      assert.equal(family.has_cross or false, family.tensors.cross ~= nil, family.name)
    end
  end)

  it("share no key between what is ignored everywhere and what a family reads", function()
    for _, family in ipairs(families.list) do
      for _, entry in ipairs(family.keys or {}) do
        local exempt = entry[1] == "pad_token_id"      -- it decides RoBERTa's count of positions
        assert.is_true(exempt or not families.ignores(entry[1]), family.name .. ": " .. entry[1])
      end
    end
  end)
end)

describe("shipped specs", function()
  local seen = {}

  for _, entry in ipairs(list) do
    it("hold a good layer of its own name: " .. entry.file, function()
      local raw = assert(spec_file.load("specs/" .. entry.file))
      local spec, faults = spec_module.complete(raw)
      assert(spec, faults and table.concat(faults, "\n"))
      assert.equal(entry.file, spec.name .. ".lua")
      assert.is_nil(seen[spec.name])
      seen[spec.name] = true
    end)
  end

  it("are all files of the folder", function()
    local listed = { ["list.lua"] = true }
    for _, entry in ipairs(list) do listed[entry.file] = true end
    for name in require("lfs").dir "specs" do
      if name:find("%.lua$") then assert.is_true(listed[name], name) end
    end
  end)

  it("say where they come from in a comment", function()
    for _, entry in ipairs(list) do
      local handle <close> = assert(io.open("specs/" .. entry.file))
      assert.equal("-- ", handle:read(3), entry.file)
    end
  end)
end)
