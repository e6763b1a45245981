/* transfer.c - tasks start from what is known: equal ones from their answer in
 * the store, near ones (other widths, networks, machines) from what the
 * nearest answers are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph/tuning.h"

/* How far tasks may be apart: halving one size is 1. */
#define FAR 4.0
enum { CANDIDATES = 16 };

/* The user's store, or the one that is named; NULL: there is none. */
static spry_records *open_store(const spry_executor *e)
{
    spry_records *db = NULL;

    if (e->o.store && strcmp(e->o.store, ":memory:") == 0)
        return NULL;
    return spry_records_open(&db, e->o.store) == SPRY_OK ? db : NULL;
}

int sp_transfer_known(const spry_executor *e, const spry_problem *p)
{
    spry_records *db = open_store(e);
    spry_answer a;
    int found = 0;

    if (db && spry_records_find(db, &a, &found, spry_problem_key(p),
                                e->m.fingerprint, 0, SPRY_MEASURE) != SPRY_OK)
        found = 0;
    spry_records_close(db);
    return found;
}

/* ---- near ---- */

static double apart(int64_t a, int64_t b)
{
    return fabs(log2((double)(a > 0 ? a : 1) / (double)(b > 0 ? b : 1)));
}

/* HUGE_VAL: another kind of thing. */
static double distance(const spry_operator *a, const spry_operator *b)
{
    int deep_a = a->groups > 1, deep_b = b->groups > 1;

    if (a->kind != b->kind || a->r != b->r || a->s != b->s ||
        a->stride_h != b->stride_h || a->stride_w != b->stride_w ||
        a->dilate_h != b->dilate_h || deep_a != deep_b ||
        a->given != b->given || a->transposed != b->transposed)
        return HUGE_VAL;
    if (a->kind == SPRY_CONV2D || a->kind == SPRY_POOL)
        return apart(a->n * a->h * a->w, b->n * b->h * b->w) / 2 +
               apart(a->c, b->c) + apart(a->k, b->k);
    return apart(a->m, b->m) + apart(a->n, b->n) + apart(a->k, b->k) +
           apart(a->batch, b->batch) / 2;
}

typedef struct {
    double far;
    char text[SPRY_SCHEDULE_TEXT];
} neighbour;

typedef struct {
    const spry_executor *e;
    const spry_problem *p;
    neighbour list[CANDIDATES];
    int count;
} walk;

/* The nearest stay, sorted. */
static int visit(const spry_answer *a, void *arg)
{
    walk *w = arg;
    spry_operator op;
    neighbour x;
    int i;

    if (spry_operator_parse(&op, a->problem) != SPRY_OK)
        return 0;
    x.far = distance(&op, spry_problem_operator(w->p)) +
            (strcmp(a->machine, w->e->m.fingerprint) != 0);
    if (x.far > FAR || sp_dense_adapt(x.text, w->p, a->schedule, &w->e->m,
                                      w->e->threads) != SPRY_OK)
        return 0;
    for (i = 0; i < w->count; i++) /* one text once, at its nearest */
        if (strcmp(w->list[i].text, x.text) == 0) {
            w->list[i].far = fmin(w->list[i].far, x.far);
            return 0;
        }
    if (w->count == CANDIDATES && x.far >= w->list[w->count - 1].far)
        return 0;
    i = w->count < CANDIDATES ? w->count++ : w->count - 1;
    for (; i > 0 && w->list[i - 1].far > x.far; i--)
        w->list[i] = w->list[i - 1];
    w->list[i] = x;
    return 0;
}

spry_status sp_transfer_near(char (*text)[SPRY_SCHEDULE_TEXT], int *count,
                             int most, const spry_executor *e,
                             const spry_problem *p)
{
    spry_records *db = open_store(e);
    walk *w = sp_alloc(1, sizeof *w);
    spry_status s = SPRY_OK;

    *count = 0;
    if (!w)
        s = sp_fail_memory(sizeof *w);
    if (w && db && spry_problem_operator(p)) {
        w->e = e;
        w->p = p;
        s = spry_records_each_answer(db, visit, w);
        for (int i = 0; s == SPRY_OK && i < w->count && i < most; i++)
            memcpy(text[(*count)++], w->list[i].text, SPRY_SCHEDULE_TEXT);
    }
    sp_message_clear(); /* of keys that are no operators */
    sp_free(w);
    spry_records_close(db);
    return s;
}

/* ---- remembering ---- */

spry_status sp_transfer_remember(const spry_executor *e)
{
    spry_records *db = open_store(e);
    spry_status s = db ? spry_records_batch(db) : SPRY_OK;

    for (int i = 0; db && s == SPRY_OK && i < e->tasks; i++) {
        const sp_graph_task *t = &e->task[i];
        const sp_ready_stage *x = &e->stage[t->first];
        char mark[SP_KERNEL_MARK];
        spry_answer a = {.problem = t->key,
                         .machine = e->m.fingerprint,
                         .baseline = t->text,
                         .schedule = t->text,
                         .baseline_seconds = x->seconds,
                         .seconds = x->seconds,
                         .speedup = 1,
                         .low = 1,
                         .high = 1,
                         .pack_seconds = x->plan->pack_seconds,
                         .effort = SPRY_MEASURE,
                         .when = (int64_t)time(NULL),
                         .kernel = mark};

        sp_kernel_mark(mark, x->plan);
        if (x->seconds > 0)
            s = spry_records_answer(db, &a);
    }
    if (db && s == SPRY_OK)
        s = spry_records_commit(db);
    spry_records_close(db);
    return s;
}
