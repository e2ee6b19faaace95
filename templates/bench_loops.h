/* A layer as plain loops, written down from its formula. Included twice: with NUMBER double it is
 * the reference that errors are taken against, with NUMBER float what generated code is compared
 * with. The constants of the layer and the tensors `given` stand before it. */

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define N(name) PASTE(name, SUFFIX) /* the name of a thing in this inclusion */

typedef struct {
  NUMBER *row, *q, *k, *v, *scores, *heads; /* k [keys][KV_HEADS*P_Q], v [keys][KV_HEADS*P_V] */
} N(rooms_);

static N(rooms_) N(rooms);

/* The cache: what stands in front of the keys and values of this call. */
static void N(load_past_)(size_t past) {
  for (size_t i = 0; i < KV_HEADS; i++) {
    for (size_t j = 0; j < past; j++) {
      NUMBER *k = N(rooms).k + (j * KV_HEADS + i) * P_Q;
      NUMBER *v = N(rooms).v + (j * KV_HEADS + i) * P_V;
      for (size_t p = 0; p < P_Q; p++) k[p] = (NUMBER)given.past_k[(i * past + j) * P_Q + p];
      for (size_t p = 0; p < P_V; p++) v[p] = (NUMBER)given.past_v[(i * past + j) * P_V + p];
    }
  }
}

static void N(make_rooms_)(const bench_counts *n) {
  const size_t keys = n->past + n->fresh, widest = WIDEST;
  N(rooms).row = memory(sizeof(NUMBER) * widest);
  N(rooms).q = memory(sizeof(NUMBER) * n->tokens * HEADS * P_Q);
  N(rooms).k = memory(sizeof(NUMBER) * keys * KV_HEADS * P_Q);
  N(rooms).v = memory(sizeof(NUMBER) * keys * KV_HEADS * P_V);
  N(rooms).scores = memory(sizeof(NUMBER) * keys);
  N(rooms).heads = memory(sizeof(NUMBER) * n->tokens * HEADS * P_V);
  N(load_past_)(n->past);
}

/* y = W x + b, one row: W is [columns][depth]. */
static inline void N(product_)(const NUMBER *x, const float *w, const float *bias, size_t depth,
                               size_t columns, NUMBER *y) {
  for (size_t c = 0; c < columns; c++) {
    NUMBER sum = bias ? (NUMBER)bias[c] : 0;
    for (size_t k = 0; k < depth; k++) sum += x[k] * (NUMBER)w[c * depth + k];
    y[c] = sum;
  }
}

/* The same with the columns innermost, which compilers can vectorise: W is [depth][columns]. */
static inline void N(product_across_)(const NUMBER *x, const float *w, const float *bias,
                                      size_t depth, size_t columns, NUMBER *y) {
  for (size_t c = 0; c < columns; c++) y[c] = bias ? (NUMBER)bias[c] : 0;
  for (size_t k = 0; k < depth; k++) {
    for (size_t c = 0; c < columns; c++) y[c] += x[k] * (NUMBER)w[k * columns + c];
  }
}

static inline void N(norm_)(norm_form form, const float *gamma, const float *beta, size_t width,
                            NUMBER *x) {
  NUMBER mean = 0, squares = 0;
  if (form.kind == LAYER_NORM) {
    for (size_t c = 0; c < width; c++) mean += x[c];
    mean /= (NUMBER)width;
  }
  for (size_t c = 0; c < width; c++) squares += (x[c] - mean) * (x[c] - mean);
  const NUMBER size = MATH(sqrt)(squares / (NUMBER)width + (NUMBER)form.eps);
  for (size_t c = 0; c < width; c++) {
    const NUMBER factor = (NUMBER)gamma[c] + (form.plus_one ? 1 : 0);
    x[c] = (x[c] - mean) / size * factor + (beta ? (NUMBER)beta[c] : 0);
  }
}

/* Rotary positions of the heads of one row. */
static inline void N(turn_)(size_t heads, ptrdiff_t place, NUMBER *row) {
  for (size_t m = 0; m < ROPE_DIM / 2; m++) {
    const double frequency = given.rope_frequencies
                                 ? (double)given.rope_frequencies[m]
                                 : pow(ROPE_BASE, -2.0 * (double)m / (double)ROPE_DIM);
    const double angle = (double)place * frequency;
    const NUMBER cosine = (NUMBER)(cos(angle) * ROPE_FACTOR);
    const NUMBER sine = (NUMBER)(sin(angle) * ROPE_FACTOR);
    for (size_t i = 0; i < heads; i++) {
      NUMBER *a = row + i * P_Q + (ROPE_INTERLEAVED ? 2 * m : m);
      NUMBER *b = ROPE_INTERLEAVED ? a + 1 : a + ROPE_DIM / 2;
      const NUMBER old = *a;
      *a = old * cosine - *b * sine;
      *b = old * sine + *b * cosine;
    }
  }
}

/* Rows of queries, keys or values: norm, projection, norm of the heads, rotary positions. */
static inline void N(side_)(side s, size_t rows, size_t every, int across, NUMBER *to) {
  NUMBER *x = N(rooms).row;
  const size_t columns = s.heads * s.part;
  for (size_t r = 0; r < rows; r += every) {
    NUMBER *y = to + r * columns;
    for (size_t c = 0; c < s.width; c++) x[c] = (NUMBER)s.input[r * s.width + c];
    if (s.normed) N(norm_)(INPUT_NORM, given.input_gamma, given.input_beta, s.width, x);
    if (!s.w) {
      for (size_t c = 0; c < columns; c++) y[c] = x[c];
    } else if (across) {
      N(product_across_)(x, s.w_across, s.bias, s.width, columns, y);
    } else {
      N(product_)(x, s.w, s.bias, s.width, columns, y);
    }
    if (s.head_gamma) {
      for (size_t i = 0; i < s.heads; i++) {
        N(norm_)(HEAD_NORM, s.head_gamma, NULL, s.part, y + i * s.part);
      }
    }
    if (s.turned) N(turn_)(s.heads, s.place + (ptrdiff_t)r, y);
  }
}

