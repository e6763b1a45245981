/* field.c - matrices become problems of every operation, what is measured of
 * them becomes rows. */
#include "learn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../contest/matrices.h"
#include "matrix/matrix.h"
#include "problem/sparse.h"
#include "schedule/schedule.h"

enum { WIDE = 128, DEEP_SAMPLES = 420 };
static const double LARGEST = 6e5; /* entries of a file */

static int wanted(const bench *b, int files)
{
    if (b->quick)
        return files ? 4 : 8;
    return files ? 20 : 48;
}

/* ---- problems ---- */

/* Groups are dealt out as they come; who is of a group that was there before
 * follows it. */
static int fold_of(const field *f, const char *source)
{
    char group[SPRY_GROUP_TEXT], other[SPRY_GROUP_TEXT];

    spry_group_of(group, source);
    for (int i = 0; i + 1 < f->count; i++)
        if (strcmp(spry_group_of(other, f->at[i]->source), group) == 0)
            return f->at[i]->fold;
    return f->count % FOLDS;
}

static spry_status add_task(bench *b, field *f, const spry_matrix *A,
                            const char *name, const char *source)
{
    task *t = sp_alloc(1, sizeof *t);
    spry_status s;

    if (!t || f->count == MOST_TASKS)
        return sp_fail_memory(sizeof *t);
    f->at[f->count++] = t;
    t->A = A;
    t->fold = fold_of(f, source);
    snprintf(t->name, sizeof t->name, "%s", name);
    snprintf(t->source, sizeof t->source, "%s", source);
    if (f->op == SPRY_SPMV)
        s = spry_problem_spmv(&t->p, A, SPRY_F32);
    else if (f->op == SPRY_SPMM)
        s = spry_problem_spmm(&t->p, A, WIDE, SPRY_F32);
    else
        s = spry_problem_sddmm(&t->p, A, WIDE, SPRY_F32);
    return s == SPRY_OK ? sp_subject_of(&t->subject, sp_sparse_of(t->p), &b->m)
                        : s;
}

static spry_status add_matrix(bench *b, spry_matrix *A, const char *name,
                              const char *source)
{
    spry_status s = SPRY_OK;

    b->matrix[b->matrices++] = A;
    for (int o = 0; o < OPS && s == SPRY_OK; o++)
        s = add_task(b, &b->f[o], A, name, source);
    return s;
}

/* The walk frees its matrices. */
static spry_status copy_of(spry_matrix **out, const spry_matrix *A)
{
    int64_t *row = sp_alloc_raw(A->nnz + 1, sizeof *row);
    int64_t *col = sp_alloc_raw(A->nnz + 1, sizeof *col);
    spry_status s = sp_fail_memory((size_t)A->nnz * sizeof *row);

    for (int64_t i = 0; row && col && i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            row[k] = i;
            col[k] = sp_col(A, k);
        }
    if (row && col)
        s = spry_matrix_triples(out, A->rows, A->cols, A->nnz, row, col, A->val,
                                A->type);
    sp_free(row);
    sp_free(col);
    return s;
}

static int take_file(void *ctx, const bench_matrix *m)
{
    bench *b = ctx;
    spry_matrix *copy;

    if ((double)m->A->nnz > LARGEST || m->A->nnz < 2000)
        return 0;
    /* By its path `spry train` finds the matrix again. */
    if (copy_of(&copy, m->A) != SPRY_OK ||
        add_matrix(b, copy, m->name, m->path) != SPRY_OK)
        printf("%s: %s\n", m->name, spry_message());
    return b->matrices >= wanted(b, 1);
}

/* "gen:uniform,rows=10#3" to "uniform rows=10" and its seed. */
static spry_status generate(spry_matrix **out, const char *source)
{
    char spec[256];
    const char *hash = strchr(source, '#');
    int n = (int)(hash ? hash - source - 4 : 0);

    snprintf(spec, sizeof spec, "%.*s", n, source + 4);
    for (char *c = spec; *c; c++)
        if (*c == ',')
            *c = ' ';
    return spry_matrix_generate(out, spec, hash ? (uint64_t)atoi(hash + 1) : 1);
}

