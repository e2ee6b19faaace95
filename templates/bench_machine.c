/* Ceilings of the machine by instruction set: multiply-adds with all operands in registers, exp of
 * 16 values at a time in the first cache, reading as many bytes as a layer's weights take. */
#include "bench_machine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define X86 1
#endif

enum { STEPS = 4096, EXPS = 1024 };

static float *stream, starts[256], x_of_exp[EXPS], y_of_exp[EXPS];
static size_t stream_floats;
static volatile float sink; /* what is measured must not be thought useless */

/* x -> (x m + c) / m - c / m gives x back but for rounding: mantissas full of bits, that neither
 * grow nor vanish. */
static const float UP = 1.37f, DOWN = 1 / 1.37f, PLUS = 0.71f, MINUS = -0.71f / 1.37f;

static float start(size_t i) { return 0.83f + 0.0379f * (float)(i % 97); }

/* 2^f on [-1/2, 1/2]: coefficients of f^5 .. f^1; the last is 1. */
#define EXP_TERMS 1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f, 2.4022651e-1f, 6.9314718e-1f

static const float exp_terms[] = {EXP_TERMS};

/* ---- As the compiler makes it ---- */

static void compiled_fma(size_t unused) {
  float x[64];
  (void)unused;
  memcpy(x, starts, sizeof x);
  for (size_t s = 0; s < STEPS; s++) {
    for (size_t i = 0; i < 64; i++) x[i] = (x[i] * UP + PLUS) * DOWN + MINUS;
  }
  for (size_t i = 0; i < 64; i++) sink = x[i];
}

static void compiled_exp(size_t unused) {
  (void)unused;
  for (size_t i = 0; i < EXPS; i++) {
    const float a = x_of_exp[i] * 1.44269504f;
    const int32_t n = (int32_t)(a - 0.5f);
    const float f = a - (float)n;
    float p = exp_terms[0], scale;
    for (size_t c = 1; c < 5; c++) p = p * f + exp_terms[c];
    const uint32_t bits = (uint32_t)(n + 127) << 23;
    memcpy(&scale, &bits, sizeof scale);
    y_of_exp[i] = (p * f + 1) * scale;
  }
  sink = y_of_exp[0];
}

static void compiled_read(size_t unused) {
  float sums[64] = {0};
  (void)unused;
  for (size_t i = 0; i < stream_floats; i += 64) {
    for (size_t lane = 0; lane < 64; lane++) sums[lane] += stream[i + lane];
  }
  for (size_t lane = 0; lane < 64; lane++) sink = sums[lane];
}

#ifdef X86

/* Two instruction sets from one text: vectors, how many fit the registers, and the words. */
#define EACH(count, ...)                                                                           \
  for (size_t i = 0; i < (count); i++) {                                                           \
    __VA_ARGS__                                                                                    \
  }

