/* stats_reuse.c - what connects entries of different rows: the same column
 * again, the same diagonal, the mirror across the diagonal. */
#include "matrix/stats.h"

/* A number kept for each key, 0 at first. A plain array while the keys are
 * few, a hash table with room for all entries when they are not. */
typedef struct {
    int64_t *value;
    int64_t *key; /* key + 1, 0 is free; NULL: the plain array */
    uint64_t mask;
} map;

static spry_status map_open(map *t, const spry_matrix *m, int64_t keys)
{
    int64_t places = keys + 1;

    *t = (map){0};
    if (keys > sp_stats_plain(m)) {
        for (places = 64; places < 2 * m->nnz;)
            places *= 2;
        t->mask = (uint64_t)places - 1;
        t->key = sp_alloc(places, sizeof *t->key);
    }
    t->value = sp_alloc(places, sizeof *t->value);
    if (t->value && (t->key || !t->mask))
        return SPRY_OK;
    return sp_fail_memory((size_t)places * sizeof *t->value);
}

static void map_close(map *t)
{
    sp_free(t->key);
    sp_free(t->value);
}

static int64_t *map_at(map *t, int64_t key)
{
    uint64_t at;

    if (!t->key)
        return &t->value[key];
    at = sp_stats_hash(key) & t->mask;
    while (t->key[at] != 0 && t->key[at] != key + 1)
        at = (at + 1) & t->mask;
    t->key[at] = key + 1;
    return &t->value[at];
}

static int log2_floor(int64_t n)
{
    int bin = 63 - __builtin_clzll((unsigned long long)n);

    return bin < SPRY_REUSE ? bin : SPRY_REUSE - 1;
}

/* Half as wide as the map, asked for ahead (5.2 to 3.2 ms for a million
 * entries), and two counts in turns, so that one need not wait for the
 * other. */
static spry_status reuse_of_few(spry_stats *s, const spry_matrix *m)
{
    enum { AHEAD = 24, NEVER = 32 }; /* and above: what came the first time */
    const int32_t *col = m->col;
    int64_t count[2][2 * NEVER] = {{0}};
    uint32_t *last = sp_alloc(m->cols + 1, sizeof *last);
    uint32_t n = (uint32_t)m->nnz;

    if (!last)
        return sp_fail_memory((size_t)m->cols * sizeof *last);
    for (uint32_t k = 1; k <= n; k++) {
        uint32_t before = last[col[k - 1]];

        last[col[k - 1]] = k;
        __builtin_prefetch(&last[col[k + AHEAD < n ? k + AHEAD : n - 1]], 1);
        count[k & 1]
             [(31 - __builtin_clz(k - before)) | (before == 0 ? NEVER : 0)]++;
    }
    for (int b = 0; b < NEVER; b++) {
        s->reuse[b < SPRY_REUSE ? b : SPRY_REUSE - 1] +=
            count[0][b] + count[1][b];
        s->reuse_first += count[0][NEVER + b] + count[1][NEVER + b];
    }
    s->empty_cols = m->cols - s->reuse_first;
    sp_free(last);
    return SPRY_OK;
}

static int few_columns(const spry_matrix *m)
{
    return m->index == SPRY_I32 && m->nnz < INT32_MAX &&
           m->cols <= sp_stats_plain(m);
}

/* The k-th entry looks up when its column was last used. */
static spry_status reuse_of_many(spry_stats *s, const spry_matrix *m)
{
    map last; /* 1 + the entry that used the column last */
    spry_status status = map_open(&last, m, m->cols);

    for (int64_t k = 0; status == SPRY_OK && k < m->nnz; k++) {
        int64_t *before = map_at(&last, sp_col(m, k));

        if (*before)
            s->reuse[log2_floor(k + 1 - *before)]++;
        else
            s->reuse_first++;
        *before = k + 1;
    }
    s->empty_cols = m->cols - s->reuse_first;
    map_close(&last);
    return status;
}

spry_status sp_stats_reuse(spry_stats *s, const spry_matrix *m)
{
    return few_columns(m) ? reuse_of_few(s, m) : reuse_of_many(s, m);
}

/* One bit for each diagonal. */
static spry_status few_diagonals(spry_stats *s, const spry_matrix *m)
{
    int64_t words = (m->rows + m->cols) / 64 + 1;
    uint64_t *used = sp_alloc(words, sizeof *used);

    if (!used)
        return sp_fail_memory((size_t)words * sizeof *used);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            int64_t at = sp_col(m, k) - i + m->rows - 1;

            used[at / 64] |= (uint64_t)1 << at % 64;
        }
    for (int64_t w = 0; w < words; w++)
        s->diagonals += __builtin_popcountll(used[w]);
    sp_free(used);
    return SPRY_OK;
}

/* Diagonal j - i, counted from the lower left corner. */
static spry_status many_diagonals(spry_stats *s, const spry_matrix *m)
{
    map used;
    int64_t keys;
    spry_status status;

    if (__builtin_add_overflow(m->rows, m->cols, &keys))
        keys = INT64_MAX - 1;
    status = map_open(&used, m, keys);
    for (int64_t i = 0; status == SPRY_OK && i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            int64_t *seen = map_at(&used, sp_col(m, k) - i + m->rows - 1);

            s->diagonals += !*seen;
            *seen = 1;
        }
    map_close(&used);
    return status;
}

spry_status sp_stats_diagonals(spry_stats *s, const spry_matrix *m)
{
    int64_t most = sp_stats_plain(m);

    return m->rows < most && m->cols < most ? few_diagonals(s, m)
                                            : many_diagonals(s, m);
}

/* Does row j hold column i? Rows come in order, so each row's cursor only
 * ever moves forward: O(nnz) in all. */
static int mirrored(const spry_matrix *m, int64_t *cursor, int64_t i, int64_t j)
{
    int64_t at = cursor[j], end = m->start[j + 1];

    while (at < end && sp_col(m, at) < i)
        at++;
    cursor[j] = at;
    return at < end && sp_col(m, at) == i;
}

spry_status sp_stats_symmetry(spry_stats *s, const spry_matrix *m)
{
    int64_t *cursor, found = 0;

    if (m->rows != m->cols || m->nnz == 0)
        return SPRY_OK;
    cursor = sp_alloc_raw(m->rows, sizeof *cursor);
    if (!cursor)
        return sp_fail_memory((size_t)m->rows * sizeof *cursor);
    for (int64_t i = 0; i < m->rows; i++)
        cursor[i] = m->start[i];
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            found += mirrored(m, cursor, i, sp_col(m, k));
    s->symmetry = (double)found / (double)m->nnz;
    sp_free(cursor);
    return SPRY_OK;
}
