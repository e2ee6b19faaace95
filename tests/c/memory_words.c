/* Words that read and write memory, at its very end, and words that look across lanes. */
#define _DEFAULT_SOURCE
#include "words.h"

#include <check.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The end of memory: what begins there can not be touched. */
static unsigned char *end_of_memory(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *pages =
      mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(pages, MAP_FAILED);
  ck_assert_int_eq(mprotect(pages + page, page, PROT_NONE), 0);
  return pages + page;
}

/* Whether all bytes are the same one. */
static int all_are(const unsigned char *from, size_t count, unsigned char byte) {
  for (size_t i = 0; i < count; i++) {
    if (from[i] != byte) {
      return 0;
    }
  }
  return 1;
}

/* ---- Loads and stores ---- */

START_TEST(whole_loads) {
  static const struct {
    const char *name;
    size_t bytes;
  } loads[] = {{"load", 4}, {"load_bits", 4}, {"load_flags", 1}};
  const machine *m = tested[_i];
  const size_t lanes = (size_t)m->lanes;
  unsigned char *end = end_of_memory();
  word_use use = {0};
  for (size_t i = 0; i < 3 * ROUNDS; i++) {
    const size_t bytes = loads[i % 3].bytes;
    unsigned char *from = end - lanes * bytes - i / 3 % 2 * bytes;
    for (size_t b = 0; b < lanes * bytes; b++) {
      from[b] = (unsigned char)(drawn() % 3 == 0 ? 0 : drawn());
    }
    use.from = from;
    word_of(m, loads[i % 3].name, 0)->run(&use);
    for (size_t lane = 0; lane < lanes; lane++) {
      int32_t expected = -(from[lane] != 0);
      if (bytes == 4) {
        memcpy(&expected, from + 4 * lane, 4);
      }
      if (use.result[lane] != expected) {
        fail_lane(m, loads[i % 3].name, &use, (int)lane, expected);
      }
    }
  }
}
END_TEST

START_TEST(counted_loads) {
  const machine *m = tested[_i];
  const size_t lanes = (size_t)m->lanes;
  unsigned char *end = end_of_memory();
  word_use use = {0};
  for (size_t i = 0; i < 20 * lanes; i++) {
    const size_t count = 1 + i % (lanes - 1);
    int32_t from[LANES_MAX];
    for (size_t lane = 0; lane < count; lane++) {
      from[lane] = any_operand();
    }
    memcpy(end - 4 * count, from, 4 * count);
    use.from = end - 4 * count;
    word_of(m, "load", (int)count)->run(&use);
    for (size_t lane = 0; lane < lanes; lane++) {
      const int32_t expected = lane < count ? from[lane] : 0;
      if (use.result[lane] != expected) {
        fail_lane(m, "load_n", &use, (int)lane, expected);
      }
    }
  }
}
END_TEST

/* Stores `count` lanes in front of `end` and looks at what stands before. */
static void try_store(const machine *m, const word *w, size_t count, unsigned char *end) {
  enum { BEFORE = 64 };
  unsigned char *to = end - 4 * count;
  word_use use = {0};
  for (int lane = 0; lane < LANES_MAX; lane++) {
    use.vectors[0][lane] = any_operand();
  }
  memset(to - BEFORE, 0xa5, BEFORE + 4 * count);
  use.to = to;
  w->run(&use);
  for (size_t lane = 0; lane < count; lane++) {
    memcpy(&use.result[lane], to + 4 * lane, 4);
    if (use.result[lane] != use.vectors[0][lane]) {
      fail_lane(m, w->name, &use, (int)lane, use.vectors[0][lane]);
    }
  }
  ck_assert_msg(all_are(to - BEFORE, BEFORE, 0xa5), "%s: vec_%s_%d: writes before its place",
                m->name, w->name, w->count);
}

START_TEST(stores) {
  const machine *m = tested[_i];
  const size_t lanes = (size_t)m->lanes;
  unsigned char *end = end_of_memory();
  for (int round = 0; round < 20; round++) {
    try_store(m, word_of(m, "store", 0), lanes, end);
    try_store(m, word_of(m, "store_bits", 0), lanes, end);
    for (size_t count = 1; count < lanes; count++) {
      const word *w = word_of(m, "store", (int)count);
      try_store(m, w, count, end);
      unsigned char *more = end - 4 * lanes;
      memset(more, 0x5a, 4 * lanes);
      try_store(m, w, count, more);
      ck_assert_msg(all_are(more, 4 * lanes, 0x5a), "%s: vec_store_%d: writes beyond its place",
                    m->name, (int)count);
    }
  }
}
END_TEST

START_TEST(transposes) {
  const machine *m = tested[_i];
  unsigned char *end_of_x = end_of_memory(), *end_of_y = end_of_memory();
  word_use use = {0};
  for (ptrdiff_t row = 8; row < 40; row++) {
    float *x = (float *)(void *)end_of_x - (7 * row + 8);
    float *y = (float *)(void *)end_of_y - (7 * 16 + 8);
    for (ptrdiff_t i = 0; i < 7 * row + 8; i++) {
      x[i] = (float)i;
    }
    for (ptrdiff_t i = 0; i < 7 * 16 + 8; i++) {
      y[i] = -1.0f;
    }
    use.from = x;
    use.to = y;
    use.row = row;
    word_of(m, "transpose", 0)->run(&use);
    for (ptrdiff_t i = 0; i < 7 * 16 + 8; i++) {
      const float expected = i % 16 < 8 ? x[i % 16 * row + i / 16] : -1.0f;
      ck_assert_msg(y[i] == expected, "%s: vec_transpose, rows of %d: y[%d] = %g, expected %g",
                    m->name, (int)row, (int)i, (double)y[i], (double)expected);
    }
  }
}
END_TEST

