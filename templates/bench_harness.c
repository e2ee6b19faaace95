/* Measures compiled layers and the machine side by side.
 *
 * bench_harness ROUNDS SECONDS LOOPS CLOCK CELL... -- LIBRARY...
 *   CELL      tokens:fresh:past:bytes:operations, bytes being what a call reads of weights and
 * cache ROUNDS    in each, every way to run a cell is sampled in turn SECONDS   of samples a way
 * and cell LOOPS     2: plain loops always; 1: where they take less than half a second; 0: never
 *   CLOCK     wall; cpu: of calls that are not short, only the time that the processor gave to us
 *   LIBRARY   a shared library that exports bench_measured (bench_layer.h)
 * Prints one line for each result, its first word telling what follows:
 *   cpu      number
 *   absent   library target
 *   machine  cell isa kind work median minimum
 *   result   cell library way median minimum calls share frobenius maximum
 *   left     cell library way          (plain loops that would take too long)
 * Cells and libraries count from 0, times are seconds, share is the processor time we got. */
#define _GNU_SOURCE

#include "bench_layer.h"
#include "bench_machine.h"

#include <dlfcn.h>
#include <locale.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SAMPLES = 200000, MOST_LIBRARIES = 16 };

static const double SMALL_CALL = 2e-6, GROUP_SECONDS = 4e-6, LONG_CALL = 50e-6, TOO_LONG = 0.5;
static const double PLAIN_SPEED = 1e9, REFERENCE_OPERATIONS = 6e8;

typedef struct {
  size_t tokens, fresh, past, bytes;
  double operations;
} cell;

/* One of the things that are run in turn. */
typedef struct {
  int library; /* -1: a unit of the machine */
  const char *name;
  void (*run)(size_t);
  size_t way, group, skip; /* samples of `group` calls, in every `skip`-th round */
  int ours;                /* which clock */
  double slice, *samples, wall, cpu;
  size_t count;
  double frobenius, maximum;
} contender;

static const bench_layer *libraries[MOST_LIBRARIES];
static size_t library_count;
static int rounds, loops, cpu_clock;
static double budget;

static void fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  exit(1);
}

