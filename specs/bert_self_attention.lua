-- BertSelfAttention of Hugging Face transformers, BERT base: three projections and the attention;
-- the heads stand side by side in the output. bert_self_output is what follows.
return {
  name = "bert_self_attention",
  heads = 12, d = 768, p_v = 64,
  tokens = { max = 512 },
  project = { "q", "k", "v" },
  mask = { "padding" },
}