/* ---- Across lanes ---- */

/* Halves folded onto each other. */
static float folded(const machine *m, const int32_t *lanes, int largest) {
  float x[LANES_MAX];
  for (int lane = 0; lane < m->lanes; lane++) {
    x[lane] = float_of(lanes[lane]);
  }
  for (int half = m->lanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) {
      const float upper = x[i + half];
      x[i] = largest ? (upper > x[i] ? upper : x[i]) : x[i] + upper;
    }
  }
  return x[0];
}

START_TEST(sums) {
  const machine *m = tested[_i];
  word_use use = {0};
  for (int round = 0; round < ROUNDS; round++) {
    double size = 0.0;
    for (int lane = 0; lane < m->lanes; lane++) {
      int32_t bits = any_operand();
      if (m->fast && !(fabsf(float_of(bits)) < 1e30f)) {
        bits = bits_of(2.0f);
      }
      use.vectors[0][lane] = bits;
      size += fabs((double)float_of(bits));
    }
    const float expected = folded(m, use.vectors[0], 0);
    word_of(m, "sum", 0)->run(&use);
    const float sum = use.number_result;
    if (sum == expected || (sum != sum && expected != expected)) {
      continue;
    }
    /* flags that change values may change the order */
    if (m->fast && fabs((double)sum - (double)expected) <= 1e-6 * size) {
      continue;
    }
    ck_abort_msg("%s: vec_sum: %.9g, expected %.9g", m->name, (double)sum, (double)expected);
  }
}
END_TEST

START_TEST(largest_lanes) {
  const machine *m = tested[_i];
  word_use use = {0};
  for (int round = 0; round < ROUNDS; round++) {
    for (int lane = 0; lane < m->lanes; lane++) {
      const int32_t bits = any_operand();
      const float a = float_of(bits);
      use.vectors[0][lane] = a != a || (m->fast && !is_finite(a)) ? bits_of(-2.0f) : bits;
    }
    word_of(m, "top", 0)->run(&use);
    const float expected = folded(m, use.vectors[0], 1);
    if (use.number_result != expected) {
      ck_abort_msg("%s: vec_top: %.9g, expected %.9g", m->name, (double)use.number_result,
                   (double)expected);
    }
  }
}
END_TEST

/* The words that fold four vectors do, bit for bit, what the word for one does to each. */
START_TEST(four_folds) {
  static const struct { const char *four, *one; } folds[] = {{"sums", "sum"}, {"tops", "top"}};
  const machine *m = tested[_i];
  const size_t lanes = (size_t)m->lanes;
  float *from = (float *)(void *)(end_of_memory() - 4 * lanes * sizeof *from);
  word_use use = {.from = from}, single = {0};
  for (int round = 0; round < 2 * ROUNDS; round++) {
    const int top = round % 2;
    for (size_t i = 0; i < 4 * lanes; i++) {
      const float a = float_of(any_operand());
      from[i] = !(fabsf(a) < 1e30f) && (top || m->fast) ? -2.0f : a;
    }
    word_of(m, folds[top].four, 0)->run(&use);
    for (size_t r = 0; r < lanes; r++) {
      single.number_result = 0.0f;
      double size = 0.0;
      if (r < 4) {
        memcpy(single.vectors[0], from + r * lanes, lanes * sizeof *from);
        word_of(m, folds[top].one, 0)->run(&single);
        for (size_t lane = 0; lane < lanes; lane++) {
          size += fabs((double)from[r * lanes + lane]);
        }
      }
      const float expected = single.number_result, found = float_of(use.result[r]);
      const int close = m->fast && fabs((double)found - (double)expected) <= 1e-6 * size;
      if (found != expected && !close && !(found != found && expected != expected)) {
        ck_abort_msg("%s: vec_%s, vector %d: %.9g, expected %.9g", m->name, folds[top].four, (int)r,
                     (double)found, (double)expected);
      }
    }
  }
}
END_TEST

START_TEST(single_bits) {
  const machine *m = tested[_i];
  const word *any = word_of(m, "any", 0);
  word_use use = {0};
  any->run(&use);
  ck_assert_msg(!use.truth_result, "%s: vec_any of no bit", m->name);
  for (int i = 0; i < 32 * m->lanes; i++) {
    use.vectors[0][i / 32] = (int32_t)(UINT32_C(1) << i % 32);
    any->run(&use);
    if (!use.truth_result) {
      ck_abort_msg("%s: vec_any of bit %d in lane %d", m->name, i % 32, i / 32);
    }
    use.vectors[0][i / 32] = 0;
  }
}
END_TEST

void add_memory_tests(TCase *each, int targets) {
  tcase_add_loop_test(each, whole_loads, 0, targets);
  tcase_add_loop_test(each, counted_loads, 0, targets);
  tcase_add_loop_test(each, stores, 0, targets);
  tcase_add_loop_test(each, transposes, 0, targets);
  tcase_add_loop_test(each, sums, 0, targets);
  tcase_add_loop_test(each, largest_lanes, 0, targets);
  tcase_add_loop_test(each, four_folds, 0, targets);
  tcase_add_loop_test(each, single_bits, 0, targets);
}
