--- The Attention operator of ONNX Runtime: one matrix [in][q, k, v], one bias, no output
-- projection. Its weights only: there is no config. The optimiser names the two
-- Attention_N_qkv_weight and _bias.

return {
  name = "onnxruntime",
  title = "Attention (ONNX Runtime, com.microsoft)",
  module = "Attention",
  model_types = {},
  tensors = {
    self = {
      prefix = { "Attention_{layer}_" },
      scope = { "" }, layout = "in_out",
      list = {
        { { "wq", "wk", "wv" }, "qkv_weight", "weights", "weight", split = "blocks" },
        { { "bq", "bk", "bv" }, "qkv_bias", "bias", split = "blocks" },
      },
    },
  },
}
