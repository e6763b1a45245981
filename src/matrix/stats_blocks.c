/* stats_blocks.c - how many aligned r x c blocks hold an entry, exactly, for
 * all r, c in {1, 2, 4, 8, 16}, in one pass.
 *
 * Sixteen rows at a time, the entries fall into 16 x 16 tiles, one bit each:
 *
 *     tile = 4 words of 64 bits, word = 4 rows, row = 16 bits
 *
 * and every smaller block is a group of bits: OR neighbours together, keep
 * one bit per group, count. */
#include "matrix/stats.h"

#include <omp.h>
#include <string.h>

enum { SIDE = 16, WORDS = 4 };

typedef struct {
    int64_t col;  /* tile column */
    uint64_t at;  /* its place in `find` */
    int64_t many; /* more than one entry */
    uint64_t bit[WORDS];
} tile;

/* The tiles of one panel of 16 rows. find[] leads from a tile column to its
 * tile; a place counts only if the tile there points back, so nothing needs
 * clearing between panels. */
typedef struct {
    tile *tile;    /* [count], room for the fullest panel */
    int64_t *find; /* [mask + 1], or one per tile column */
    uint64_t mask; /* hash when nonzero */
    int64_t count;
    int64_t blocks[SPRY_BLOCKS][SPRY_BLOCKS];
} panel;

static int64_t panels_of(const spry_matrix *m)
{
    return m->rows / SIDE + (m->rows % SIDE != 0);
}

static int64_t panel_end(const spry_matrix *m, int64_t p)
{
    int64_t row = (p + 1) * SIDE;

    return m->start[row < m->rows ? row : m->rows];
}

static int64_t fullest_panel(const spry_matrix *m)
{
    int64_t most = 0;

    for (int64_t p = 0; p < panels_of(m); p++) {
        int64_t n = panel_end(m, p) - m->start[p * SIDE];

        most = n > most ? n : most;
    }
    return most;
}

static int panel_open(panel *p, const spry_matrix *m, int64_t fullest)
{
    int64_t columns = m->cols / SIDE + 1, places = columns;

    if (columns > sp_stats_plain(m)) {
        for (places = 64; places < 2 * fullest;)
            places *= 2;
        p->mask = (uint64_t)places - 1;
    }
    p->tile =
        sp_alloc_raw(fullest < columns ? fullest : columns, sizeof *p->tile);
    p->find = sp_alloc(places, sizeof *p->find);
    return p->tile && p->find;
}

static tile *tile_of(panel *p, int64_t col)
{
    uint64_t at = p->mask ? sp_stats_hash(col) & p->mask : (uint64_t)col;
    tile *t;

    for (; p->find[at] < p->count; at = (at + 1) & p->mask) {
        t = &p->tile[p->find[at]];
        if (t->at != at)
            break;
        if (t->col == col) {
            t->many = 1;
            return t;
        }
    }
    p->find[at] = p->count;
    t = &p->tile[p->count++];
    *t = (tile){.col = col, .at = at};
    return t;
}

static void add_row(panel *p, const spry_matrix *m, int64_t i)
{
    int word = (int)(i % SIDE / 4), shift = (int)(i % 4 * SIDE);

    for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
        int64_t j = sp_col(m, k);

        tile_of(p, j / SIDE)->bit[word] |= (uint64_t)1 << (shift + j % SIDE);
    }
}

/* Bits that remain when groups of 1, 2, 4, 8, 16 columns become one. */
static const uint64_t keep_cols[SPRY_BLOCKS] = {
    0xffffffffffffffffu, 0x5555555555555555u, 0x1111111111111111u,
    0x0101010101010101u, 0x0001000100010001u};

/* Count the groups of columns that hold a bit, for each width. */
static void count_widths(int64_t *blocks, const uint64_t *bit, int words)
{
    for (int w = 0; w < words; w++) {
        uint64_t x = bit[w];

        for (int b = 0; b < SPRY_BLOCKS; b++) {
            blocks[b] += __builtin_popcountll(x & keep_cols[b]);
            x |= x >> (1 << b); /* kept bits gather their whole group */
        }
    }
}

/* r = 1, 2, 4 inside the words; 8 and 16 by joining words. */
static void count_tile(panel *p, const tile *t)
{
    uint64_t x[WORDS];

    memcpy(x, t->bit, sizeof x);
    count_widths(p->blocks[0], x, WORDS);
    for (int w = 0; w < WORDS; w++)
        x[w] = (x[w] | x[w] >> 16) & 0x0000ffff0000ffffu;
    count_widths(p->blocks[1], x, WORDS);
    for (int w = 0; w < WORDS; w++)
        x[w] = (x[w] | x[w] >> 32) & 0xffffu;
    count_widths(p->blocks[2], x, WORDS);
    x[0] |= x[1];
    x[1] = x[2] | x[3];
    count_widths(p->blocks[3], x, 2);
    x[0] |= x[1];
    count_widths(p->blocks[4], x, 1);
}

static void count_panel(panel *p, const spry_matrix *m, int64_t first)
{
    int64_t last = first + SIDE < m->rows ? first + SIDE : m->rows, alone = 0;

    p->count = 0;
    for (int64_t i = first; i < last; i++)
        add_row(p, m, i);
    for (int64_t k = 0; k < p->count; k++)
        if (p->tile[k].many)
            count_tile(p, &p->tile[k]);
        else
            alone++; /* one entry is one block of every size */
    for (int a = 0; a < SPRY_BLOCKS; a++)
        for (int b = 0; b < SPRY_BLOCKS; b++)
            p->blocks[a][b] += alone;
}

static void add_up(spry_stats *s, const panel *p)
{
    for (int a = 0; a < SPRY_BLOCKS; a++)
        for (int b = 0; b < SPRY_BLOCKS; b++)
            s->blocks[a][b] += p->blocks[a][b];
}

spry_status sp_stats_blocks(spry_stats *s, const spry_matrix *m)
{
    int threads = omp_get_max_threads(), ready = 1;
    int64_t fullest = fullest_panel(m);
    panel *p = sp_alloc(threads, sizeof *p);

    if (!p)
        return sp_fail_memory((size_t)threads * sizeof *p);
    for (int t = 0; t < threads && ready; t++)
        ready = panel_open(&p[t], m, fullest);
    if (ready) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
        for (int64_t k = 0; k < panels_of(m); k++)
            count_panel(&p[omp_get_thread_num()], m, k * SIDE);
    }
    for (int t = 0; t < threads; t++) {
        add_up(s, &p[t]);
        sp_free(p[t].tile);
        sp_free(p[t].find);
    }
    sp_free(p);
    return ready ? SPRY_OK : sp_fail_memory((size_t)fullest * sizeof(tile));
}
