/* What both thread examples offer: first_layer_forward, its rows divided among workers. */
#ifndef THREADS_H
#define THREADS_H

#include "first_layer.h"

/* workspace as for first_layer_forward; scratch: FIRST_LAYER_SCRATCH_BYTES for each worker, */
/* aligned to FIRST_LAYER_ALIGN. */
first_layer_status forward_in_threads(const first_layer_layer *layer, const first_layer_call *call,
                                      void *workspace, size_t bytes, char *scratch, size_t workers);

#endif
