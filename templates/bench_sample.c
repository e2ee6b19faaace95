/* The clock: timing of repeated calls, for whoever links it. */
#define _POSIX_C_SOURCE 200809L

#include "bench_layer.h"

#include <time.h>

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((visibility("default"))) size_t bench_sample(void (*run)(size_t), size_t way,
                                                           size_t group, int ours, double seconds,
                                                           double *samples, size_t most) {
  const clockid_t clock = ours ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  const double begin = now(CLOCK_MONOTONIC);
  size_t count = 0;
  do {
    const double start = now(clock);
    for (size_t call = 0; call < group; call++) run(way);
    samples[count++] = (now(clock) - start) / (double)group;
  } while (count < most && now(CLOCK_MONOTONIC) - begin < seconds);
  return count;
}
