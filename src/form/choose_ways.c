/* choose_ways.c - ways worth a race, and a guess how long each would take. */
#include <stdlib.h>
#include <string.h>

#include "form/choose.h"

/* How many edges a core does in a second for one input at a time, and what a
 * layer costs before its first edge; measured on one machine: only their
 * order matters. */
static const struct {
    const char *form;
    double rate, layer;
} speed[] = {{"plain", 1.5e9, 2e-8},
             {"edges", 1.0e9, 0},
             {"gather", 2.5e9, 5e-8},
             {"rows", 2.5e9, 5e-8}};

/* Inputs side by side share the edge: this many times the rate. */
static double side_by_side(const spry_form *f, int64_t batch)
{
    if (strcmp(f->name, "rows") == 0) {
        double full = f->tile == 16 ? 8 : f->tile == 32 ? 7.5 : 7;

        return batch < f->tile ? (double)batch / f->tile * full : full;
    }
    if (strcmp(f->name, "gather") == 0)
        return 1;
    return batch >= 16 ? 4 : 1;
}

/* Threads split the batch; one input they split layer by layer. */
static double sharing(const spry_form *f, int64_t batch, int64_t layers,
                      double *meetings)
{
    int threads = f->threads > 0 ? f->threads : 1;

    *meetings = 0;
    if (batch > 1)
        return (double)(batch < threads ? batch : threads);
    if (strcmp(f->name, "gather") != 0 || threads == 1)
        return 1;
    *meetings = (double)layers * 4e-7;
    return threads;
}

static double predict(const spry_form *f, const spry_network *n, int64_t batch)
{
    double rate = 1e9, layer = 0, meetings, shared;

    for (size_t i = 0; i < sizeof speed / sizeof *speed; i++)
        if (strcmp(speed[i].form, f->name) == 0) {
            rate = speed[i].rate;
            layer = speed[i].layer;
        }
    shared = sharing(f, batch, n->layers, &meetings);
    return ((double)n->edges / rate + (double)n->layers * layer) *
               (double)batch / side_by_side(f, batch) / shared +
           meetings;
}

/* ---- the list ---- */

typedef struct {
    spry_way_trial trial[64];
    int count;
} listing;

static void add(listing *l, const sp_chooser *c, unsigned passes,
                const char *text)
{
    const spry_network *n = passes && c->smaller ? c->smaller : c->n;
    spry_way_trial *t = &l->trial[l->count];

    *t = (spry_way_trial){.way = {.passes = passes}};
    if (spry_form_parse(&t->way.form, text) != SPRY_OK)
        return;
    t->predicted = predict(&t->way.form, n, c->out->raced);
    l->count++;
}

static void add_forms(listing *l, const sp_chooser *c, unsigned passes)
{
    int64_t batch = c->out->raced;
    int threads[2] = {c->out->machine.threads, 1};
    char text[SPRY_FORM_TEXT];

    for (int i = 0; i < (threads[0] > 1 ? 2 : 1); i++) {
        if (batch <= 64) {
            snprintf(text, sizeof text, "gather threads=%d", threads[i]);
            add(l, c, passes, text);
        }
        for (int tile = 8; tile <= 64 && tile < 2 * batch + 8; tile *= 2) {
            snprintf(text, sizeof text, "rows tile=%d threads=%d", tile,
                     threads[i]);
            add(l, c, passes, text);
        }
    }
    if (batch <= 64) {
        add(l, c, passes, "edges order=source");
        add(l, c, passes, "edges order=blocked");
    }
}

static int by_prediction(const void *a, const void *b)
{
    double x = ((const spry_way_trial *)a)->predicted;
    double y = ((const spry_way_trial *)b)->predicted;

    return (x > y) - (x < y);
}

void sp_choose_list(sp_chooser *c)
{
    enum { LIKELY = 10 };
    listing plain = {.count = 0}, likely = {.count = 0};
    char text[SPRY_FORM_TEXT];

    snprintf(text, sizeof text, "plain threads=%d", c->out->machine.threads);
    add(&plain, c, 0, text);
    add(&plain, c, 0, "edges order=destination");
    add_forms(&likely, c, 0);
    if (c->smaller)
        add_forms(&likely, c, c->passes);
    qsort(likely.trial, (size_t)likely.count, sizeof *likely.trial,
          by_prediction);
    if (likely.count > LIKELY)
        likely.count = LIKELY;
    memcpy(c->out->trial, plain.trial,
           (size_t)plain.count * sizeof *plain.trial);
    memcpy(c->out->trial + plain.count, likely.trial,
           (size_t)likely.count * sizeof *likely.trial);
    c->out->trials = plain.count + likely.count;
}

const spry_way_trial *sp_choose_guess(const sp_chooser *c)
{
    return &c->out->trial[SP_BASELINES_MOST];
}
