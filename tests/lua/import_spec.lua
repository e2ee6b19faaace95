local import = require "import"
local json = require "read.json"
local spec_module = require "spec"

local function config_of(name)
  local path = "tests/configs/" .. name .. ".json"
  local handle <close> = assert(io.open(path))
  return assert(import.decode(handle:read("a"), path))
end

-- A config with some keys changed; json.null as a value writes null, "absent" takes the key away.
local function changed(name, changes)
  local object = config_of(name)
  for _, change in ipairs(changes) do
    local value = change[2]
    if value == "absent" then value = nil end
    object[change[1]] = value
  end
  return object
end

local function object_of(text) return import.decode(text, "config.json") end

local function spec_of(object, options)
  local result, complaints = import.of(object, options)
  assert(result, complaints and table.concat(complaints, "\n"))
  local chunk = assert(load(result.text, "=spec", "t", {}))
  local complete, faults = spec_module.complete(chunk())
  assert(complete, faults and table.concat(faults, "\n"))
  return complete, result
end

-- What a layer is, in one line: heads, widths, the shapes of the four matrices follow from them.
local function shape_of(spec)
  return ("h%d g%d p%d,%d d%d o%d inner%d"):format(spec.heads, spec.kv_heads, spec.p_q, spec.p_v,
    spec.d_q, spec.p_o, spec.heads * spec.p_v)
end

local function refused(pattern, object, options)
  local result, complaints = import.of(object, options)
  assert.is_nil(result)
  local text = table.concat(complaints, "\n")
  assert.truthy(text:find(pattern, 1, true), text)
end

