--- Narrow models as their own programs store them: names, layouts and configs written out by
-- hand, so that the tables of the families are judged by something else.

local stored = {}

local codes <const> = {
  wq = 1, wk = 2, wv = 3, wo = 4, bq = 5, bk = 6, bv = 7, bo = 8, gamma = 9, beta = 10,
  input_gamma = 11, input_beta = 12, output_gamma = 13, q_norm = 14, k_norm = 15, sinks = 16,
  bias_table = 17, relative = 18, output_beta = 19, rope_frequencies = 20,
}

--- The number at a place of a role's matrix [out][in] or vector: exact in f32, different
-- everywhere.
function stored.number(role, row, column)
  return codes[role] * 16384 + row * 100 + column
end

local number = stored.number

local function filled(shape, value)
  local values, index = {}, {}
  local count = 1
  for axis, dimension in ipairs(shape) do index[axis], count = 0, count * dimension end
  for place = 1, count do
    values[place] = value(table.unpack(index))
    for axis = #shape, 1, -1 do
      index[axis] = index[axis] + 1
      if index[axis] < shape[axis] then break end
      index[axis] = 0
    end
  end
  return { shape = shape, values = values }
end

--- A role's tensor, [out][in] or a vector.
function stored.of_role(role, rows, columns)
  if not columns then return filled({ rows }, function(row) return number(role, row, 0) end) end
  return filled({ rows, columns }, function(row, column) return number(role, row, column) end)
end

local of_role = stored.of_role

local function named(name, tensor)
  tensor.name = name
  return tensor
end

local function out_in(name, role, outs, ins) return named(name, of_role(role, outs, ins)) end

local function in_out(name, role, outs, ins)
  return named(name, filled({ ins, outs }, function(i, o) return number(role, o, i) end))
end

local function vector(name, role, count) return named(name, of_role(role, count)) end

-- One row after the other of several roles: { { role, rows }, ... }
local function stacked(name, parts, ins)
  local total = 0
  for _, part in ipairs(parts) do total = total + part[2] end
  local function place(row)
    for _, part in ipairs(parts) do
      if row < part[2] then return part[1], row end
      row = row - part[2]
    end
  end
  if not ins then
    return named(name, filled({ total }, function(row)
      local role, inner = place(row)
      return number(role, inner, 0)
    end))
  end
  return named(name, filled({ total, ins }, function(row, column)
    local role, inner = place(row)
    return number(role, inner, column)
  end))
end

local function transposed(tensor)
  local rows, columns = tensor.shape[1], tensor.shape[2]
  local turned = filled({ columns, rows }, function(column, row)
    return tensor.values[row * columns + column + 1]
  end)
  return named(tensor.name, turned)
end

