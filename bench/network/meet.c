/* meet.c - races of ways to run a network, and what came out as a table. */
#include "meet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "measure/measure.h"

void meet_must(spry_status s)
{
    if (s == SPRY_OK)
        return;
    fprintf(stderr, "bench-network: %s\n", spry_message());
    exit((int)s);
}

void meet_add(meet *m, const char *name, void (*run)(void *), void *ctx,
              int times)
{
    meet_entrant *e = &m->entrant[m->count];

    if (m->count == MEET_MOST)
        return;
    *e = (meet_entrant){.run = run, .ctx = ctx, .times = times};
    snprintf(e->name, sizeof e->name, "%s", name);
    m->count++;
}

void meet_race(meet *m, const char *title, double seconds)
{
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[MEET_MOST];
    sp_racer *r = sp_alloc(MEET_MOST, sizeof *r);

    o.seconds = seconds;
    o.least = 3;
    for (int i = 0; i < m->count; i++)
        c[i] = (sp_contestant){m->entrant[i].run, m->entrant[i].ctx};
    meet_must(r ? sp_race(r, c, m->count, &o) : SPRY_SYSTEM);
    printf("\n%s\n%-40s %12s %8s  %s\n", title, "way", "edges/s", "ratio",
           "95 %");
    for (int i = 0; i < m->count; i++) {
        meet_entrant *e = &m->entrant[i];
        double times = (double)e->times / m->entrant[0].times;

        e->rate = m->edges * e->times / r[i].seconds;
        e->ratio = r[i].speedup * times;
        e->low = r[i].low * times;
        e->high = r[i].high * times;
        printf("%-40s %12.3g %8.2f  %.2f .. %.2f\n", e->name, e->rate, e->ratio,
               e->low, e->high);
    }
    fflush(stdout);
    sp_free(r);
}

static const meet_entrant *find(const meet *m, const char *name)
{
    for (int i = 0; i < m->count; i++)
        if (strcmp(m->entrant[i].name, name) == 0)
            return &m->entrant[i];
    return NULL;
}

double meet_rate(const meet *m, const char *name)
{
    return find(m, name) ? find(m, name)->rate : 0;
}

double meet_ratio(const meet *m, const char *a, const char *b)
{
    const meet_entrant *x = find(m, a), *y = find(m, b);

    return x && y && y->ratio > 0 ? x->ratio / y->ratio : 0;
}

/* ---- ways ---- */

static void open_problem(meet_form *f, const spry_network *n, const float *x,
                         int64_t batch)
{
    *f = (meet_form){.x = x};
    meet_must(spry_problem_network(&f->problem, n, batch));
    f->y = sp_alloc(batch * n->outputs, sizeof *f->y);
    meet_must(f->y ? SPRY_OK : sp_fail_memory(4));
}

void meet_form_open(meet_form *f, const spry_network *n, const char *text,
                    const float *x, int64_t batch)
{
    open_problem(f, n, x, batch);
    meet_must(spry_plan_from(&f->plan, f->problem, text, NULL));
}

int meet_order_open(meet_form *f, const spry_network *n, const char *order,
                    double seconds, const float *x)
{
    spry_order_options o = SPRY_ORDER_DEFAULTS;
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    spry_status s;

    o.seconds = seconds;
    s = edge ? spry_order_make(edge, n, order, &o) : sp_fail_memory(4);
    if (s == SPRY_OK) {
        open_problem(f, n, x, 1);
        meet_must(spry_plan_ordered(&f->plan, f->problem, edge));
    } else {
        printf("order %s is left out: %s\n", order, spry_message());
    }
    sp_free(edge);
    return s == SPRY_OK;
}

void meet_form_run(void *form)
{
    const meet_form *f = form;

    meet_must(spry_run(f->plan, f->x, f->y));
}

void meet_form_close(meet_form *f)
{
    spry_plan_free(f->plan);
    spry_problem_free(f->problem);
    sp_free(f->y);
}
