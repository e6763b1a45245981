/* configs.c - AutoSparse's configurations of SpMV on two machines: what one
 * taught, tried on matrices of the other that nobody has seen. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../contest/figures.h"
#include "transfer.h"

enum {
    TOKENS = 44,
    WIDTH = TOKENS + 1,
    MOST = 24,
    EACH = 400,
    SHOTS_HERE = 512
};

static const char *const files[2] = {
    "records/autosparse_cpu/epyc7543__spmv.tsv.gz",
    "records/autosparse_cpu/xeon_e5_2620v4__spmv.tsv.gz"};
static const char *const names[2] = {"EPYC 7543", "E5-2620 v4"};

typedef struct {
    char name[64];
    float x[EACH][WIDTH], time[EACH]; /* logarithm, less the median's */
    int rows, seen;
} matrix_records;

typedef struct {
    matrix_records m[MOST];
    int matrices;
} machine_records;

/* ---- reading ---- */

static float number_of(const char *token)
{
    static const char *const known[] = {"None", "i",  "i0", "i1", "i2", "j",
                                        "j0",   "j1", "j2", "A",  "T"};
    char *end;
    double x = strtod(token, &end);

    if (end != token && !*end)
        return (float)log2(1 + fabs(x));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(token, known[i]))
            return (float)(100 + i);
    return 99;
}

static void take_config(float x[WIDTH], char *config)
{
    char *save = NULL;
    int n = 0;

    for (char *t = strtok_r(config, " ", &save); t && n < TOKENS;
         t = strtok_r(NULL, " ", &save))
        x[n++] = number_of(t);
    x[TOKENS] = (float)n;
    while (n < TOKENS)
        x[n++] = nanf("");
}

static matrix_records *find(machine_records *r, const char *name)
{
    for (int i = 0; i < r->matrices; i++)
        if (!strcmp(r->m[i].name, name))
            return &r->m[i];
    if (r->matrices == MOST)
        return NULL;
    snprintf(r->m[r->matrices].name, sizeof r->m[0].name, "%s", name);
    return &r->m[r->matrices++];
}

