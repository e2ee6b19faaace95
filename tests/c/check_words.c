/*
 * Every word on every target against what it means: one lane at a time, in plain C, on random and
 * special operands. words.lua writes the tables of words; a word that has no test here fails.
 * Without arguments, targets that this CPU lacks are skipped by name; with names of targets, just
 * these are tested and have to be there.
 */
#include "words.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGETS_MAX = 16 };

const machine *tested[TARGETS_MAX];

/* ---- Numbers ---- */

const float special[SPECIALS] = {
    0.0f,        -0.0f,       1.0f,     -1.0f,     0.5f,     -0.5f,       1.5f,    2.5f,
    -3.5f,       0.49999997f, 1e-45f,   -1e-45f,   1e-39f,   -1e-39f,     FLT_MIN, -FLT_MIN,
    FLT_MAX,     -FLT_MAX,    1e30f,    -1e30f,    1.0e-30f, 16777216.0f, 3.1415f, -87.33654f,
    -87.336548f, -104.0f,     INFINITY, -INFINITY, NAN,      -NAN,        -126.0f, -150.5f,
};

float float_of(int32_t bits) {
  float a;
  memcpy(&a, &bits, sizeof a);
  return a;
}

int32_t bits_of(float a) {
  int32_t bits;
  memcpy(&bits, &a, sizeof bits);
  return bits;
}

int is_finite(float a) { return (bits_of(a) & 0x7f800000) != 0x7f800000; }

uint32_t drawn(void) {
  static uint64_t state = 0x9e3779b97f4a7c15u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 16);
}

int32_t any_operand(void) {
  switch (drawn() % 4) {
  case 0:
    return (int32_t)drawn();
  case 1:
    return bits_of(special[drawn() % SPECIALS]);
  default:
    return bits_of(ldexpf((float)(int32_t)drawn(), (int)(drawn() % 12) - 34));
  }
}

double ulps(float a, long double exact) {
  int exponent;
  frexpl(exact, &exponent);
  if (exponent < FLT_MIN_EXP) {
    exponent = FLT_MIN_EXP;
  }
  return (double)(fabsl((long double)a - exact) / ldexpl(1.0L, exponent - FLT_MANT_DIG));
}

/* ---- Words ---- */

const word *word_of(const machine *m, const char *name, int count) {
  for (const word *w = m->words; w->name; w++) {
    if (w->count == count && strcmp(w->name, name) == 0) {
      return w;
    }
  }
  ck_abort_msg("%s has no word %s", m->name, name);
  return NULL;
}

void fail_lane(const machine *m, const char *name, const word_use *use, int lane,
               int32_t expected) {
  ck_abort_msg("%s: vec_%s of %08x %08x %08x (number %g): %08x = %.9g, expected %08x = %.9g",
               m->name, name, (unsigned)use->vectors[0][lane], (unsigned)use->vectors[1][lane],
               (unsigned)use->vectors[2][lane], (double)use->number, (unsigned)use->result[lane],
               (double)float_of(use->result[lane]), (unsigned)expected, (double)float_of(expected));
}

START_TEST(every_word_is_tested) {
  static const char *const others[] = {
      "load", "store", "load_bits", "store_bits", "load_flags", "any",  "sum",
      "top",  "sums",  "tops",      "transpose",  "exp",        "exp2", "tanh"};
  for (const word *w = tested[_i]->words; w->name; w++) {
    int known = is_lane_word(w->name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
      known |= strcmp(w->name, others[i]) == 0;
    }
    ck_assert_msg(known, "vec_%s has no test", w->name);
  }
}
END_TEST

/* ---- Targets ---- */

/* Fills in `tested`; returns how many, or -1 where one that was asked for is not there. */
static int find_targets(int names, char **name) {
  int count = 0;
  for (size_t i = 0; machines[i] && names == 0; i++) {
    if (machines[i]->here()) {
      tested[count++] = machines[i];
    } else {
      printf("skipped: %s, which this CPU or compiler lacks\n", machines[i]->name);
    }
  }
  for (int n = 0; n < names; n++) {
    size_t i = 0;
    while (machines[i] && strcmp(machines[i]->name, name[n]) != 0) {
      i++;
    }
    if (!machines[i] || !machines[i]->here()) {
      fprintf(stderr, "%s: %s\n", name[n],
              machines[i] ? "this CPU or compiler lacks it" : "no such target");
      return -1;
    }
    tested[count++] = machines[i];
  }
  for (int i = 0; i < count; i++) {
    printf("words of %s, %d lanes%s\n", tested[i]->name, tested[i]->lanes,
           tested[i]->fast ? ", with flags that change values" : "");
  }
  fflush(stdout);
  return count;
}

int main(int count, char **arguments) {
  const int targets = find_targets(count - 1, arguments + 1);
  if (targets < 1) {
    return EXIT_FAILURE;
  }
  Suite *suite = suite_create("words");
  TCase *each = tcase_create("each target");
  tcase_set_timeout(each, 300);
  tcase_add_loop_test(each, every_word_is_tested, 0, targets);
  add_lane_tests(each, targets);
  add_memory_tests(each, targets);
  add_function_tests(each, targets);
  suite_add_tcase(suite, each);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
