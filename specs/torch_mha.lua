-- torch.nn.MultiheadAttention(256, 4, kdim=96, vdim=160): keys and values of other widths than
-- queries.
return {
  name = "torch_mha",
  heads = 4, p_v = 64,
  d_q = 256, d_k = 96, d_v = 160,
  tokens = { max = 64 },
  context = { max = 64 },
  mask = { "padding", "boolean" },
  return_weights = true,
}