static void take_suite(bench *b)
{
    const char *source;
    int most = wanted(b, 0);

    for (int i = 0; b->matrices < most && (source = spry_suite("small", i));
         i++) {
        spry_matrix *A;

        if (generate(&A, source) != SPRY_OK ||
            add_matrix(b, A, source + 4, source) != SPRY_OK)
            printf("%s: %s\n", source, spry_message());
    }
}

spry_status open_fields(bench *b)
{
    static const spry_op ops[OPS] = {SPRY_SPMM, SPRY_SPMV, SPRY_SDDMM};
    const char *store = getenv("LEARN_STORE");

    for (int o = 0; o < OPS; o++)
        b->f[o].op = ops[o];
    bench_walk_files(take_file, b, 3);
    take_suite(b);
    if (spry_kernels_open(&b->kernels) != SPRY_OK)
        return SPRY_SYSTEM;
    return spry_records_open(&b->db, store ? store : ":memory:");
}

static void free_task(task *t)
{
    for (int k = 0; k < KINDS; k++)
        sp_free(t->score[k]);
    sp_free(t->row);
    spry_problem_free(t->p);
    sp_free(t);
}

void close_fields(bench *b)
{
    for (int o = 0; o < OPS; o++) {
        for (int i = 0; i < b->f[o].count; i++)
            free_task(b->f[o].at[i]);
        for (int k = 0; k < FOLDS; k++)
            sp_cost_free(b->f[o].model[k]);
    }
    for (int i = 0; i < b->matrices; i++)
        spry_matrix_free(b->matrix[i]);
    spry_kernels_close(b->kernels);
    spry_records_close(b->db);
}

/* ---- rows ---- */

typedef struct {
    task *t;
    int room;
    double plain[4096]; /* the baseline's seconds, by every race */
    int plains;
} reading;

static int has_row(const task *t, const spry_schedule *x)
{
    for (int i = 0; i < t->rows; i++)
        if (sp_schedule_equal(&t->row[i].x, x))
            return 1;
    return 0;
}

static int read_row(const spry_record *r, void *payload)
{
    reading *w = payload;
    task *t = w->t;
    sp_example e = {.verdict = (int)r->verdict,
                    .log_seconds = (double)NAN,
                    .log_speedup = (double)NAN};
    int timed =
        (r->verdict == SPRY_VERDICT_OK || r->verdict == SPRY_VERDICT_SLOW) &&
        r->seconds > 0 && r->speedup > 0;

    if (strcmp(r->problem, spry_problem_key(t->p)) != 0 ||
        spry_schedule_parse(&e.x, r->schedule) != SPRY_OK)
        return 0;
    if (timed) {
        if (w->plains < 4096)
            w->plain[w->plains++] = r->seconds * r->speedup;
        e.log_speedup = log(r->speedup);
        e.noise = r->low > 0 ? 0.5 * log(r->high / r->low) : 0;
        e.verdict = SPRY_VERDICT_OK;
    }
    if (has_row(t, &e.x))
        return 0;
    if (t->rows == w->room) {
        int room = w->room ? 2 * w->room : 128;
        void *more = sp_grow(t->row, t->rows, room, sizeof *t->row);

        if (!more)
            return 1;
        t->row = more;
        w->room = room;
    }
    t->row[t->rows++] = e;
    return 0;
}

/* New records become rows behind the old ones. Races at different hours are
 * comparable by their ratio to the baseline, so times follow from those. */
static spry_status read_rows(bench *b, task *t)
{
    static reading w;
    spry_status s;

    w = (reading){.t = t, .room = t->rows};
    s = spry_records_each(b->db, spry_problem_key(t->p), b->m.fingerprint,
                          read_row, &w);
    if (s == SPRY_OK && w.plains) {
        double plain = log(sp_median(w.plain, w.plains));

        for (int i = 0; i < t->rows; i++)
            t->row[i].log_seconds = plain - t->row[i].log_speedup;
    }
    return s;
}

/* ---- measuring ---- */

