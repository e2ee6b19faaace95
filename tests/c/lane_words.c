/* Words whose lanes know nothing of each other: bits by bits against plain C. */
#include "words.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* How near a result has to be. Bits: the same ones, whatever they stand for. Number: the same bits,
 * or both NaN. Quotient: a number, but some flags divide by a reciprocal. Integer: a nearest one.
 */
typedef enum { BITS, NUMBER, QUOTIENT, INTEGER } nearness;

typedef struct {
  const char *name;
  nearness near;
  int32_t (*expected)(const machine *, const word_use *, int lane);
} lane_word;

#define OPERAND(v) float_of(use->vectors[v][lane])
#define MEANS(name, value)                                                                         \
  static int32_t name##_of(const machine *m, const word_use *use, int lane) {                      \
    (void)m, (void)use, (void)lane;                                                                \
    return value;                                                                                  \
  }

MEANS(zero, 0)
MEANS(splat, bits_of(use->number))
MEANS(held, use->vectors[0][lane])
MEANS(add, bits_of(OPERAND(0) + OPERAND(1)))
MEANS(sub, bits_of(OPERAND(0) - OPERAND(1)))
MEANS(mul, bits_of(OPERAND(0) * OPERAND(1)))
MEANS(div, bits_of(OPERAND(0) / OPERAND(1)))
MEANS(max, OPERAND(0) > OPERAND(1) ? use->vectors[0][lane] : use->vectors[1][lane])
MEANS(absolute, use->vectors[0][lane] & 0x7fffffff)
MEANS(round, bits_of(rintf(OPERAND(0))))
MEANS(scale2, bits_of((float)ldexp((double)OPERAND(0), (int)OPERAND(1))))
MEANS(zero_below, OPERAND(1) < use->number ? 0 : use->vectors[0][lane])
MEANS(less, -(OPERAND(0) < OPERAND(1)))
MEANS(same_bits, -(use->vectors[0][lane] == use->bits))
MEANS(overflow, -!is_finite(OPERAND(0)))
MEANS(both, use->vectors[0][lane] & use->vectors[1][lane])
MEANS(either, use->vectors[0][lane] | use->vectors[1][lane])
MEANS(without, use->vectors[0][lane] & ~use->vectors[1][lane])
MEANS(pick, (use->vectors[0][lane] & use->vectors[1][lane]) |
                (~use->vectors[0][lane] & use->vectors[2][lane]))

static int32_t fma_of(const machine *m, const word_use *use, int lane) {
  const float product = OPERAND(0) * OPERAND(1);
  const float twice = product + OPERAND(2);
  if (!m->fma && bits_of(twice) == use->result[lane]) {
    return use->result[lane];
  }
  return bits_of(fmaf(OPERAND(0), OPERAND(1), OPERAND(2)));
}

static const lane_word lane_words[] = {
    {"zero", BITS, zero_of},
    {"splat", NUMBER, splat_of},
    {"held", BITS, held_of},
    {"add", NUMBER, add_of},
    {"sub", NUMBER, sub_of},
    {"mul", NUMBER, mul_of},
    {"div", QUOTIENT, div_of},
    {"fma", NUMBER, fma_of},
    {"max", BITS, max_of},
    {"absolute", BITS, absolute_of},
    {"round", INTEGER, round_of},
    {"scale2", NUMBER, scale2_of},
    {"less", BITS, less_of},
    {"zero_below", BITS, zero_below_of},
    {"same_bits", BITS, same_bits_of},
    {"overflow", BITS, overflow_of},
    {"both", BITS, both_of},
    {"either", BITS, either_of},
    {"without", BITS, without_of},
    {"pick", BITS, pick_of},
};

enum { LANE_WORDS = sizeof lane_words / sizeof *lane_words };

int is_lane_word(const char *name) {
  for (int i = 0; i < LANE_WORDS; i++) {
    if (strcmp(name, lane_words[i].name) == 0) {
      return 1;
    }
  }
  return 0;
}

