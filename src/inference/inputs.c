/* inputs.c - inputs to race with, when nobody gives any.
 *
 * Pen strokes where they fit, else every tenth value 1. Many networks answer
 * most inputs with zeros, and an input whose values are all 0 early on says
 * little about the layers behind: of a few inputs, those that get through
 * are taken first. */
#include "inference/internal.h"

enum { FEW = 64, DRAWN = 256 };

/* Every tenth value is 1. */
static spry_status draw_dots(spry_matrix **out, int64_t count, int64_t width,
                             uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);
    int64_t nnz = 0;
    int64_t *row = sp_alloc_raw(count * width, sizeof *row);
    int64_t *col = sp_alloc_raw(count * width, sizeof *col);
    spry_status s =
        row && col ? SPRY_OK : sp_no_memory((size_t)(count * width) * 16);

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
static spry_status find_active(uint8_t *any, const sp_inference *p,
                               const spry_matrix *rows)
{
    const spry_network *n;
    sp_form_options form;
    sp_runner *r = NULL;
    spry_status s = sp_inference_smaller(&n, p);

    if (s != SPRY_OK)
        return s;
    form = sp_form_for(n, rows->rows);
    s = sp_runner_make(&r, n, &form);
    if (s == SPRY_OK)
        s = sp_runner_categories(r, any, rows, 0, rows->rows);
    sp_runner_free(r);
    return s;
}

/* The active first, then the others, as many as are wanted. */
static spry_status load_active(float *x, const sp_inference *p,
                               const spry_matrix *rows, int64_t count)
{
    uint8_t any[DRAWN];
    int64_t width = p->net->inputs, at = 0;
    spry_status s = find_active(any, p, rows);

    for (int active = 1; active >= 0; active--)
        for (int64_t i = 0; s == SPRY_OK && i < rows->rows; i++)
            if (any[i] == active && at < count)
                s = spry_inputs_dense(x + at++ * width, rows, i, 1, width);
    return s;
}

spry_status sp_inference_draw(float *x, const sp_inference *p, uint64_t seed)
{
    int64_t width = p->net->inputs, count = spry_problem_raced(&p->head);
    int64_t drawn = count < FEW ? DRAWN : count;
    spry_matrix *rows = NULL;
    spry_status s = spry_inputs_strokes(&rows, drawn, width, seed);

    if (s == SPRY_USAGE) /* no square number of pixels */
        s = draw_dots(&rows, drawn, width, seed);
    if (s == SPRY_OK)
        s = count < FEW ? load_active(x, p, rows, count)
                        : spry_inputs_dense(x, rows, 0, count, width);
    spry_matrix_free(rows);
    return s;
}
