/* market_write.c - from a matrix to Matrix Market text.
 *
 * A matrix of ones becomes a pattern. */
#include "matrix/internal.h"

static int all_ones(const spry_matrix *m)
{
    for (int64_t k = 0; k < m->nnz; k++)
        if (sp_val(m, k) != 1)
            return 0;
    return 1;
}

static void add_entries(sp_text_out *p, const spry_matrix *m, int pattern)
{
    for (int64_t r = 0; r < m->rows && !sp_text_out_failed(p); r++)
        for (int64_t k = m->start[r]; k < m->start[r + 1]; k++) {
            sp_text_out_int(p, r + 1, ' ');
            sp_text_out_int(p, sp_col(m, k) + 1, pattern ? '\n' : ' ');
            if (!pattern)
                sp_text_out_real(p, sp_val(m, k), m->type, '\n');
        }
}

spry_status sp_market_write(const spry_matrix *m, sp_writer *w, int packed)
{
    int pattern = all_ones(m);
    sp_text_out *p;
    spry_status s = sp_text_out_open(&p, w, packed);

    if (s != SPRY_OK)
        return s;
    sp_text_out_line(p,
                     "%%%%MatrixMarket matrix coordinate %s general\n"
                     "%lld %lld %lld\n",
                     pattern ? "pattern" : "real", (long long)m->rows,
                     (long long)m->cols, (long long)m->nnz);
    add_entries(p, m, pattern);
    return sp_text_out_close(p);
}