/* Operands that the word's meaning leaves out are replaced. */
static void keep_to_meaning(const lane_word *w, word_use *use) {
  for (int lane = 0; lane < LANES_MAX; lane++) {
    if (w->expected == scale2_of) {
      use->vectors[1][lane] = bits_of((float)((int)(drawn() % 254) - 126));
    }
    if (w->expected == round_of && !(fabsf(OPERAND(0)) < 4194304.0f)) {
      use->vectors[0][lane] = bits_of(ldexpf((float)(int32_t)drawn(), -10));
    }
  }
}

/* Words of bits are safe from flags that change values; the comparisons and sums of the others then
 * promise nothing of NaN, infinity and the sign of zero. */
static int is_left_to_flags(const lane_word *w, const word_use *use, int lane, float wanted) {
  static const char *const of_bits[] = {"zero", "absolute", "same_bits", "overflow",
                                        "both", "either",   "without",   "pick"};
  for (size_t i = 0; i < sizeof of_bits / sizeof *of_bits; i++) {
    if (strcmp(w->name, of_bits[i]) == 0) {
      return 0;
    }
  }
  if (float_of(use->result[lane]) == 0.0f && wanted == 0.0f) {
    return 1;
  }
  return !is_finite(wanted) || !is_finite(use->number) || !is_finite(OPERAND(0)) ||
         !is_finite(OPERAND(1)) || !is_finite(OPERAND(2));
}

static int is_of_usual_size(float a) { return fabsf(a) >= 1e-30f && fabsf(a) <= 1e30f; }

/* Reciprocals are good for numbers far from overflow and from subnormal ones. */
static int near_quotient(const word_use *use, int lane, float number, float wanted) {
  return !is_of_usual_size(OPERAND(0)) || !is_of_usual_size(OPERAND(1)) ||
         !is_of_usual_size(wanted) || ulps(number, (long double)wanted) <= 4.0;
}

static int as_expected(const machine *m, const lane_word *w, const word_use *use, int lane,
                       int32_t expected) {
  const float number = float_of(use->result[lane]), wanted = float_of(expected);
  if (use->result[lane] == expected) {
    return 1;
  }
  if (w->near == INTEGER) {
    return number == truncf(number) && fabs((double)number - (double)OPERAND(0)) <= 0.5;
  }
  if (m->fast) {
    return is_left_to_flags(w, use, lane, wanted) ||
           (w->near == QUOTIENT && near_quotient(use, lane, number, wanted));
  }
  return w->near != BITS && number != number && wanted != wanted;
}

static void try_word(const machine *m, const lane_word *w, word_use *use) {
  keep_to_meaning(w, use);
  word_of(m, w->name, 0)->run(use);
  for (int lane = 0; lane < m->lanes; lane++) {
    const int32_t expected = w->expected(m, use, lane);
    if (!as_expected(m, w, use, lane, expected)) {
      fail_lane(m, w->name, use, lane, expected);
    }
  }
}

START_TEST(random_operands) {
  const machine *m = tested[_i];
  for (int i = 0; i < LANE_WORDS; i++) {
    word_use use = {0};
    for (int round = 0; round < ROUNDS; round++) {
      for (int v = 0; v < 3; v++) {
        for (int lane = 0; lane < LANES_MAX; lane++) {
          use.vectors[v][lane] = any_operand();
        }
      }
      use.number = float_of(any_operand());
      use.bits = drawn() % 2 ? use.vectors[0][drawn() % 4] : any_operand();
      try_word(m, &lane_words[i], &use);
    }
  }
}
END_TEST

START_TEST(special_operands) {
  const machine *m = tested[_i];
  for (int i = 0; i < LANE_WORDS; i++) {
    word_use use = {0};
    for (int a = 0; a < SPECIALS; a++) {
      for (int c = 0; c < SPECIALS; c++) {
        use.number = special[c];
        use.bits = bits_of(special[c]);
        for (int b = 0; b < SPECIALS; b++) {
          const int lane = b % m->lanes;
          use.vectors[0][lane] = bits_of(special[a]);
          use.vectors[1][lane] = bits_of(special[b]);
          use.vectors[2][lane] = bits_of(special[c]);
          if (lane == m->lanes - 1) {
            try_word(m, &lane_words[i], &use);
          }
        }
      }
    }
  }
}
END_TEST

void add_lane_tests(TCase *each, int targets) {
  tcase_add_loop_test(each, random_operands, 0, targets);
  tcase_add_loop_test(each, special_operands, 0, targets);
}
