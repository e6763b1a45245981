/* generate.c - from a spec, "rmat scale=16 degree=8", to a matrix.
 *
 * Rows are made in place, in parallel: count them (or know their lengths),
 * sum the counts into starts, fill. Nothing else as large as the matrix ever
 * exists. */
#include "matrix/generate.h"

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "matrix/internal.h"

static const sp_generator *const kinds[] = {
    &sp_generator_uniform,   &sp_generator_banded,    &sp_generator_stencil5,
    &sp_generator_stencil27, &sp_generator_rmat,      &sp_generator_powerlaw,
    &sp_generator_blocks,    &sp_generator_diagonals, &sp_generator_hypersparse,
    &sp_generator_pruned,    &sp_generator_arrow,     &sp_generator_bipartite,
};
enum { KINDS = sizeof kinds / sizeof kinds[0], GRAIN = 512, LONGEST = 1024 };

static const sp_generator *kind_at(int i)
{
    return i >= 0 && i < KINDS ? kinds[i] : NULL;
}

const char *spry_generator_name(int i)
{
    return kind_at(i) ? kind_at(i)->name : NULL;
}

const char *spry_generator_help(int i)
{
    return kind_at(i) ? kind_at(i)->help : NULL;
}

const char *spry_generator_params(int i)
{
    return kind_at(i) ? kind_at(i)->params : NULL;
}

/* The kind named first; *rest is the text behind it. */
static spry_status find_kind(const sp_generator **kind, const char **rest,
                             const sp_generator *const *from, int count,
                             const char *text)
{
    const char *name[KINDS];
    spry_status s;
    int found;

    for (int k = 0; k < count; k++)
        name[k] = from[k]->name;
    s = sp_recipe_kind(&found, rest, text, "generator", name, count);
    if (s == SPRY_OK)
        *kind = from[found];
    return s;
}

/* start[i] = entries of row i, then where row i begins. */
static int64_t lengths_to_starts(int64_t *start, int64_t rows)
{
    int64_t at = 0;

    for (int64_t i = 0; i <= rows; i++) {
        int64_t n = i < rows ? start[i] : 0;

        start[i] = at;
        at += n;
    }
    return at;
}

static void count_rows(int64_t *start, const sp_gen *g, sp_gen_row *rows,
                       int threads)
{
#pragma omp parallel for schedule(dynamic, GRAIN) num_threads(threads)
    for (int64_t i = 0; i < g->rows; i++) {
        sp_gen_row *w = &rows[omp_get_thread_num()];

        w->rng = sp_gen_stream(g, 0, i);
        start[i] = g->kind->exact ? g->quota[i] : g->kind->row(g, i, w);
    }
}

/* Even in [-1, 1), never 0: an entry that is stored is there. */
static double random_value(sp_rng *r)
{
    double x = (double)(sp_rng_next(r) >> 11) * 0x1p-52 - 1;

    return x == 0 ? 0.5 : x;
}

/* One of `values` different ones in (0, 1]; of one only, 1. */
static double next_value(const sp_gen *g, sp_rng *r)
{
    uint64_t many = (uint64_t)g->values;

    if (many == 0)
        return random_value(r);
    return many == 1 ? 1 : (double)(sp_rng_below(r, many) + 1) / (double)many;
}

/* The same for (i, j) and (j, i): drawn from a stream of the pair's own. */
static double pair_value(const sp_gen *g, int64_t i, int64_t j)
{
    sp_rng r = sp_gen_stream(g, 16 + (uint64_t)(i > j ? i : j), i > j ? j : i);

    return random_value(&r);
}

