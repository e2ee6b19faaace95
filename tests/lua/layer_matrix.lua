--- Small layers that have, between them, every option of a spec; each is tiled and written out.

local BASE <const> = { heads = 2, p_v = 6, d = 10, tokens = 5 }

--- Changes of the base: { name, { field = value, ... } }; false takes a field away.
local LAYERS <const> = {
  { "plain", {} },
  { "one", { heads = 1, p_v = 1, d = 1, tokens = 1 } },
  { "up_to", { tokens = { max = 7 } } },
  { "wide", { heads = 3, p_v = 20, d = 19, p_o = 33, tokens = 2 } },
  { "long_heads", { heads = 1, p_v = 40, d = 8, tokens = 2, mask = { "padding" } } },
  { "all_widths", {
    d = false, d_q = 7, d_k = 9, d_v = 11, p_q = 5, p_v = 3, p_o = 13, context = 6,
  } },
  { "cross", { context = { max = 21 }, mask = { "padding" }, tokens = { max = 4 } } },
  { "no_bias", { bias = false } },
  { "some_bias", { bias = { q = true, k = false, v = true, o = false } } },
  { "bert", { residual = true, norm = { kind = "layer", eps = 1e-12 }, mask = { "padding" } } },
  { "all_norms", { residual = true, norm = {
    { kind = "layer", eps = 1e-5, place = "input" }, { kind = "rms", eps = 1e-6, place = "output" },
    { kind = "rms", eps = 1e-6, place = "after", plus_one = true },
  } } },
  { "causal", { mask = { "causal" }, tokens = { max = 19 } } },
  { "window", { mask = { "causal", { window = { left = 3, right = 1 } } }, tokens = 17 } },
  { "masks_shared", { mask = { "padding", "boolean", "additive" }, tokens = 9 } },
  { "masks_per_head", {
    mask = { { boolean = "per_head" }, { additive = "per_head" }, "causal" }, tokens = { max = 7 },
  } },
  { "grouped", { heads = 6, kv_heads = 2, p_v = 4, d = 24 } },
  { "grouped_wide", { heads = 18, kv_heads = 2, p_v = 2, d = 36, mask = { "causal" } } },
  { "length", {
    context_length = true, tokens = { max = 6 }, context = { max = 9 }, align = "start",
  } },
  { "capped", { softcap = 5.0, sinks = true, mask = { "causal" } } },
  { "head_mask", { head_mask = true, return_weights = true, mask = { "padding" } } },
  { "raw", { return_scores = "raw", mask = { "causal" }, return_weights = true } },
  { "capped_scores", { return_scores = "capped", softcap = 2.5, mask = { "boolean" } } },
  { "biased_scores", {
    return_scores = "biased", mask = { "additive", { window = { left = 2 } } },
  } },
  { "long_rows", { heads = 1, p_v = 2, d = 2, tokens = 2, context = { max = 300 } } },
  { "core", { project = {}, d = false, mask = { "boolean", "causal" } } },
  { "core_qk", { project = { "q", "k" }, d_v = false } },
  { "no_output", { project = { "q", "k", "v" }, residual = true } },
  { "output_only", {
    attention = false, p_o = 12, d = false, residual = true, norm = { kind = "layer", eps = 1e-5 },
  } },
  { "rope", {
    cache = true, past = { max = 24 }, p_q = 8, tokens = { max = 3 }, mask = { "causal" },
    position = { rope = { base = 10000, dim = 6, interleaved = true, factor = 1.5 } },
  } },
  { "rope_given", {
    p_q = 8, heads = 4, kv_heads = 2, position = { rope = { frequencies = true } },
    qk_norm = { kind = "rms", eps = 1e-6 },
  } },
  { "ring", {
    cache = "ring", past = { max = 40 }, mask = { "causal", { window = { left = 7 } } },
    tokens = { max = 4 }, sinks = true,
  } },
  { "alibi", { position = { alibi = { slopes = { 0.5, 0.25 } } }, mask = { "causal" } } },
  { "relative", { position = { relative = { kind = "key_query", max = 8 } } } },
  { "relative_clipped", { position = { relative = { kind = "key", left = 2, right = 3 } } } },
  { "buckets", {
    position = { bias = { buckets = 8, max_distance = 16, bidirectional = true } }, tokens = 9,
  } },
}

local layer_matrix = {}

--- The raw specs in order.
-- @string unroll "full", "tile" or "auto"
-- @treturn {table,...} specs as a user writes them, called <name>_<unroll>
function layer_matrix.specs(unroll)
  local list = {}
  for _, layer in ipairs(LAYERS) do
    local raw = { name = layer[1] .. "_" .. unroll, unroll = unroll }
    for _, fields in ipairs({ BASE, layer[2] }) do
      for field, value in pairs(fields) do   -- order does not matter: fields of a table
        raw[field] = value
      end
    end
    for _, field in ipairs({ "d", "d_v" }) do
      if raw[field] == false then raw[field] = nil end
    end
    list[#list + 1] = raw
  end
  return list
end

return layer_matrix