describe("import, on the numbers of published models", function()
  local published = {
    { "bert_base", "h12 g12 p64,64 d768 o768 inner768" },
    { "bert_tiny", "h2 g2 p64,64 d128 o128 inner128" },
    { "bert_large_tf", "h16 g16 p64,64 d1024 o1024 inner1024" },
    { "minilm_l6", "h12 g12 p32,32 d384 o384 inner384" },
    { "roberta_base", "h12 g12 p64,64 d768 o768 inner768" },
    { "distilbert", "h12 g12 p64,64 d768 o768 inner768" },
    { "gpt2", "h12 g12 p64,64 d768 o768 inner768" },
    { "gpt2_xl", "h25 g25 p64,64 d1600 o1600 inner1600" },
    { "t5_small", "h8 g8 p64,64 d512 o512 inner512" },
    { "t5_11b", "h128 g128 p128,128 d1024 o1024 inner16384" },
    { "t5_v1_1_small", "h6 g6 p64,64 d512 o512 inner384" },
    { "mt5_small", "h6 g6 p64,64 d512 o512 inner384" },
    { "whisper_tiny", "h6 g6 p64,64 d384 o384 inner384" },
    { "llama_3_2_1b", "h32 g8 p64,64 d2048 o2048 inner2048" },
    { "llama_3_8b", "h32 g8 p128,128 d4096 o4096 inner4096" },
    { "gemma2_2b", "h8 g4 p256,256 d2304 o2304 inner2048" },
    { "gemma2_27b", "h32 g16 p128,128 d4608 o4608 inner4096" },
    { "qwen3_0_6b", "h16 g8 p128,128 d1024 o1024 inner2048" },
    { "gpt_oss_120b", "h64 g8 p64,64 d2880 o2880 inner4096" },
    { "mistral_7b", "h32 g8 p128,128 d4096 o4096 inner4096" },
    { "phi_2", "h32 g32 p80,80 d2560 o2560 inner2560" },
    { "gptj_6b", "h16 g16 p256,256 d4096 o4096 inner4096" },
    { "bloom_560m", "h16 g16 p64,64 d1024 o1024 inner1024" },
    { "mpt_7b", "h32 g32 p128,128 d4096 o4096 inner4096" },
    { "vit_base", "h12 g12 p64,64 d768 o768 inner768" },
    { "vit_huge", "h16 g16 p80,80 d1280 o1280 inner1280" },
    { "t2t_base", "h8 g8 p64,64 d512 o512 inner512" },
    { "t2t_k128", "h8 g8 p16,64 d512 o512 inner512" },
  }
  for _, case in ipairs(published) do
    it("gives the shapes of " .. case[1], function()
      assert.equal(case[2], shape_of(spec_of(config_of(case[1]), { layer = 0 })))
    end)
  end

  local function biases(spec)
    local text = ""
    for _, which in ipairs { "q", "k", "v", "o" } do
      text = text .. (spec.bias[which] and which or "-")
    end
    return text
  end

  it("gives the biases of each family", function()
    local expected = {
      { "bert_base", "qkvo" }, { "distilbert", "qkvo" }, { "gpt2", "qkvo" }, { "t5_small", "----" },
      { "whisper_tiny", "q-vo" }, { "llama_3_8b", "----" }, { "gemma2_2b", "----" },
      { "qwen3_0_6b", "----" }, { "gpt_oss_120b", "qkvo" }, { "phi_2", "qkvo" },
      { "gptj_6b", "----" }, { "bloom_560m", "qkvo" }, { "mpt_7b", "----" }, { "vit_base", "qkvo" },
      { "t2t_base", "----" }, { "bert_large_tf", "qkvo" }, { "mistral_7b", "----" },
    }
    for _, case in ipairs(expected) do
      assert.equal(case[2], biases((spec_of(config_of(case[1]), { layer = 0 }))), case[1])
    end
    local without = changed("vit_base", { { "qkv_bias", false } })
    assert.equal("---o", biases((spec_of(without))))
    local with = changed("llama_3_8b", { { "attention_bias", true } })
    assert.equal("qkvo", biases((spec_of(with))))
  end)

  it("gives the scales", function()
    local function scale(object, options) return (spec_of(object, options)).scale end
    assert.equal(1 / 8, scale(config_of "bert_base"))
    assert.equal(1.0, scale(config_of "t5_small"))
    assert.equal(1 / 16, scale(config_of "gemma2_2b", { layer = 1 }))
    assert.equal(1 / 12, scale(config_of "gemma2_27b", { layer = 1 }))
    assert.near(1 / math.sqrt(80), scale(config_of "phi_2"), 1e-15)
    assert.equal(1 / 4, scale(config_of "t2t_k128"))
    local inverse = changed("gpt2", { { "scale_attn_by_inverse_layer_idx", true } })
    assert.equal(1 / 8 / 5, scale(inverse, { layer = 4 }))
    refused("scale_attn_by_inverse_layer_idx: true: layers differ", inverse)
    local unscaled = changed("gpt2", { { "scale_attn_weights", false } })
    assert.equal(1.0, scale(unscaled))
    local stated = config_of "mpt_7b"
    stated.attn_config.softmax_scale = 0.5
    assert.equal(0.5, scale(stated))
    local inside = changed("t2t_base", { { "attention_variables_3d", true } })
    assert.equal(1.0, scale(inside))
  end)

  it("gives the windows, layer by layer", function()
    local function window(name, layer, changes)
      local found = (spec_of(changed(name, changes or {}), { layer = layer })).mask.window
      return found and found.left
    end
    assert.equal(4095, window("gemma2_2b", 0))
    assert.is_nil(window("gemma2_2b", 1))
    assert.equal(127, window("gpt_oss_120b", 34))
    assert.is_nil(window("gpt_oss_120b", 35))
    assert.equal(4095, window("mistral_7b", nil))
    assert.is_nil(window("mistral_7b", nil, { { "sliding_window", json.null } }))
    assert.equal(4095, window("mistral_7b", nil, { { "sliding_window", "absent" } }))
    assert.is_nil(window("qwen3_0_6b", nil))
    local sliding = { { "use_sliding_window", true }, { "sliding_window", 1024 },
      { "max_window_layers", 20 } }
    assert.is_nil(window("qwen3_0_6b", 19, sliding))
    assert.equal(1023, window("qwen3_0_6b", 20, sliding))
    local pattern = { { "sliding_window_pattern", 3 } }
    assert.equal(4095, window("gemma2_2b", 1, pattern))
    assert.is_nil(window("gemma2_2b", 2, pattern))
  end)

  it("follows layer_types where they are stated", function()
    local types = json.decode('["full_attention", "sliding_attention"]', "types")
    local object = changed("gemma2_2b", { { "layer_types", types }, { "num_hidden_layers", 2 } })
    assert.is_nil((spec_of(object, { layer = 0 })).mask.window)
    assert.equal(4095, (spec_of(object, { layer = 1 })).mask.window.left)
    refused("layer_types: ", object)
    object.num_hidden_layers = 3
    refused("layer_types: 2 entries: must be as many as layers, 3", object, { layer = 0 })
    types[2] = "chunked_attention"
    object.num_hidden_layers = 2
    refused('layer_types[1]: "chunked_attention"', object, { layer = 1 })
    refused("sliding_window: 4096: layers differ", config_of "gemma2_2b")
  end)

  it("gives the norms", function()
    local function norms(name) return (spec_of(config_of(name), { layer = 0 })).norms end
    assert.same({ kind = "layer", eps = 1e-12, plus_one = false }, norms("bert_base").after)
    assert.equal(1e-5, norms("roberta_base").after.eps)
    assert.same({ kind = "rms", eps = 1e-5, plus_one = false }, norms("llama_3_2_1b").input)
    assert.is_true(norms("gemma2_2b").input.plus_one)
    assert.is_true(norms("gemma2_2b").output.plus_one)
    assert.equal("layer", norms("gpt2").input.kind)
    assert.equal("input", next { input = norms("t2t_base").input })
    local post = changed("t2t_base", { { "layer_preprocess_sequence", "none" },
      { "layer_postprocess_sequence", "dan" } })
    assert.equal(1e-6, (spec_of(post)).norms.after.eps)
    assert.equal(1e-6, (spec_of(config_of "qwen3_0_6b")).qk_norm.eps)
  end)

  it("gives the counts", function()
    assert.same({ max = 512, fixed = false }, (spec_of(config_of "roberta_base")).tokens)
    assert.same({ max = 197, fixed = true }, (spec_of(config_of "vit_base")).tokens)
    assert.same({ max = 257, fixed = true }, (spec_of(config_of "vit_huge")).tokens)
    assert.same({ max = 1500, fixed = true }, (spec_of(config_of "whisper_tiny")).tokens)
    local cross = spec_of(config_of "whisper_tiny", { cross = true })
    assert.same({ max = 1500, fixed = true }, cross.context)
    assert.same({ max = 448, fixed = false }, cross.tokens)
  end)
end)