local function join(...)
  local list = {}
  for _, part in ipairs { ... } do table.move(part, 1, #part, #list + 1, list) end
  return list
end

local models = {}
stored.models = models

local function add(model) models[#models + 1] = model end

--- A model of the list by its name.
function stored.named(name)
  for _, model in ipairs(models) do
    if model.name == name then return model end
  end
  error(name)
end

-- ---- BERT and its kin ----------------------------------------------------------------------

--- BERT's tensors of a layer, 24 wide, heads of 6.
function stored.bert_tensors(layer, heads, prefix, gamma, beta)
  local at = (prefix or "bert.encoder.layer.") .. layer .. ".attention."
  local inner = 6 * heads
  return {
    out_in(at .. "self.query.weight", "wq", inner, 24),
    vector(at .. "self.query.bias", "bq", inner),
    out_in(at .. "self.key.weight", "wk", inner, 24),
    vector(at .. "self.key.bias", "bk", inner),
    out_in(at .. "self.value.weight", "wv", inner, 24),
    vector(at .. "self.value.bias", "bv", inner),
    out_in(at .. "output.dense.weight", "wo", 24, inner),
    vector(at .. "output.dense.bias", "bo", 24),
    vector(at .. "output.LayerNorm." .. (gamma or "weight"), "gamma", 24),
    vector(at .. "output.LayerNorm." .. (beta or "bias"), "beta", 24),
    -- other parts of the model and of the layer
    vector("bert.embeddings.LayerNorm.weight", "gamma", 24),
    vector((prefix or "bert.encoder.layer.") .. layer .. ".output.LayerNorm.weight", "gamma", 24),
  }
end

local bert_config <const> = [[{ "model_type": "bert", "num_attention_heads": 4, "hidden_size": 24,
  "num_hidden_layers": 8, "max_position_embeddings": 12 }]]

add { name = "bert", config = bert_config, import = { layer = 0 },
  tensors = stored.bert_tensors(0, 4) }
add { name = "bert_old_names", config = bert_config, import = { layer = 5 },
  tensors = stored.bert_tensors(5, 4, "encoder.layer.", "gamma", "beta") }
add { name = "bert_attention", config = bert_config, import = { layer = 0, part = "attention" },
  tensors = stored.bert_tensors(0, 4) }
add { name = "bert_output", config = bert_config, import = { layer = 0, part = "output" },
  tensors = stored.bert_tensors(0, 4) }
add { name = "bert_relative_key", import = { layer = 2 },
  config = (bert_config:gsub("}$", ', "position_embedding_type": "relative_key" }')),
  tensors = join(stored.bert_tensors(2, 4), {
    out_in("bert.encoder.layer.2.attention.self.distance_embedding.weight", "relative", 23, 6) }) }
add { name = "bert_cross", import = { layer = 1, cross = true },
  config = (bert_config:gsub("}$", ', "is_decoder": true, "add_cross_attention": true }')),
  tensors = (function()
    local list = stored.bert_tensors(1, 4)
    for _, tensor in ipairs(list) do
      tensor.name = tensor.name:gsub("1%.attention", "1.crossattention")
    end
    return list
  end)() }
add { name = "roberta", import = { layer = 0 }, config = (bert_config:gsub("bert", "roberta")),
  tensors = stored.bert_tensors(0, 4, "roberta.encoder.layer.") }

local function tf_bert_tensors()
  local at = "bert/encoder/layer_3/attention/"
  return {
    in_out(at .. "self/query/kernel", "wq", 24, 24), vector(at .. "self/query/bias", "bq", 24),
    in_out(at .. "self/key/kernel", "wk", 24, 24), vector(at .. "self/key/bias", "bk", 24),
    in_out(at .. "self/value/kernel", "wv", 24, 24), vector(at .. "self/value/bias", "bv", 24),
    in_out(at .. "output/dense/kernel", "wo", 24, 24), vector(at .. "output/dense/bias", "bo", 24),
    vector(at .. "output/LayerNorm/gamma", "gamma", 24),
    vector(at .. "output/LayerNorm/beta", "beta", 24),
    vector(at .. "output/LayerNorm/beta/adam_m", "gamma", 24),
    vector(at .. "output/LayerNorm/beta/adam_v", "gamma", 24),
    vector("bert/encoder/layer_3/intermediate/dense/bias", "bo", 24),
  }
end
add { name = "tf_bert", import = { layer = 3 }, tensors = tf_bert_tensors(),
  config = [[{ "type_vocab_size": 2, "num_attention_heads": 4, "hidden_size": 24,
    "num_hidden_layers": 4, "max_position_embeddings": 12 }]] }

add { name = "distilbert", import = { layer = 1 },
  config = [[{ "model_type": "distilbert", "n_heads": 4, "dim": 24, "n_layers": 2 }]],
  tensors = (function()
    local layer = "distilbert.transformer.layer.1."
    local at = layer .. "attention."
    return {
      out_in(at .. "q_lin.weight", "wq", 24, 24), vector(at .. "q_lin.bias", "bq", 24),
      out_in(at .. "k_lin.weight", "wk", 24, 24), vector(at .. "k_lin.bias", "bk", 24),
      out_in(at .. "v_lin.weight", "wv", 24, 24), vector(at .. "v_lin.bias", "bv", 24),
      out_in(at .. "out_lin.weight", "wo", 24, 24), vector(at .. "out_lin.bias", "bo", 24),
      vector(layer .. "sa_layer_norm.weight", "gamma", 24),
      vector(layer .. "sa_layer_norm.bias", "beta", 24),
      vector(layer .. "output_layer_norm.weight", "gamma", 24),
    }
  end)() }

-- ---- GPT-2, GPT-J, Bloom, MPT, Phi -----------------------------------------------------------

local thirds <const> = { { "wq", 24 }, { "wk", 24 }, { "wv", 24 } }
local bias_thirds <const> = { { "bq", 24 }, { "bk", 24 }, { "bv", 24 } }

local function gpt2_tensors(layer)
  local at = "h." .. layer .. "."
  return {
    transposed(stacked(at .. "attn.c_attn.weight", thirds, 24)),
    stacked(at .. "attn.c_attn.bias", bias_thirds),
    in_out(at .. "attn.c_proj.weight", "wo", 24, 24), vector(at .. "attn.c_proj.bias", "bo", 24),
    vector(at .. "ln_1.weight", "input_gamma", 24), vector(at .. "ln_1.bias", "input_beta", 24),
    vector(at .. "attn.bias", "bo", 1), vector(at .. "attn.masked_bias", "bo", 1),
    vector(at .. "ln_2.weight", "gamma", 24),
  }
end
local gpt2_config <const> = [[{ "model_type": "gpt2", "n_head": 4, "n_embd": 24, "n_layer": 3,
  "n_positions": 12 }]]
add { name = "gpt2", config = gpt2_config, import = { layer = 0 }, tensors = gpt2_tensors(0) }
add { name = "gpt2_cross", import = { layer = 2, cross = true },
  config = (gpt2_config:gsub("}$", ', "add_cross_attention": true }')),
  tensors = {
    in_out("transformer.h.2.crossattention.q_attn.weight", "wq", 24, 24),
    vector("transformer.h.2.crossattention.q_attn.bias", "bq", 24),
    transposed(stacked("transformer.h.2.crossattention.c_attn.weight",
      { { "wk", 24 }, { "wv", 24 } }, 24)),
    stacked("transformer.h.2.crossattention.c_attn.bias", { { "bk", 24 }, { "bv", 24 } }),
    in_out("transformer.h.2.crossattention.c_proj.weight", "wo", 24, 24),
    vector("transformer.h.2.crossattention.c_proj.bias", "bo", 24),
    vector("transformer.h.2.ln_cross_attn.weight", "input_gamma", 24),
    vector("transformer.h.2.ln_cross_attn.bias", "input_beta", 24),
  } }

add { name = "gptj", import = { layer = 0 },
  config = [[{ "model_type": "gptj", "n_head": 4, "n_embd": 24, "n_layer": 1, "rotary_dim": 4 }]],
  tensors = {
    out_in("transformer.h.0.attn.q_proj.weight", "wq", 24, 24),
    out_in("transformer.h.0.attn.k_proj.weight", "wk", 24, 24),
    out_in("transformer.h.0.attn.v_proj.weight", "wv", 24, 24),
    out_in("transformer.h.0.attn.out_proj.weight", "wo", 24, 24),
    vector("transformer.h.0.ln_1.weight", "input_gamma", 24),
    vector("transformer.h.0.ln_1.bias", "input_beta", 24),
    vector("transformer.h.0.attn.masked_bias", "bo", 1),
  } }

-- Bloom: each head's query rows, then its key rows, then its value rows.
local function head_by_head(name, roles, ins)
  local function place(row)
    local head, rest = row // 18, row % 18
    return roles[rest // 6 + 1], head * 6 + rest % 6
  end
  return named(name, filled(ins and { 72, ins } or { 72 }, function(row, column)
    local role, inner = place(row)
    return number(role, inner, column or 0)
  end))
end
local bloom_tensors <const> = {
  head_by_head("h.0.self_attention.query_key_value.weight", { "wq", "wk", "wv" }, 24),
  head_by_head("h.0.self_attention.query_key_value.bias", { "bq", "bk", "bv" }),
  out_in("h.0.self_attention.dense.weight", "wo", 24, 24),
  vector("h.0.self_attention.dense.bias", "bo", 24),
  vector("h.0.input_layernorm.weight", "input_gamma", 24),
  vector("h.0.input_layernorm.bias", "input_beta", 24),
}
add { name = "bloom", import = { layer = 0 }, tensors = bloom_tensors,
  config = [[{ "model_type": "bloom", "n_head": 4, "hidden_size": 24, "n_layer": 1 }]] }

local mpt_tensors <const> = {
  stacked("transformer.blocks.0.attn.Wqkv.weight", thirds, 24),
  out_in("transformer.blocks.0.attn.out_proj.weight", "wo", 24, 24),
  vector("transformer.blocks.0.norm_1.weight", "input_gamma", 24),
}
add { name = "mpt", import = { layer = 0 }, tensors = mpt_tensors, constant = { input_beta = true },
  config = [[{ "model_type": "mpt", "n_heads": 4, "d_model": 24, "n_layers": 1 }]] }

local grouped <const> = { name = "grouped", heads = 4, kv_heads = 2, d = 24, p_v = 6, tokens = 4,
  norm = { kind = "layer", eps = 1e-5, place = "input" } }
--- Specs with grouped heads beside checkpoints that have none.
stored.grouped_mpt = { name = "grouped_mpt", family = "mpt", tensors = mpt_tensors,
  import = { layer = 0 }, spec = { bias = false } }
stored.grouped_bloom = { name = "grouped_bloom", family = "bloom", tensors = bloom_tensors,
  import = { layer = 0 }, spec = {} }
for _, model in ipairs { stored.grouped_mpt, stored.grouped_bloom } do
  for _, key in ipairs { "name", "heads", "kv_heads", "d", "p_v", "tokens", "norm" } do
    model.spec[key] = grouped[key]
  end
end

-- ---- Llama and its kin ---------------------------------------------------------------------

-- 4 query heads on 2 key/value heads of 6, 40 wide: no two sides are equal.
local function llama_tensors(layer, more)
  local at = "model.layers." .. layer .. "."
  return join({
    out_in(at .. "self_attn.q_proj.weight", "wq", 24, 40),
    out_in(at .. "self_attn.k_proj.weight", "wk", 12, 40),
    out_in(at .. "self_attn.v_proj.weight", "wv", 12, 40),
    out_in(at .. "self_attn.o_proj.weight", "wo", 40, 24),
    vector(at .. "input_layernorm.weight", "input_gamma", 40),
  }, more or {})
end

local function llama_biases(layer)
  local at = "model.layers." .. layer .. ".self_attn."
  return {
    vector(at .. "q_proj.bias", "bq", 24), vector(at .. "k_proj.bias", "bk", 12),
    vector(at .. "v_proj.bias", "bv", 12), vector(at .. "o_proj.bias", "bo", 40),
  }
end

local function llama_config(kind, more)
  return ([[{ "model_type": "%s", "num_attention_heads": 4, "num_key_value_heads": 2,
    "hidden_size": 40, "head_dim": 6, "num_hidden_layers": 2%s }]]):format(kind, more or "")
end

local after_norm <const> = "post_attention_layernorm.weight"

add { name = "llama", config = llama_config "llama", import = { layer = 0 },
  tensors = llama_tensors(0, { vector("model.layers.0." .. after_norm, "gamma", 40) }) }
add { name = "llama_biases", config = llama_config("llama", ', "attention_bias": true'),
  import = { layer = 1 }, tensors = llama_tensors(1, llama_biases(1)) }
add { name = "mistral", config = llama_config "mistral", import = { layer = 0 },
  tensors = llama_tensors(0) }
add { name = "qwen3", config = llama_config "qwen3", import = { layer = 1 },
  tensors = llama_tensors(1, {
    vector("model.layers.1.self_attn.q_norm.weight", "q_norm", 6),
    vector("model.layers.1.self_attn.k_norm.weight", "k_norm", 6) }) }
add { name = "gemma2", config = llama_config "gemma2", import = { layer = 0 },
  tensors = llama_tensors(0, { vector("model.layers.0." .. after_norm, "output_gamma", 40) }) }
add { name = "gpt_oss", config = llama_config "gpt_oss", import = { layer = 0 },
  tensors = llama_tensors(0, join(llama_biases(0), {
    vector("model.layers.0.self_attn.sinks", "sinks", 4) })) }
add { name = "phi", import = { layer = 0 },
  config = [[{ "model_type": "phi", "num_attention_heads": 4, "hidden_size": 32,
    "num_hidden_layers": 1 }]],
  tensors = {
    out_in("model.layers.0.self_attn.q_proj.weight", "wq", 32, 32),
    vector("model.layers.0.self_attn.q_proj.bias", "bq", 32),
    out_in("model.layers.0.self_attn.k_proj.weight", "wk", 32, 32),
    vector("model.layers.0.self_attn.k_proj.bias", "bk", 32),
    out_in("model.layers.0.self_attn.v_proj.weight", "wv", 32, 32),
    vector("model.layers.0.self_attn.v_proj.bias", "bv", 32),
    out_in("model.layers.0.self_attn.dense.weight", "wo", 32, 32),
    vector("model.layers.0.self_attn.dense.bias", "bo", 32),
    vector("model.layers.0.input_layernorm.weight", "input_gamma", 32),
    vector("model.layers.0.input_layernorm.bias", "input_beta", 32),
  } }

-- ---- T5, Whisper, ViT ----------------------------------------------------------------------

-- 4 heads of 5 in a width of 24; the table stands in block 0.
local function t5_tensors(stack, layer, place, module)
  local at = stack .. ".block." .. layer .. ".layer." .. place .. "."
  local inner = at .. module
  local list = {
    out_in(inner .. ".q.weight", "wq", 20, 24), out_in(inner .. ".k.weight", "wk", 20, 24),
    out_in(inner .. ".v.weight", "wv", 20, 24), out_in(inner .. ".o.weight", "wo", 24, 20),
    vector(at .. "layer_norm.weight", "input_gamma", 24),
  }
  if place == 0 then
    local first = stack .. ".block.0.layer.0.SelfAttention."
    list[#list + 1] = out_in(first .. "relative_attention_bias.weight", "bias_table", 8, 4)
  end
  return list
end
local t5_config <const> = [[{ "model_type": "t5", "num_heads": 4, "d_model": 24, "d_kv": 5,
  "num_layers": 3, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20,
  "n_positions": 40 }]]
add { name = "t5_encoder", config = t5_config, import = { layer = 1 },
  tensors = t5_tensors("encoder", 1, 0, "SelfAttention") }
add { name = "t5_encoder_first", config = t5_config, import = { layer = 0 },
  tensors = t5_tensors("encoder", 0, 0, "SelfAttention") }
add { name = "t5_decoder", config = t5_config, import = { layer = 2, stack = "decoder" },
  tensors = t5_tensors("decoder", 2, 0, "SelfAttention") }
add { name = "t5_cross", config = t5_config, import = { layer = 1, cross = true },
  tensors = t5_tensors("decoder", 1, 1, "EncDecAttention") }
add { name = "mt5", config = (t5_config:gsub("t5", "mt5", 1)), import = { layer = 1 },
  tensors = t5_tensors("encoder", 1, 0, "SelfAttention") }

local function whisper_tensors(stack, module)
  local at = "model." .. stack .. ".layers.0." .. module
  return {
    out_in(at .. ".q_proj.weight", "wq", 24, 24), vector(at .. ".q_proj.bias", "bq", 24),
    out_in(at .. ".k_proj.weight", "wk", 24, 24),
    out_in(at .. ".v_proj.weight", "wv", 24, 24), vector(at .. ".v_proj.bias", "bv", 24),
    out_in(at .. ".out_proj.weight", "wo", 24, 24), vector(at .. ".out_proj.bias", "bo", 24),
    vector(at .. "_layer_norm.weight", "input_gamma", 24),
    vector(at .. "_layer_norm.bias", "input_beta", 24),
  }
end
local whisper_config <const> = [[{ "model_type": "whisper", "encoder_attention_heads": 4,
  "decoder_attention_heads": 4, "d_model": 24, "max_source_positions": 10,
  "max_target_positions": 8 }]]
add { name = "whisper_encoder", config = whisper_config, import = { layer = 0 },
  tensors = whisper_tensors("encoder", "self_attn") }
add { name = "whisper_decoder", config = whisper_config, import = { layer = 0, stack = "decoder" },
  tensors = whisper_tensors("decoder", "self_attn") }
add { name = "whisper_cross", config = whisper_config, import = { layer = 0, cross = true },
  tensors = whisper_tensors("decoder", "encoder_attn") }

local function vit_tensors(prefix, names)
  local list = {
    vector(prefix .. "layernorm_before.weight", "input_gamma", 24),
    vector(prefix .. "layernorm_before.bias", "input_beta", 24),
  }
  for index, which in ipairs { "q", "k", "v", "o" } do
    list[#list + 1] = out_in(prefix .. names[index] .. ".weight", "w" .. which, 24, 24)
    list[#list + 1] = vector(prefix .. names[index] .. ".bias", "b" .. which, 24)
  end
  return list
end
local vit_config <const> = [[{ "model_type": "vit", "num_attention_heads": 4, "hidden_size": 24,
  "image_size": 8, "patch_size": 4 }]]
add { name = "vit", config = vit_config, import = { layer = 0 },
  tensors = vit_tensors("vit.encoder.layer.0.", { "attention.attention.query",
    "attention.attention.key", "attention.attention.value", "attention.output.dense" }) }
add { name = "vit_new_names", config = vit_config, import = { layer = 0 },
  tensors = vit_tensors("vit.layers.0.", { "attention.q_proj", "attention.k_proj",
    "attention.v_proj", "attention.o_proj" }) }

-- ---- tensor2tensor, torch, ONNX Runtime ------------------------------------------------------

-- 4 heads, keys of 3, values of 6, 24 wide.
local t2t_config <const> = [[{ "num_heads": 4, "hidden_size": 24, "attention_key_channels": 12,
  "attention_value_channels": 0, "max_length": 16 %s }]]
local function t2t_norms(at)
  local norm = at .. "layer_prepostprocess/layer_norm/"
  return {
    vector(norm .. "layer_norm_scale", "input_gamma", 24),
    vector(norm .. "layer_norm_bias", "input_beta", 24),
    vector(norm .. "layer_norm_bias/Adam", "input_beta", 24),
  }
end
local function t2t_tensors(at)
  local attention = at .. "multihead_attention/"
  return join(t2t_norms(at), {
    in_out(attention .. "q/kernel", "wq", 12, 24), in_out(attention .. "k/kernel", "wk", 12, 24),
    in_out(attention .. "v/kernel", "wv", 24, 24),
    in_out(attention .. "output_transform/kernel", "wo", 24, 24),
  })
end
local t2t_body <const> = "transformer/body/"
add { name = "t2t", config = t2t_config:format "", import = { layer = 1 },
  tensors = t2t_tensors(t2t_body .. "encoder/layer_1/self_attention/") }
add { name = "t2t_cross", config = t2t_config:format "", import = { layer = 0, cross = true },
  tensors = t2t_tensors(t2t_body .. "decoder/layer_0/encdec_attention/") }
add { name = "t2t_three_axes", import = { layer = 0, stack = "decoder" },
  config = t2t_config:format ', "attention_variables_3d": true',
  tensors = (function()
    local at = t2t_body .. "decoder/layer_0/self_attention/"
    local function by_head(name, role, width)
      return named(at .. "multihead_attention/" .. name, filled({ 24, 4, width },
        function(i, head, p) return number(role, head * width + p, i) end))
    end
    return join(t2t_norms(at), {
      by_head("q", "wq", 3), by_head("k", "wk", 3), by_head("v", "wv", 6),
      named(at .. "multihead_attention/o", filled({ 4, 6, 24 },
        function(head, p, o) return number("wo", o, head * 6 + p) end)),
    })
  end)() }

local torch_spec <const> = { name = "torch", heads = 4, d = 24, p_v = 6, tokens = 4 }
add { name = "torch_mha", family = "torch_mha", spec = torch_spec,
  tensors = {
    stacked("in_proj_weight", thirds, 24), stacked("in_proj_bias", bias_thirds),
    out_in("out_proj.weight", "wo", 24, 24), vector("out_proj.bias", "bo", 24),
  } }
add { name = "torch_mha_separate", family = "torch_mha",
  spec = { name = "torch", heads = 4, d_q = 24, d_k = 10, d_v = 14, p_v = 6, tokens = 4,
    context = 5 },
  tensors = {
    out_in("q_proj_weight", "wq", 24, 24), out_in("k_proj_weight", "wk", 24, 10),
    out_in("v_proj_weight", "wv", 24, 14), stacked("in_proj_bias", bias_thirds),
    out_in("out_proj.weight", "wo", 24, 24), vector("out_proj.bias", "bo", 24),
  } }
add { name = "onnxruntime", family = "onnxruntime", import = { layer = 0 },
  spec = { name = "merged", heads = 4, d = 20, p_q = 3, p_v = 5, tokens = 4,
    project = { "q", "k", "v" } },
  tensors = {
    transposed(stacked("Attention_0_qkv_weight", { { "wq", 12 }, { "wk", 12 }, { "wv", 20 } }, 20)),
    stacked("Attention_0_qkv_bias", { { "bq", 12 }, { "bk", 12 }, { "bv", 20 } }),
  } }

--- A model of the list whose config also names pruned heads, its tensors those before pruning.
function stored.pruned(name, text, layer)
  local model = stored.named(name)
  local tensors = model.tensors
  if name == "bert" then tensors = stored.bert_tensors(layer, 4) end
  if name == "gpt2" then tensors = gpt2_tensors(layer) end
  return {
    name = name .. "_pruned", tensors = tensors, import = { layer = layer },
    config = (model.config:gsub("}%s*$", ", " .. text .. " }")),
  }
end

return stored
