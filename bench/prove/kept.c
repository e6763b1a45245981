/* kept.c - a store of made-up records, and the files that come of it. */
#include "prove/kept.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/cost.h"
#include "problem/sparse.h"
#include "records/records.h"
#include "spry.h"

enum { MATRICES = 14, EACH = 12, WIDTH = 8 };

static void source_of(char out[80], int i)
{
    snprintf(out, 80, "gen:banded,rows=%d,band=%d", 100 + 10 * i, 3 + i);
}

static spry_status problem_of(spry_matrix **A, spry_problem **p, int i)
{
    char source[80];
    spry_status s;

    source_of(source, i);
    s = spry_matrix_read(A, source);
    return s == SPRY_OK ? spry_problem_spmm(p, *A, WIDTH, SPRY_F32) : s;
}

/* The first problem on this machine, made once in a process. */
static spry_status first_problem(spry_problem **out, const spry_machine **m)
{
    static spry_matrix *A;
    static spry_problem *p;
    static spry_machine machine;
    spry_status s = SPRY_OK;

    if (!p)
        s = problem_of(&A, &p, 0);
    if (s == SPRY_OK && !machine.threads)
        s = spry_machine_detect(&machine);
    *out = p;
    *m = &machine;
    return s;
}

static spry_status add_records(spry_records *db, const spry_machine *m,
                               const spry_problem *p, int64_t nnz)
{
    spry_status s = SPRY_OK;

    for (int k = 0; s == SPRY_OK && k < EACH; k++) {
        spry_schedule x = spry_schedule_baseline(1);
        char text[SPRY_SCHEDULE_TEXT];
        double seconds = 1e-8 * (double)nnz * (1 + 1.0 / (1 << k % 3));
        spry_record r = {.problem = spry_problem_key(p),
                         .about = "made up",
                         .machine = m->fingerprint,
                         .compiler = "built-in",
                         .noise = 'A',
                         .seconds = seconds,
                         .speedup = 1.1,
                         .low = 1.05,
                         .high = 1.2,
                         .when = 1,
                         .samples = 1,
                         .sample = &seconds};

        x.tile = 1 << k % 3;
        x.prefetch = k / 3 % 2 ? 8 : 0;
        x.unroll = 1 << k / 6;
        r.schedule = spry_schedule_text(text, &x);
        s = spry_records_add(db, &r);
    }
    return s;
}

static spry_status add_answer(spry_records *db, const spry_machine *m,
                              const spry_problem *p)
{
    spry_answer a = {.problem = spry_problem_key(p),
                     .machine = m->fingerprint,
                     .baseline = "csr threads=1",
                     .schedule = "csr tile=2 threads=1",
                     .baseline_seconds = 2e-5,
                     .seconds = 1e-5,
                     .speedup = 2,
                     .low = 1.9,
                     .high = 2.1,
                     .effort = SPRY_MEASURE,
                     .when = 1,
                     .kernel = "a kernel"};

    return spry_records_answer(db, &a);
}

static spry_status add_problem(spry_records *db, const spry_machine *m, int i)
{
    char source[80], group[16];
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    spry_status s = problem_of(&A, &p, i);

    source_of(source, i);
    snprintf(group, sizeof group, "group%d", i);
    if (s == SPRY_OK) {
        spry_origin o = {.problem = spry_problem_key(p),
                         .source = source,
                         .group = group,
                         .op = "spmm",
                         .type = "f32",
                         .n = WIDTH,
                         .rows = A->rows,
                         .cols = A->cols,
                         .nnz = A->nnz};

        s = spry_records_put_origin(db, &o);
    }
    if (s == SPRY_OK)
        s = add_records(db, m, p, A->nnz);
    if (s == SPRY_OK)
        s = add_answer(db, m, p);
    spry_problem_free(p);
    spry_matrix_free(A);
    return s;
}

static spry_status open_store(spry_records **db, int matrices)
{
    spry_machine m;
    spry_status s = spry_records_open(db, ":memory:");

    if (s == SPRY_OK)
        s = spry_machine_detect(&m);
    if (s == SPRY_OK)
        s = spry_records_put_machine(*db, &m);
    for (int i = 0; s == SPRY_OK && i < matrices; i++)
        s = add_problem(*db, &m, i);
    return s;
}

/* ---- a lock file ---- */

spry_status prove_make_lock(sp_file *out, const char *folder)
{
    spry_records *db = NULL;
    char path[4096];
    spry_status s = open_store(&db, 2);

    snprintf(path, sizeof path, "%s/inert.lock", folder);
    if (s == SPRY_OK)
        s = spry_records_freeze(db, path, NULL);
    spry_records_close(db);
    return s == SPRY_OK ? sp_file_read(out, path, 1 << 20) : s;
}

static int same_answer(const spry_answer *a, const spry_answer *b)
{
    return strcmp(a->schedule, b->schedule) == 0 &&
           strcmp(a->baseline, b->baseline) == 0 &&
           strcmp(a->kernel, b->kernel) == 0;
}

