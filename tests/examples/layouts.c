/* The same weights in the layouts that checkpoints have: they pack to the same bytes. */
#include "first_layer.h"

#include <stdio.h>
#include <string.h>

enum { H = FIRST_LAYER_HEADS, P = FIRST_LAYER_P_V, D = FIRST_LAYER_D, N = H * P };
enum { O = FIRST_LAYER_P_O };
static _Alignas(FIRST_LAYER_ALIGN) char first[FIRST_LAYER_PACKED_BYTES];
static _Alignas(FIRST_LAYER_ALIGN) char packed[FIRST_LAYER_PACKED_BYTES];
static float b[3 * N];

/* The element of query, key or value (which), as any number that tells all of them apart. */
static float element(size_t which, size_t head, size_t p, size_t c) {
  return (float)(((which * H + head) * P + p) * D + c);
}

/* One buffer with all three, where (which, head, p, c) goes to the sum of its strides. */
static float *laid_out(size_t which_by, size_t head_by, size_t p_by, size_t c_by) {
  static float w[3 * N * D];
  for (size_t i = 0; i < 3 * N * D; i++) {
    const size_t c = i % D, p = i / D % P, head = i / D / P % H, which = i / D / N;
    w[which * which_by + head * head_by + p * p_by + c * c_by] = element(which, head, p, c);
  }
  return w;
}

/* Whether these pack to the bytes that the first ones packed to. */
static int same(const char *layout, first_layer_matrix q, first_layer_matrix k,
                first_layer_matrix v, first_layer_matrix o) {
  const first_layer_weights weights = {q, k, v, o, b, b + N, b + 2 * N, b};
  memset(packed, 0, sizeof packed);
  if (first_layer_pack(&weights, packed, sizeof packed)) return 0;
  if (first[0] == 0) memcpy(first, packed, sizeof first);
  if (memcmp(first, packed, sizeof first) == 0) return 1;
  printf("layouts: %s packs to other bytes\n", layout);
  return 0;
}

typedef first_layer_matrix m;

int main(void) {
  static float out_in[O * N], in_out[O * N];
  for (size_t i = 0; i < N; i++)
    for (size_t c = 0; c < O; c++) out_in[c * N + i] = in_out[i * O + c] = (float)(i * O + c);
  const m o = {out_in, P, 1, N};
  const float *w = laid_out(N * D, P * D, D, 1);
  int good = same("[out][in]", (m){w, P * D, D, 1}, (m){w + N * D, P * D, D, 1},
                  (m){w + 2 * N * D, P * D, D, 1}, o);
  w = laid_out(N * D, P, 1, N);
  good &= same("[in][out]", (m){w, P, 1, N}, (m){w + N * D, P, 1, N}, (m){w + 2 * N * D, P, 1, N},
               (m){in_out, P * O, O, 1});
  w = laid_out(N, P, 1, 3 * N);
  good &= same("[in][q, k, v]", (m){w, P, 1, 3 * N}, (m){w + N, P, 1, 3 * N},
               (m){w + 2 * N, P, 1, 3 * N}, o);
  w = laid_out(P * D, 3 * P * D, D, 1);
  good &= same("[head][q, k, v][p][in]", (m){w, 3 * P * D, D, 1}, (m){w + P * D, 3 * P * D, D, 1},
               (m){w + 2 * P * D, 3 * P * D, D, 1}, o);
  if (good) printf("all pack to the same bytes\n");
  return !good;
}
