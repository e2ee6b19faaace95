/* What a compiled layer offers to the program that measures it (bench_harness.c, or any program
 * that loads the library by its exported names). */
#ifndef BENCH_LAYER_H
#define BENCH_LAYER_H

#include <stddef.h>
#include <stdint.h>

/* Rows of a call: queries, key positions given with the call, positions already in the cache. */
typedef struct {
  size_t tokens, fresh, past;
} bench_counts;

/* Weights and inputs by role; NULL where the layer has none. Matrices are [out][in]. */
typedef struct {
  const float *wq, *wk, *wv, *wo, *bq, *bk, *bv, *bo;
  const float *input_gamma, *input_beta, *output_gamma, *output_beta, *gamma, *beta;
  const float *q_norm, *k_norm, *rope_frequencies, *relative, *bias_table, *sinks;
  const float *q, *k, *v, *o, *residual, *additive, *head_mask;
  const uint8_t *padding, *boolean;
  const float *past_k, *past_v; /* [kv_heads][past][p_q], [kv_heads][past][p_v] */
} bench_tensors;

/* Ways to run the layer are numbered: first its targets, then the plain loops. */
typedef struct {
  size_t target_count;
  const char *const *targets;
  size_t row; /* floats of a row of y */
  /* Makes weights, inputs and memory for calls of these counts. NULL, or what went wrong. */
  const char *(*prepare)(const bench_counts *counts);
  /* Opens the layer on a target. 1; 0 where the machine lacks it; -1 for a fault. */
  int (*open)(size_t target);
  /* One call, to the end; the result is in y. */
  void (*run)(size_t way);
  /* What the last call of a target gave: NULL for no complaint. */
  const char *(*fault)(void);
  float *(*y)(void);
  /* The float64 reference of every `every`-th row, from row 0 on; [tokens][row]. */
  void (*reference)(size_t every, double *y);
} bench_layer;

enum { BENCH_LOOPS = 2 }; /* plain loops: depth innermost, then columns innermost */

/* Samples of the seconds that run(way) takes, each the mean of `group` calls, until `seconds` are
 * over or there are `most`; at least one. ours: only the time that the processor gave to us counts.
 * Returns how many. */
size_t bench_sample(void (*run)(size_t), size_t way, size_t group, int ours, double seconds,
                    double *samples, size_t most);

#endif
