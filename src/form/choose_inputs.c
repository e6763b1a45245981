/* choose_inputs.c - inputs to race with, when nobody gives any.
 *
 * Pen strokes where they fit, else every tenth value 1. Many networks answer
 * most inputs with zeros, and an input whose values are all 0 early on says
 * little about the layers behind: of a few inputs, those that get through
 * are taken first. */
#include <string.h>

#include "form/choose.h"

enum { FEW = 64, DRAWN = 256 };

static spry_status draw(spry_matrix **out, const sp_chooser *c, int64_t count)
{
    int64_t width = c->n->inputs, nnz = 0;
    spry_status s = spry_inputs_strokes(out, count, width, c->o.seed);
    sp_rng r = sp_rng_seed(c->o.seed);
    int64_t *row, *col;

    if (s != SPRY_USAGE)
        return s;
    row = sp_alloc_raw(count * width, sizeof *row);
    col = sp_alloc_raw(count * width, sizeof *col);
    s = row && col ? SPRY_OK : sp_no_memory((size_t)(count * width) * 16);
    for (int64_t i = 0; s == SPRY_OK && i < count * width; i++)
        if (sp_rng_below(&r, 10) == 0) {
            row[nnz] = i / width;
            col[nnz++] = i % width;
        }
    if (s == SPRY_OK)
        s = spry_matrix_triples(out, count, width, nnz, row, col, NULL,
                                SPRY_F32);
    sp_free(row);
    sp_free(col);
    return s;
}

/* Which of the rows get an answer that is not 0. */
static spry_status find_active(uint8_t *any, const sp_chooser *c,
                               const spry_matrix *rows)
{
    const spry_network *n = c->smaller ? c->smaller : c->n;
    spry_form form = spry_form_for(n, rows->rows);
    spry_runner *r;
    spry_status s = spry_runner_make(&r, n, &form);

    if (s == SPRY_OK)
        s = spry_runner_categories(r, any, rows, 0, rows->rows);
    spry_runner_free(r);
    return s;
}

/* The living first, then the others, as many as are wanted. */
static spry_status load_active(sp_chooser *c, const spry_matrix *rows)
{
    uint8_t any[DRAWN];
    int64_t width = c->n->inputs, at = 0;
    spry_status s = find_active(any, c, rows);

    for (int active = 1; active >= 0; active--)
        for (int64_t i = 0; s == SPRY_OK && i < rows->rows; i++)
            if (any[i] == active && at < c->out->raced)
                s = spry_inputs_dense(c->own_x + at++ * width, rows, i, 1,
                                      width);
    return s;
}

spry_status sp_choose_inputs(sp_chooser *c)
{
    int64_t width = c->n->inputs, count = c->out->raced;
    spry_matrix *rows = NULL;
    spry_status s = draw(&rows, c, count < FEW ? DRAWN : count);

    c->own_x = sp_alloc_raw(count * width, sizeof *c->own_x);
    if (s == SPRY_OK && !c->own_x)
        s = sp_no_memory((size_t)(count * width) * sizeof *c->own_x);
    if (s == SPRY_OK)
        s = count < FEW ? load_active(c, rows)
                        : spry_inputs_dense(c->own_x, rows, 0, count, width);
    spry_matrix_free(rows);
    c->x = c->own_x;
    return s;
}
