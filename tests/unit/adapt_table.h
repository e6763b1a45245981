/* adapt_table.h - a table of numbers drawn by chance, and a model that has
 * learned nothing yet. */
#ifndef SPRY_ADAPT_TABLE_H
#define SPRY_ADAPT_TABLE_H

#include <stdio.h>
#include <string.h>

#include "adapt/adapt.h"
#include "check.h"

enum { SUBJECTS = 12, EACH = 16, ROWS = SUBJECTS * EACH };
enum { FEATURE = SP_PATTERN + SP_MACHINE + 3 }; /* one of the schedule's */

typedef struct {
    sp_dataset t;
    sp_examples e;
    int64_t start[SUBJECTS + 1], from[ROWS], group[SUBJECTS];
    sp_subject subject[SUBJECTS];
    sp_example row[ROWS];
    float x[ROWS][SP_FEATURES], slower[ROWS], bound[ROWS], noise[ROWS];
    float elastic[ROWS][SP_ELASTICITIES];
} table;

static inline void draw_table(table *d, uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);

    memset(d, 0, sizeof *d);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < SP_FEATURES; k++)
            d->x[i][k] = (float)sp_rng_normal(&r);
        d->from[i] = i;
        d->row[i].subject = i / EACH;
    }
    for (int s = 0; s <= SUBJECTS; s++)
        d->start[s] = (int64_t)s * EACH;
    for (int s = 0; s < SUBJECTS; s++)
        d->group[s] = s;
    d->e = (sp_examples){SUBJECTS, ROWS, d->subject, d->row, d->start};
    d->t = (sp_dataset){&d->e,     ROWS,     d->start, d->from,      d->x[0],
                        d->slower, d->bound, d->noise, d->elastic[0]};
}

/* A source without trees whose networks are as they begin. */
static inline void open_source(sp_pretrained *s)
{
    memset(s, 0, sizeof *s);
    check_ok(sp_nn_new(&s->nn, 3));
    for (int k = 0; k < SP_PRETRAINED_NETS; k++) {
        char name[16];

        snprintf(name, sizeof name, "net%d", k);
        sp_resnet_make(&s->net[k], s->nn, name);
        sp_pretrained_learns(s, k, 0);
    }
    s->nets = SP_PRETRAINED_NETS;
    check_ok(sp_nn_status(s->nn));
}

#endif
