--- torch.nn.MultiheadAttention: fused rows for query, key and value where their widths agree,
-- separate matrices where they do not; the bias is fused either way. Its weights only: there is
-- no config.

return {
  name = "torch_mha",
  title = "torch.nn.MultiheadAttention",
  module = "MultiheadAttention",
  model_types = {},
  tensors = {
    self = {
      prefix = { "" },
      scope = { "in_proj_", "q_proj_", "k_proj_", "v_proj_", "out_proj.", "bias_" },
      layout = "out_in",
      list = {
        { { "wq", "wk", "wv" }, "in_proj_weight", split = "blocks", unless = "q_proj_weight" },
        { "wq", "q_proj_weight", unless = "in_proj_weight" },
        { "wk", "k_proj_weight", unless = "in_proj_weight" },
        { "wv", "v_proj_weight", unless = "in_proj_weight" },
        { { "bq", "bk", "bv" }, "in_proj_bias", split = "blocks" },
        { "wo", "out_proj.weight" }, { "bo", "out_proj.bias" },
      },
    },
  },
}