int prove_lock_survives(const sp_file *changed, const sp_file *good,
                        const char *folder)
{
    const spry_machine *m;
    spry_problem *p;
    sp_locked now = {0}, then = {0};
    int survives = 0;

    (void)folder;
    if (first_problem(&p, &m) == SPRY_OK) {
        spry_answer want = {.problem = spry_problem_key(p),
                            .machine = m->fingerprint};
        spry_status s = sp_lock_search(&now, changed, "it", &want);

        if (s != SPRY_OK)
            survives = changed != good;
        else
            survives = sp_lock_search(&then, good, "it", &want) == SPRY_OK &&
                       then.found && now.found &&
                       same_answer(&now.answer, &then.answer);
    }
    sp_locked_free(&then);
    sp_locked_free(&now);
    return survives;
}

/* ---- an export ---- */

spry_status prove_make_export(sp_file *out, const char *folder)
{
    spry_records *db = NULL;
    char path[4096];
    spry_status s = open_store(&db, 1);

    snprintf(path, sizeof path, "%s/inert.json", folder);
    if (s == SPRY_OK)
        s = spry_records_export(db, path);
    spry_records_close(db);
    return s == SPRY_OK ? sp_file_read(out, path, 1 << 20) : s;
}

static int write_record(const spry_record *r, void *to)
{
    sp_buf_printf(to, "%s %s %s %s %d %c %.17g %.17g %.17g %.17g %d %.17g\n",
                  r->problem, r->schedule, r->machine, r->compiler,
                  (int)r->verdict, r->noise, r->seconds, r->speedup, r->low,
                  r->high, r->samples, r->samples ? r->sample[0] : 0);
    return 0;
}

static int write_answer(const spry_answer *a, void *to)
{
    sp_buf_printf(to, "%s %s %s %s %s %.17g %.17g %.17g %.17g %.17g %d\n",
                  a->problem, a->machine, a->baseline, a->schedule, a->kernel,
                  a->baseline_seconds, a->seconds, a->speedup, a->low, a->high,
                  a->effort);
    return 0;
}

/* What a store has imported from it, a line for each record and answer; 0: the
 * store is not sound. */
static int import(sp_buf *out, const sp_file *f)
{
    int64_t added, bad, damaged = 0;
    spry_records *db;
    int sound;

    if (spry_records_open(&db, ":memory:") != SPRY_OK)
        return 0;
    (void)sp_lines_import(db, f, "it", &added, &bad);
    sound = spry_records_check(db, &damaged) == SPRY_OK && damaged == 0 &&
            spry_records_each(db, NULL, NULL, write_record, out) == SPRY_OK &&
            spry_records_each_answer(db, write_answer, out) == SPRY_OK &&
            !out->failed;
    spry_records_close(db);
    return sound;
}

/* Every line of one is a line of the other. */
static int lines_are_of(const char *part, const char *whole)
{
    while (part && *part) {
        size_t n = strcspn(part, "\n") + 1;
        const char *at = whole;

        while (*at && strncmp(at, part, n) != 0)
            at += strcspn(at, "\n") + 1;
        if (!*at)
            return 0;
        part += n;
    }
    return 1;
}

int prove_export_survives(const sp_file *changed, const sp_file *good,
                          const char *folder)
{
    static sp_buf whole; /* of the good one */
    sp_buf part = {0};
    int survives;

    (void)folder;
    if (!whole.data && (!import(&whole, good) || !whole.data))
        return 0;
    survives = import(&part, changed) && lines_are_of(part.data, whole.data);
    sp_buf_free(&part);
    return survives;
}

/* ---- a model ---- */

spry_status prove_make_model(sp_file *out, const char *folder)
{
    spry_train_options o = SPRY_TRAIN_DEFAULTS;
    spry_trained trained = {.size = sizeof trained};
    spry_records *db = NULL;
    char path[4096];
    spry_status s = open_store(&db, MATRICES);

    snprintf(path, sizeof path, "%s/inert.spry", folder);
    o.kind = spry_train_trees() ? "gbdt" : "analytic";
    o.rounds = 2;
    if (s == SPRY_OK)
        s = spry_train(&trained, db, path, &o);
    spry_records_close(db);
    return s == SPRY_OK ? sp_file_read(out, path, 1 << 20) : s;
}

/* Of two schedules; 0: a score is no number. */
static int scores_are_numbers(const sp_cost *c)
{
    spry_schedule x[2] = {spry_schedule_baseline(1), spry_schedule_baseline(1)};
    double score[2] = {0, 0};
    const spry_machine *m;
    spry_problem *p;
    sp_subject subject;
    sp_view *v = NULL;
    int numbers = 1;

    x[1].tile = 2;
    if (first_problem(&p, &m) != SPRY_OK ||
        sp_subject_of(&subject, sp_sparse_of(p), m) != SPRY_OK)
        return 0;
    if (sp_cost_look(&v, c, &subject) == SPRY_OK &&
        sp_view_score(score, v, x, 2) == SPRY_OK)
        numbers = !isnan(score[0]) && !isnan(score[1]);
    sp_view_free(v);
    return numbers;
}

int prove_model_survives(const sp_file *changed, const sp_file *good,
                         const char *folder)
{
    sp_cost *c = NULL;
    int survives;

    (void)good;
    (void)folder;
    if (sp_cost_parse(&c, changed->data, changed->len, "it") != SPRY_OK)
        return changed != good;
    survives = scores_are_numbers(c);
    sp_cost_free(c);
    return survives;
}
