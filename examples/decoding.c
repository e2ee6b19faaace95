/*
 * A text in calls of any length: each call appends its keys and values to the cache, and sees those
 * of the calls before. In one call, in chunks or token by token, the same rows come out: to the bit
 * on a target with FMA.
 */
#include "decoding.h"
#include "fill.h"

#include <math.h>
#include <stdio.h>

enum { D = DECODING_D, TEXT = 29, CAPACITY = 128 }; /* a multiple of 16, at least past + tokens */
static float keys[DECODING_CACHE_FLOATS_KEYS(CAPACITY)];
static float values[DECODING_CACHE_FLOATS_VALUES(CAPACITY)];
static _Alignas(DECODING_ALIGN) char packed[DECODING_PACKED_BYTES];
static _Alignas(DECODING_ALIGN) char workspace[DECODING_WORKSPACE_BYTES];

static decoding_status decode(const decoding_layer *layer, size_t chunk, const float *x, float *y) {
  decoding_status status = DECODING_OK;
  size_t tokens;
  for (size_t past = 0; past < TEXT && !status; past += tokens) {
    tokens = TEXT - past < chunk ? TEXT - past : chunk;
    const decoding_call call = {.tokens = tokens,
                                .past = past,
                                .cache = {keys, values, CAPACITY},
                                .x = x + past * D,
                                .y = y + past * D};
    status = decoding_forward(layer, &call, workspace, sizeof workspace);
  }
  return status;
}

/* ---- An input, and the comparison ---- */

static decoding_status open(decoding_layer *layer) {
  static float wq[D * D], wk[D * D / 2], wv[D * D / 2], wo[D * D];
  enum { P = DECODING_P_V };
  fill(wq, D * D, 1), fill(wk, D * D / 2, 2), fill(wv, D * D / 2, 3), fill(wo, D * D, 4);
  const decoding_weights weights = {
      {wq, P * D, D, 1}, {wk, P * D, D, 1}, {wv, P * D, D, 1}, {wo, P, 1, D}};
  const decoding_status status = decoding_pack(&weights, packed, sizeof packed);
  return status ? status : decoding_open(layer, packed, sizeof packed, DECODING_TARGET_BEST);
}

int main(void) {
  static float x[TEXT * D], whole[TEXT * D], y[TEXT * D];
  const size_t chunks[] = {16, 7, 1};
  decoding_layer layer;
  fill(x, TEXT * D, 5);
  decoding_status status = open(&layer);
  if (!status) status = decode(&layer, TEXT, x, whole);
  for (size_t c = 0; c < sizeof chunks / sizeof chunks[0] && !status; c++) {
    float most = 0;
    status = decode(&layer, chunks[c], x, y);
    for (size_t i = 0; i < TEXT * D; i++) most = fmaxf(most, fabsf(y[i] - whole[i]));
    printf("%d tokens by %zu: differ from one call by %g\n", TEXT, chunks[c], (double)most);
    if (!(most <= (layer.target == DECODING_TARGET_PORTABLE ? 1e-5f : 0.0f))) return 1;
  }
  if (status) fprintf(stderr, "decoding: %s\n", decoding_status_text(status));
  return status != DECODING_OK;
}
