/* Runs golden cases against emitted layers: one child process for each case and target, so that a
   crash is that case's alone. Plain C on purpose: it judges, so no flag meant for a layer reaches it,
   and floats are compared through their bits, so neither fast-math nor flush-to-zero can help one. */
#define _DEFAULT_SOURCE
#include "verify_harness.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUARD = 0xa5, GUARD_BYTES = 64, BLOCK = 64, PANEL = 16, MOST_TENSORS = 24, SECONDS = 600 };

/* There where the program is linked with AddressSanitizer. */
extern void __asan_poison_memory_region(const volatile void *, size_t) __attribute__((weak));
extern void __asan_unpoison_memory_region(const volatile void *, size_t) __attribute__((weak));

struct run {
  const char *name;
  unsigned char fill; /* what outputs, workspace, scratch and cache hold before */
  int stages, bare, repeats;
  size_t gap; /* elements between rows */
};

/* 0xff is a NaN in every float, 0x7f is 3.4e38. */
static const struct run runs[] = {
  { "forward", 0xff, 0, 0, 0, 0 },
  { "forward again", 0x7f, 0, 0, 1, 0 },
  { "by stages", 0xff, 1, 0, 0, 3 },
  { "in place", 0x7f, 0, 1, 0, 0 },
};
enum { RUNS = sizeof runs / sizeof runs[0] };

/* What is running; in memory that the child shares, so that its parent knows where it died. */
struct now {
  const struct verify_case *this_case;
  const struct verify_target *target;
  const char *step;
  size_t sequence;
};
static struct now *now;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *format, ...)
{
  va_list arguments;
  printf("fail\t%u\t%s\t", now->this_case->number, now->target->name);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf(" (%s", now->step);
  if (now->this_case->batch > 1) printf(", sequence %zu", now->sequence);
  printf(")\n");
  fflush(stdout);
  _exit(0);
}

static void *memory(size_t bytes)
{
  void *found = calloc(bytes ? bytes : 1, 1);
  if (!found) fail("out of memory: %zu bytes", bytes);
  return found;
}

static void check(int status, const char *function)
{
  if (status) fail("%s: status %d: %s", function, status, now->this_case->status_text(status));
}

/* ---- Buffers: exactly as large as stated, guard bytes around, a page that faults behind ---- */

struct buffer {
  unsigned char *pages, *body, *data, *copy;
  size_t mapped, body_bytes, bytes;
};

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static void poison(const struct buffer *b, int on)
{
  const unsigned char *end = b->data + b->bytes, *body_end = b->body + b->body_bytes;
  if (!__asan_poison_memory_region || !__asan_unpoison_memory_region) return;
  if (on) {
    __asan_poison_memory_region(b->body, (size_t)(b->data - b->body));
    __asan_poison_memory_region(end, (size_t)(body_end - end));
  } else {
    __asan_unpoison_memory_region(b->body, b->body_bytes);
  }
}

