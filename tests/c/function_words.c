/* exp, exp2 and tanh: over their whole range with a stride, and every float near where they turn.
 */
#define _DEFAULT_SOURCE
#include "words.h"

#include <check.h>
#include <float.h>
#include <math.h>

enum { STRIDE = 2003 };

typedef struct function_run function_run;

/* Arguments of a function, gathered until a vector is full. */
struct function_run {
  const machine *m;
  const char *name;
  const word *w;
  void (*judge)(const function_run *, float x, float y);
  long double (*exact)(long double);
  double ulps, ulps_by_size; /* allowed: the first and |x| times the second */
  word_use use;
  int count;
};

static void flush(function_run *run) {
  run->w->run(&run->use);
  for (int lane = 0; lane < run->count; lane++) {
    run->judge(run, float_of(run->use.vectors[0][lane]), float_of(run->use.result[lane]));
  }
  run->count = 0;
}

static void give(function_run *run, int32_t bits) {
  run->use.vectors[0][run->count++] = bits;
  if (run->count == run->m->lanes) {
    flush(run);
  }
}

/* The floats within `reach` steps of x. */
static void give_near(function_run *run, double x, int32_t reach) {
  const int32_t middle = bits_of((float)x);
  for (int32_t step = -reach; step <= reach; step++) {
    give(run, middle + step);
  }
}

static void blame(const function_run *run, float x, float y, const char *why) {
  ck_abort_msg("%s: vec_%s(%.9g) = %.9g, %s; exact %.12Lg, off by %.3f ulp", run->m->name,
               run->name, (double)x, (double)y, why, run->exact((long double)x),
               ulps(y, run->exact((long double)x)));
}

static void judge(const function_run *run, float x, float y) {
  if (run->m->fast && !is_finite(x)) {
    return;
  }
  if (x != x) {
    if (y == y) {
      blame(run, x, y, "not NaN");
    }
    return;
  }
  const double allowed = run->ulps + run->ulps_by_size * fmin(fabs((double)x), 128.0);
  if (!(ulps(y, run->exact((long double)x)) <= allowed)) {
    blame(run, x, y, "inexact");
  }
}

/* Results that would be subnormal are 0. */
static void judge_power(const function_run *run, float x, float y) {
  if (run->m->fast && !is_finite(x)) {
    return;
  }
  if (x == x && run->exact((long double)x) < (long double)FLT_MIN) {
    if (bits_of(y) != 0) {
      blame(run, x, y, "not 0");
    }
    return;
  }
  judge(run, x, y);
  if (y < FLT_MIN) {
    blame(run, x, y, "subnormal");
  }
}

/* A power of `base` for x <= 0, `least` the last that is not 0. */
static void try_power(function_run *run, double natural_logarithm, float least, float end) {
  const int32_t last = bits_of(end);
  for (int32_t bits = INT32_MIN; bits < last; bits += STRIDE) {
    give(run, bits);
  }
  give_near(run, (double)least, 20000);
  give_near(run, (double)end, 2000);
  /* where the power of two changes, and half way between */
  for (int n = 1; n < 126; n++) {
    give_near(run, -n / natural_logarithm * M_LN2, 200);
  }
  for (int n = 0; n < 126; n++) {
    give_near(run, -(n + 0.5) / natural_logarithm * M_LN2, 200);
  }
  for (int n = -126; n < 128; n++) {
    give(run, bits_of(-ldexpf(1.0f, n)));
  }
  for (int i = 0; i < SPECIALS; i++) {
    if (!(special[i] > 0.0f)) {
      give(run, bits_of(special[i]));
    }
  }
  flush(run);
}

/* Flags that change values may join the two parts of ln 2 where they are plain sums of products,
 * and n ln 2 is then rounded like any product of its size. */
START_TEST(powers_of_e) {
  const machine *m = tested[_i];
  function_run run = {.m = m, .name = "exp", .judge = judge_power, .exact = expl, .ulps = 2.0};
  run.w = word_of(m, "exp", 0);
  if (m->fast && !m->fma) {
    run.ulps_by_size = 1.1;
  }
  try_power(&run, 1.0, -87.3365402f, -104.0f);
}
END_TEST

START_TEST(powers_of_2) {
  const machine *m = tested[_i];
  function_run run = {.m = m, .name = "exp2", .judge = judge_power, .exact = exp2l, .ulps = 2.0};
  run.w = word_of(m, "exp2", 0);
  try_power(&run, M_LN2, -126.0f, -150.0f);
}
END_TEST

START_TEST(hyperbolic_tangents) {
  const machine *m = tested[_i];
  function_run run = {.m = m, .name = "tanh", .judge = judge, .exact = tanhl, .ulps = 4.0};
  run.w = word_of(m, "tanh", 0);
  const int32_t end = bits_of(20.0f);
  for (int32_t bits = 0; bits <= end; bits += STRIDE) {
    give(&run, bits);
    give(&run, bits | INT32_MIN);
  }
  give_near(&run, 0.625, 20000);
  give_near(&run, -0.625, 20000);
  for (int n = -126; n < 128; n++) {
    give(&run, bits_of(ldexpf(1.0f, n)));
  }
  for (int i = 0; i < SPECIALS; i++) {
    give(&run, bits_of(special[i]));
  }
  flush(&run);
}
END_TEST

void add_function_tests(TCase *each, int targets) {
  tcase_add_loop_test(each, powers_of_e, 0, targets);
  tcase_add_loop_test(each, powers_of_2, 0, targets);
  tcase_add_loop_test(each, hyperbolic_tangents, 0, targets);
}
