/*
 * One real layer on real input: the attention of the first block of MiniLM-L6 with its trained
 * weights, on the hidden states of a sentence pair. demo.sh makes the files this reads and says
 * where they come from. Prints, for each target that this machine has, the error against the result
 * in float64 and the time of a call.
 */
#include "minilm_l6.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { D = MINILM_L6_D };

static void fail(const char *what, const char *why) {
  fprintf(stderr, "demo: %s: %s\n", what, why);
  exit(1);
}

static void *aligned(size_t bytes) {
  const size_t align = MINILM_L6_ALIGN;
  void *memory = aligned_alloc(align, (bytes + align - 1) / align * align);
  if (!memory) fail("memory", "there is not enough");
  return memory;
}

/* A whole file, aligned as packed weights have to be. */
static void *load(const char *folder, const char *name, size_t *bytes) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) fail(path, "cannot be read");
  const long size = ftell(file);
  if (size <= 0 || fseek(file, 0, SEEK_SET) != 0) fail(path, "is empty");
  void *content = aligned((size_t)size);
  if (fread(content, 1, (size_t)size, file) != (size_t)size) fail(path, "cannot be read whole");
  fclose(file);
  *bytes = (size_t)size;
  return content;
}

/* ---- Error and time ---- */

/* The larger one; NaN counts as the largest. */
static double worse(double a, double b) { return a >= b || a != a ? a : b; }

/* The largest error: absolute, and relative to the value or to 0.01 where that is larger. */
static void errors(const float *got, const float *want, size_t count, double *absolute,
                   double *relative) {
  *absolute = *relative = 0;
  for (size_t i = 0; i < count; i++) {
    const double error = fabs((double)got[i] - (double)want[i]);
    *absolute = worse(*absolute, error);
    *relative = worse(*relative, error / fmax(fabs((double)want[i]), 0.01));
  }
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median time of a call. */
static double time_of(const minilm_l6_layer *layer, const minilm_l6_call *call, void *workspace,
                      size_t bytes) {
  enum { ROUNDS = 201 };
  static double took[ROUNDS];
  for (size_t round = 0; round < ROUNDS; round++) {
    const double start = seconds();
    minilm_l6_forward(layer, call, workspace, bytes);
    took[round] = seconds() - start;
  }
  qsort(took, ROUNDS, sizeof took[0], ascending);
  return took[ROUNDS / 2];
}

/* Two for each multiply-add of four projections, of scores and of values, over the keys kept. */
static double operations(size_t tokens, const uint8_t *padding) {
  double keys = 0;
  for (size_t i = 0; i < tokens; i++) keys += padding[i] != 0;
  return 2.0 * (double)tokens * D * (4.0 * D + 2.0 * keys);
}

/* ---- The layer ---- */

static const struct {
  const char *name;
  minilm_l6_target target;
} targets[] = {
    {"portable", MINILM_L6_TARGET_PORTABLE},
    {"avx2", MINILM_L6_TARGET_AVX2},
    {"avx512", MINILM_L6_TARGET_AVX512},
};

int main(int arguments, char **argument) {
  const char *folder = arguments > 1 ? argument[1] : "build/demo";
  size_t packed_bytes, x_bytes, padding_bytes, want_bytes;
  const void *packed = load(folder, "minilm_l6.blob", &packed_bytes);
  const float *x = load(folder, "hidden_states", &x_bytes);
  const uint8_t *padding = load(folder, "attention_mask", &padding_bytes);
  const float *want = load(folder, "expected.y", &want_bytes);
  const size_t tokens = x_bytes / (D * sizeof(float));
  if (padding_bytes != tokens || want_bytes != x_bytes) fail(folder, "sizes do not fit each other");

  const size_t bytes = minilm_l6_workspace(tokens);
  if (bytes == SIZE_MAX) fail("hidden_states", "more tokens than the layer takes");
  void *workspace = aligned(bytes);
  float *y = aligned(x_bytes);
  const minilm_l6_call call = {.tokens = tokens, .x = x, .padding = padding, .y = y};

  int wrong = 0;
  printf("%zu tokens, one thread         largest error        time of a call\n", tokens);
  printf("target              absolute    relative   microseconds   GFLOP/s\n");
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    minilm_l6_layer layer;
    minilm_l6_status status = minilm_l6_open(&layer, packed, packed_bytes, targets[i].target);
    if (status == MINILM_L6_TARGET) {
      printf("%-16s  this machine lacks it\n", targets[i].name);
      continue;
    }
    memset(y, 0xff, x_bytes);
    if (status == MINILM_L6_OK) status = minilm_l6_forward(&layer, &call, workspace, bytes);
    if (status != MINILM_L6_OK) fail(targets[i].name, minilm_l6_status_text(status));
    double absolute, relative;
    errors(y, want, tokens * D, &absolute, &relative);
    const double took = time_of(&layer, &call, workspace, bytes);
    printf("%-16s %11.1e %11.1e %14.1f %9.1f\n", targets[i].name, absolute, relative, 1e6 * took,
           1e-9 * operations(tokens, padding) / took);
    if (!(absolute <= 2e-4)) wrong = 1;
  }
  if (wrong) fail("result", "farther from the float64 result than 2e-4");
  return 0;
}
