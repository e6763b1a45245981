/* stats.c - from a matrix to what is worth knowing of its pattern. */
#include "matrix/stats.h"

#include <string.h>

/* Sentences belong to threads: the caller's is set from the status here. */
spry_status sp_stats_together(spry_stats *s, const spry_matrix *m,
                              sp_stats_part *const *part, int parts)
{
    spry_status worst = SPRY_OK;

#pragma omp parallel for schedule(dynamic, 1) reduction(max : worst)
    for (int k = 0; k < parts; k++) {
        spry_status one = part[k](s, m);

        worst = one > worst ? one : worst;
    }
    if (worst != SPRY_OK)
        return sp_fail(worst,
                       "not enough memory for statistics of %lld entries",
                       (long long)m->nnz);
    return SPRY_OK;
}

void sp_stats_begin(spry_stats *out, const spry_matrix *m)
{
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    out->rows = m->rows;
    out->cols = m->cols;
    out->nnz = m->nnz;
}

spry_status sp_stats_values(spry_stats *s, const spry_matrix *m)
{
    sp_palette palette;

    sp_palette_of(&palette, m);
    s->one_value = sp_matrix_one_value(m);
    s->different = palette.count;
    return SPRY_OK;
}

spry_status sp_matrix_stats(spry_stats *out, const spry_matrix *m)
{
    /* Each of these walks over all entries by itself. */
    static sp_stats_part *const serial[] = {
        sp_stats_symmetry, sp_stats_reuse, sp_stats_diagonals, sp_stats_values};
    spry_status s;

    sp_stats_begin(out, m);
    sp_stats_rows(out, m);
    s = sp_stats_entries(out, m);
    if (s == SPRY_OK)
        s = sp_stats_blocks(out, m);
    if (s == SPRY_OK)
        s = sp_stats_threes(out, m);
    if (s == SPRY_OK)
        s = sp_stats_together(out, m, serial, sizeof serial / sizeof *serial);
    return s;
}

spry_status spry_matrix_stats(spry_stats *out, const spry_matrix *m)
{
    SP_NEED(out, m);
    SP_ROOM(out);

    spry_stats *whole;
    spry_status s;

    if (out->size == sizeof *out)
        return sp_matrix_stats(out, m);
    whole = sp_alloc(1, sizeof *whole);
    if (!whole)
        return sp_fail_memory(sizeof *whole);
    s = sp_matrix_stats(whole, m);
    SP_GIVE(out, whole);
    sp_free(whole);
    return s;
}

static int log2_of(int n)
{
    for (int k = 0; k < SPRY_BLOCKS; k++)
        if (n == 1 << k)
            return k;
    return -1;
}

int64_t sp_stats_count(const spry_stats *s, int r, int c)
{
    int a = log2_of(r), b = log2_of(c);

    if (r == c && (r == 3 || r == 6))
        return r == 3 ? s->threes : s->sixes;
    return a < 0 || b < 0 ? 0 : s->blocks[a][b];
}

double spry_stats_fill(const spry_stats *s, int r, int c)
{
    SP_NEED_OR(0, s);

    double cells = (double)sp_stats_count(s, r, c) * r * c;

    return cells > 0 ? (double)s->nnz / cells : 0;
}
