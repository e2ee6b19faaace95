--- The fields of a spec: name, type, default, rule and one line of text each, in the order of the
-- manual. Literals only: the checks of single values are in spec/types.lua, those of several
-- fields together in spec/rules.lua.
--
-- A field has: name; type, a key of spec/types.lua; required, or default (a value), or otherwise
-- (what stands where it is absent, in words); rule, where it says more than the type's; text;
-- fields, those of a table; items, those of a list; values and later, the words of a choice and
-- those that are not built yet.

local flags_of = {
  { name = "q", type = "boolean", text = "of the query projection" },
  { name = "k", type = "boolean", text = "of the key projection" },
  { name = "v", type = "boolean", text = "of the value projection" },
  { name = "o", type = "boolean", text = "of the output projection" },
}

local window = {
  { name = "left", type = "distance", otherwise = "unbounded", text = "keys before the query" },
  { name = "right", type = "distance", otherwise = "unbounded", text = "keys after the query" },
}

local sharing = { "shared", "per_head" }

local masks = {
  { name = "padding", text = "one flag a key, 1 = keep" },
  { name = "causal", text = "keeps keys up to the query's place" },
  { name = "boolean", values = sharing, text = "one flag a query and key, 1 = keep" },
  { name = "additive", values = sharing, text = "added to the scores; minus infinity drops" },
  { name = "window", type = "record", fields = window,
    text = "keeps keys from place - left to place + right" },
}

local norm = {
  { name = "kind", type = "choice", values = { "layer", "rms" }, required = true,
    text = "layer: mean and variance, gamma and beta; rms: mean square, gamma" },
  { name = "eps", type = "positive", required = true, text = "added to the variance" },
  { name = "place", type = "choice", values = { "input", "output", "after" }, default = "after",
    text = "before the projections, on what o gives, or after the residual" },
  { name = "plus_one", type = "boolean", default = false, text = "the factor is 1 + gamma" },
}

local rope = {
  { name = "base", type = "positive", otherwise = "absent",
    text = "angle = place * base^(-2m/dim) for pair m" },
  { name = "frequencies", type = "boolean", default = false,
    text = "the dim/2 frequencies are weights instead" },
  { name = "dim", type = "count", otherwise = "p_q", text = "leading components that turn" },
  { name = "interleaved", type = "boolean", default = false,
    text = "pairs (2m, 2m + 1) instead of (m, m + dim/2)" },
  { name = "factor", type = "positive", default = 1.0, text = "factor on cosine and sine" },
}

local relative = {
  { name = "kind", type = "choice", values = { "key", "key_query" }, required = true,
    text = "q.E[r], or q.E[r] + k.E[r]" },
  { name = "max", type = "count", otherwise = "absent",
    text = "2 max - 1 rows, r = place - j + max - 1; every distance has a row" },
  { name = "left", type = "distance", otherwise = "max - 1",
    text = "left + right + 1 rows, r = clip(j - place, -left, right) + left" },
  { name = "right", type = "distance", otherwise = "max - 1", text = "see left" },
}

local buckets = {
  { name = "buckets", type = "count", required = true, most = 1024,
    rule = "must be an integer from 1 to 1024", text = "rows of the bias table" },
  { name = "max_distance", type = "count", required = true,
    text = "where the last bucket begins, at the latest" },
  { name = "bidirectional", type = "boolean", required = true,
    text = "half of the buckets are for keys after the query" },
}

local alibi = {
  { name = "slopes", type = "numbers", required = true, text = "one slope a head" },
}

local position = {
  { name = "rope", type = "record", fields = rope, otherwise = "absent",
    text = "rotary embedding of queries and keys" },
  { name = "alibi", type = "record", fields = alibi, otherwise = "absent",
    text = "adds -slope * |place - j|" },
  { name = "relative", type = "record", fields = relative, otherwise = "absent",
    text = "a learnt row for each distance, inside the scale" },
  { name = "bias", type = "record", fields = buckets, otherwise = "absent",
    text = "a learnt bias for each bucket of distances and head" },
}

local qk_norm = {
  { name = "kind", type = "choice", values = { "rms" }, default = "rms", text = "rms only" },
  { name = "eps", type = "positive", required = true, text = "added to the mean square" },
}

