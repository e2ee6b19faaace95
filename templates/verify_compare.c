/* The rule of the tolerance. Floats are compared through their bits, so that neither fast-math nor
   flush-to-zero, which the layer's flags may bring in, can help a layer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify_parts.h"

size_t count_of(const struct verify_tensor *t) { return t->heads * t->rows * t->columns; }

static int is_nan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

static int is_infinite(uint32_t bits) { return (bits & 0x7fffffff) == 0x7f800000; }

static double value_of(uint32_t bits) {
  const int exponent = (int)(bits >> 23 & 255);
  const double fraction = bits & 0x7fffff;
  if (is_nan(bits)) return NAN;
  const double size = is_infinite(bits) ? INFINITY
                      : exponent        ? ldexp(fraction + 0x800000, exponent - 150)
                                        : ldexp(fraction, -149);
  return bits >> 31 ? -size : size;
}

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* 0 where they are equal, above 1 where the tolerance is passed. */
static double excess(uint32_t got, uint32_t want, struct error *error) {
  if (is_nan(want) || is_nan(got)) return is_nan(want) && is_nan(got) ? 0 : INFINITY;
  if (is_infinite(want) || is_infinite(got)) return want == got ? 0 : INFINITY;
  const double wanted = value_of(want), gap = fabs(value_of(got) - wanted);
  const double bound =
      double_of(now->this_case->atol) + double_of(now->this_case->rtol) * fabs(wanted);
  if (gap > error->absolute) error->absolute = gap;
  if (gap > 0 && want << 1 && gap / fabs(wanted) > error->relative)
    error->relative = gap / fabs(wanted);
  if (gap <= bound) return bound > 0 ? gap / bound : 0;
  return bound > 0 ? gap / bound : INFINITY;
}

static void report_element(const struct verify_tensor *t, size_t n, uint32_t got, uint32_t want,
                           const char *rule) {
  const size_t column = n % t->columns, rest = n / t->columns;
  const size_t inner = t->file_head_major ? t->rows : t->heads;
  char index[80];
  if (t->heads > 1 || t->file_head_major)
    snprintf(index, sizeof index, "[%zu][%zu][%zu]", rest / inner, rest % inner, column);
  else
    snprintf(index, sizeof index, "[%zu][%zu]", rest, column);
  fail("%s%s: got %.9g, %s %.9g", t->role, index, value_of(got), rule, value_of(want));
}

void check_wanted(const struct verify_tensor *t, const uint32_t *got, struct error *error) {
  const size_t count = count_of(t);
  double most = 1;
  size_t worst = count;
  unsigned char *want = stored_bytes(t->offset + now->sequence * t->step, 4 * count, t->role);
  for (size_t n = 0; n < count; n++) {
    const double by = excess(got[n], word_at(want + 4 * n), error);
    if (by > most) {
      most = by;
      worst = n;
    }
  }
  if (worst < count) report_element(t, worst, got[worst], word_at(want + 4 * worst), "want");
  free(want);
}

void check_same(const struct verify_tensor *t, const uint32_t *got, const uint32_t *first) {
  const size_t count = count_of(t);
  for (size_t n = 0; n < count; n++)
    if (got[n] != first[n] && !(is_nan(got[n]) && is_nan(first[n])))
      report_element(t, n, got[n], first[n], "the first run gave");
}
