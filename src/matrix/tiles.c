/* tiles.c - what blocks that are full enough hold, and what they leave.
 *
 * Exact while that is cheap; of a large matrix stretches of rows are looked
 * at, the same ones every time, and stand for the rest. */
#include "base/base.h"
#include "matrix/walk.h"

/* A stretch holds whole blocks of 16, of 6 and of 3 rows. */
enum { STRETCH = 48, EXACT = 1 << 16, ENTRIES = 1 << 14 };

static void count_block(sp_tiles out[SP_RESTS], const sp_walk *b, int cells,
                        uint8_t left[SP_RESTS][SP_WALK_ROWS])
{
    int entries = sp_walk_entries(b);

    for (int i = 0; i < SP_RESTS; i++) {
        if (sp_is_filled(entries, cells, sp_rests[i])) {
            out[i].blocks++;
            continue;
        }
        out[i].rest += entries;
        for (int q = 0; q < b->rows; q++)
            left[i][q] |= b->next[q] < b->stop[q];
    }
}

static void count_row(sp_tiles out[SP_RESTS], const spry_matrix *m, int64_t u,
                      int r, int c)
{
    uint8_t left[SP_RESTS][SP_WALK_ROWS] = {{0}};
    sp_walk b = sp_walk_begin(m, u, r, c);

    while (sp_walk_next(m, &b) >= 0)
        count_block(out, &b, r * c, left);
    for (int i = 0; i < SP_RESTS; i++)
        for (int q = 0; q < b.rows; q++)
            out[i].rows += left[i][q];
}

static void scale(int64_t *count, double by)
{
    *count = (int64_t)((double)*count * by + 0.5);
}

const int sp_rests[SP_RESTS] = {25, 50, 75};

void sp_matrix_tiles(sp_tiles out[SP_RESTS], const spry_matrix *m, int r, int c)
{
    int64_t share = m->nnz > EXACT ? m->nnz / ENTRIES : 1;
    int64_t seen = 0, rows = 0, turn = 0;
    sp_rng chance = sp_rng_seed(1);

    for (int i = 0; i < SP_RESTS; i++)
        out[i] = (sp_tiles){0};
    for (int64_t at = 0, n = 0; at < m->rows; at += STRETCH) {
        int64_t to = at + STRETCH < m->rows ? at + STRETCH : m->rows;

        if (n % share == 0)
            turn = (int64_t)sp_rng_below(&chance, (uint64_t)share);
        if (n++ % share != turn)
            continue;
        for (int64_t u = at / r; u * r < to; u++)
            count_row(out, m, u, r, c);
        seen += m->start[to] - m->start[at];
        rows += to - at;
    }
    for (int i = 0; share > 1 && seen > 0 && i < SP_RESTS; i++) {
        scale(&out[i].blocks, (double)m->nnz / (double)seen);
        scale(&out[i].rest, (double)m->nnz / (double)seen);
        scale(&out[i].rows, (double)m->rows / (double)rows);
    }
}
