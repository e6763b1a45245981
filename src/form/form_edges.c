/* form_edges.c - Algorithm 1 as a form: the edge stream in a named order. */
#include <string.h>

#include "form/internal.h"

static spry_status make(void **state, const spry_network *n, sp_form_options *f)
{
    sp_stream *stream = NULL;
    int32_t *edge = sp_alloc_raw(n->edges, sizeof *edge);
    spry_status s =
        edge ? SPRY_OK : sp_fail_memory((size_t)n->edges * sizeof *edge);

    if (!*f->order)
        strcpy(f->order, "source");
    if (s == SPRY_OK)
        s = spry_order_make(edge, n, f->order, NULL);
    if (s == SPRY_OK)
        s = sp_stream_make(&stream, n, edge, f->threads);
    if (s == SPRY_OK)
        f->bytes = sp_stream_bytes(stream);
    sp_free(edge);
    *state = stream;
    return s;
}

static spry_status run(const void *state, float *y, const float *x,
                       int64_t batch)
{
    return sp_stream_run(state, y, x, batch);
}

static void release(void *state)
{
    sp_stream_free(state);
}

const sp_form sp_form_edges = {"edges",
                               "Algorithm 1: an edge at a time, order=NAME",
                               SP_FORM_ORDER | SP_FORM_THREADS,
                               make,
                               run,
                               NULL,
                               release};
