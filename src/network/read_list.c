/* read_list.c - a layer as lines of "input output weight", into a matrix of
 * one row for each output; and such a matrix into a layer. */
#include <string.h>

#include "matrix/matrix.h"
#include "network/internal.h"
#include "network/read.h"

/* An index that no file of this size can mean: neurons take memory even when
 * nothing reaches them. */
static int64_t most_neurons(const sp_text *t, int64_t known)
{
    int64_t most = sp_most_rows(t);

    if (known > 0)
        return known;
    return most < INT32_MAX ? most : INT32_MAX;
}

/* As many neurons as are known, or else as are named, and one at least. */
static int64_t count_of(int64_t known, const int64_t *index, int64_t n)
{
    int64_t named = known > 0 ? known : sp_index_size(index, n);

    return named > 0 ? named : 1;
}

spry_status sp_edge_list_parse(spry_matrix **out, const sp_text *t,
                               const sp_edge_list *list)
{
    int64_t rows = list->rows_are_outputs ? list->outputs : list->inputs;
    int64_t cols = list->rows_are_outputs ? list->inputs : list->outputs;
    sp_lines lines = {.at = t->data,
                      .comment = '#',
                      .base = list->base,
                      .values = 1,
                      .finite = 1,
                      .rows = most_neurons(t, rows),
                      .cols = most_neurons(t, cols)};
    sp_triples e;
    spry_status s = sp_lines_read(&e, t, &lines, -1);

    *out = NULL;
    if (s != SPRY_OK)
        return s;
    rows = count_of(rows, e.row, e.nnz);
    cols = count_of(cols, e.col, e.nnz);
    s = list->rows_are_outputs
            ? spry_matrix_triples(out, rows, cols, e.nnz, e.row, e.col, e.val,
                                  SPRY_F64)
            : spry_matrix_triples(out, cols, rows, e.nnz, e.col, e.row, e.val,
                                  SPRY_F64);
    sp_triples_free(&e);
    return s;
}

/* ---- to a layer ---- */

static int all_ones(const spry_matrix *m)
{
    for (int64_t k = 0; k < m->nnz; k++)
        if (sp_val(m, k) != 1)
            return 0;
    return 1;
}

/* Weights for a pattern: drawn for each output. */
static void draw_weights(spry_layers *s)
{
    for (int64_t j = 0; j < s->layer.outputs; j++) {
        sp_rng r = sp_net_stream(s->options.seed, s->at, j);

        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++)
            s->weight[k] = sp_net_weight(&r, s->start[j + 1] - s->start[j]);
    }
}

static spry_status copy_edges(spry_layers *s, const spry_matrix *m,
                              const char *name)
{
    memcpy(s->start, m->start, (size_t)(m->rows + 1) * sizeof *s->start);
    for (int64_t k = 0; k < m->nnz; k++) {
        s->from[k] = (int32_t)sp_col(m, k);
        s->weight[k] = (float)sp_val(m, k);
        if (!isfinite(s->weight[k]))
            return sp_fail(SPRY_INPUT,
                           "%s: the weight of an edge from %d is not finite",
                           name, s->from[k]);
    }
    return SPRY_OK;
}

spry_status sp_layers_take(spry_layers *s, const spry_matrix *m, float bias,
                           const char *name)
{
    spry_status status;

    if (m->rows < 1 || m->cols < 1 || m->rows > INT32_MAX)
        return sp_fail(SPRY_INPUT, "%s: %lld x %lld makes no layer", name,
                       (long long)m->cols, (long long)m->rows);
    if (m->cols != s->layer.inputs)
        return sp_fail(SPRY_INPUT,
                       "%s: takes %lld inputs, but there are %lld before it",
                       name, (long long)m->cols, (long long)s->layer.inputs);
    status = sp_layers_reserve(s, m->rows, m->nnz, bias);
    if (status == SPRY_OK)
        status = copy_edges(s, m, name);
    if (status == SPRY_OK && s->options.seeded_weights && all_ones(m))
        draw_weights(s);
    return status;
}
