/*
 * The layer in threads, with POSIX threads: each part is a range of rows. All keys and values are
 * made before any part attends to them, so there are two rounds. A product with a pool of threads
 * hands it the same two functions. The bits are the same for any number of workers.
 */
#include "threads.h"

#include <pthread.h>

enum { WORKERS_MAX = 64 };

typedef struct {
  const first_layer_layer *layer;
  const first_layer_call *call;
  void *workspace, *scratch;
  size_t bytes, from, to;
  first_layer_status status;
} part;

static void *project(void *argument) {
  part *p = argument;
  p->status = first_layer_project_q(p->layer, p->call, p->workspace, p->bytes, p->from, p->to);
  if (!p->status)
    p->status = first_layer_project_kv(p->layer, p->call, p->workspace, p->bytes, p->from, p->to);
  return NULL;
}

static void *attend(void *argument) {
  part *p = argument;
  if (!p->status)
    p->status = first_layer_attend(p->layer, p->call, p->workspace, p->bytes, p->scratch, p->from,
                                   p->to, 0, FIRST_LAYER_HEADS);
  if (!p->status)
    p->status = first_layer_output(p->layer, p->call, p->workspace, p->bytes, p->from, p->to);
  return NULL;
}

/* Runs all parts at once and waits; a part whose thread cannot be started is done here. */
static void run_parts(void *(*work)(void *), part *parts, size_t count) {
  pthread_t threads[WORKERS_MAX];
  int started[WORKERS_MAX];
  for (size_t i = 0; i < count; i++) {
    started[i] = pthread_create(&threads[i], NULL, work, &parts[i]) == 0;
    if (!started[i]) work(&parts[i]);
  }
  for (size_t i = 0; i < count; i++)
    if (started[i]) pthread_join(threads[i], NULL);
}

first_layer_status forward_in_threads(const first_layer_layer *layer, const first_layer_call *call,
                                      void *workspace, size_t bytes, char *scratch,
                                      size_t workers) {
  part parts[WORKERS_MAX];
  const size_t count = workers < WORKERS_MAX ? workers : WORKERS_MAX, rows = call->tokens;
  for (size_t i = 0; i < count; i++)
    parts[i] = (part){.layer = layer,
                      .call = call,
                      .workspace = workspace,
                      .scratch = scratch + i * FIRST_LAYER_SCRATCH_BYTES,
                      .bytes = bytes,
                      .from = rows * i / count,
                      .to = rows * (i + 1) / count};
  run_parts(project, parts, count);
  run_parts(attend, parts, count);
  first_layer_status status = FIRST_LAYER_OK;
  for (size_t i = 0; i < count && !status; i++) status = parts[i].status;
  return status;
}
