/* tasks.c - the machines whose records are at hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../contest/figures.h"
#include "transfer.h"

#ifndef BENCH_DATA
#define BENCH_DATA "."
#endif

spry_op bench_ops[OPS];
const int bench_shots[SHOTS] = {0, 8, 32, 128, 512};

static const struct {
    const char *name, *file, *about;
    const char *variable; /* of the environment, when there is no file */
} sources[TASKS] = {
    [XEON] = {"xeon", "records/spry_xeon_emr/suite.jsonl.gz",
              "Emerald Rapids, AVX-512, generated matrices", NULL},
    [XEON_FMA] = {"xeon-fma", "records/spry_xeon_emr/suite_fma.jsonl.gz",
                  "the same with fused multiply-adds", NULL},
    [XEON_REAL] = {"xeon-real", "records/spry_xeon_emr/real.jsonl.gz",
                   "the same without, real matrices", NULL},
    [ZEN] = {"zen", NULL, "the store TRANSFER_STORE, generated matrices",
             "TRANSFER_STORE"},
    [LIMITED] = {"limited", NULL,
                 "the store TRANSFER_LIMITED: a machine whole and limited to "
                 "one thread",
                 "TRANSFER_LIMITED"},
    [ZEN_REAL] = {"zen-real", NULL, "the store TRANSFER_REAL, real matrices",
                  "TRANSFER_REAL"},
};

int take_operations(int most)
{
    static const spry_op all[OPS] = {SPRY_SPMV, SPRY_SPMM, SPRY_SDDMM};
    int count = 0;

    for (int i = 0; i < OPS && count < most; i++)
        if (bench_listed("TRANSFER_OPS", spry_op_name(all[i])))
            bench_ops[count++] = all[i];
    return count;
}

/* Where its records lie; NULL: nobody said. */
static const char *path_of(int which)
{
    const char *named =
        sources[which].variable ? getenv(sources[which].variable) : NULL;

    return sources[which].file ? sources[which].file
           : named && *named   ? named
                               : NULL;
}

static spry_status open_store(machine_task *m, int which)
{
    const char *path = path_of(which);
    int import = sources[which].file != NULL;
    spry_status s;

    if (!path)
        return sp_fail(SPRY_USAGE, "%s names no store",
                       sources[which].variable);
    if (access(path, R_OK) != 0)
        return sp_fail(SPRY_USAGE, "%.100s is not there", path);
    s = spry_records_open(&m->db, import ? ":memory:" : path);
    if (s == SPRY_OK && import)
        s = spry_records_import(m->db, path, NULL, NULL);
    return s;
}

static void load_task(machine_task *m, int which, const bench *b)
{
    spry_status s;

    s = open_store(m, which);
    for (int o = 0; o < b->ops && s == SPRY_OK; o++) {
        s = sp_data_open(&m->d[o], m->db, bench_ops[o], NULL, 2);
        if (s == SPRY_OK)
            s = sp_dataset_new(&m->t[o], &m->d[o].e, 2);
        if (s == SPRY_OK && m->t[o].e->subjects < 4)
            s = sp_fail(SPRY_USAGE, "too few problems of %s",
                        spry_op_name(bench_ops[o]));
    }
    m->present = s == SPRY_OK;
    if (s != SPRY_OK)
        snprintf(m->why, sizeof m->why, "%.150s", spry_message());
}

void enter_data(void)
{
    if (chdir(BENCH_DATA) != 0) /* matrices are named from there */
        printf("%s is not there: no records of others, no matrices\n",
               BENCH_DATA);
}

/* To make a table all matrices are made again: only what a part asks for. */
static int is_needed(int task)
{
    static const struct {
        const char *part;
        unsigned tasks;
    } needs[] = {
        {"map", (1U << TASKS) - 1},
        {"four", (1U << TASKS) - 1},
        {"few", (1U << TASKS) - 1},
        {"given", 1U << XEON | 1U << XEON_REAL | 1U << ZEN | 1U << ZEN_REAL},
        {"bilstm", 1U << XEON}};
    unsigned all = 0;

    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (bench_listed("TRANSFER_PARTS", needs[i].part))
            all |= needs[i].tasks;
    return (int)(all >> task & 1);
}

void load_tasks(bench *b)
{
    static const char *const variable[] = {
        "TRANSFER_STORE", "TRANSFER_REAL", "TRANSFER_LIMITED",
        "TRANSFER_MODELS", "TRANSFER_BEFORE"};
    enum { VARIABLES = sizeof variable / sizeof *variable };

    for (int i = 0; i < VARIABLES; i++) { /* named from where we were called */
        const char *named = getenv(variable[i]);
        char here[4096], path[8192];

        if (named && *named && *named != '/' && getcwd(here, sizeof here)) {
            snprintf(path, sizeof path, "%s/%s", here, named);
            setenv(variable[i], path, 1);
        }
    }
    enter_data();
    for (int i = 0; i < TASKS; i++) {
        b->task[i].name = sources[i].name;
        b->task[i].about = sources[i].about;
        if (is_needed(i))
            load_task(&b->task[i], i, b);
        else
            snprintf(b->task[i].why, sizeof b->task[i].why, "not asked for");
    }
}

void free_tasks(bench *b)
{
    for (int i = 0; i < TASKS; i++) {
        for (int o = 0; o < OPS; o++) {
            sp_dataset_free(&b->task[i].t[o]);
            sp_data_close(&b->task[i].d[o]);
        }
        spry_records_close(b->task[i].db);
    }
}

