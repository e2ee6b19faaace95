/* What the machine can do, measured like a layer: units of work that are run again and again. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stddef.h>

typedef struct {
  const char *isa;  /* as the targets of that instruction set are called, or "compiled" */
  const char *kind; /* "fma": work in operations; "exp": in results; "read": in bytes */
  double work;      /* of one unit */
  void (*run)(size_t);
} bench_unit;

/* The units of the instruction sets this machine has, the widest last; `bytes` are read by one unit
 * of "read". Returns how many. */
size_t bench_units(const bench_unit **units, size_t bytes);

#endif