#define UNITS(isa, features, vector, lanes, chains, word, round, scale2)                           \
  __attribute__((target(features))) static void isa##_fma(size_t unused) {                         \
    vector x[chains];                                                                              \
    const vector up = word##_set1_ps(UP), down = word##_set1_ps(DOWN);                             \
    const vector plus = word##_set1_ps(PLUS), minus = word##_set1_ps(MINUS);                       \
    (void)unused;                                                                                  \
    EACH(chains, x[i] = word##_loadu_ps(starts + lanes * i);)                                      \
    for (size_t s = 0; s < STEPS; s++) {                                                           \
      EACH(chains, x[i] = word##_fmadd_ps(x[i], up, plus);)                                        \
      EACH(chains, x[i] = word##_fmadd_ps(x[i], down, minus);)                                     \
    }                                                                                              \
    EACH(chains, word##_storeu_ps(y_of_exp + lanes * i, x[i]);)                                    \
    sink = y_of_exp[0];                                                                            \
  }                                                                                                \
  __attribute__((target(features))) static void isa##_exp(size_t unused) {                         \
    (void)unused;                                                                                  \
    for (size_t i = 0; i < EXPS; i += lanes) {                                                     \
      const vector a = word##_mul_ps(word##_loadu_ps(x_of_exp + i), word##_set1_ps(1.44269504f));  \
      const vector n = round;                                                                      \
      const vector f = word##_sub_ps(a, n);                                                        \
      vector p = word##_set1_ps(exp_terms[0]);                                                     \
      for (size_t c = 1; c < 5; c++) p = word##_fmadd_ps(p, f, word##_set1_ps(exp_terms[c]));      \
      p = word##_fmadd_ps(p, f, word##_set1_ps(1));                                                \
      word##_storeu_ps(y_of_exp + i, scale2);                                                      \
    }                                                                                              \
    sink = y_of_exp[0];                                                                            \
  }                                                                                                \
  __attribute__((target(features))) static void isa##_read(size_t unused) {                        \
    vector sums[8];                                                                                \
    (void)unused;                                                                                  \
    EACH(8, sums[i] = word##_setzero_ps();)                                                        \
    for (size_t f = 0; f < stream_floats; f += 8 * lanes) {                                        \
      EACH(8, sums[i] = word##_add_ps(sums[i], word##_load_ps(stream + f + lanes * i));)           \
    }                                                                                              \
    EACH(8, word##_storeu_ps(y_of_exp + lanes * i, sums[i]);)                                      \
    sink = y_of_exp[0];                                                                            \
  }

UNITS(avx2, "avx2,fma", __m256, 8, 10, _mm256,
      _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
      _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(
                           _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23))))
UNITS(avx512, "avx512f", __m512, 16, 16, _mm512, _mm512_roundscale_ps(a, 0), _mm512_scalef_ps(p, n))

#endif

static const bench_unit compiled[] = {
    {"compiled", "fma", 4.0 * 64 * STEPS, compiled_fma},
    {"compiled", "exp", EXPS, compiled_exp},
    {"compiled", "read", 0, compiled_read},
};

/* Which instruction sets there are; `compiled` counts where none of the others is there. */
static size_t list_units(bench_unit *list) {
  size_t count = 0;
#ifdef X86
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    list[count++] = (bench_unit){"avx2", "fma", 4.0 * 8 * 10 * STEPS, avx2_fma};
    list[count++] = (bench_unit){"avx2", "exp", EXPS, avx2_exp};
    list[count++] = (bench_unit){"avx2", "read", 0, avx2_read};
  }
  if (__builtin_cpu_supports("avx512f")) {
    list[count++] = (bench_unit){"avx512", "fma", 4.0 * 16 * 16 * STEPS, avx512_fma};
    list[count++] = (bench_unit){"avx512", "exp", EXPS, avx512_exp};
    list[count++] = (bench_unit){"avx512", "read", 0, avx512_read};
  }
#endif
  if (count == 0) {
    memcpy(list, compiled, sizeof compiled);
    count = 3;
  }
  return count;
}

size_t bench_units(const bench_unit **units, size_t bytes) {
  static bench_unit list[6];
  const size_t count = list_units(list);
  free(stream);
  stream_floats = (bytes + 511) / 512 * 128; /* the sums take 64 or 128 floats a turn */
  stream = aligned_alloc(64, stream_floats * sizeof *stream + 64);
  if (!stream) abort();
  for (size_t f = 0; f < stream_floats; f++) stream[f] = start(f);
  for (size_t i = 0; i < 256; i++) starts[i] = start(i);
  for (size_t i = 0; i < EXPS; i++) x_of_exp[i] = -0.01f * (float)(i * 7 % EXPS);
  for (size_t u = 0; u < count; u++) {
    if (strcmp(list[u].kind, "read") == 0) list[u].work = (double)(stream_floats * sizeof *stream);
  }
  *units = list;
  return count;
}
