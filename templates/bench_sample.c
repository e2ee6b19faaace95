/* The clock: timing of repeated calls, for whoever links it. */
#define _POSIX_C_SOURCE 200809L

#include "bench_layer.h"

#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((visibility("default"))) size_t bench_sample(void (*run)(size_t), size_t way,
                                                           size_t group, double seconds,
                                                           double *samples, size_t most) {
  const double begin = now();
  double last = begin;
  size_t count = 0;
  do {
    const double start = now();
    for (size_t call = 0; call < group; call++) run(way);
    last = now();
    samples[count++] = (last - start) / (double)group;
  } while (count < most && last - begin < seconds);
  return count;
}
