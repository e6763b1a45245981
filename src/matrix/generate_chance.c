/* generate_chance.c - from a stream of random bits to distinct columns. */
#include "matrix/generate.h"

#include <math.h>
#include <string.h>

/* Bijective scrambling of 64 bits (splitmix64's last step). */
static uint64_t scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

sp_rng sp_gen_stream(const sp_gen *g, uint64_t sort, int64_t n)
{
    uint64_t z = scramble(g->seed + 0x632be59bd9b4e019u);

    z = scramble(z ^ scramble((uint64_t)n + 1));
    return sp_rng_seed(scramble(z + sort * 0xd1342543de82ef95u));
}

/* Lemire's multiplication with its rejection, on 32 bits while they do. */
int64_t sp_gen_below(sp_rng *r, int64_t n)
{
    uint32_t m = (uint32_t)n;
    uint64_t x;

    if (n > UINT32_MAX)
        return (int64_t)sp_rng_below(r, (uint64_t)n);
    x = (sp_rng_next(r) >> 32) * m;
    if ((uint32_t)x < m) {
        uint32_t least = -m % m;

        while ((uint32_t)x < least)
            x = (sp_rng_next(r) >> 32) * m;
    }
    return (int64_t)(x >> 32);
}

static void insertion_sort(int64_t *a, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        int64_t x = a[i], k = i;

        for (; k > 0 && a[k - 1] > x; k--)
            a[k] = a[k - 1];
        a[k] = x;
    }
}

/* out = the sorted a[0 .. n) and b[0 .. m) in order, without branches on
 * what is drawn. */
static void merge(int64_t *out, const int64_t *a, int64_t n, const int64_t *b,
                  int64_t m)
{
    int64_t i = 0, k = 0;

    while (i < n && k < m) {
        int64_t x = a[i], y = b[k], first = x <= y;

        *out++ = first ? x : y;
        i += first;
        k += !first;
    }
    memcpy(out, a + i, (size_t)(n - i) * sizeof *a);
    memcpy(out + n - i, b + k, (size_t)(m - k) * sizeof *b);
}

/* Short runs by insertion, then runs merged two by two. The result may lie
 * in spare: returns where. */
static int64_t *sort(int64_t *a, int64_t *spare, int64_t n)
{
    enum { RUN = 16 };

    for (int64_t k = 0; k < n; k += RUN)
        insertion_sort(a + k, n - k < RUN ? n - k : RUN);
    for (int64_t run = RUN; run < n; run *= 2) {
        int64_t *from = a;

        for (int64_t k = 0; k < n; k += 2 * run) {
            int64_t left = n - k < run ? n - k : run;
            int64_t right = n - k - left < run ? n - k - left : run;

            merge(spare + k, from + k, left, from + k + left, right);
        }
        a = spare;
        spare = from;
    }
    return a;
}

int64_t sp_gen_sort_unique(sp_gen_row *w, int64_t n)
{
    const int64_t *from = sort(w->col, w->spare, n);
    int64_t kept = 0;

    for (int64_t k = 0; k < n; k++)
        if (kept == 0 || w->col[kept - 1] != from[k])
            w->col[kept++] = from[k];
    return kept;
}

static int64_t draw(sp_rng *r, int64_t range, const uint32_t *accept)
{
    int64_t j;

    do
        j = sp_gen_below(r, range);
    while (accept && (uint32_t)(sp_rng_next(r) >> 32) > accept[j]);
    return j;
}

/* A row that fills much of its range is drawn as a set of bits... */
static void choose_dense(sp_gen_row *w, int64_t range, int64_t n,
                         const uint32_t *accept)
{
    int64_t words = range / 64 + 1, filled = 0;
    /* Past one half, draw the holes instead. */
    int holes = !accept && n > range / 2;
    int64_t draws = holes ? range - n : n;

    while (draws > 0) {
        int64_t j = draw(&w->rng, range, accept);
        uint64_t bit = (uint64_t)1 << (j & 63);

        draws -= !(w->bits[j >> 6] & bit);
        w->bits[j >> 6] |= bit;
    }
    for (int64_t k = 0; k < words; k++) {
        uint64_t set = holes ? ~w->bits[k] : w->bits[k];

        for (; set && filled < n; set &= set - 1)
            w->col[filled++] = k * 64 + __builtin_ctzll(set);
        w->bits[k] = 0;
    }
}

/* ...a thin one is drawn, sorted, and topped up where draws met. */
static void choose_thin(sp_gen_row *w, int64_t range, int64_t n,
                        const uint32_t *accept)
{
    int64_t have = 0;

    while (have < n) {
        while (have < n)
            w->col[have++] = draw(&w->rng, range, accept);
        have = sp_gen_sort_unique(w, n);
    }
}

/* Bits cost a word per 64 columns, sorting some steps per entry. */
static int is_dense(int64_t range, int64_t n)
{
    return range / 64 / 16 < n;
}

/* Words that the bits of up to n of range can take. */
static int64_t words_for(int64_t range, int64_t n)
{
    int64_t most = range / 64 + 1;

    return most / 16 < n ? most : n * 16 + 16;
}

spry_status sp_gen_row_open(sp_gen_row *w, int64_t range, int64_t n)
{
    int64_t words = words_for(range, n);

    w->col = sp_alloc_raw(n + 1, sizeof *w->col);
    w->spare = sp_alloc_raw(n + 1, sizeof *w->spare);
    w->bits = sp_alloc(words, sizeof *w->bits);
    if (w->col && w->spare && w->bits)
        return SPRY_OK;
    return sp_fail_memory((size_t)(2 * n + words) * sizeof *w->bits);
}

void sp_gen_row_close(sp_gen_row *w)
{
    sp_free(w->col);
    sp_free(w->spare);
    sp_free(w->bits);
}

void sp_gen_choose(sp_gen_row *w, int64_t range, int64_t n,
                   const uint32_t *accept)
{
    if (is_dense(range, n))
        choose_dense(w, range, n, accept);
    else
        choose_thin(w, range, n, accept);
}

double sp_gen_power(double u, double p)
{
    int64_t whole = (int64_t)p;
    uint32_t part = (uint32_t)((p - (double)whole) * 65536.0);
    double out = 1, root = u;

    for (int64_t k = 0; k < whole; k++)
        out *= u;
    for (uint32_t bit = 1u << 15; bit; bit >>= 1) {
        root = sqrt(root);
        if (part & bit)
            out *= root;
    }
    return out;
}
