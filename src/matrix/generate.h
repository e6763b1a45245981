/* generate.h - what a kind of generated matrix is, and what kinds share.
 *
 * A kind is a function from a row number to that row's columns. Each row has
 * its own seeded stream of chance, so rows can be made in any order, by any
 * number of threads, straight into their place. Decisions about positions
 * use integers and correctly rounded operations (+ - * / sqrt) only: the
 * same matrix on any machine. */
#ifndef SP_MATRIX_GENERATE_H
#define SP_MATRIX_GENERATE_H

#include <stdint.h>

#include "base/recipe.h"
#include "spry/matrix.h"

/* Every kind's params end with these. index: 32 or 64 bits, auto = as cols
 * need. */
#define SP_GEN_COMMON " values=random index=auto"

/* `values` when they are random, but the same in mirror places. */
enum { SP_SYMMETRIC_VALUES = -1 };

/* How a parameter got its value. */
typedef enum { SP_DEFAULT, SP_AUTO, SP_GIVEN } sp_origin;

typedef struct sp_generator sp_generator;

/* One generation under way: the parameters, then what prepare makes. */
typedef struct {
    const sp_generator *kind;
    uint64_t seed;
    sp_recipe recipe;
    struct {
        double value; /* 0 while SP_AUTO */
        sp_origin origin;
    } param[SP_RECIPE_PARAMS];
    int64_t values; /* different ones; 0: random, or symmetric ones */
    int64_t rows, cols;
    int64_t widest; /* no row draws more columns than this */
    int64_t *quota; /* [quotas] columns to draw in each row (of blocks) */
    int64_t quotas;
    int64_t *table; /* [tables] what else the kind keeps */
    int64_t tables;
    uint32_t *accept; /* [cols] chance of a drawn column / 2^32, or NULL */
} sp_gen;

/* One thread's room to make a row in. */
typedef struct {
    sp_rng rng;
    int64_t *col;   /* [widest] */
    int64_t *spare; /* [widest] for sorting */
    uint64_t *bits; /* a set of columns, all zero between rows */
} sp_gen_row;

struct sp_generator {
    const char *name, *help;
    const char *params; /* with defaults: the one list of what it knows */
    /* Check the parameters, set rows, cols, widest and the tables. */
    spry_status (*prepare)(sp_gen *g);
    /* Columns of row i into w->col, ascending, distinct; how many. */
    int64_t (*row)(const sp_gen *g, int64_t i, sp_gen_row *w);
    int exact; /* row i holds quota[i] entries: no need to count first */
};

/* Make what spec says with one of `kinds`; g has a seed and keeps the
 * parameters. */
spry_status sp_gen_make(spry_matrix **out, sp_gen *g,
                        const sp_generator *const *kinds, int count,
                        const char *spec);

/* ---- the spec (generate_spec.c) ---- */

/* Fill g->kind's parameters: defaults, then the "key=value ..." of text. */
spry_status sp_gen_parse(sp_gen *g, const char *text);
/* SPRY_USAGE when a kind is about to make more than 2^34: hours of work that
 * would not fit in memory. */
spry_status sp_gen_entries(const sp_gen *g, double entries);
double sp_gen_real(const sp_gen *g, const char *name);
int64_t sp_gen_count(const sp_gen *g, const char *name);
sp_origin sp_gen_origin(const sp_gen *g, const char *name);
/* SPRY_USAGE unless low <= value <= high; and for the second, whole. */
spry_status sp_gen_range(const sp_gen *g, const char *name, double low,
                         double high);
spry_status sp_gen_whole(const sp_gen *g, const char *name, double low,
                         double high);

/* ---- chance (generate_chance.c) ---- */

/* A stream for the n-th thing of a sort (rows are sort 0). */
sp_rng sp_gen_stream(const sp_gen *g, uint64_t sort, int64_t n);
/* 0 .. n-1 by multiplication, unbiased. n > 0 */
int64_t sp_gen_below(sp_rng *r, int64_t n);
/* n distinct of [0, range), ascending, into w->col; n <= range. accept may
 * weigh them or be NULL. */
void sp_gen_choose(sp_gen_row *w, int64_t range, int64_t n,
                   const uint32_t *accept);
/* Sort the first n of w->col, drop repeats; how many stay. */
int64_t sp_gen_sort_unique(sp_gen_row *w, int64_t n);
/* Memory to choose up to n of up to range columns; close also after a
 * failure. */
spry_status sp_gen_row_open(sp_gen_row *w, int64_t range, int64_t n);
void sp_gen_row_close(sp_gen_row *w);
/* u^p for u in (0, 1], 0 <= p < 64, by square roots: same bits anywhere. */
double sp_gen_power(double u, double p);

/* ---- how many entries each row gets (generate_quota.c) ---- */

/* All zero, for `count` rows. */
spry_status sp_gen_quota_new(sp_gen *g, int64_t count);
/* Throw `total` entries onto rows chosen evenly. */
void sp_gen_quota_even(sp_gen *g, int64_t total);
/* Share `total` by weights u^-p, u even in (0, 1]. */
void sp_gen_quota_power(sp_gen *g, int64_t total, double p);
/* Throw `total` onto the rows that `pick` draws. */
void sp_gen_quota_throw(sp_gen *g, int64_t total,
                        int64_t (*pick)(const sp_gen *g, sp_rng *r));
/* Cut rows at `cap`, give the surplus to rows with room. Sets widest. */
void sp_gen_quota_cap(sp_gen *g, int64_t cap);

/* Read rows and cols; or those and how many entries: nnz, else density. */
spry_status sp_gen_shape(sp_gen *g);
spry_status sp_gen_shape_nnz(sp_gen *g, int64_t *nnz);

extern const sp_generator sp_generator_uniform, sp_generator_hypersparse,
    sp_generator_pruned, sp_generator_powerlaw, sp_generator_blocks,
    sp_generator_banded, sp_generator_diagonals, sp_generator_arrow,
    sp_generator_stencil5, sp_generator_stencil27, sp_generator_rmat,
    sp_generator_bipartite;

#endif
