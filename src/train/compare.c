/* compare.c - do machines agree on which schedules are fast?
 *
 * A task is a machine in a store: a real one, a virtual one (a real one that
 * was limited: fewer threads, a narrower instruction set), or one that is
 * simulated from the records of another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/unconst.h"
#include "schedule/schedule.h"
#include "train/internal.h"

enum { MOST = 24 };

typedef struct {
    spry_task about;
    spry_machine machine;
    sp_slice own; /* its rows */
    char **key;   /* [subjects], borrowed; NULL: not known */
} task;

typedef struct {
    sp_data d[MOST];
    sp_dataset t[MOST];
    int stores;
    task task[MOST];
    int tasks;
} work;

static void work_free(work *w)
{
    for (int i = 0; i < w->tasks; i++) {
        sp_slice_free(&w->task[i].own);
        sp_free(w->task[i].key);
    }
    for (int i = 0; i < w->stores; i++) {
        sp_dataset_free(&w->t[i]);
        sp_data_close(&w->d[i]);
    }
    sp_free(w);
}

/* ---- tasks ---- */

static char *key_of(const sp_data *d, int64_t s)
{
    return d->p[s] ? sp_unconst(spry_problem_key(d->p[s])) : NULL;
}

/* The rows of one machine of a store. */
static spry_status add_machine(work *w, int store, int64_t first)
{
    const sp_data *d = &w->d[store];
    const sp_dataset *t = &w->t[store];
    task *new = &w->task[w->tasks];
    uint8_t *keep = sp_alloc(t->rows + 1, 1);
    int64_t n = 0;
    spry_status s;

    new->key = sp_alloc(d->e.subjects + 1, sizeof *new->key);
    if (!keep || !new->key) {
        sp_free(keep);
        return sp_fail_memory((size_t)t->rows);
    }
    for (int64_t k = 0; k < d->e.subjects; k++)
        if (!strcmp(d->machine[k], d->machine[first]) &&
            t->start[k + 1] > t->start[k]) {
            memset(keep + t->start[k], 1,
                   (size_t)(t->start[k + 1] - t->start[k]));
            new->key[n++] = key_of(d, k);
        }
    s = sp_slice_new(&new->own, t, keep);
    sp_free(keep);
    if (s != SPRY_OK)
        return s;
    new->about.store = store;
    snprintf(new->about.machine, sizeof new->about.machine, "%s",
             d->machine[first]);
    if (d->m[first])
        new->machine = *d->m[first];
    snprintf(new->about.name, sizeof new->about.name, "%s",
             d->m[first] ? d->m[first]->name : "not known");
    new->about.problems = n;
    new->about.records = new->own.t.rows;
    w->tasks++;
    return SPRY_OK;
}

static spry_status add_store(work *w, spry_records *db, spry_op op)
{
    int i = w->stores;
    spry_status s = sp_data_open(&w->d[i], db, op, NULL, 1);

    if (s != SPRY_OK)
        return s;
    w->stores++;
    s = sp_dataset_new(&w->t[i], &w->d[i].e, 1);
    for (int64_t k = 0; s == SPRY_OK && k < w->d[i].e.subjects; k++) {
        int known = 0;

        for (int64_t j = 0; j < k && !known; j++)
            known = !strcmp(w->d[i].machine[j], w->d[i].machine[k]);
        if (!known && w->tasks < MOST)
            s = add_machine(w, i, k);
    }
    return s;
}

/* A machine is virtual beside one of its name that may do more. */
static void tell_kinds(work *w)
{
    for (int i = 0; i < w->tasks; i++) {
        task *a = &w->task[i];

        snprintf(a->about.kind, sizeof a->about.kind, "real");
        for (int j = 0; j < w->tasks; j++) {
            const spry_machine *m = &w->task[j].machine;

            if (!strcmp(m->name, a->machine.name) && *m->name &&
                (m->threads > a->machine.threads || m->isa > a->machine.isa))
                snprintf(a->about.kind, sizeof a->about.kind, "virtual");
        }
    }
}

