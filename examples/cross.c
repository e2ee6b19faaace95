/*
 * Cross-attention: keys and values of the context are made once, by project_kv, and stay in the
 * workspace for any number of queries after that, in calls of any number of tokens.
 */
#include "cross.h"
#include "fill.h"

#include <math.h>
#include <stdio.h>

enum { D = CROSS_D, P = CROSS_P_V, TOKENS = 5, CONTEXT = 21 };
static _Alignas(CROSS_ALIGN) char packed[CROSS_PACKED_BYTES];
static _Alignas(CROSS_ALIGN) char workspace[CROSS_WORKSPACE_BYTES];
static _Alignas(CROSS_ALIGN) char scratch[CROSS_SCRATCH_BYTES];

/* The rest of a call, once project_kv has been through. */
static cross_status query(const cross_layer *layer, const cross_call *call) {
  const size_t bytes = sizeof workspace;
  cross_status status = cross_project_q(layer, call, workspace, bytes, 0, call->tokens);
  if (!status)
    status = cross_attend(layer, call, workspace, bytes, scratch, 0, call->tokens, 0, CROSS_HEADS);
  if (!status) status = cross_output(layer, call, workspace, bytes, 0, call->tokens);
  return status;
}

static cross_status step_by_step(const cross_layer *layer, cross_call call, size_t step) {
  const size_t tokens = call.tokens;
  cross_status status = cross_project_kv(layer, &call, workspace, sizeof workspace, 0, CONTEXT);
  for (size_t done = 0; done < tokens && !status; done += call.tokens) {
    call.tokens = tokens - done < step ? tokens - done : step;
    status = query(layer, &call);
    call.q += call.tokens * D, call.y += call.tokens * D;
  }
  return status;
}

/* ---- An input, and the comparison ---- */

static cross_status open(cross_layer *layer) {
  static float w[4][D * D], b[4][D];
  for (unsigned i = 0; i < 4; i++) fill(w[i], D * D, i), fill(b[i], D, 4 + i);
  const cross_weights weights = {{w[0], P * D, D, 1},
                                 {w[1], P * D, D, 1},
                                 {w[2], P * D, D, 1},
                                 {w[3], P, 1, D},
                                 b[0],
                                 b[1],
                                 b[2],
                                 b[3]};
  const cross_status status = cross_pack(&weights, packed, sizeof packed);
  return status ? status : cross_open(layer, packed, sizeof packed, CROSS_TARGET_BEST);
}

int main(void) {
  static float q[TOKENS * D], k[CONTEXT * D], whole[TOKENS * D], y[TOKENS * D];
  cross_layer layer;
  fill(q, TOKENS * D, 8), fill(k, CONTEXT * D, 9);
  /* v is NULL: the values come from the same rows as the keys */
  const cross_call call = {.tokens = TOKENS, .context = CONTEXT, .q = q, .k = k, .y = whole};
  cross_status status = open(&layer);
  if (!status) status = cross_forward(&layer, &call, workspace, sizeof workspace);
  for (size_t step = 1; step <= TOKENS && !status; step++) {
    cross_call again = call;
    float most = 0;
    again.y = y;
    status = step_by_step(&layer, again, step);
    for (size_t i = 0; i < TOKENS * D; i++) most = fmaxf(most, fabsf(y[i] - whole[i]));
    printf("%d queries by %zu: differ from one call by %g\n", TOKENS, step, (double)most);
    if (!(most <= (layer.target == CROSS_TARGET_PORTABLE ? 1e-5f : 0.0f))) return 1;
  }
  if (status) fprintf(stderr, "cross: %s\n", cross_status_text(status));
  return status != CROSS_OK;
}
