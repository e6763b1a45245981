/* form_edges.c - Algorithm 1 as a form: the edge stream in a named order. */
#include <string.h>

#include "form/internal.h"

static spry_status make(void **state, const spry_network *n, spry_form *f)
{
    spry_stream *stream = NULL;
    int32_t *edge = sp_alloc_raw(n->edges, sizeof *edge);
    spry_status s =
        edge ? SPRY_OK : sp_fail_memory((size_t)n->edges * sizeof *edge);

    if (!*f->order)
        strcpy(f->order, "source");
    if (s == SPRY_OK)
        s = spry_order_make(edge, n, f->order, NULL);
    if (s == SPRY_OK)
        s = spry_stream_make(&stream, n, edge);
    sp_free(edge);
    *state = stream;
    return s;
}

static spry_status run(const void *state, float *y, const float *x,
                       int64_t batch)
{
    return spry_stream_run(state, y, x, batch);
}

static void release(void *state)
{
    spry_stream_free(state);
}

const sp_form sp_form_edges = {
    "edges",       "Algorithm 1: an edge at a time, order=NAME",
    SP_FORM_ORDER, make,
    run,           NULL,
    release};
