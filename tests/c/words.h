/* What the tables of words that words.lua writes share with the tests, and the tests with each
 * other.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { LANES_MAX = 16, SPECIALS = 32, ROUNDS = 1000 };

/* ---- Targets ---- */

/* The operands of one use of a word, in the order of its parameters, and what it gave. */
typedef struct {
  int32_t vectors[3][LANES_MAX]; /* as bits */
  const void *from;
  void *to;
  ptrdiff_t row;
  float number;
  int32_t bits;
  int32_t result[LANES_MAX]; /* as bits */
  float number_result;
  int truth_result;
} word_use;

/* count: of a counted word, else 0. */
typedef struct {
  const char *name;
  int count;
  void (*run)(word_use *);
} word;

/* A target as its file was compiled; fast: with flags that change values. */
typedef struct {
  const char *name;
  int lanes, fma, fast;
  int (*here)(void);
  const word *words; /* ends with a name of NULL */
} machine;

extern const machine *const machines[]; /* ends with NULL */

/* ---- What the tests share ---- */

extern const machine *tested[];

const word *word_of(const machine *m, const char *name, int count);
void fail_lane(const machine *m, const char *name, const word_use *use, int lane, int32_t expected);

float float_of(int32_t bits);
int32_t bits_of(float a);
int is_finite(float a);
uint32_t drawn(void);
extern const float special[SPECIALS];
int32_t any_operand(void); /* any bits, a special value, or a number of a usual size */
double ulps(float a,
            long double exact); /* the distance, in units of the exact value's last place */

/* ---- The tests ---- */

struct TCase;
void add_lane_tests(struct TCase *each, int targets);
void add_memory_tests(struct TCase *each, int targets);
void add_function_tests(struct TCase *each, int targets);
int is_lane_word(const char *name);

#endif
