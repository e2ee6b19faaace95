/*
 * A layer of one's own, from weights to output: 3 tokens through 4 heads of 16. The matrices here
 * are identities and the biases 0, so that the result can be told in advance.
 */
#include "first_layer.h"

#include <stdio.h>

enum { D = FIRST_LAYER_D, P = FIRST_LAYER_P_V, TOKENS = 3 };
static float wq[D * D], wk[D * D], wv[D * D], wo[D * D]; /* [out][in], as in a torch Linear */
static float bq[D], bk[D], bv[D], bo[D];
static _Alignas(FIRST_LAYER_ALIGN) char packed[FIRST_LAYER_PACKED_BYTES];
static _Alignas(FIRST_LAYER_ALIGN) char workspace[FIRST_LAYER_WORKSPACE_BYTES];

static first_layer_status run(size_t tokens, const float *x, float *y) {
  const first_layer_weights weights = {
      {wq, P * D, D, 1}, {wk, P * D, D, 1}, {wv, P * D, D, 1}, {wo, P, 1, D}, bq, bk, bv, bo};
  const first_layer_call call = {.tokens = tokens, .x = x, .y = y};
  first_layer_layer layer;
  first_layer_status status = first_layer_pack(&weights, packed, sizeof packed);
  if (!status) status = first_layer_open(&layer, packed, sizeof packed, FIRST_LAYER_TARGET_BEST);
  if (!status) status = first_layer_forward(&layer, &call, workspace, sizeof workspace);
  return status;
}

int main(void) {
  static float x[TOKENS * D], y[TOKENS * D];
  for (size_t i = 0; i < D; i++) wq[i * D + i] = wk[i * D + i] = wv[i * D + i] = wo[i * D + i] = 1;
  for (size_t i = 0; i < TOKENS * D; i++) x[i] = (float)(i / D); /* token t is all t */
  const first_layer_status status = run(TOKENS, x, y);
  if (status != FIRST_LAYER_OK) {
    fprintf(stderr, "first_layer: %s\n", first_layer_status_text(status));
    return 1;
  }
  /* The score of tokens t and j is 4 t j: token 0 gives the mean, token 2 nearly token 2 alone. */
  for (size_t t = 0; t < TOKENS; t++) printf("%.4f\n", (double)y[t * D]);
  return 0;
}