static void fill_rows(const sp_draft *d, const sp_gen *g, sp_gen_row *rows,
                      int threads)
{
    double *val = d->val;

#pragma omp parallel for schedule(dynamic, GRAIN) num_threads(threads)
    for (int64_t i = 0; i < g->rows; i++) {
        sp_gen_row *w = &rows[omp_get_thread_num()];
        int64_t at = d->start[i], n = d->start[i + 1] - at;

        w->rng = sp_gen_stream(g, 0, i);
        g->kind->row(g, i, w);
        for (int64_t k = 0; k < n; k++)
            sp_store_col(d->col, d->m->index, at + k, w->col[k]);
        for (int64_t k = 0; k < n; k++)
            val[at + k] = g->values == SP_SYMMETRIC_VALUES
                              ? pair_value(g, i, w->col[k])
                              : next_value(g, &w->rng);
    }
}

static spry_index index_of(const sp_gen *g)
{
    return sp_gen_real(g, "index") == 64 ? SPRY_I64 : sp_index_for(g->cols);
}

static spry_status make_rows(spry_matrix **out, const sp_gen *g, sp_gen_row *w,
                             int threads)
{
    int64_t *start = sp_alloc_raw(g->rows + 1, sizeof *start);
    int64_t bytes = (g->rows + 1) * (int64_t)sizeof *start, nnz;
    spry_status s;
    sp_draft d;

    if (!start)
        return sp_fail_memory((size_t)bytes);
    count_rows(start, g, w, threads);
    nnz = lengths_to_starts(start, g->rows);
    s = sp_draft_make(&d, g->rows, g->cols, nnz, index_of(g), SPRY_F64);
    if (s == SPRY_OK) {
        memcpy(d.start, start, (size_t)bytes);
        fill_rows(&d, g, w, threads);
        *out = d.m;
    }
    sp_free(start);
    return s;
}

/* Each thread gets room to make rows in. */
static spry_status generate(spry_matrix **out, const sp_gen *g)
{
    int threads = omp_get_max_threads();
    sp_gen_row *w = sp_alloc(threads, sizeof *w);
    spry_status s = SPRY_OK;

    if (!w)
        return sp_fail_memory((size_t)threads * sizeof *w);
    for (int t = 0; t < threads && s == SPRY_OK; t++)
        s = sp_gen_row_open(&w[t], g->cols, g->widest);
    if (s == SPRY_OK)
        s = make_rows(out, g, w, threads);
    for (int t = 0; t < threads; t++)
        sp_gen_row_close(&w[t]);
    sp_free(w);
    return s;
}

/* The spec without "#SEED", which is taken into g. */
static spry_status take_seed(char text[LONGEST], sp_gen *g, const char *spec)
{
    size_t n = strcspn(spec, "#");
    char *end;

    if (n >= LONGEST)
        return sp_fail(SPRY_USAGE, "a recipe of %zu characters is too long", n);
    memcpy(text, spec, n);
    text[n] = 0;
    if (!spec[n])
        return SPRY_OK;
    errno = 0;
    g->seed = strtoull(spec + n + 1, &end, 10);
    if (spec[n + 1] < '0' || spec[n + 1] > '9' || *end || errno)
        return sp_fail(SPRY_USAGE, "%.80s: '%.40s' is no seed", text,
                       spec + n + 1);
    return SPRY_OK;
}

spry_status sp_gen_make(spry_matrix **out, sp_gen *g,
                        const sp_generator *const *from, int count,
                        const char *spec)
{
    char text[LONGEST];
    const char *rest;
    spry_status s = take_seed(text, g, spec);

    *out = NULL;
    if (s == SPRY_OK)
        s = find_kind(&g->kind, &rest, from, count, text);
    if (s == SPRY_OK)
        s = sp_gen_parse(g, rest);
    if (s == SPRY_OK)
        s = g->kind->prepare(g);
    if (s == SPRY_OK)
        s = generate(out, g);
    sp_free(g->quota);
    sp_free(g->table);
    sp_free(g->accept);
    g->quota = g->table = NULL;
    g->accept = NULL;
    return s;
}

spry_status spry_matrix_generate(spry_matrix **out, const char *spec,
                                 uint64_t seed)
{
    SP_NEED_NEW(out, spec);

    sp_gen g = {.seed = seed};

    return sp_gen_make(out, &g, kinds, KINDS, spec);
}
