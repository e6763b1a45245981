/* order_go.c - GO for networks and for matrices.
 *
 * Of a network: the neurons in GO order, each behind those it depends on,
 * and all edges into a neuron together. Of a matrix: its rows and columns,
 * which are the vertices of a graph. */
#include <string.h>

#include "order/go.h"

/* ---- networks ---- */

/* Sources pass to and fro: a neuron begins with those that the one before
 * ended with. */
static void lay_out(int32_t *edge, const spry_network *n, const int32_t *vertex)
{
    int64_t at = 0;

    for (int64_t i = 0; i < n->neurons; i++) {
        int64_t first = n->start[vertex[i]], end = n->start[vertex[i] + 1];

        for (int64_t k = 0; k < end - first; k++)
            edge[at++] = (int32_t)(i % 2 ? first + k : end - 1 - k);
    }
}

static spry_status order_neurons(int32_t *edge, const spry_network *n,
                                 const sp_fanout *f,
                                 const spry_order_options *o)
{
    int32_t *out = sp_alloc_raw(n->edges, sizeof *out);
    int32_t *vertex = sp_alloc_raw(n->neurons, sizeof *vertex);
    sp_graph g = {n->neurons, f->start, n->start, out, n->source};
    spry_status s;

    if (out && vertex) {
        for (int64_t i = 0; i < n->edges; i++)
            out[i] = f->target[f->edge[i]];
        s = sp_go_order(vertex, &g, 1, o);
        if (s == SPRY_OK)
            lay_out(edge, n, vertex);
    } else {
        s = sp_fail_memory((size_t)n->edges * sizeof *out);
    }
    sp_free(out);
    sp_free(vertex);
    return s;
}

static spry_status go(int32_t *edge, const spry_network *n,
                      const spry_order_options *o)
{
    sp_fanout f;
    spry_status s = sp_fanout_make(&f, n);

    if (s == SPRY_OK)
        s = order_neurons(edge, n, &f, o);
    sp_fanout_free(&f);
    return s;
}

const sp_order sp_order_go = {
    "go", "by destination, neurons near those with common inputs", go};

/* ---- matrices ---- */

/* in[] from out[], by counting. start[v] is where the next goes: in the end
 * the beginning of v + 1, so it is moved up by one. */
static void turn_round(int64_t *start, int32_t *in, const spry_matrix *m,
                       const int32_t *out)
{
    for (int64_t k = 0; k < m->nnz; k++)
        start[out[k] + 1]++;
    for (int64_t v = 0; v < m->rows; v++)
        start[v + 1] += start[v];
    for (int64_t u = 0; u < m->rows; u++)
        for (int64_t k = m->start[u]; k < m->start[u + 1]; k++)
            in[start[out[k]]++] = (int32_t)u;
    for (int64_t v = m->rows; v > 0; v--)
        start[v] = start[v - 1];
    start[0] = 0;
}

static void copy_columns(int32_t *out, const spry_matrix *m)
{
    for (int64_t k = 0; k < m->nnz; k++)
        out[k] = m->index == SPRY_I32 ? ((const int32_t *)m->col)[k]
                                      : (int32_t)((const int64_t *)m->col)[k];
}

spry_status spry_vertices_order(int32_t *vertex, const spry_matrix *m,
                                int64_t window)
{
    SP_NEED(vertex, m);

    spry_order_options o = SPRY_ORDER_DEFAULTS;
    int64_t *start;
    int32_t *out, *in;
    spry_status s;

    if (m->rows != m->cols || m->rows > INT32_MAX || window < 1 ||
        window > INT32_MAX)
        return sp_fail(SPRY_USAGE,
                       "vertices are ordered of a square matrix of at most "
                       "2^31 - 1 rows, with a window of 1 to 2^31 - 1");
    o.window = window;
    start = sp_alloc(m->rows + 1, sizeof *start);
    out = sp_alloc_raw(m->nnz, sizeof *out);
    in = sp_alloc_raw(m->nnz, sizeof *in);
    if (start && out && in) {
        sp_graph g = {m->rows, m->start, start, out, in};

        copy_columns(out, m);
        turn_round(start, in, m, out);
        s = sp_go_order(vertex, &g, 0, &o);
    } else {
        s = sp_fail_memory((size_t)m->nnz * 8);
    }
    sp_free(start);
    sp_free(out);
    sp_free(in);
    return s;
}