static struct buffer buffer_of(size_t bytes, size_t alignment, unsigned char fill)
{
  struct buffer b = { 0 };
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  b.bytes = bytes;
  b.body_bytes = round_up(GUARD_BYTES + round_up(bytes, alignment), page);
  b.mapped = b.body_bytes + 2 * page;
  b.pages = mmap(NULL, b.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (b.pages == MAP_FAILED) fail("out of memory: %zu bytes", b.mapped);
  b.body = b.pages + page;
  b.data = b.body + b.body_bytes - round_up(bytes, alignment);
  memset(b.body, GUARD, b.body_bytes);
  memset(b.data, fill, bytes);
  if (mprotect(b.pages, page, PROT_NONE) || mprotect(b.body + b.body_bytes, page, PROT_NONE))
    fail("no page could be protected");
  poison(&b, 1);
  return b;
}

/* Remembers what the buffer holds: check_buffer then wants it unchanged. */
static void keep(struct buffer *b)
{
  b->copy = memory(b->bytes);
  memcpy(b->copy, b->data, b->bytes);
}

static void check_buffer(const struct buffer *b, const char *role)
{
  const unsigned char *end = b->data + b->bytes, *body_end = b->body + b->body_bytes;
  poison(b, 0);
  for (const unsigned char *at = b->body; at < b->data; at++)
    if (*at != GUARD) fail("%s: written %zu bytes before its buffer", role, (size_t)(b->data - at));
  for (const unsigned char *at = end; at < body_end; at++)
    if (*at != GUARD) fail("%s: written %zu bytes behind its buffer", role, (size_t)(at - end));
  poison(b, 1);
  for (size_t i = 0; b->copy && i < b->bytes; i++)
    if (b->copy[i] != b->data[i]) fail("%s: changed at byte %zu", role, i);
}

static void release(struct buffer *b)
{
  if (!b->pages) return;
  poison(b, 0);
  munmap(b->pages, b->mapped);
  free(b->copy);
  memset(b, 0, sizeof *b);
}

/* ---- Tensors ---- */

static unsigned char *stored_bytes(uint64_t offset, size_t bytes, const char *role)
{
  unsigned char *found = memory(bytes);
  FILE *file = fopen(now->this_case->file, "rb");
  if (!file || fseek(file, (long)offset, SEEK_SET) || fread(found, 1, bytes, file) != bytes)
    fail("%s: %s can not be read", role, now->this_case->file);
  fclose(file);
  return found;
}

/* Files are little-endian, whatever the machine is. */
static uint32_t word_at(const unsigned char *at)
{
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static size_t count_of(const struct verify_tensor *t) { return t->heads * t->rows * t->columns; }

struct bound {
  struct buffer buffer;
  int shared;      /* another tensor's buffer */
  size_t row, head; /* strides in elements */
};

/* Where the n-th element of the file stands in the buffer. */
static size_t place_of(const struct verify_tensor *t, const struct bound *b, size_t n)
{
  const size_t column = n % t->columns, rest = n / t->columns;
  const size_t head = t->file_head_major ? rest / t->rows : rest % t->heads;
  const size_t row = t->file_head_major ? rest % t->rows : rest / t->heads;
  return head * b->head + row * b->row + column;
}

static void bind(const struct verify_tensor *t, const struct run *run, struct bound *b)
{
  const size_t gap = t->strided ? run->gap : 0;
  const int empty = !t->heads || !t->rows || !t->width;
  b->row = t->head_major ? t->width + gap : t->heads * t->width + gap;
  b->head = t->head_major ? t->rows * b->row + gap : t->width;
  b->buffer = buffer_of(
    empty ? 0 : ((t->heads - 1) * b->head + (t->rows - 1) * b->row + t->width) * t->bytes, t->bytes,
    run->fill);
  if (t->kind == VERIFY_OUTPUT || t->kind == VERIFY_PRESENT) return;
  const size_t count = count_of(t);
  unsigned char *stored =
    stored_bytes(t->offset + now->sequence * t->step, count * t->bytes, t->role);
  for (size_t n = 0; n < count; n++) {
    unsigned char *to = b->buffer.data + place_of(t, b, n) * t->bytes;
    const uint32_t word = t->bytes == 4 ? word_at(stored + 4 * n) : 0;
    if (t->bytes == 4) memcpy(to, &word, 4);
    else *to = stored[n] != 0;
  }
  free(stored);
  keep(&b->buffer);
}

/* What a layer wrote, in the order of the file; what lies between must be as it was. */
static uint32_t *written(const struct verify_tensor *t, const struct bound *b, unsigned char fill)
{
  const size_t count = count_of(t);
  uint32_t *got = memory(4 * count);
  for (size_t n = 0; n < count; n++) memcpy(&got[n], b->buffer.data + 4 * place_of(t, b, n), 4);
  if (b->shared) return got;
  for (size_t head = 0; head < t->heads; head++)
    for (size_t row = 0; row < t->rows; row++)
      memset(b->buffer.data + 4 * (head * b->head + row * b->row), fill, 4 * t->width);
  for (size_t i = 0; i < b->buffer.bytes; i++)
    if (b->buffer.data[i] != fill) fail("%s: written between its rows, at byte %zu", t->role, i);
  return got;
}

/* ---- Comparison ---- */

static int is_nan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

static int is_infinite(uint32_t bits) { return (bits & 0x7fffffff) == 0x7f800000; }

static double value_of(uint32_t bits)
{
  const int exponent = (int)(bits >> 23 & 255);
  const double fraction = bits & 0x7fffff;
  if (is_nan(bits)) return NAN;
  const double size = is_infinite(bits) ? INFINITY
    : exponent ? ldexp(fraction + 0x800000, exponent - 150) : ldexp(fraction, -149);
  return bits >> 31 ? -size : size;
}

static double double_of(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

struct error {
  double absolute, relative;
};

/* 0 where they are equal, above 1 where the tolerance is passed. */
static double excess(uint32_t got, uint32_t want, struct error *error)
{
  if (is_nan(want) || is_nan(got)) return is_nan(want) && is_nan(got) ? 0 : INFINITY;
  if (is_infinite(want) || is_infinite(got)) return want == got ? 0 : INFINITY;
  const double wanted = value_of(want), gap = fabs(value_of(got) - wanted);
  const double bound = double_of(now->this_case->atol) + double_of(now->this_case->rtol) * fabs(wanted);
  if (gap > error->absolute) error->absolute = gap;
  if (gap > 0 && want << 1 && gap / fabs(wanted) > error->relative)
    error->relative = gap / fabs(wanted);
  if (gap <= bound) return bound > 0 ? gap / bound : 0;
  return bound > 0 ? gap / bound : INFINITY;
}

static void report_element(const struct verify_tensor *t, size_t n, uint32_t got, uint32_t want,
                           const char *rule)
{
  const size_t column = n % t->columns, rest = n / t->columns;
  const size_t inner = t->file_head_major ? t->rows : t->heads;
  char index[80];
  if (t->heads > 1 || t->file_head_major)
    snprintf(index, sizeof index, "[%zu][%zu][%zu]", rest / inner, rest % inner, column);
  else
    snprintf(index, sizeof index, "[%zu][%zu]", rest, column);
  fail("%s%s: got %.9g, %s %.9g", t->role, index, value_of(got), rule, value_of(want));
}

static void check_wanted(const struct verify_tensor *t, const uint32_t *got, struct error *error)
{
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

static void check_same(const struct verify_tensor *t, const uint32_t *got, const uint32_t *first)
{
  const size_t count = count_of(t);
  for (size_t n = 0; n < count; n++)
    if (got[n] != first[n] && !(is_nan(got[n]) && is_nan(first[n])))
      report_element(t, n, got[n], first[n], "the first run gave");
}

/* ---- One run of one sequence ---- */

struct world {
  struct verify_call call;
  struct bound bound[MOST_TENSORS];
  struct buffer workspace, scratch, keys, values;
};

static int can_share(const struct verify_tensor *x, const struct verify_tensor *y)
{
  return x->kind == VERIFY_INPUT && x->place == offsetof(struct verify_call, x) && !y->head_major
    && x->rows == y->rows && x->heads * x->columns == y->heads * y->columns;
}

/* In place: y becomes the buffer of x, where the layer has an x of y's shape. */
static void share_output(struct world *w, const struct verify_case *c, size_t y)
{
  for (size_t x = 0; x < c->tensor_count; x++)
    if (can_share(&c->tensors[x], &c->tensors[y]) && !w->bound[x].shared) {
      release(&w->bound[y].buffer);
      w->bound[y].buffer = w->bound[x].buffer;
      w->bound[y].shared = 1;
      free(w->bound[x].buffer.copy);
      w->bound[x].buffer.copy = w->bound[y].buffer.copy = NULL;
      return;
    }
}

static int is_place(const struct verify_tensor *t, size_t place)
{
  return (t->kind == VERIFY_INPUT || t->kind == VERIFY_OUTPUT) && t->place == place;
}

static int left_out(const struct verify_tensor *t, const struct run *run)
{
  return run->bare && t->kind == VERIFY_OUTPUT && !is_place(t, offsetof(struct verify_call, y));
}

static void set_place(struct world *w, const struct verify_tensor *t, const struct bound *b, int gap)
{
  struct verify_place *place = (struct verify_place *)(void *)((char *)&w->call + t->place);
  place->at = b->buffer.data;
  if (t->natural && !gap) return;
  place->row = (ptrdiff_t)b->row;
  place->head = (ptrdiff_t)b->head;
}

static void open_cache(struct world *w, const struct verify_case *c, unsigned char fill)
{
  const size_t positions = round_up(c->past + c->context, PANEL);
  const float *past[2] = { NULL, NULL };
  w->call.capacity = positions ? positions : PANEL;
  w->keys = buffer_of(4 * c->cache_floats(w->call.capacity, 0), 4, fill);
  w->values = buffer_of(4 * c->cache_floats(w->call.capacity, 1), 4, fill);
  w->call.keys = (float *)(void *)w->keys.data;
  w->call.values = (float *)(void *)w->values.data;
  for (size_t i = 0; i < c->tensor_count; i++)
    if (c->tensors[i].kind == VERIFY_PAST)
      past[c->tensors[i].place] = (const float *)(const void *)w->bound[i].buffer.data;
  check(c->cache_write(w->call.keys, w->call.values, w->call.capacity, c->past, past[0], past[1]),
        "cache_write");
}

static void close_cache(struct world *w, const struct verify_case *c)
{
  const size_t live = c->context_length ? c->context_length[now->sequence] : c->context;
  float *k = memory(4 * c->kv_heads * (c->past + live) * c->p_q);
  float *v = memory(4 * c->kv_heads * (c->past + live) * c->p_v);
  check(c->cache_read(w->call.keys, w->call.values, w->call.capacity, c->past + live, k, v),
        "cache_read");
  for (size_t i = 0; i < c->tensor_count; i++)
    if (c->tensors[i].kind == VERIFY_PRESENT)
      memcpy(w->bound[i].buffer.data, c->tensors[i].place ? v : k, w->bound[i].buffer.bytes);
  free(k);
  free(v);
}

static void open_world(struct world *w, const struct verify_case *c, const struct run *run)
{
  memset(w, 0, sizeof *w);
  w->call.tokens = c->tokens;
  w->call.context = c->context;
  w->call.past = c->past;
  if (c->context_length) w->call.context_length = c->context_length[now->sequence];
  for (size_t i = 0; i < c->tensor_count; i++) {
    const struct verify_tensor *t = &c->tensors[i];
    struct bound *b = &w->bound[i];
    if (t->alias >= 0) {
      *b = w->bound[t->alias];
      b->shared = 1;
    } else {
      bind(t, run, b);
    }
    if (run->bare && is_place(t, offsetof(struct verify_call, y))) share_output(w, c, i);
  }
  for (size_t i = 0; i < c->tensor_count; i++) {
    const struct verify_tensor *t = &c->tensors[i];
    if ((t->kind == VERIFY_INPUT || t->kind == VERIFY_OUTPUT) && !left_out(t, run))
      set_place(w, t, &w->bound[i], run->gap > 0);
  }
  if (c->cached) open_cache(w, c, run->fill);
  w->workspace = buffer_of(c->workspace(c->tokens, c->context), BLOCK, run->fill);
  w->scratch = buffer_of(c->scratch_bytes, BLOCK, run->fill);
}

static void close_world(struct world *w, const struct verify_case *c)
{
  for (size_t i = 0; i < c->tensor_count; i++) {
    if (w->bound[i].shared) continue;
    check_buffer(&w->bound[i].buffer, c->tensors[i].role);
    release(&w->bound[i].buffer);
  }
  check_buffer(&w->workspace, "workspace");
  check_buffer(&w->scratch, "scratch");
  if (c->cached) check_buffer(&w->keys, "cache keys");
  if (c->cached) check_buffer(&w->values, "cache values");
  release(&w->workspace);
  release(&w->scratch);
  release(&w->keys);
  release(&w->values);
}

/* An odd place to split n rows or heads at. */
static size_t middle(size_t n) { return n < 2 ? n : (n / 2) | 1; }

/* The stages in ranges, the later range first, as a pool of threads might. */
static void run_stages(struct world *w, const struct verify_case *c, unsigned char fill)
{
  const struct verify_call *call = &w->call;
  void *room = w->workspace.data;
  const size_t bytes = w->workspace.bytes, rows = c->tokens, heads = c->kv_heads;
  const size_t row[] = { 0, middle(rows), rows }, head[] = { 0, middle(heads), heads };
  const size_t key[] = { 0, middle(c->context), c->context };
  for (int i = 1; i >= 0 && c->project_q; i--)
    check(c->project_q(call, room, bytes, row[i], row[i + 1]), "project_q");
  for (int i = 1; i >= 0 && c->project_kv; i--)
    check(c->project_kv(call, room, bytes, key[i], key[i + 1]), "project_kv");
  for (int i = 1; i >= 0 && c->attend; i--)
    for (int j = 1; j >= 0; j--) {
      memset(w->scratch.data, fill, w->scratch.bytes);
      check(c->attend(call, room, bytes, w->scratch.data, row[i], row[i + 1], head[j], head[j + 1]),
            "attend");
    }
  for (int i = 1; i >= 0; i--) check(c->output(call, room, bytes, row[i], row[i + 1]), "output");
}

/* Runs once and gives back what was written, tensor by tensor (NULL: not an output). */
static void run_once(const struct verify_case *c, const struct run *run, uint32_t **got)
{
  struct world w;
  now->step = run->name;
  open_world(&w, c, run);
  if (run->stages) run_stages(&w, c, run->fill);
  else check(c->forward(&w.call, w.workspace.data, w.workspace.bytes), "forward");
  if (c->cached) close_cache(&w, c);
  for (size_t i = 0; i < c->tensor_count; i++) {
    const struct verify_tensor *t = &c->tensors[i];
    const int output = t->kind == VERIFY_OUTPUT || t->kind == VERIFY_PRESENT;
    got[i] = output && !left_out(t, run) ? written(t, &w.bound[i], run->fill) : NULL;
  }
  close_world(&w, c);
}

/* ---- A case: its sequences, its runs ---- */

static void run_sequence(const struct verify_case *c, struct error *error)
{
  uint32_t *got[RUNS][MOST_TENSORS];
  for (size_t r = 0; r < RUNS; r++) {
    run_once(c, &runs[r], got[r]);
    for (size_t i = 0; i < c->tensor_count; i++) {
      if (!got[r][i]) continue;
      if (c->tensors[i].stored) check_wanted(&c->tensors[i], got[r][i], error);
      if (r > 0 && (now->target->exact || runs[r].repeats))
        check_same(&c->tensors[i], got[r][i], got[0][i]);
    }
  }
  for (size_t r = 0; r < RUNS; r++)
    for (size_t i = 0; i < c->tensor_count; i++) free(got[r][i]);
}

/* Packs twice over different bytes: the packed form has no byte that is left as it was. */
static struct buffer packed_weights(const struct verify_case *c)
{
  struct buffer loaded[MOST_TENSORS], packed[2];
  float *floats[MOST_TENSORS];
  now->step = "pack";
  for (size_t i = 0; i < c->load_count; i++) {
    const struct verify_load *l = &c->loads[i];
    const size_t span = l->blocks && l->length ? (l->blocks - 1) * l->step + l->length : 0;
    unsigned char *stored = stored_bytes(l->offset, 4 * span, l->role);
    loaded[i] = buffer_of(4 * l->blocks * l->length, 4, 0xff);
    floats[i] = (float *)(void *)loaded[i].data;
    for (size_t n = 0; n < l->blocks * l->length; n++) {
      const uint32_t word = word_at(stored + 4 * (n / l->length * l->step + n % l->length));
      memcpy(loaded[i].data + 4 * n, &word, 4);
    }
    free(stored);
    keep(&loaded[i]);
  }
  for (int i = 0; i < 2; i++) {
    packed[i] = buffer_of(c->packed_bytes, BLOCK, i ? 0x7f : 0xff);
    check(c->pack(floats, packed[i].data), "pack");
    check_buffer(&packed[i], "packed");
  }
  for (size_t i = 0; i < c->load_count; i++) {
    check_buffer(&loaded[i], c->loads[i].role);
    release(&loaded[i]);
  }
  for (size_t i = 0; i < c->packed_bytes; i++)
    if (packed[0].data[i] != packed[1].data[i]) fail("packed: byte %zu was not written", i);
  release(&packed[1]);
  keep(&packed[0]);
  return packed[0];
}

static void run_case(const struct verify_case *c)
{
  struct error error = { 0, 0 };
  struct buffer packed = packed_weights(c);
  now->step = "open";
  const int status = c->open(packed.data, now->target->number);
  if (status == c->unavailable) {
    printf("skip\t%u\t%s\n", c->number, now->target->name);
  } else {
    check(status, "open");
    for (now->sequence = 0; now->sequence < c->batch; now->sequence++) run_sequence(c, &error);
    check_buffer(&packed, "packed");
    printf("ok\t%u\t%s\t%.2g\t%.2g\n", c->number, now->target->name, error.absolute, error.relative);
  }
  fflush(stdout);
}

/* What a case says on stderr (a sanitizer's report) goes to a file of its own. */
static void redirect_errors(void)
{
  char name[80];
  snprintf(name, sizeof name, "case_%u.%s.stderr", now->this_case->number, now->target->name);
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file >= 0) dup2(file, STDERR_FILENO);
}

static void in_child(void)
{
  fflush(stdout);
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    redirect_errors();
    alarm(SECONDS);
    run_case(now->this_case);
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) status = -1;
  const char *how = status != -1 && WIFSIGNALED(status) ? "signal" : "exit";
  const int number = status == -1 ? 255 : WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  printf("end\t%u\t%s\t%s\t%d\t%s\n", now->this_case->number, now->target->name, how, number,
         now->step);
}

static struct verify_case *first;

void verify_enter(struct verify_case *given)
{
  struct verify_case **at = &first;
  while (*at && (*at)->number < given->number) at = &(*at)->next;
  given->next = *at;
  *at = given;
}

int main(void)
{
  now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (now == MAP_FAILED) return 1;
  for (const struct verify_case *c = first; c; c = c->next)
    for (size_t i = 0; i < c->target_count; i++) {
      now->this_case = c;
      now->target = &c->targets[i];
      now->step = "start";
      in_child();
    }
  return 0;
}