static spry_status collect(bench *b, task *t, int samples, double seconds,
                           const spry_schedule *list, int listed)
{
    spry_collect_options o = SPRY_COLLECT_DEFAULTS;
    spry_collected got = {.size = sizeof got};
    spry_status s;

    o.schedules = samples;
    o.seconds = seconds;
    o.machine = &b->m;
    o.kernels = b->kernels;
    o.list = list;
    o.listed = listed;
    s = spry_collect(&got, b->db, t->p, t->source, NULL, &o);
    return s == SPRY_OK ? read_rows(b, t) : s;
}

spry_status collect_list(bench *b, task *t, const spry_schedule *x, int n)
{
    return collect(b, t, n, 30, x, n);
}

static void sample(bench *b, task *t, int samples, double until)
{
    double left = until - elapsed(b);

    if (left < 1)
        return;
    if (collect(b, t, samples, left, NULL, 0) != SPRY_OK)
        printf("%s: %s\n", t->name, spry_message());
    t->sampled = t->rows;
}

static void say_rows(const bench *b, const char *what, double since)
{
    double rows = 0;

    for (int o = 0; o < OPS; o++)
        for (int i = 0; i < b->f[o].count; i++)
            rows += b->f[o].at[i]->rows;
    printf("%s: %.0f records of %d problems, %.0f s\n", what, rows,
           OPS * b->f[0].count, elapsed(b) - since);
    fflush(stdout);
}

void collect_samples(bench *b, double until)
{
    double since = elapsed(b);

    for (int share = 3; share >= 1; share--) /* a third of each, then more */
        for (int i = 0; i < b->f[0].count; i++)
            for (int o = 0; o < OPS; o++)
                sample(b, b->f[o].at[i], (b->quick ? 24 : 60) / share, until);
    say_rows(b, "samples", since);
}

/* Problems here and there, of every operation. */
void collect_deep(bench *b, double until)
{
    int deep = b->quick ? 1 : 6;
    double since = elapsed(b);

    for (int k = 0; k < deep; k++)
        for (int o = 0; o < OPS; o++) {
            field *f = &b->f[o];
            task *t =
                f->at[(k * f->count + o * f->count / OPS) / deep % f->count];

            sample(b, t, b->quick ? 100 : DEEP_SAMPLES, until);
            t->deep = t->sampled >= (b->quick ? 90 : 400);
        }
    say_rows(b, "and many samples of some", since);
}

/* ---- examples ---- */

static int belongs(const field *f, int i, int fold, part which)
{
    enum { ONE_IN = 6 };
    const task *t = f->at[i];

    return t->sampled > 0 && t->fold != fold &&
           (which == ALL || (i / FOLDS % ONE_IN == 0) == (which == STOP));
}

spry_status gather(sp_examples *out, const field *f, int fold, part which)
{
    int64_t rows = 0, subjects = 0;

    for (int i = 0; i < f->count; i++)
        if (belongs(f, i, fold, which)) {
            subjects++;
            rows += f->at[i]->sampled;
        }
    *out = (sp_examples){.subject = sp_alloc(subjects + 1, sizeof(sp_subject)),
                         .row = sp_alloc(rows + 1, sizeof(sp_example)),
                         .start = sp_alloc(subjects + 1, sizeof(int64_t))};
    if (!out->subject || !out->row || !out->start) {
        free_examples(out);
        return sp_fail_memory((size_t)rows * sizeof(sp_example));
    }
    for (int i = 0; i < f->count; i++) {
        const task *t = f->at[i];

        if (!belongs(f, i, fold, which))
            continue;
        out->subject[out->subjects] = t->subject;
        for (int k = 0; k < t->sampled; k++) {
            out->row[out->rows] = t->row[k];
            out->row[out->rows++].subject = out->subjects;
        }
        out->start[++out->subjects] = out->rows;
    }
    return SPRY_OK;
}

void free_examples(sp_examples *e)
{
    sp_free(e->subject);
    sp_free(e->row);
    sp_free(e->start);
    *e = (sp_examples){0};
}
