/*
 * The thread examples against one thread: on every target of this machine, for several counts of
 * workers and tokens, also in place. Linked with one of examples/threads_*.c.
 */
#include "../../examples/threads.h"
#include "../../examples/fill.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = FIRST_LAYER_D, P = FIRST_LAYER_P_V, TOKENS = FIRST_LAYER_TOKENS_MAX, WORKERS = 7 };
static _Alignas(FIRST_LAYER_ALIGN) char packed[FIRST_LAYER_PACKED_BYTES];
static _Alignas(FIRST_LAYER_ALIGN) char workspace[FIRST_LAYER_WORKSPACE_BYTES];
static _Alignas(FIRST_LAYER_ALIGN) char scratch[WORKERS * FIRST_LAYER_SCRATCH_BYTES];

static first_layer_status pack(void) {
  static float w[4][D * D], b[4][D];
  for (unsigned i = 0; i < 4; i++) fill(w[i], D * D, i), fill(b[i], D, 4 + i);
  const first_layer_matrix wq = {w[0], P * D, D, 1}, wk = {w[1], P * D, D, 1};
  const first_layer_matrix wv = {w[2], P * D, D, 1}, wo = {w[3], P, 1, D};
  const first_layer_weights weights = {wq, wk, wv, wo, b[0], b[1], b[2], b[3]};
  return first_layer_pack(&weights, packed, sizeof packed);
}

/* Whether the workers give what one thread does: the same bits, or on portable C nearly so. */
static int agrees(const first_layer_layer *layer, size_t tokens, size_t workers) {
  static float x[TOKENS * D], alone[TOKENS * D], y[TOKENS * D];
  first_layer_call call = {.tokens = tokens, .x = x, .y = alone};
  fill(x, TOKENS * D, 8);
  if (first_layer_forward(layer, &call, workspace, sizeof workspace)) return 0;
  memset(workspace, 0xff, sizeof workspace);
  memcpy(y, x, sizeof y);
  call.x = call.y = y;
  if (forward_in_threads(layer, &call, workspace, sizeof workspace, scratch, workers)) return 0;
  if (layer->target != FIRST_LAYER_TARGET_PORTABLE)
    return memcmp(y, alone, tokens * D * sizeof y[0]) == 0;
  for (size_t i = 0; i < tokens * D; i++)
    if (!(fabsf(y[i] - alone[i]) <= 1e-5f)) return 0;
  return 1;
}

/* A call that is wrong is refused by the workers with the status of one thread. */
static int refuses(const first_layer_layer *layer, size_t workers) {
  static float x[D];
  const first_layer_call call = {.tokens = TOKENS + 1, .x = x, .y = x};
  return forward_in_threads(layer, &call, workspace, sizeof workspace, scratch, workers) ==
         FIRST_LAYER_TOKENS;
}

int main(void) {
  static const size_t workers[] = {1, 2, 3, 7}, tokens[] = {0, 1, 2, 5, 19, 32};
  int failed = pack() != FIRST_LAYER_OK, tried = 0;
  for (int target = FIRST_LAYER_TARGET_PORTABLE; target < 8; target++) {
    first_layer_layer layer;
    if (first_layer_open(&layer, packed, sizeof packed, (first_layer_target)target)) continue;
    tried++;
    for (size_t w = 0; w < sizeof workers / sizeof workers[0]; w++) {
      for (size_t t = 0; t < sizeof tokens / sizeof tokens[0]; t++) {
        if (agrees(&layer, tokens[t], workers[w])) continue;
        printf("target %d, %zu tokens: %zu workers differ\n", target, tokens[t], workers[w]);
        failed = 1;
      }
      if (!refuses(&layer, workers[w])) printf("%zu workers take too many tokens\n", workers[w]);
      failed |= !refuses(&layer, workers[w]);
    }
  }
  if (!failed) printf("1, 2, 3 and 7 workers agree on %d target%s\n", tried, tried > 1 ? "s" : "");
  return failed || tried == 0;
}
