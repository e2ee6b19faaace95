-- The Attention operator of ONNX Runtime on BERT base: merged projections in, heads side by side
-- out.
return {
  name = "onnxruntime_attention",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 512 },
  project = { "q", "k", "v" },
  mask = { "padding" },
}
