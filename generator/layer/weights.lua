--- The weights of a layer as they come in.

local weights = {}

local function matrix(role, heads, rows, cols, shape)
  return { role = role, kind = "matrix", heads = heads, rows = rows, cols = cols, shape = shape }
end

local function vector(role, ...)
  return { role = role, kind = "vector", shape = { ... } }
end

--- The weights in the order of the struct.
-- @tparam table s a completed spec
-- @treturn table list of { role, kind = "matrix" or "vector", shape = [out][in] }, matrices with
--   heads, rows and cols, too
function weights.of(s)
  local list = {}
  local function add(condition, weight) if condition then list[#list + 1] = weight end end
  local input, output, after = s.norms.input, s.norms.output, s.norms.after
  local h, kv, p_q, p_v = s.heads, s.kv_heads, s.p_q, s.p_v
  add(s.project.q, matrix("wq", h, p_q, s.d_q, { h * p_q, s.d_q }))
  add(s.project.k, matrix("wk", kv, p_q, s.d_k, { kv * p_q, s.d_k }))
  add(s.project.v, matrix("wv", kv, p_v, s.d_v, { kv * p_v, s.d_v }))
  add(s.project.o, matrix("wo", h, p_v, s.p_o, { s.p_o, h * p_v }))
  add(s.bias.q, vector("bq", h * p_q))
  add(s.bias.k, vector("bk", kv * p_q))
  add(s.bias.v, vector("bv", kv * p_v))
  add(s.bias.o, vector("bo", s.p_o))
  add(input, vector("input_gamma", s.d_q))
  add(input and input.kind == "layer", vector("input_beta", s.d_q))
  add(s.qk_norm, vector("q_norm", p_q))
  add(s.qk_norm, vector("k_norm", p_q))
  local rope, relative, bias = s.position.rope, s.position.relative, s.position.bias
  add(rope and rope.frequencies, vector("rope_frequencies", rope and rope.dim // 2))
  add(relative, vector("relative", relative and relative.left + relative.right + 1, p_q))
  add(bias, vector("bias_table", bias and bias.buckets, h))
  add(s.sinks, vector("sinks", h))
  add(output, vector("output_gamma", s.p_o))
  add(output and output.kind == "layer", vector("output_beta", s.p_o))
  add(after, vector("gamma", s.p_o))
  add(after and after.kind == "layer", vector("beta", s.p_o))
  return list
end

return weights
