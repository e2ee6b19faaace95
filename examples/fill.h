/* Numbers for weights and inputs of the examples: from -0.25 to 0.25, the same on every machine. */
#ifndef FILL_H
#define FILL_H

#include <stddef.h>

static inline void fill(float *out, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    out[i] = ((float)(seed >> 9) - 4194304.0f) / 16777216.0f;
  }
}

#endif
