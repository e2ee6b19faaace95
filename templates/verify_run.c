/* One run of one sequence: its buffers, the call, what was written. */
#include <stdlib.h>
#include <string.h>

#include "verify_parts.h"

struct bound {
  struct buffer buffer;
  int shared;       /* another tensor's buffer */
  size_t row, head; /* strides in elements */
};

/* Where the n-th element of the file stands in the buffer. */
static size_t place_of(const struct verify_tensor *t, const struct bound *b, size_t n) {
  const size_t column = n % t->columns, rest = n / t->columns;
  const size_t head = t->file_head_major ? rest / t->rows : rest % t->heads;
  const size_t row = t->file_head_major ? rest % t->rows : rest / t->heads;
  return head * b->head + row * b->row + column;
}

static void bind(const struct verify_tensor *t, const struct run *run, struct bound *b) {
  const size_t gap = t->strided ? run->gap : 0;
  const int empty = !t->heads || !t->rows || !t->width;
  b->row = t->head_major ? t->width + gap : t->heads * t->width + gap;
  b->head = t->head_major ? t->rows * b->row + gap : t->width;
  b->buffer = buffer_of(
      empty ? 0 : ((t->heads - 1) * b->head + (t->rows - 1) * b->row + t->width) * t->bytes,
      t->bytes, run->fill);
  if (t->kind == VERIFY_OUTPUT || t->kind == VERIFY_PRESENT) return;
  const size_t count = count_of(t);
  unsigned char *stored =
      stored_bytes(t->offset + now->sequence * t->step, count * t->bytes, t->role);
  for (size_t n = 0; n < count; n++) {
    unsigned char *to = b->buffer.data + place_of(t, b, n) * t->bytes;
    const uint32_t word = t->bytes == 4 ? word_at(stored + 4 * n) : 0;
    if (t->bytes == 4)
      memcpy(to, &word, 4);
    else
      *to = stored[n] != 0;
  }
  free(stored);
  keep(&b->buffer);
}

/* What a layer wrote, in the order of the file. What lies between must be as it was, and so must
   the columns of keys that are not live. */
static uint32_t *written(const struct verify_tensor *t, const struct bound *b, unsigned char fill) {
  const size_t count = count_of(t);
  uint32_t *got = memory(4 * count);
  for (size_t n = 0; n < count; n++) memcpy(&got[n], b->buffer.data + 4 * place_of(t, b, n), 4);
  if (b->shared) return got;
  for (size_t head = 0; head < t->heads; head++)
    for (size_t row = 0; row < t->rows; row++)
      memset(b->buffer.data + 4 * (head * b->head + row * b->row), fill, 4 * t->columns);
  for (size_t i = 0; i < b->buffer.bytes; i++)
    if (b->buffer.data[i] != fill) fail("%s: written between its rows, at byte %zu", t->role, i);
  return got;
}

/* ---- A run ---- */

struct world {
  struct verify_call call;
  struct bound bound[MOST_TENSORS];
  struct buffer workspace, scratch, keys, values;
};

static int can_share(const struct verify_tensor *x, const struct verify_tensor *y) {
  return x->kind == VERIFY_INPUT && x->place == offsetof(struct verify_call, x) && !y->head_major &&
         x->rows == y->rows && x->heads * x->columns == y->heads * y->columns;
}