static spry_status add_simulated(work *w, const spry_imagined *how)
{
    const sp_imagined like = {how->cores, how->bandwidth, how->latency,
                              how->caches, how->vectors};
    task *base = &w->task[0], *new = &w->task[w->tasks];
    spry_status s;

    if (w->tasks == 0 || w->tasks == MOST)
        return SPRY_OK;
    s = sp_simulate(&new->own, &new->machine, &base->own.t, &like);
    if (s != SPRY_OK)
        return s;
    w->tasks++;
    new->key = sp_alloc(base->own.e.subjects + 1, sizeof *new->key);
    if (!new->key)
        return sp_fail_memory((size_t)base->own.e.subjects);
    memcpy(new->key, base->key,
           (size_t)base->own.e.subjects * sizeof *new->key);
    new->about = base->about;
    new->about.records = new->own.t.rows;
    new->about.reranked_by_formula = sp_formula_reranks(&base->own.t, &like);
    snprintf(new->about.kind, sizeof new->about.kind, "simulated");
    memcpy(new->about.name, new->machine.name, sizeof new->machine.name);
    memcpy(new->about.machine, new->machine.fingerprint,
           sizeof new->machine.fingerprint);
    return SPRY_OK;
}

/* ---- agreement ---- */

/* Rank among v[n], ties sharing theirs, around 0. */
static double rank_of(const double *v, int n, int i)
{
    double below = 0, equal = 0;

    for (int j = 0; j < n; j++) {
        below += v[j] < v[i];
        equal += v[j] == v[i];
    }
    return below + (equal - 1) / 2 - (double)(n - 1) / 2;
}

static double correlation(const double *a, const double *b, int n)
{
    double xy = 0, xx = 0, yy = 0;

    for (int i = 0; i < n; i++) {
        double x = rank_of(a, n, i), y = rank_of(b, n, i);

        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : nan("");
}

/* Times of schedules that both have of these subjects; how many. */
static int share(double *a, double *b, int most, const task *x, int64_t i,
                 const task *y, int64_t j)
{
    const sp_dataset *t = &x->own.t, *u = &y->own.t;
    int n = 0;

    for (int64_t r = t->start[i]; r < t->start[i + 1]; r++)
        for (int64_t q = u->start[j]; q < u->start[j + 1] && n < most; q++)
            if (sp_schedule_equal(&t->e->row[t->from[r]].x,
                                  &u->e->row[u->from[q]].x)) {
                a[n] = (double)t->slower[r];
                b[n++] = (double)u->slower[q];
                break;
            }
    return n;
}

static void compare(spry_likeness *out, const task *x, const task *y)
{
    enum { ROWS = 512, FEWEST = 5 };
    double a[ROWS], b[ROWS], sum = 0;

    out->problems = out->schedules = 0;
    for (int64_t i = 0; i < x->own.e.subjects; i++)
        for (int64_t j = 0; j < y->own.e.subjects; j++) {
            double rank;
            int n;

            if (!x->key[i] || !y->key[j] || strcmp(x->key[i], y->key[j]) != 0)
                continue;
            n = share(a, b, ROWS, x, i, y, j);
            rank = n >= FEWEST ? correlation(a, b, n) : nan("");
            if (isfinite(rank)) {
                sum += rank;
                out->problems++;
                out->schedules += n;
            }
        }
    out->rank = out->problems ? sum / (double)out->problems : nan("");
}

spry_status spry_machines_compare(spry_task *task_out, int *tasks,
                                  spry_likeness *out, int most,
                                  spry_records *const *db, int stores,
                                  spry_op op, const spry_imagined *simulated)
{
    SP_NEED(task_out, tasks, out, db);
    SP_REFUSE(stores < 1 || stores > MOST, "%d stores, where 1 to %d can be",
              stores, MOST);
    SP_REFUSE(most < 0 || (int)op < 0 || (int)op >= SPRY_OPS,
              "operation %d, at most %d tasks", (int)op, most);
    for (int i = 0; i < stores; i++)
        SP_NEED(db[i]);

    work *w = sp_alloc(1, sizeof *w);
    spry_status s = SPRY_OK;

    if (!w)
        return sp_fail_memory(sizeof *w);
    *tasks = 0;
    for (int i = 0; i < stores && s == SPRY_OK; i++)
        s = add_store(w, db[i], op);
    tell_kinds(w);
    if (s == SPRY_OK && simulated)
        s = add_simulated(w, simulated);
    w->tasks = w->tasks > most ? most : w->tasks;
    for (int i = 0; i < w->tasks && s == SPRY_OK; i++) {
        task_out[i] = w->task[i].about;
        for (int j = 0; j < w->tasks; j++)
            compare(&out[i * w->tasks + j], &w->task[i], &w->task[j]);
    }
    if (s == SPRY_OK)
        *tasks = w->tasks;
    work_free(w);
    return s;
}
