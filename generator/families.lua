--- The families of models whose configs and checkpoints are understood, in one explicit list, and
-- the config keys that no family's attention depends on.
--
-- A family is one table in families/: which configs are its own, the keys it reads with their
-- defaults, the function from their values to spec fields, and the names and layouts of its
-- tensors. A family without keys has a layout of weights only.

local families = {}

local names <const> = {
  "bert", "roberta", "distilbert", "gpt2", "t5", "whisper", "llama", "qwen3", "gemma2",
  "vit", "mistral", "mt5", "gpt_oss", "phi", "gptj", "bloom", "mpt",
  "tf_bert", "t2t", "torch_mha", "onnxruntime",
}

--- All families in the order of the list.
families.list = {}

local by_name = {}
for index, name in ipairs(names) do
  local family = require("families." .. name)
  families.list[index], by_name[name] = family, family
end

--- The names of all families, or of those that have a config, separated by commas.
-- @tparam[opt] boolean with_config leave out those that have weights only
-- @treturn string
function families.names(with_config)
  local chosen = {}
  for _, family in ipairs(families.list) do
    if family.keys or not with_config then chosen[#chosen + 1] = family.name end
  end
  return table.concat(chosen, ", ")
end

--- The family of a name.
-- @string name
-- @treturn ?table the family, or nil
-- @treturn string a message that lists the names there are
function families.named(name)
  if by_name[name] then return by_name[name] end
  return nil, ("family: %s: must be one of %s"):format(name, families.names())
end

local function recognises(family, object)
  for _, key in ipairs(family.recognised or {}) do
    if object[key] == nil then return false end
  end
  return family.recognised ~= nil
end

--- The family that a config belongs to: by its model_type, else by keys that only one family has.
-- @tparam table object the decoded config
-- @treturn ?table the family, or nil
-- @treturn string a message that names model_type
function families.of_config(object)
  local kind = object.model_type
  if kind == nil then
    for _, family in ipairs(families.list) do
      if recognises(family, object) then return family end
    end
    return nil, "model_type: absent: must be stated, and no family is known by its keys alone"
  end
  for _, family in ipairs(families.list) do
    for _, known in ipairs(family.model_types) do
      if known == kind then return family end
    end
  end
  return nil, ("model_type: %s: must be one of %s"):format(tostring(kind), families.names(true))
end

--- Keys of any config that say nothing of what its attention computes, although a part of their
-- names could be taken for it (see import.lua).
families.ignored = {
  -- which program computes it
  "attn_implementation", "_attn_implementation", "_attn_implementation_autoset",
  "_attn_implementation_internal", "use_flash_attn", "use_flash_attention", "flash_attn",
  "use_cache", "cache_implementation", "use_bfloat16", "gradient_checkpointing",
  -- what a call returns beside
  "output_attentions", "output_hidden_states", "use_return_dict", "return_dict",
  -- tokens, heads of tasks, and generation
  "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "mask_token_id", "unk_token_id",
  "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id", "suppress_tokens",
  "begin_suppress_tokens", "bad_words_ids", "no_repeat_ngram_size",
  "encoder_no_repeat_ngram_size", "length_penalty", "diversity_penalty", "repetition_penalty",
  "remove_invalid_values", "exponential_decay_length_penalty",
  "chunk_size_feed_forward", "tie_encoder_decoder", "is_encoder_decoder", "tie_word_embeddings",
  "initializer_range", "quantization_config",
}

--- Whether a key may be ignored in any config.
-- @string key
-- @treturn boolean
function families.ignores(key)
  for _, known in ipairs(families.ignored) do
    if known == key then return true end
  end
  return false
end

return families