/* In place: y becomes the buffer of x, where the layer has an x of y's shape. */
static void share_output(struct world *w, const struct verify_case *c, size_t y) {
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

static int is_place(const struct verify_tensor *t, size_t place) {
  return (t->kind == VERIFY_INPUT || t->kind == VERIFY_OUTPUT) && t->place == place;
}

static int left_out(const struct verify_tensor *t, const struct run *run) {
  return run->bare && t->kind == VERIFY_OUTPUT && !is_place(t, offsetof(struct verify_call, y));
}

static void set_place(struct world *w, const struct verify_tensor *t, const struct bound *b,
                      int gap) {
  struct verify_place *place = (struct verify_place *)(void *)((char *)&w->call + t->place);
  place->at = b->buffer.data;
  if (t->natural && !gap) return;
  place->row = (ptrdiff_t)b->row;
  place->head = (ptrdiff_t)b->head;
}

/* Position by position, so that a ring goes round as it does when a model decodes. */
static void write_past(struct world *w, const struct verify_case *c, const float *past_k,
                       const float *past_v) {
  float *k = memory(4 * c->kv_heads * c->p_q), *v = memory(4 * c->kv_heads * c->p_v);
  for (size_t at = 0; at < c->past; at++) {
    for (size_t head = 0; head < c->kv_heads; head++) {
      memcpy(k + head * c->p_q, past_k + (head * c->past + at) * c->p_q, 4 * c->p_q);
      memcpy(v + head * c->p_v, past_v + (head * c->past + at) * c->p_v, 4 * c->p_v);
    }
    check(c->cache_write(w->call.keys, w->call.values, w->call.capacity, at, at + 1, k, v),
          "cache_write");
  }
  free(k);
  free(v);
}

static void open_cache(struct world *w, const struct verify_case *c, unsigned char fill) {
  const size_t positions = c->ring ? 0 : c->past + c->context;
  const float *past[2] = {NULL, NULL};
  w->call.capacity =
      round_up(positions > c->capacity_least ? positions : c->capacity_least, c->capacity_step);
  w->keys = buffer_of(4 * c->cache_floats(w->call.capacity, 0), 4, fill);
  w->values = buffer_of(4 * c->cache_floats(w->call.capacity, 1), 4, fill);
  w->call.keys = (float *)(void *)w->keys.data;
  w->call.values = (float *)(void *)w->values.data;
  for (size_t i = 0; i < c->tensor_count; i++)
    if (c->tensors[i].kind == VERIFY_PAST)
      past[c->tensors[i].place] = (const float *)(const void *)w->bound[i].buffer.data;
  write_past(w, c, past[0], past[1]);
}

static void close_cache(struct world *w, const struct verify_case *c) {
  const size_t live = c->context_length ? c->context_length[now->sequence] : c->context;
  float *k = memory(4 * c->kv_heads * (c->past + live) * c->p_q);
  float *v = memory(4 * c->kv_heads * (c->past + live) * c->p_v);
  check(c->cache_read(w->call.keys, w->call.values, w->call.capacity, 0, c->past + live, k, v),
        "cache_read");
  for (size_t i = 0; i < c->tensor_count; i++)
    if (c->tensors[i].kind == VERIFY_PRESENT)
      memcpy(w->bound[i].buffer.data, c->tensors[i].place ? v : k, w->bound[i].buffer.bytes);
  free(k);
  free(v);
}

static void open_world(struct world *w, const struct verify_case *c, const struct run *run) {
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

static void close_world(struct world *w, const struct verify_case *c) {
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
static void run_stages(struct world *w, const struct verify_case *c, unsigned char fill) {
  const struct verify_call *call = &w->call;
  void *room = w->workspace.data;
  const size_t bytes = w->workspace.bytes, rows = c->tokens, heads = c->kv_heads;
  const size_t row[] = {0, middle(rows), rows}, head[] = {0, middle(heads), heads};
  const size_t key[] = {0, middle(c->context), c->context};
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

void run_once(const struct verify_case *c, const struct run *run, uint32_t **got) {
  struct world w;
  now->step = run->name;
  open_world(&w, c, run);
  if (run->stages)
    run_stages(&w, c, run->fill);
  else
    check(c->forward(&w.call, w.workspace.data, w.workspace.bytes), "forward");
  if (c->cached && !c->ring) close_cache(&w, c);
  for (size_t i = 0; i < c->tensor_count; i++) {
    const struct verify_tensor *t = &c->tensors[i];
    const int output = t->kind == VERIFY_OUTPUT || t->kind == VERIFY_PRESENT;
    got[i] = output && !left_out(t, run) ? written(t, &w.bound[i], run->fill) : NULL;
  }
  close_world(&w, c);
}