return {
  { name = "name", type = "name", required = true, text = "prefixes everything emitted" },
  { name = "heads", type = "count", required = true, text = "query heads, h" },
  { name = "p_v", type = "count", required = true, text = "width of one head's values" },
  { name = "d", type = "count", otherwise = "needed where d_q, d_k or d_v is and is absent",
    text = "width of the query, key and value inputs" },
  { name = "d_q", type = "count", otherwise = "d; heads * p_q where q is not projected",
    text = "width of the query input" },
  { name = "d_k", type = "count", otherwise = "d; kv_heads * p_q where k is not projected",
    text = "width of the key input" },
  { name = "d_v", type = "count", otherwise = "d; kv_heads * p_v where v is not projected",
    text = "width of the value input" },
  { name = "p_o", type = "count", otherwise = "d_q; always heads * p_v where o is not projected",
    text = "width of the output" },
  { name = "p_q", type = "count", otherwise = "p_v",
    text = "width of one head's queries and keys" },
  { name = "kv_heads", type = "count", otherwise = "heads",
    text = "key/value heads; query head i reads head floor(i / (heads / kv_heads))" },
  { name = "tokens", type = "rows", required = true, text = "query positions of a call" },
  { name = "context", type = "rows", otherwise = "absent: self-attention",
    text = "key/value positions of a call" },
  { name = "cache", type = "choice", values = { false, true, "linear", "ring" }, default = false,
    text = "keys and values of earlier calls; ring keeps the last window only" },
  { name = "past", type = "past", default = 0, text = "cached positions before a call" },
  { name = "align", type = "choice", values = { "end", "start" }, default = "end",
    text = "the place of query 0 among the keys: keys - tokens, or past" },
  { name = "bias", type = "flags", fields = flags_of, otherwise = "true where it is projected",
    text = "which projections have a bias" },
  { name = "scale", type = "number", otherwise = "1 / sqrt(p_q)", text = "the factor on q.k" },
  { name = "mask", type = "masks", items = masks, otherwise = "{}",
    text = "a key takes part where all masks of the list keep it" },
  { name = "context_length", type = "boolean", default = false,
    text = "the number of live keys is given with each call" },
  { name = "softcap", type = "positive", otherwise = "absent",
    text = "scores = c tanh(scores / c), after scale, before masks" },
  { name = "sinks", type = "boolean", default = false,
    text = "one learnt logit a head takes part in the softmax and is dropped" },
  { name = "position", type = "record", fields = position, otherwise = "absent",
    text = "how the places of queries and keys enter" },
  { name = "qk_norm", type = "record", fields = qk_norm, otherwise = "absent",
    text = "norm over each head of q and k, before rope" },
  { name = "head_mask", type = "boolean", default = false,
    text = "one factor a head, after softmax" },
  { name = "residual", type = "boolean", default = false,
    text = "the output adds the residual input" },
  { name = "norm", type = "norms", fields = norm, otherwise = "absent",
    text = "one norm, or a list of norms at different places" },
  { name = "return_weights", type = "boolean", default = false,
    text = "also hand out the softmax weights" },
  { name = "return_scores", type = "choice", values = { "raw", "capped", "biased" },
    otherwise = "absent", text = "also hand out the scores of this step" },
  { name = "project", type = "set", values = { "q", "k", "v", "o" },
    otherwise = "all four; { \"o\" } where attention = false",
    text = "the projections of the layer; {} is the bare attention core" },
  { name = "attention", type = "boolean", default = true,
    text = "false: the layer is only o, residual and norm" },
  { name = "dtype", type = "choice", values = { "f32" }, later = { "bf16", "int8" },
    default = "f32", text = "storage of weights and activations" },
  { name = "io", type = "choice", values = { "f32" }, later = { "bf16" }, otherwise = "dtype",
    text = "type of inputs and output" },
  { name = "precision", type = "choice", values = { "f32" }, later = { "fast", "bf16" },
    default = "f32", text = "the error allowed, however it is computed" },
  { name = "reproducible", type = "choice", values = { true }, later = { false }, default = true,
    text = "the same bits whatever the threads, ranges and calls" },
  { name = "unroll", type = "choice", values = { "full", "tile", "auto" }, default = "auto",
    text = "each multiply-add a statement, unrolled tiles in loops, or by the cost model" },
  { name = "targets", type = "targets", otherwise = "{ \"portable\" }",
    text = "machines that code is made for; portable is always one" },
}
