/* advise.c - which ways to run a network are worth a race. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inference/internal.h"

static const double DEFAULT_BUDGET = 10;

/* Taken unmeasured, a way must promise this much. */
static const double PROMISE = 1.2;

enum { FEW = 12, MANY = 32, GENERATION = 8, LISTED = 96, SMALL_BATCH = 64 };

typedef struct {
    sp_adviser head;
    sp_inquiry q;
    const sp_inference *p;
} adviser;

/* ---- predicting ---- */

void sp_inference_guess(sp_adviser *head, sp_proposal *x, int n)
{
    const adviser *a = (adviser *)head;

    for (int i = 0; i < n; i++) {
        spry_prediction guess;
        sp_way way;

        if (sp_way_parse(&way, x[i].text) == SPRY_OK)
            x[i].threads = way.form.threads;
        x[i].predicted =
            sp_inference_predict(&guess, a->p, x[i].text, a->q.m) == SPRY_OK
                ? guess.seconds
                : HUGE_VAL;
    }
}

int sp_inference_choose(sp_adviser *a, const sp_proposal *x, int n, int plains)
{
    int best = 0, plain = 0;

    (void)a;
    for (int i = 1; i < n; i++) {
        if (i < plains && x[i].predicted < x[plain].predicted)
            plain = i;
        if (x[i].predicted < x[best].predicted)
            best = i;
    }
    return x[best].predicted * PROMISE < x[plain].predicted ? best : plain;
}

/* ---- proposing ---- */

static int has_failed(const adviser *a, const char *text)
{
    for (int i = 0; i < a->q.history->failures; i++)
        if (strcmp(a->q.history->failed[i], text) == 0)
            return 1;
    return 0;
}

static void add(adviser *a, sp_proposals *l, const sp_way *way)
{
    sp_proposal x = {.threads = way->form.threads};

    sp_way_text(x.text, way);
    if (has_failed(a, x.text))
        return;
    sp_inference_guess(&a->head, &x, 1);
    if (x.predicted < HUGE_VAL)
        (void)sp_proposals_add(l, &x);
}

static void add_form(adviser *a, sp_proposals *l, sp_way way, const char *name,
                     const char *order, int tile)
{
    strcpy(way.form.name, name);
    strcpy(way.form.order, order);
    way.form.tile = tile;
    add(a, l, &way);
}

/* Every form with these passes and threads that can suit the batch. */
static void add_forms(adviser *a, sp_proposals *l, unsigned passes, int threads)
{
    sp_way way = {.passes = passes, .form = {.threads = threads}};
    int64_t batch = a->p->batch;

    if (batch <= SMALL_BATCH) {
        add_form(a, l, way, "gather", "", 0);
        add_form(a, l, way, "edges", "source", 0);
        add_form(a, l, way, "edges", "blocked", 0);
    }
    if (passes)
        add_form(a, l, way, "plain", "", 0);
    for (int tile = 8; tile <= 64 && tile < 2 * batch + 8; tile *= 2)
        add_form(a, l, way, "rows", "", tile);
}

static int by_prediction(const void *a, const void *b)
{
    double x = ((const sp_proposal *)a)->predicted;
    double y = ((const sp_proposal *)b)->predicted;

    return (x > y) - (x < y);
}

/* The best `most` of a list, behind those of another. */
static void take_best(sp_proposals *l, sp_proposals *from, int most)
{
    qsort(from->list, (size_t)from->count, sizeof *from->list, by_prediction);
    for (int i = 0, taken = 0; i < from->count && taken < most; i++)
        taken += sp_proposals_add(l, &from->list[i]);
}

spry_status sp_inference_propose(sp_adviser *head, sp_proposals *l)
{
    adviser *a = (adviser *)head;
    sp_proposals all = {sp_alloc(LISTED, sizeof *all.list), 0, LISTED};

    if (!all.list)
        return sp_no_memory(LISTED * sizeof *all.list);
    for (int threads = a->q.m->threads; threads > 0; threads /= 2) {
        add_forms(a, &all, 0, threads);
        if (a->p->passes)
            add_forms(a, &all, a->p->passes, threads);
    }
    take_best(l, &all, a->q.patient ? MANY : FEW);
    sp_free(all.list);
    return SPRY_OK;
}

/* ---- neighbours ---- */

static void add_neighbours(adviser *a, sp_proposals *l, const sp_way *way)
{
    static const char *const orders[] = {"source", "destination", "blocked",
                                         "clustered"};
    sp_way other = *way;

    if (way->form.tile)
        for (int k = 0; k < 2; k++) {
            other.form.tile = k ? way->form.tile * 2 : way->form.tile / 2;
            if (other.form.tile >= 8 && other.form.tile <= 64)
                add(a, l, &other);
        }
    other = *way;
    for (int t = 1; t <= a->q.m->threads; t *= 2) {
        other.form.threads = t;
        add(a, l, &other);
    }
    other = *way;
    for (size_t i = 0; *way->form.order && i < sizeof orders / sizeof orders[0];
         i++) {
        strcpy(other.form.order, orders[i]);
        add(a, l, &other);
    }
    other = *way;
    for (unsigned bit = 1; a->q.patient && bit <= way->passes; bit <<= 1)
        if (way->passes & bit && way->passes != bit) {
            other.passes = way->passes & ~bit;
            add(a, l, &other);
        }
}

spry_status sp_inference_around(sp_adviser *head, sp_proposals *l,
                                const sp_proposal *leader, int leaders)
{
    adviser *a = (adviser *)head;
    sp_proposals all = {sp_alloc(LISTED, sizeof *all.list), 0, LISTED};
    sp_way way;

    if (!all.list)
        return sp_no_memory(LISTED * sizeof *all.list);
    for (int i = 0; i < leaders; i++)
        if (sp_way_parse(&way, leader[i].text) == SPRY_OK)
            add_neighbours(a, &all, &way);
    take_best(l, &all, GENERATION);
    sp_free(all.list);
    return SPRY_OK;
}

/* ---- coming and going ---- */

spry_status sp_inference_consult(sp_adviser **out, const sp_inquiry *q)
{
    const spry_network *smaller;
    adviser *a;
    spry_status s;

    *out = NULL;
    /* Now, so that every child finds it made. */
    s = sp_inference_smaller(&smaller, sp_inference_of(q->p));
    a = s == SPRY_OK ? sp_alloc(1, sizeof *a) : NULL;
    if (!a)
        return s == SPRY_OK ? sp_no_memory(sizeof *a) : s;
    a->q = *q;
    a->p = sp_inference_of(q->p);
    a->head.seconds = q->seconds > 0 ? q->seconds : DEFAULT_BUDGET;
    strcpy(a->head.who, "analytic");
    *out = &a->head;
    return SPRY_OK;
}

void sp_inference_dismiss(sp_adviser *a)
{
    sp_free(a);
}