/* Of very many configurations a few by chance, each as likely. */
static void take_line(machine_records *r, char *line, sp_rng *chance)
{
    char *tab = strchr(line, '\t'),
         *second = tab ? strchr(tab + 1, '\t') : NULL;
    matrix_records *m;
    int at;

    if (!second)
        return;
    *tab = *second = 0;
    m = find(r, line);
    if (!m || atof(second + 1) <= 0)
        return;
    at = m->rows < EACH ? m->rows
                        : (int)sp_rng_below(chance, (uint64_t)m->seen + 1);
    m->seen++;
    if (at >= EACH)
        return;
    m->rows = at == m->rows ? m->rows + 1 : m->rows;
    take_config(m->x[at], tab + 1);
    m->time[at] = (float)log(atof(second + 1));
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static void take_median(matrix_records *m)
{
    float copy[EACH], middle;

    if (!m->rows)
        return;
    memcpy(copy, m->time, sizeof copy);
    qsort(copy, (size_t)m->rows, sizeof *copy, ascending);
    middle = copy[m->rows / 2];
    for (int i = 0; i < m->rows; i++)
        m->time[i] -= middle;
}

static int load(machine_records *r, const char *path)
{
    sp_rng chance = sp_rng_seed(1);
    sp_file f;
    char *at, *next;

    if (sp_file_read(&f, path, (size_t)1 << 30) != SPRY_OK)
        return 0;
    at = strchr(f.data, '\n');
    for (at = at ? at + 1 : NULL; at && *at; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        take_line(r, at, &chance);
    }
    sp_file_free(&f);
    for (int i = 0; i < r->matrices; i++)
        take_median(&r->m[i]);
    return r->matrices > 3;
}

/* ---- learning ---- */

static int tested(const char *matrix)
{
    return part_of_group(matrix, 2) == 1;
}

typedef struct {
    float *x, *label, *margin;
    int64_t rows;
} pile;

static int pile_new(pile *p)
{
    *p = (pile){sp_alloc(MOST * EACH, WIDTH * sizeof(float)),
                sp_alloc(MOST * EACH, sizeof(float)),
                sp_alloc(MOST * EACH, sizeof(float)), 0};
    return p->x && p->label && p->margin;
}

static void pile_free(pile *p)
{
    sp_free(p->x);
    sp_free(p->label);
    sp_free(p->margin);
}

/* Rows of matrices that are not tested, `every` n-th. */
static void gather(pile *p, const machine_records *r, int every,
                   const sp_trees *source)
{
    for (int i = 0; i < r->matrices; i++)
        for (int k = 0; k < r->m[i].rows && !tested(r->m[i].name); k += every) {
            memcpy(p->x + p->rows * WIDTH, r->m[i].x[k], WIDTH * sizeof(float));
            p->margin[p->rows] =
                source ? (float)sp_trees_sum(source, r->m[i].x[k]) : 0;
            p->label[p->rows++] = r->m[i].time[k];
        }
}

/* Top-1 of a sum of trees on tested matrices, and of chance. */
static void test(double *top1, double *random, int *matrices,
                 const machine_records *r, const sp_trees *a, const sp_trees *b)
{
    *top1 = *random = 0;
    *matrices = 0;
    for (int i = 0; i < r->matrices; i++) {
        const matrix_records *m = &r->m[i];
        double best = HUGE_VAL, least = HUGE_VAL, chosen = 0, sum = 0;

        if (!tested(m->name) || m->rows < 5)
            continue;
        for (int k = 0; k < m->rows; k++)
            best = fmin(best, (double)m->time[k]);
        for (int k = 0; k < m->rows; k++) {
            double score =
                sp_trees_sum(a, m->x[k]) + (b ? sp_trees_sum(b, m->x[k]) : 0);

            sum += exp(best - (double)m->time[k]);
            if (score < least) {
                least = score;
                chosen = (double)m->time[k];
            }
        }
        *top1 += exp(best - chosen);
        *random += sum / m->rows;
        ++*matrices;
    }
    *top1 /= fmax(1, *matrices);
    *random /= fmax(1, *matrices);
}

static void one_direction(const machine_records *from,
                          const machine_records *to, int way, int quick)
{
    sp_trees source = {0}, residual = {0}, there = {0};
    pile p, few, all;
    row_table r;
    double only, adapted, own, random;
    char name[64];
    int n, every = 1;

    if (!pile_new(&p) || !pile_new(&few) || !pile_new(&all))
        return;
    gather(&p, from, 1, NULL);
    r = (row_table){p.x, p.label, NULL, p.rows, WIDTH};
    if (grow_rows(&source, &r, quick ? 60 : 150)) {
        gather(&all, to, 1, NULL);
        while (all.rows / every > SHOTS_HERE)
            every++;
        gather(&few, to, every, &source);
        r = (row_table){few.x, few.label, few.margin, few.rows, WIDTH};
        if (!grow_rows(&residual, &r, 60))
            residual = (sp_trees){0};
        r = (row_table){all.x, all.label, NULL, all.rows, WIDTH};
        if (!grow_rows(&there, &r, quick ? 60 : 150))
            there = (sp_trees){0};
        test(&only, &random, &n, to, &source, NULL);
        test(&adapted, &random, &n, to, &source,
             residual.trees ? &residual : NULL);
        test(&own, &random, &n, to, there.trees ? &there : &source, NULL);
        printf("%-11s -> %-11s top-1: random %.3f, source only %.3f, with %lld "
               "records %.3f, trained there %.3f (%d unseen matrices)\n",
               names[way], names[1 - way], random, only, (long long)few.rows,
               adapted, own, n);
        snprintf(name, sizeof name, "autosparse-%s-over-random",
                 way ? "e5-to-epyc" : "epyc-to-e5");
        bench_aim_least(name, adapted / random, 1);
        snprintf(name, sizeof name, "autosparse-%s-over-source",
                 way ? "e5-to-epyc" : "epyc-to-e5");
        bench_aim_least(name, adapted / only, 1);
    }
    sp_trees_free(&source);
    sp_trees_free(&residual);
    sp_trees_free(&there);
    pile_free(&p);
    pile_free(&few);
    pile_free(&all);
}

void configurations(bench *b)
{
    machine_records *r = calloc(2, sizeof *r);

    printf("\n== AutoSparse, SpMV, configurations as tokens ==\n");
    if (!r || !sp_boost_ready() || !load(&r[0], files[0]) ||
        !load(&r[1], files[1]))
        printf("not measured: records/autosparse_cpu or XGBoost are absent\n");
    else
        for (int way = 0; way < 2; way++)
            one_direction(&r[way], &r[1 - way], way, b->quick);
    free(r);
}
