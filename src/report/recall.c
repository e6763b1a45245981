/* recall.c - what a store does not keep is had again from where a problem came
 * from: the picture of its pattern, and what the model predicts of it. */
#include <math.h>
#include <string.h>

#include "dense/learned.h"
#include "matrix/spy.h"
#include "problem/operation.h"
#include "report/report.h"
#include "spry/model.h"
#include "spry/schedule.h"

/* A problem whose key is the case's, with what it borrows. */
typedef struct {
    spry_matrix *A;
    spry_problem *p;
} again;

static void forget(again *g)
{
    spry_problem_free(g->p);
    spry_matrix_free(g->A);
    *g = (again){0};
}

/* Is it the one that was measured, in one of the layouts? */
static int is_the_same(const again *g, const sp_report_case *c)
{
    if (strcmp(spry_problem_key(g->p), c->key) == 0)
        return 1;
    spry_problem_set_layout(g->p, SPRY_COL_MAJOR);
    return strcmp(spry_problem_key(g->p), c->key) == 0;
}

static spry_status make_again(again *g, const sp_report *r,
                              const sp_report_case *c)
{
    spry_op op = SPRY_SPMV;
    spry_type type = SPRY_F64;
    spry_status s = spry_matrix_read(&g->A, r->text[c->source]);

    if (s == SPRY_OK)
        s = spry_op_parse(&op, r->text[c->op]);
    if (s == SPRY_OK)
        s = spry_type_parse(&type, r->text[c->type]);
    return s == SPRY_OK ? spry_problem_make(&g->p, op, g->A, c->n, type) : s;
}

/* Matrices that are quickly made or read again, and are still the same. NULL,
 * or why there is none. */
static const char *have_again(again *g, const sp_report *r,
                              const sp_report_case *c)
{
    static const int64_t MOST_ENTRIES = 20000000;
    const sp_operation *d = sp_operation_named(r->text[c->op]);
    spry_status s;

    if (!r->text[c->op][0])
        return "Missing: the store does not tell where this problem came from, "
               "of which the model needs the entries.";
    if (!d || d->modes != 2)
        return "Missing: only products of a sparse matrix and dense operators "
               "can be predicted from a store.";
    if (!r->text[c->source][0])
        return "Missing: the model needs the matrix, and the store does not "
               "tell where it came from.";
    if (c->nnz > MOST_ENTRIES)
        return "Missing: the model needs the matrix, which is too large to "
               "read it for a page.";
    s = make_again(g, r, c);
    if (s != SPRY_OK)
        return "Missing: the model needs the matrix, which could not be read "
               "where it came from.";
    return is_the_same(g, c) ? NULL
                             : "Missing: the model needs the matrix, and what "
                               "lies where it came from is another one.";
}

static void draw(sp_report_case *c, const spry_problem *p)
{
    const spry_stats *stats = spry_problem_stats(p);
    sp_spy spy;

    if (!stats)
        return;
    spy = sp_spy_of(stats);
    if (sp_spy_png(&c->picture, &spy) != SPRY_OK)
        sp_buf_free(&c->picture);
}

/* ---- predictions ---- */

static void take(sp_report *r, sp_report_case *c, const char *who,
                 const int *trial, const double *seconds, int n)
{
    for (int i = 0; i < n; i++)
        if (isfinite(seconds[i]))
            c->trial[trial[i]].predicted = seconds[i];
    c->model = sp_report_text(r, who);
    c->recalled = 1;
}

/* Of a product; `seconds` and `trial` have room for all. */
static spry_status predict(sp_report *r, sp_report_case *c,
                           const spry_problem *p, const spry_machine *m,
                           double *seconds, int *trial)
{
    spry_schedule *x = sp_alloc(c->trials + 1, sizeof *x);
    char who[SPRY_WHO];
    spry_status s;
    int n = 0;

    if (!x)
        return sp_fail_memory(sizeof *x * (size_t)c->trials);
    for (int i = 0; i < c->trials; i++)
        if (spry_schedule_parse(&x[n], r->text[c->trial[i].schedule]) ==
            SPRY_OK)
            trial[n++] = i;
    s = spry_guess(seconds, who, p, x, n, m);
    if (s == SPRY_OK)
        take(r, c, who, trial, seconds, n);
    sp_free(x);
    return s;
}

/* The same of a dense operator: its key says all. */
static spry_status predict_operator(sp_report *r, sp_report_case *c,
                                    const spry_problem *p,
                                    const spry_machine *m, double *seconds,
                                    int *trial)
{
    sp_dense_way *x = sp_alloc(c->trials + 1, sizeof *x);
    const char *who;
    int n = 0;

    if (!x)
        return sp_fail_memory(sizeof *x * (size_t)c->trials);
    for (int i = 0; i < c->trials; i++)
        if (sp_dense_way_parse(&x[n], r->text[c->trial[i].schedule]) ==
                SPRY_OK &&
            sp_dense_way_legal(sp_dense_of(p), &x[n], m) == SPRY_OK)
            trial[n++] = i;
    who = sp_dense_expect(seconds, sp_dense_of(p), x, n, m);
    take(r, c, who, trial, seconds, n);
    sp_free(x);
    return SPRY_OK;
}

static void predict_case(sp_report *r, sp_report_case *c, const spry_problem *p)
{
    const spry_machine *m = sp_report_machine(r, c);
    double *seconds;
    spry_status s;
    int *trial;

    if (!m) {
        c->unpredicted = "Missing: the store does not tell what machine this "
                         "was, of which the model needs the numbers.";
        return;
    }
    seconds = sp_alloc(c->trials + 1, sizeof *seconds);
    trial = sp_alloc(c->trials + 1, sizeof *trial);
    if (!seconds || !trial)
        s = sp_fail_memory(sizeof *seconds * (size_t)c->trials);
    else if (spry_problem_operator(p))
        s = predict_operator(r, c, p, m, seconds, trial);
    else
        s = predict(r, c, p, m, seconds, trial);
    sp_free(seconds);
    sp_free(trial);
    if (s == SPRY_SYSTEM)
        r->status = s;
}

void sp_report_recall(sp_report *r, sp_report_case *c)
{
    spry_operator op;
    again g = {0};

    if (spry_operator_parse(&op, c->key) == SPRY_OK) {
        if (spry_problem_dense(&g.p, &op) == SPRY_OK) {
            sp_report_count(c, g.p);
            predict_case(r, c, g.p);
        }
    } else {
        c->unpredicted = have_again(&g, r, c);
        if (!c->unpredicted) {
            draw(c, g.p);
            predict_case(r, c, g.p);
        }
    }
    forget(&g);
}