void print_tasks(const bench *b)
{
    printf("Tasks: machines, each with its build\n\n");
    for (int i = 0; i < TASKS && b->task[0].name; i++) {
        const machine_task *m = &b->task[i];

        printf("  %-10s %s", m->name, m->about);
        if (!m->present)
            printf("; absent: %s", m->why);
        for (int o = 0; o < b->ops && m->present; o++)
            printf("; %s %lld problems, %lld records",
                   spry_op_name(bench_ops[o]), (long long)m->t[o].e->subjects,
                   (long long)m->t[o].rows);
        printf("\n");
    }
}

/* ---- parts ---- */

int part_of_group(const char *group, int parts)
{
    sp_hash h = sp_hash_begin();

    sp_hash_add(&h, group, strlen(group));
    return (int)((h.a >> 20) % (uint64_t)parts);
}

/* Every n-th row, so that at most `each` are left. */
static void thin_out(uint8_t *keep, int64_t from, int64_t to, int each)
{
    int64_t n = to - from;

    for (int64_t i = 0; i < n; i++)
        keep[from + i] = n <= each || i * each / n != (i + 1) * each / n;
}

void take_rows(sp_slice *out, const machine_task *m, int op, want_subject *want,
               void *payload, int each, double loudest)
{
    const sp_dataset *t = &m->t[op];
    uint8_t *keep = sp_alloc(t->rows + 1, 1);

    for (int64_t k = 0; keep && k < t->e->subjects; k++)
        if (want(m, op, k, payload))
            thin_out(keep, t->start[k], t->start[k + 1], each);
    for (int64_t i = 0; keep && i < t->rows; i++)
        keep[i] = keep[i] && (double)t->noise[i] <= loudest;
    if (!keep || sp_slice_new(out, t, keep) != SPRY_OK) {
        printf("%s\n", spry_message());
        exit(1);
    }
    sp_free(keep);
}

/* Subjects in an order drawn by chance. */
static int64_t *shuffled(int64_t n, sp_rng *r)
{
    int64_t *order = sp_alloc(n + 1, sizeof *order);

    for (int64_t i = 0; order && i < n; i++)
        order[i] = i;
    for (int64_t i = n - 1; order && i > 0; i--) {
        int64_t j = (int64_t)sp_rng_below(r, (uint64_t)i + 1), x = order[i];

        order[i] = order[j];
        order[j] = x;
    }
    return order;
}

enum { SHOTS_EACH = 8 };

/* Few matrices may have to give more of their schedules. */
static void draw_rows(uint8_t *keep, const sp_dataset *pool,
                      const int64_t *order, int k, sp_rng *r)
{
    for (int round = 0; k > 0 && round < 16; round++)
        for (int64_t i = 0; i < pool->e->subjects && k > 0; i++) {
            int64_t from = pool->start[order[i]];
            int64_t rows = pool->start[order[i] + 1] - from;

            for (int e = 0; e < SHOTS_EACH && k > 0; e++) {
                int64_t at = from + (int64_t)sp_rng_below(r, (uint64_t)rows);

                k -= !keep[at];
                keep[at] = 1;
            }
        }
}

/* As spry collect --choose: of many schedules of all matrices, drawn by
 * chance, what the source would like to know; few of a matrix. */
static spry_status choose_rows(uint8_t *keep, const sp_dataset *pool, int k,
                               sp_rng *r, const sp_pretrained *source)
{
    enum { TIMES = 8, LEAST = 512, MOST = 1536, EACH = 2 };
    int64_t n = pool->e->subjects, each = (k + n - 1) / n, at = 0;
    int64_t left = TIMES * k < LEAST  ? LEAST
                   : TIMES * k > MOST ? MOST
                                      : TIMES * k;
    sp_choosing how = {k, each < EACH ? EACH : each, 0};
    uint8_t *own = sp_alloc(left + 1, 1);
    sp_slice drawn;
    spry_status s;

    for (int64_t i = 0; i < pool->rows; i++)
        if ((int64_t)sp_rng_below(r, (uint64_t)(pool->rows - i)) < left) {
            keep[i] = 1;
            left--;
        }
    s = own ? sp_slice_new(&drawn, pool, keep) : SPRY_SYSTEM;
    if (s == SPRY_OK)
        s = sp_bayes_choose(own, source, &drawn.t, &how);
    for (int64_t i = 0; s == SPRY_OK && i < pool->rows; i++)
        if (keep[i])
            keep[i] = own[at++];
    sp_slice_free(&drawn);
    sp_free(own);
    return s;
}

void draw_shots(sp_slice *out, const sp_dataset *pool, int k, uint64_t seed,
                const sp_pretrained *chooses)
{
    sp_rng r = sp_rng_seed(1000 * seed + (uint64_t)k);
    int64_t *order = shuffled(pool->e->subjects, &r);
    uint8_t *keep = sp_alloc(pool->rows + 1, 1);
    spry_status s = order && keep ? SPRY_OK : SPRY_SYSTEM;

    if (s == SPRY_OK && chooses && k > 0)
        s = choose_rows(keep, pool, k, &r, chooses);
    else if (s == SPRY_OK)
        draw_rows(keep, pool, order, k, &r);
    if (s != SPRY_OK || sp_slice_new(out, pool, keep) != SPRY_OK) {
        printf("%s\n", spry_message());
        exit(1);
    }
    sp_free(order);
    sp_free(keep);
}
