/* What the parts of the runner share. */
#ifndef VERIFY_PARTS_H
#define VERIFY_PARTS_H

#include "verify_harness.h"

enum { BLOCK = 64, MOST_TENSORS = 24 };

struct run {
  const char *name;
  unsigned char fill; /* what outputs, workspace, scratch and cache hold before */
  int stages, bare, repeats;
  size_t gap; /* elements between rows */
};

/* ---- verify_memory.c ---- */

/* What is running; in memory that the child shares, so that its parent knows where it died. */
struct now {
  const struct verify_case *this_case;
  const struct verify_target *target;
  const char *step;
  size_t sequence;
};
extern struct now *now;

/* Tells what is wrong with the case and ends its process. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void check(int status, const char *function);
void *memory(size_t bytes);
size_t round_up(size_t n, size_t to);

/* Exactly as large as stated, guard bytes around, a page that faults in front and behind. */
struct buffer {
  unsigned char *pages, *body, *data, *copy;
  size_t mapped, body_bytes, bytes;
};
struct buffer buffer_of(size_t bytes, size_t alignment, unsigned char fill);
/* Remembers what the buffer holds: check_buffer then wants it unchanged. */
void keep(struct buffer *);
void check_buffer(const struct buffer *, const char *role);
void release(struct buffer *);

/* Bytes of the case's file, to be freed. */
unsigned char *stored_bytes(uint64_t offset, size_t bytes, const char *role);
/* Files are little-endian, whatever the machine is. */
uint32_t word_at(const unsigned char *);

/* ---- verify_compare.c ---- */

struct error {
  double absolute, relative;
};
size_t count_of(const struct verify_tensor *);
/* Both want `got` in the order of the file, and fail the case where it is not as it should be. */
void check_wanted(const struct verify_tensor *, const uint32_t *got, struct error *);
void check_same(const struct verify_tensor *, const uint32_t *got, const uint32_t *first);

/* ---- verify_run.c ---- */

/* Runs one sequence once and gives back what was written, tensor by tensor in the order of the file
   (NULL: not an output), to be freed. */
void run_once(const struct verify_case *, const struct run *, uint32_t **got);

#endif