/* The score of a kept key as it enters the softmax. */
static inline NUMBER N(score_)(const NUMBER *q, size_t i, size_t t, size_t j, ptrdiff_t place,
                               size_t keys) {
  const NUMBER *k = N(rooms).k + (j * KV_HEADS + i / GROUP) * P_Q;
  NUMBER sum = 0;
  for (size_t p = 0; p < P_Q; p++) sum += q[p] * k[p];
  if (RELATIVE) {
    const float *e = given.relative + relative_row(place, (ptrdiff_t)j) * P_Q;
    for (size_t p = 0; p < P_Q; p++) sum += q[p] * (NUMBER)e[p];
    if (RELATIVE == RELATIVE_KEY_QUERY) {
      for (size_t p = 0; p < P_Q; p++) sum += k[p] * (NUMBER)e[p];
    }
  }
  sum *= (NUMBER)SCALE;
  if (SOFTCAP != 0) sum = (NUMBER)SOFTCAP * MATH(tanh)(sum / (NUMBER)SOFTCAP);
  if (ALIBI) sum -= (NUMBER)slopes[i] * (NUMBER)labs((long)(place - (ptrdiff_t)j));
  if (BUCKETS) sum += (NUMBER)given.bias_table[bucket_of((ptrdiff_t)j - place) * HEADS + i];
  if (given.additive) {
    const size_t head = ADDITIVE_PER_HEAD ? i : 0;
    sum += (NUMBER)given.additive[(head * counts.tokens + t) * keys + j];
  }
  return sum;
}

/* One head of one query: scores, softmax over the kept keys, values. */
static inline void N(attend_)(size_t i, size_t t, size_t keys, ptrdiff_t place) {
  const NUMBER *q = N(rooms).q + (t * HEADS + i) * P_Q;
  NUMBER *scores = N(rooms).scores, *head = N(rooms).heads + (t * HEADS + i) * P_V;
  NUMBER top = given.sinks ? (NUMBER)given.sinks[i] : (NUMBER)DROPPED, total;
  for (size_t j = 0; j < keys; j++) {
    scores[j] =
        is_kept(i, t, j, place, keys) ? N(score_)(q, i, t, j, place, keys) : (NUMBER)DROPPED;
    if (scores[j] > top) top = scores[j];
  }
  total = given.sinks ? MATH(exp)((NUMBER)given.sinks[i] - top) : 0;
  for (size_t j = 0; j < keys; j++) {
    scores[j] = scores[j] > (NUMBER)DROPPED ? MATH(exp)(scores[j] - top) : 0;
    total += scores[j];
  }
  NUMBER factor = total > 0 ? 1 / total : 0;
  if (given.head_mask) factor *= (NUMBER)given.head_mask[i];
  for (size_t p = 0; p < P_V; p++) head[p] = 0;
  for (size_t j = 0; j < keys; j++) {
    const NUMBER *v = N(rooms).v + (j * KV_HEADS + i / GROUP) * P_V;
    for (size_t p = 0; p < P_V; p++) head[p] += scores[j] * v[p];
  }
  for (size_t p = 0; p < P_V; p++) head[p] *= factor;
}

static inline void N(output_)(size_t t, int across, NUMBER *y) {
  const NUMBER *heads = N(rooms).heads + t * HEADS * P_V;
  if (!given.wo) {
    for (size_t c = 0; c < P_O; c++) y[c] = heads[c];
  } else if (across) {
    N(product_across_)(heads, w_across.wo, given.bo, HEADS * P_V, P_O, y);
  } else {
    N(product_)(heads, given.wo, given.bo, HEADS * P_V, P_O, y);
  }
  if (OUTPUT_NORM.kind) N(norm_)(OUTPUT_NORM, given.output_gamma, given.output_beta, P_O, y);
  if (given.residual) {
    for (size_t c = 0; c < P_O; c++) y[c] += (NUMBER)given.residual[t * P_O + c];
  }
  if (AFTER_NORM.kind) N(norm_)(AFTER_NORM, given.gamma, given.beta, P_O, y);
}

/* The layer: y [tokens][P_O], every `every`-th row of it. */
static inline void N(layer_)(size_t every, int across, NUMBER *y) {
  const bench_counts *n = &counts;
  const size_t keys = n->past + n->fresh;
  const ptrdiff_t start = ALIGN_START ? (ptrdiff_t)n->past : (ptrdiff_t)(keys - n->tokens);
  if (ATTENTION) {
    N(side_)(queries_of(start), n->tokens, every, across, N(rooms).q);
    N(side_)(keys_of(n->past), n->fresh, 1, across, N(rooms).k + n->past * KV_HEADS * P_Q);
    N(side_)(values_of(), n->fresh, 1, across, N(rooms).v + n->past * KV_HEADS * P_V);
  }
  for (size_t t = 0; t < n->tokens; t += every) {
    for (size_t i = 0; ATTENTION && i < HEADS; i++) N(attend_)(i, t, keys, start + (ptrdiff_t)t);
    for (size_t c = 0; !ATTENTION && c < HEADS * P_V; c++) {
      N(rooms).heads[t * HEADS * P_V + c] = (NUMBER)given.o[t * HEADS * P_V + c];
    }
    N(output_)(t, across, y + t * P_O);
  }
}

#undef N
#undef PASTE
#undef PASTE_
