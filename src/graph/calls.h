/* calls.h - operators called on arrays of their own. */
#ifndef SP_CALLS_H
#define SP_CALLS_H

#include "graph/internal.h"

/* A call with its arrays. */
typedef struct {
    sp_call call;
    sp_array *in, *out; /* of the node's inputs and outputs */
    const sp_array **list;
} sp_node_call;

/* Close also after a failure; it frees the arrays' data. */
spry_status sp_call_open(sp_node_call *x, const spry_graph *g,
                         const sp_opnode *n);
/* Shapes of the inputs, and numbers of short constants. */
spry_status sp_call_load(sp_node_call *x, const spry_graph *g,
                         const sp_opnode *n);
void sp_call_close(sp_node_call *x, const sp_opnode *n);

/* Elements of a value, float or int64_t, as double, and back. */
void sp_array_load(double *to, const sp_opvalue *v, const void *data);
void sp_array_store(void *to, const sp_array *a);

#endif
