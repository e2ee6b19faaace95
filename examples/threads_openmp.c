/*
 * The layer in threads, with OpenMP: each worker takes a range of rows through all stages. Keys and
 * values of all rows have to be there before a worker attends to them, hence the barrier. The bits
 * are the same for any number of workers. Compile with -fopenmp.
 */
#include "threads.h"

#include <omp.h>

first_layer_status forward_in_threads(const first_layer_layer *layer, const first_layer_call *call,
                                      void *workspace, size_t bytes, char *scratch,
                                      size_t workers) {
  unsigned bad = FIRST_LAYER_OK;
#pragma omp parallel num_threads((int)workers) reduction(max : bad)
  {
    const size_t count = (size_t)omp_get_num_threads(), i = (size_t)omp_get_thread_num();
    const size_t from = call->tokens * i / count, to = call->tokens * (i + 1) / count;
    void *own = scratch + i * FIRST_LAYER_SCRATCH_BYTES;
    bad = first_layer_project_q(layer, call, workspace, bytes, from, to);
    if (!bad) bad = first_layer_project_kv(layer, call, workspace, bytes, from, to);
#pragma omp barrier
    if (!bad)
      bad = first_layer_attend(layer, call, workspace, bytes, own, from, to, 0, FIRST_LAYER_HEADS);
    if (!bad) bad = first_layer_output(layer, call, workspace, bytes, from, to);
  }
  return (first_layer_status)bad;
}
