-- The bare attention core, as ONNX's operator Attention (opset 23 to 25) computes it: grouped
-- heads, values of another width, causal over past and new keys, a mask that is added,
-- soft-capped scores.
return {
  name = "onnx_attention",
  heads = 8, kv_heads = 4, p_q = 64, p_v = 80,
  tokens = { max = 128 },
  cache = true, past = { max = 896 },
  project = {},
  mask = { "causal", "additive" },
  softcap = 30.0,
}