describe("import of positions", function()
  local function rope_of(name, options, changes)
    local spec, result = spec_of(changed(name, changes or {}), options)
    return spec.position.rope, result.frequencies
  end

  it("keeps the base where nothing is stretched", function()
    local rope, frequencies = rope_of "llama_3_8b"
    assert.same({ 500000.0, 128, false }, { rope.base, rope.dim, rope.frequencies })
    assert.is_nil(frequencies)
    assert.same({ 1000000, 128 }, { rope_of("qwen3_0_6b").base, rope_of("qwen3_0_6b").dim })
    assert.equal(32, rope_of("phi_2").dim)
    local gptj = rope_of "gptj_6b"
    assert.same({ 64, true }, { gptj.dim, gptj.interleaved })
  end)

  it("stretches as llama3 does", function()
    local rope, frequencies = rope_of "llama_3_2_1b"
    assert.is_true(rope.frequencies)
    assert.equal(32, #frequencies)
    assert.equal(1.0, frequencies[1])
    -- whole waves in the old context: more than 4 stay, fewer than 1 are divided by 32
    for index, frequency in ipairs(frequencies) do
      local plain = 500000.0 ^ (-2 * (index - 1) / 64)
      local turns = 8192 * plain / (2 * math.pi)
      if turns > 4 then
        assert.equal(plain, frequency)
      elseif turns < 1 then
        assert.near(plain / 32, frequency, 1e-15)
      else
        local blend = (turns - 1) / 3
        assert.near((1 - blend) * plain / 32 + blend * plain, frequency, 1e-15)
      end
    end
  end)

  it("stretches as YaRN does", function()
    local rope, frequencies = rope_of("gpt_oss_120b", { layer = 0 })
    assert.near(0.1 * math.log(32) + 1, rope.factor, 1e-12)
    assert.equal(1.0, frequencies[1])
    assert.near(150000.0 ^ (-62 / 64) / 32, frequencies[32], 1e-15)
    -- the ramp runs from the component that turns 32 times in 4096 positions to that of one turn
    local low = 64 * math.log(4096 / (32 * 2 * math.pi)) / (2 * math.log(150000))
    local high = 64 * math.log(4096 / (2 * math.pi)) / (2 * math.log(150000))
    for index, frequency in ipairs(frequencies) do
      local plain = 150000.0 ^ (-2 * (index - 1) / 64)
      local ramp = math.min(math.max((index - 1 - low) / (high - low), 0), 1)
      assert.near(plain * (1 - ramp) + plain / 32 * ramp, frequency, 1e-15)
    end
  end)

  it("meets the frequencies that transformers made for a narrow gpt-oss", function()
    local object = object_of [[{ "model_type": "gpt_oss", "num_attention_heads": 4,
      "num_key_value_heads": 1, "hidden_size": 32, "head_dim": 16 }]]
    local _, result = spec_of(object, { layer = 1 })
    local expected = {
      1.0, 0.22541800141334534, 0.05081327632069588, 0.006794959306716919, 0.0004564839182421565,
      1.818833698052913e-05, 4.099978468730114e-06, 9.242089618055616e-07,
    }
    assert.equal(#expected, #result.frequencies)
    for index, frequency in ipairs(expected) do
      assert.near(frequency, result.frequencies[index], 2e-7 * frequency)
    end
  end)

  it("rounds YaRN's ramp to whole components unless it is told not to", function()
    local function stretched(truncate)
      local scaling = json.decode(([[{ "rope_type": "yarn", "factor": 4.0,
        "original_max_position_embeddings": 2048, "truncate": %s }]]):format(truncate), "scaling")
      local _, frequencies = rope_of("llama_3_8b", nil, { { "rope_scaling", scaling } })
      return frequencies
    end
    local whole, exact = stretched(true), stretched(false)
    assert.equal(whole[1], exact[1])
    local differs = false
    for index, frequency in ipairs(whole) do differs = differs or frequency ~= exact[index] end
    assert.is_true(differs)
  end)

  it("divides all frequencies for the type linear", function()
    local scaling = json.decode('{ "type": "linear", "factor": 4.0 }', "scaling")
    local _, frequencies = rope_of("llama_3_8b", nil, { { "rope_scaling", scaling } })
    assert.equal(0.25, frequencies[1])
    assert.equal(500000.0 ^ (-126 / 128) / 4, frequencies[64])
  end)

  it("reads the newer rope_parameters", function()
    local parameters = json.decode([[{ "rope_type": "default", "rope_theta": 12345.0,
      "partial_rotary_factor": 0.5 }]], "parameters")
    local rope = rope_of("phi_2", nil, { { "rope_parameters", parameters },
      { "rope_theta", "absent" }, { "partial_rotary_factor", "absent" } })
    assert.same({ 12345.0, 40 }, { rope.base, rope.dim })
    -- gpt-oss has a default of its own for the older key, which the newer one replaces
    local plain = json.decode('{ "rope_type": "default", "rope_theta": 150000.0 }', "parameters")
    rope = rope_of("gpt_oss_120b", { layer = 0 }, { { "rope_parameters", plain },
      { "rope_scaling", "absent" } })
    assert.equal(150000.0, rope.base)
  end)

  it("refuses what it cannot stretch, naming key and value", function()
    local function scaled(text)
      return changed("llama_3_8b", { { "rope_scaling", json.decode(text, "scaling") } })
    end
    refused('rope_scaling.rope_type: "dynamic"', scaled '{ "rope_type": "dynamic", "factor": 2.0 }')
    refused('rope_scaling.type: "longrope"', scaled '{ "type": "longrope" }')
    refused("rope_scaling.factor: null: the type linear needs it", scaled '{ "type": "linear" }')
    refused("rope_scaling.twist: 3: not understood for the type linear",
      scaled '{ "type": "linear", "factor": 2.0, "twist": 3 }')
    refused("rope_scaling.factor: -2.0: must be a number above 0",
      scaled '{ "type": "linear", "factor": -2.0 }')
    refused("contradicts rope_type",
      scaled '{ "type": "linear", "rope_type": "yarn", "factor": 2 }')
    refused("high_freq_factor: 1.0: must be above", scaled [[{ "rope_type": "llama3", "factor": 8,
      "low_freq_factor": 1.0, "high_freq_factor": 1.0 }]])
    local both = scaled '{ "type": "linear", "factor": 2.0 }'
    both.rope_parameters = json.decode('{ "rope_type": "default" }', "parameters")
    refused("only one may", both)
  end)

  it("refuses an odd rotary width", function()
    refused("rotary width: 25: must be even",
      changed("phi_2", { { "partial_rotary_factor", 0.32 } }))
    refused("rotary_dim: 63: must be even", changed("gptj_6b", { { "rotary_dim", 63 } }))
    refused("rotary width: 65: must be even", changed("llama_3_8b", { { "head_dim", 65 } }))
  end)

  it("gives ALiBi's slopes", function()
    local bloom = (spec_of(config_of "bloom_560m")).position.alibi.slopes
    for head = 1, 16 do assert.near(2 ^ (-head / 2), bloom[head], 1e-15) end
    local twelve = changed("mpt_7b", { { "n_heads", 12 }, { "d_model", 768 } })
    assert.same({ 2 ^ -1, 2 ^ -2, 2 ^ -3, 2 ^ -4, 2 ^ -5, 2 ^ -6, 2 ^ -7, 2 ^ -8, 2 ^ -0.5,
      2 ^ -1.5, 2 ^ -2.5, 2 ^ -3.5 }, (spec_of(twelve)).position.alibi.slopes)
    local six = changed("bloom_560m", { { "num_attention_heads", 6 }, { "n_embed", 96 } })
    assert.same({ 2 ^ -2, 2 ^ -4, 2 ^ -6, 2 ^ -8, 2 ^ -1, 2 ^ -3 },
      (spec_of(six)).position.alibi.slopes)
  end)

  it("gives BERT's relative positions", function()
    local object = changed("bert_base", { { "position_embedding_type", "relative_key_query" } })
    local relative = (spec_of(object)).position.relative
    assert.same({ "key_query", 512 }, { relative.kind, relative.max })
    object.position_embedding_type = "relative_key"
    assert.equal("key", (spec_of(object)).position.relative.kind)
    object.position_embedding_type = "sinusoidal"
    refused('position_embedding_type: "sinusoidal"', object)
  end)

  it("gives T5's buckets, by stack", function()
    local bias = (spec_of(config_of "t5_small")).position.bias
    assert.same({ 32, 128, true }, { bias.buckets, bias.max_distance, bias.bidirectional })
    bias = (spec_of(config_of "t5_small", { stack = "decoder" })).position.bias
    assert.is_false(bias.bidirectional)
    assert.is_nil((spec_of(config_of "t5_small", { cross = true })).position.bias)
  end)
end)

describe("import of keys", function()
  it("refuses unknown keys that may change the attention", function()
    for _, key in ipairs { "attn_temperature", "num_sink_tokens", "qk_clip", "rope_local_base_freq",
      "head_dim", "use_parallel_residual", "logits_soft_cap", "attention_window" } do
      refused(key .. ": 7: not understood for bert", changed("bert_base", { { key, 7 } }))
    end
  end)

  it("lets them pass where the user says so, and lists them", function()
    local object = changed("bert_base", { { "attention_colour", 7 } })
    local _, result = spec_of(object, { ignore = { "attention_colour" } })
    assert.truthy(result.text:find("attention_colour", 1, true))
  end)

  it("ignores other unknown keys, nulls and empty objects", function()
    local object = changed("bert_base", { { "colour", "blue" }, { "rope_scaling", json.null },
      { "pruned_heads", object_of "{}" } })
    local _, result = spec_of(object)
    assert.truthy(result.text:find("colour", 1, true))
  end)

  it("applies a family's default where a key is absent", function()
    local spec, result = spec_of(object_of '{ "model_type": "gemma2" }', { layer = 0 })
    assert.equal("h8 g4 p256,256 d2304 o2304 inner2048", shape_of(spec))
    assert.equal(50.0, spec.softcap)
    assert.truthy(result.text:find("head_dim%s+= 256 %(absent: the family's default%)"))
    assert.equal("h64 g8 p64,64 d2880 o2880 inner4096",
      shape_of((spec_of(object_of '{ "model_type": "gpt_oss" }', { layer = 0 }))))
  end)

  it("takes null as none, not as the default", function()
    assert.is_nil((spec_of(changed("gemma2_2b", { { "attn_logit_softcapping", json.null } }),
      { layer = 1 })).softcap)
    local plain = changed("llama_3_8b", { { "num_key_value_heads", json.null } })
    assert.equal(32, (spec_of(plain)).kv_heads)
  end)

  it("lets head_dim win over the quotient", function()
    local spec = spec_of(changed("llama_3_8b", { { "head_dim", 96 } }))
    assert.equal("h32 g8 p96,96 d4096 o4096 inner3072", shape_of(spec))
  end)

  it("refuses widths that heads do not divide, naming both keys", function()
    refused("hidden_size: 768: must be a multiple of num_attention_heads = 11",
      changed("bert_base", { { "num_attention_heads", 11 } }))
    refused("n_embd: 768: must be a multiple of n_head = 7", changed("gpt2", { { "n_head", 7 } }))
    refused("num_key_value_heads: 5: must divide num_attention_heads = 32",
      changed("llama_3_8b", { { "num_key_value_heads", 5 } }))
    refused("attention_key_channels: 100: must be a multiple of num_heads = 8",
      changed("t2t_base", { { "attention_key_channels", 100 } }))
  end)

  it("refuses values of the wrong kind, all at once", function()
    local object = changed("bert_base", { { "num_attention_heads", "twelve" }, { "hidden_size", 0 },
      { "is_decoder", 1 }, { "layer_norm_eps", -1.0 } })
    local _, complaints = import.of(object)
    assert.same({
      'num_attention_heads: "twelve": must be a whole number of at least 1',
      "hidden_size: 0: must be a whole number of at least 1",
      "layer_norm_eps: -1.0: must be a number above 0",
      "is_decoder: 1: must be true or false",
    }, complaints)
  end)

  it("refuses values that mean another attention", function()
    refused("qk_layernorm: true: only false is supported",
      changed("phi_2", { { "qk_layernorm", true } }))
    refused("apply_residual_connection_post_layernorm: true",
      changed("bloom_560m", { { "apply_residual_connection_post_layernorm", true } }))
    refused('self_attention_type: "dot_product_relative"',
      changed("t2t_base", { { "self_attention_type", "dot_product_relative" } }))
    refused("hard_attention_k: 4", changed("t2t_base", { { "hard_attention_k", 4 } }))
    refused('layer_preprocess_sequence, layer_postprocess_sequence: "nd", "da"',
      changed("t2t_base", { { "layer_preprocess_sequence", "nd" } }))
    local clipped = config_of "mpt_7b"
    clipped.attn_config.clip_qkv = 6
    refused("attn_config.clip_qkv: 6", clipped)
    clipped.attn_config.clip_qkv, clipped.attn_config.qk_gate = json.null, true
    refused("attn_config.qk_gate: true: not understood", clipped)
  end)

  it("refuses two names of one key that contradict each other", function()
    refused("hidden_size: 1024: contradicts n_embd = 768",
      changed("gpt2", { { "hidden_size", 1024 } }))
    spec_of(changed("gpt2", { { "hidden_size", 768 } }))
  end)

  it("finds the family, or says what there is", function()
    refused("model_type: mamba: must be one of bert, roberta",
      object_of '{ "model_type": "mamba" }')
    refused("model_type: absent", object_of '{ "hidden_size": 8 }')
    refused("family: mamba", object_of "{}", { family = "mamba" })
    refused("family: torch_mha: has no config", object_of "{}", { family = "torch_mha" })
    assert.equal("tf_bert", (select(2, spec_of(config_of "bert_tiny"))).family.name)
    assert.equal("t2t", (select(2, spec_of(config_of "t2t_base"))).family.name)
    local _, stated = spec_of(config_of "bert_tiny", { family = "bert" })
    assert.equal("bert", stated.family.name)
    assert.is_nil(import.decode("[]", "list.json"))
  end)

  it("keeps the keys of the text that it came from", function()
    local _, result = spec_of(config_of "bert_base", { source = "config.json" })
    assert.equal("-- Generated by qkvc import from config.json.", result.text:match("^[^\n]*"))
    assert.truthy(result.text:find("heads = 12, -- num_attention_heads", 1, true))
    for line in result.text:gmatch("[^\n]*") do assert.is_true(#line <= 100, line) end
  end)
end)

describe("import of a part", function()
  it("makes the module, the attention and the output of BERT", function()
    local object = config_of "bert_base"
    local module = spec_of(object, { part = "module" })
    assert.is_false(module.residual)
    assert.same({}, module.norms)
    assert.is_true(module.project.o)
    local attention = spec_of(object, { part = "attention" })
    assert.is_false(attention.project.o)
    assert.equal(768, attention.p_o)
    local output = spec_of(object, { part = "output" })
    assert.is_false(output.attention)
    assert.is_true(output.residual)
    assert.equal("layer", output.norms.after.kind)
    assert.equal(768, output.p_o)
  end)

  it("leaves the input norm out of an output, and keeps Gemma's output norm", function()
    local gpt2 = spec_of(config_of "gpt2", { part = "output" })
    assert.same({}, gpt2.norms)
    local gemma = spec_of(config_of "gemma2_2b", { part = "output", layer = 0 })
    assert.is_true(gemma.norms.output.plus_one)
    assert.is_false(gemma.bias.o)
  end)

  it("makes cross-attention where the model has it", function()
    refused("add_cross_attention: false", config_of "bert_base", { cross = true })
    refused("cross: llama has no cross-attention", config_of "llama_3_8b", { cross = true })
    local object = changed("bert_base", { { "add_cross_attention", true }, { "is_decoder", true } })
    local cross = spec_of(object, { cross = true, context = "max=40" })
    assert.same({ max = 40, fixed = false }, cross.context)
    assert.is_true(cross.mask.padding)
    assert.is_false(cross.mask.causal)
    assert.is_true((spec_of(object)).mask.causal)
    refused("stack: encoder", config_of "t5_small", { cross = true, stack = "encoder" })
    refused("stack: decoder: bert has one stack only", object, { stack = "decoder" })
    refused("context: 8: only cross-attention has one", object, { context = "8" })
  end)

  it("makes layers with a cache", function()
    local spec = spec_of(config_of "gpt2", { cache = true, tokens = "max=16" })
    assert.same({ "linear", 16, 1008 }, { spec.cache, spec.tokens.max, spec.past.max })
    local step = spec_of(config_of "t5_small", { cache = true, tokens = "1", past = "40" })
    assert.same({ max = 40, fixed = true }, step.past)
    assert.is_true(step.mask.causal)
    refused("cache: true: the layer is not causal", config_of "bert_base", { cache = true })
    refused("cache, cross:", config_of "t5_small", { cache = true, cross = true })
    refused("past: 4: only a layer with a cache", config_of "gpt2", { past = "4" })
  end)

  it("takes counts as N, max=N or max", function()
    local function tokens(text) return (spec_of(config_of "gpt2", { tokens = text })).tokens end
    assert.same({ max = 8, fixed = true }, tokens "8")
    assert.same({ max = 8, fixed = false }, tokens "max=8")
    assert.same({ max = 1024, fixed = false }, tokens "max")
    refused("tokens: many: must be N, max or max=N", config_of "gpt2", { tokens = "many" })
    refused("tokens: 0", config_of "gpt2", { tokens = "0" })
  end)

  it("refuses layers that are not there", function()
    refused("layer: 12: must be from 0 to 11 (num_hidden_layers = 12)", config_of "bert_base",
      { layer = 12 })
    refused("layer: 4: must be from 0 to 3 (decoder_layers = 4)", config_of "whisper_tiny",
      { layer = 4, stack = "decoder" })
    refused("layer: -1", config_of "bert_base", { layer = -1 })
  end)

  it("takes away pruned heads, layer by layer", function()
    local object = changed("bert_base", { { "pruned_heads", object_of '{ "2": [0, 5, 7] }' } })
    refused("pruned_heads: ", object)
    assert.equal("h12 g12 p64,64 d768 o768 inner768", shape_of((spec_of(object, { layer = 0 }))))
    local spec, result = spec_of(object, { layer = 2 })
    assert.equal("h9 g9 p64,64 d768 o768 inner576", shape_of(spec))
    assert.equal(1 / 8, spec.scale)
    assert.same({ 0, 5, 7 }, result.pruned)
    object.pruned_heads = object_of '{ "2": [12] }'
    refused("pruned_heads.2: 12: must be different heads from 0 to 11", object, { layer = 2 })
  end)

  it("gives the name that was asked for, or refuses it", function()
    assert.equal("my_layer", (spec_of(config_of "bert_base", { name = "my_layer" })).name)
    assert.equal("gemma2_block_3", (spec_of(config_of "gemma2_2b", { layer = 3 })).name)
    refused("name", config_of "bert_base", { name = "while" })
  end)
end)