static double clock_of(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Stays on the last of the processors that we may use. */
static void pin(void) {
  cpu_set_t all, one;
  int cpu = CPU_SETSIZE - 1;
  if (sched_getaffinity(0, sizeof all, &all) != 0) fail("sched_getaffinity: no answer");
  while (cpu > 0 && !CPU_ISSET(cpu, &all)) cpu--;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) fail("sched_setaffinity: refused");
  printf("cpu %d\n", cpu);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(contender *c) {
  qsort(c->samples, c->count, sizeof *c->samples, ascending);
  const size_t half = c->count / 2;
  return c->count % 2 ? c->samples[half] : (c->samples[half - 1] + c->samples[half]) / 2;
}

/* ---- Sampling ---- */

/* Finds out how long a call takes and from that how to sample it. */
static void plan(contender *c, double seconds) {
  double trial[3];
  const size_t count = bench_sample(c->run, c->way, 1, 0, 0.01, trial, 3);
  double once = trial[0];
  for (size_t s = 1; s < count; s++) once = trial[s] < once ? trial[s] : once;
  c->group = once < SMALL_CALL ? (size_t)(GROUP_SECONDS / (once + 1e-9)) + 1 : 1;
  c->ours = cpu_clock && once > LONG_CALL;
  c->slice = seconds / rounds;
  c->skip = 1;
  while (c->skip * 3 <= (size_t)rounds && c->slice * (double)c->skip < once) c->skip++;
  c->count = 0;
  c->wall = c->cpu = 0;
  c->samples = malloc(MOST_SAMPLES * sizeof *c->samples);
  if (!c->samples) fail("no memory for samples");
}

/* A round of one contender: a call or some to bring its data back, then samples. */
static void take(contender *c) {
  double warm;
  const size_t room = MOST_SAMPLES - c->count;
  if (room == 0) return;
  if (c->skip == 1) bench_sample(c->run, c->way, c->group, 0, 0, &warm, 1);
  const double wall = clock_of(CLOCK_MONOTONIC), cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
  c->count +=
      bench_sample(c->run, c->way, c->group, c->ours, c->slice, c->samples + c->count, room);
  c->cpu += clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  c->wall += clock_of(CLOCK_MONOTONIC) - wall;
}

static void run_rounds(contender *list, size_t count) {
  for (int round = 0; round < rounds; round++) {
    for (size_t c = 0; c < count; c++) {
      if ((size_t)round % list[c].skip == 0) take(&list[c]);
    }
  }
}

/* ---- Errors ---- */

typedef struct {
  double *y; /* float64, every `every`-th row */
  size_t every;
} truth;

/* The reference is slow: of a large cell some rows have to do. */
static truth truth_of(const bench_layer *layer, const cell *of) {
  truth t = {calloc(of->tokens * layer->row + 1, sizeof(double)), 1};
  if (!t.y) fail("no memory for the reference");
  if (of->operations > REFERENCE_OPERATIONS) {
    t.every = (size_t)(of->operations / REFERENCE_OPERATIONS) + 1;
  }
  layer->reference(t.every, t.y);
  return t;
}

static void spoil(const bench_layer *layer, const cell *of) {
  for (size_t i = 0; i < of->tokens * layer->row; i++) layer->y()[i] = NAN;
}

/* Takes the larger of the errors before and after; not a number stays. */
static void judge(contender *c, const cell *of, const truth *t) {
  const bench_layer *layer = libraries[c->library];
  double off = 0, size = 0, worst = 0, top = 0;
  for (size_t row = 0; row < of->tokens; row += t->every) {
    for (size_t i = row * layer->row; i < (row + 1) * layer->row; i++) {
      const double distance = fabs((double)layer->y()[i] - t->y[i]);
      off += distance * distance;
      size += t->y[i] * t->y[i];
      if (!(distance <= worst)) worst = distance;
      if (fabs(t->y[i]) > top) top = fabs(t->y[i]);
    }
  }
  const double frobenius = size > 0 ? sqrt(off / size) : sqrt(off);
  const double maximum = top > 0 ? worst / top : worst;
  if (!(frobenius <= c->frobenius)) c->frobenius = frobenius;
  if (!(maximum <= c->maximum)) c->maximum = maximum;
}

static void run_and_judge(contender *list, size_t count, const cell *of, const truth *truths) {
  for (size_t c = 0; c < count; c++) {
    if (list[c].library < 0) continue;
    const bench_layer *layer = libraries[list[c].library];
    spoil(layer, of);
    list[c].run(list[c].way);
    const char *fault = layer->fault();
    if (fault) fail("%s: the call was refused: %s", list[c].name, fault);
    judge(&list[c], of, &truths[list[c].library]);
  }
}

/* ---- A cell ---- */

static size_t add_layer(contender *list, size_t count, int library, const cell *of, size_t number) {
  static const char *const names[] = {"loops", "loops-across"};
  const bench_layer *layer = libraries[library];
  for (size_t target = 0; target < layer->target_count; target++) {
    const int opened = layer->open(target);
    if (opened < 0) fail("%s: open: %s", layer->targets[target], layer->fault());
    if (opened == 0 && number == 0) printf("absent %d %s\n", library, layer->targets[target]);
    if (opened != 1) continue;
    list[count++] = (contender){
        .library = library, .name = layer->targets[target], .run = layer->run, .way = target};
  }
  for (size_t way = 0; loops && way < BENCH_LOOPS; way++) {
    if (loops == 1 && of->operations > TOO_LONG * PLAIN_SPEED) {
      printf("left %zu %d %s\n", number, library, names[way]);
      continue;
    }
    list[count++] = (contender){.library = library,
                                .name = names[way],
                                .run = layer->run,
                                .way = layer->target_count + way};
  }
  return count;
}

static void print_results(contender *list, size_t count, const bench_unit *units, size_t number) {
  for (size_t c = 0; c < count; c++) {
    contender *one = &list[c];
    const double median = median_of(one);
    if (one->library < 0) {
      const bench_unit *unit = &units[c];
      printf("machine %zu %s %s %.9g %.9g %.9g\n", number, unit->isa, unit->kind, unit->work,
             median, one->samples[0]);
    } else {
      printf("result %zu %d %s %.9g %.9g %zu %.4f %.4g %.4g\n", number, one->library, one->name,
             median, one->samples[0], one->count * one->group,
             one->wall > 0 ? one->cpu / one->wall : 1, one->frobenius, one->maximum);
    }
    free(one->samples);
  }
  fflush(stdout);
}

static void measure(const cell *of, size_t number) {
  const bench_unit *units;
  const size_t unit_count = bench_units(&units, of->bytes);
  const bench_counts counts = {of->tokens, of->fresh, of->past};
  size_t most = unit_count, count = unit_count;
  truth truths[MOST_LIBRARIES];
  for (size_t l = 0; l < library_count; l++) most += libraries[l]->target_count + BENCH_LOOPS;
  contender *list = calloc(most, sizeof *list);
  if (!list) fail("no memory");
  for (size_t u = 0; u < unit_count; u++) {
    list[u] = (contender){.library = -1, .name = units[u].kind, .run = units[u].run};
  }
  for (size_t l = 0; l < library_count; l++) {
    const char *trouble = libraries[l]->prepare(&counts);
    if (trouble) fail("the layer was not made ready: %s", trouble);
    truths[l] = truth_of(libraries[l], of);
    count = add_layer(list, count, (int)l, of, number);
  }
  run_and_judge(list, count, of, truths);
  for (size_t c = 0; c < count; c++) plan(&list[c], c < unit_count ? budget / 6 : budget);
  run_rounds(list, count);
  run_and_judge(list, count, of, truths);
  print_results(list, count, units, number);
  for (size_t l = 0; l < library_count; l++) free(truths[l].y);
  free(list);
}

/* ---- Arguments ---- */

static cell cell_of(const char *text) {
  cell c;
  if (sscanf(text, "%zu:%zu:%zu:%zu:%lf", &c.tokens, &c.fresh, &c.past, &c.bytes, &c.operations) !=
      5) {
    fail("not a cell: %s", text);
  }
  return c;
}

static void load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("%s", dlerror());
  if (library_count == MOST_LIBRARIES) fail("at most %d builds at once", MOST_LIBRARIES);
  libraries[library_count] = dlsym(library, "bench_measured");
  if (!libraries[library_count++]) fail("%s", dlerror());
}

int main(int argc, char **argv) {
  int first = 5, split = first;
  while (split < argc && strcmp(argv[split], "--") != 0) split++;
  if (split >= argc - 1) fail("bench_harness ROUNDS SECONDS LOOPS CLOCK CELL... -- LIBRARY...");
  setlocale(LC_ALL, "C");
  rounds = atoi(argv[1]);
  budget = atof(argv[2]);
  loops = atoi(argv[3]);
  cpu_clock = strcmp(argv[4], "cpu") == 0;
  for (int a = split + 1; a < argc; a++) load(argv[a]);
  pin();
  for (int a = first; a < split; a++) {
    const cell of = cell_of(argv[a]);
    measure(&of, (size_t)(a - first));
  }
  return 0;
}
