/* What the glue of one golden case tells the runner, verify_harness.c. */
#ifndef VERIFY_HARNESS_H
#define VERIFY_HARNESS_H

#include <stddef.h>
#include <stdint.h>

/* One field of a call: where its buffer is, and the strides to hand over (in elements, 0 = dense).
 */
struct verify_place {
  void *at;
  ptrdiff_t row, head;
};

/* The call struct of any layer; the glue copies what its layer has. */
struct verify_call {
  size_t tokens, context, past, context_length;
  float *keys, *values;
  size_t capacity;
  struct verify_place x, q, k, v, o, residual, padding, boolean, additive, head_mask;
  struct verify_place y, weights, scores;
};

enum verify_kind { VERIFY_INPUT, VERIFY_OUTPUT, VERIFY_PAST, VERIFY_PRESENT };

/* An element (head i, row r, column c) of a tensor lies head-major, [heads][rows][columns], or row
   by row, [rows][heads][columns]; in the file one way, in the buffer maybe the other. */
struct verify_tensor {
  enum verify_kind kind;
  const char *role;
  size_t place; /* offset in struct verify_call; VERIFY_PAST, VERIFY_PRESENT: 0 keys, 1 values */
  int stored;   /* 0: an output that nothing is expected of */
  uint64_t offset, step; /* bytes in the file: of the first sequence, from one to the next */
  size_t bytes;          /* of an element: 4 or 1 */
  size_t heads, rows, columns;
  size_t width; /* columns of the buffer, of which the first are in the file */
  int file_head_major, head_major;
  int natural; /* strides of 0 mean this layout */
  int strided; /* the call has a row stride for it */
  int alias;   /* number of the tensor whose buffer it shares, or -1 */
};

/* Weights: `blocks` runs of `length` floats, `step` floats apart, from `offset` bytes on. */
struct verify_load {
  const char *role;
  uint64_t offset;
  size_t blocks, length, step;
};

struct verify_target {
  const char *name;
  int number;
  int exact; /* each sum has one order: ranges do not change the bits */
};

struct verify_case {
  unsigned number;
  const char *file;
  uint64_t atol, rtol;                                     /* the bits of a double */
  size_t batch, tokens, context, past, kv_heads, p_q, p_v; /* context: keys of the call */
  const size_t *context_length;                            /* one a sequence, or NULL */
  int cached, ring; /* ring: a cache that goes round is of the least capacity */
  size_t capacity_step, capacity_least;
  const struct verify_load *loads;
  size_t load_count;
  const struct verify_tensor *tensors;
  size_t tensor_count;
  const struct verify_target *targets;
  size_t target_count;
  size_t packed_bytes, scratch_bytes;
  int unavailable; /* the status of a target that is not there */
  const char *(*status_text)(int status);
  int (*pack)(float *const *loaded, void *packed);
  int (*open)(const void *packed, int target);
  size_t (*workspace)(size_t tokens, size_t context);
  int (*forward)(const struct verify_call *, void *workspace, size_t bytes);
  int (*project_q)(const struct verify_call *, void *workspace, size_t bytes, size_t from,
                   size_t to);
  int (*project_kv)(const struct verify_call *, void *workspace, size_t bytes, size_t from,
                    size_t to);
  int (*attend)(const struct verify_call *, void *workspace, size_t bytes, void *scratch,
                size_t from, size_t to, size_t head_from, size_t head_to);
  int (*output)(const struct verify_call *, void *workspace, size_t bytes, size_t from, size_t to);
  size_t (*cache_floats)(size_t capacity, int values);
  int (*cache_write)(float *keys, float *values, size_t capacity, size_t from, size_t to,
                     const float *k, const float *v);
  int (*cache_read)(float *keys, float *values, size_t capacity, size_t from, size_t to, float *k,
                    float *v);
  struct verify_case *next;
};

/* Called by the glue of each case before main. */
void verify_enter(struct verify_case *);

#endif
