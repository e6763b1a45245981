/* split.c - what teaches, what says when to stop, what is held out.
 *
 * Groups go to one side whole: a resized or permuted copy of a matrix is on
 * the same side as the matrix. Which side is a matter of the group's name and
 * the seed, not of the order in the store. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/internal.h"

static const double shares[SP_PARTS] = {0.7, 0.15, 0.15};

void sp_examples_free(sp_examples *e)
{
    sp_free(e->subject);
    sp_free(e->row);
    sp_free(e->start);
    memset(e, 0, sizeof *e);
}

static spry_status examples_new(sp_examples *e, int64_t subjects, int64_t rows)
{
    *e = (sp_examples){0};
    e->subject = sp_alloc(subjects + 1, sizeof *e->subject);
    e->row = sp_alloc(rows + 1, sizeof *e->row);
    e->start = sp_alloc(subjects + 2, sizeof *e->start);
    if (e->subject && e->row && e->start)
        return SPRY_OK;
    sp_examples_free(e);
    return sp_fail_memory((size_t)rows * sizeof *e->row);
}

static void add_subject(sp_examples *e, const sp_subject *s)
{
    e->subject[e->subjects] = *s;
    e->start[++e->subjects] = e->rows;
}

static void add_row(sp_examples *e, const sp_example *row)
{
    e->row[e->rows] = *row;
    e->row[e->rows++].subject = e->subjects - 1;
    e->start[e->subjects] = e->rows;
}

spry_status sp_examples_join(sp_examples *out, const sp_examples *a,
                             const sp_examples *b)
{
    const sp_examples *both[] = {a, b};
    spry_status s =
        examples_new(out, a->subjects + b->subjects, a->rows + b->rows);

    for (int k = 0; s == SPRY_OK && k < 2; k++)
        for (int64_t i = 0; i < both[k]->subjects; i++) {
            add_subject(out, &both[k]->subject[i]);
            for (int64_t r = both[k]->start[i]; r < both[k]->start[i + 1]; r++)
                add_row(out, &both[k]->row[r]);
        }
    return s;
}

spry_status sp_examples_subset(sp_examples *out, const sp_examples *e,
                               const uint8_t *keep)
{
    spry_status s = examples_new(out, e->subjects, e->rows);

    for (int64_t i = 0; s == SPRY_OK && i < e->subjects; i++) {
        add_subject(out, &e->subject[i]);
        for (int64_t r = e->start[i]; r < e->start[i + 1]; r++)
            if (keep[r])
                add_row(out, &e->row[r]);
    }
    return s;
}

/* ---- by name ---- */

static double unit_of(const char *name, uint64_t seed)
{
    sp_hash h = sp_hash_begin();

    sp_hash_add(&h, name, strlen(name));
    sp_hash_add(&h, &seed, sizeof seed);
    return (double)(h.a >> 11) * 0x1p-53;
}

typedef struct {
    const char *name;
    double at;
} group;

static int by_place(const void *a, const void *b)
{
    const group *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The different names, in the order of the seed; returns how many. */
static int64_t list_groups(group *out, char *const *name, int64_t count,
                           uint64_t seed)
{
    int64_t different = 0;

    for (int64_t i = 0; i < count; i++)
        out[i] = (group){name[i], unit_of(name[i], seed)};
    qsort(out, (size_t)count, sizeof *out, by_place);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || strcmp(out[different - 1].name, out[i].name) != 0)
            out[different++] = out[i];
    return different;
}

int64_t sp_data_different(char *const *text, int64_t count)
{
    group *g = sp_alloc(count + 1, sizeof *g);
    int64_t different = g ? list_groups(g, text, count, 0) : 0;

    sp_free(g);
    return different;
}

/* Groups that are held out at a time: with three or more, at least one. */
static int64_t few_of(int64_t groups)
{
    int64_t few = (int64_t)floor(shares[SP_HELD] * (double)groups);

    return few > 0 ? few : groups >= 3;
}

/* Turns that hold out every group once, as many of them each time as can be. */
static int64_t turns_of(int64_t groups)
{
    int64_t few = few_of(groups);

    return few ? (groups + few - 1) / few : 1;
}

static int part_of(int64_t place, int64_t groups, int turn)
{
    int64_t few = few_of(groups), turns = turns_of(groups);
    int64_t from = turn * groups / turns, to = (turn + 1) * groups / turns;
    int64_t behind;

    if (few == 0)
        return SP_TEACH;
    if (place >= from && place < to)
        return SP_HELD;
    behind = (place + groups - to % groups) % groups;
    return behind < few ? SP_STOP : SP_TEACH;
}

int sp_data_turns(const sp_data *d, spry_split split)
{
    int64_t groups = sp_data_different(
        split == SPRY_BY_MACHINE ? d->machine : d->group, d->e.subjects);

    return split == SPRY_WITHIN_PROBLEM ? 1 : (int)turns_of(groups);
}

static int64_t place_of(const group *g, int64_t groups, const char *name)
{
    int64_t i = 0;

    while (i < groups && strcmp(g[i].name, name) != 0)
        i++;
    return i;
}

static spry_status split_groups(sp_examples out[SP_PARTS], const sp_data *d,
                                char *const *name, uint64_t seed, int turn)
{
    group *g = sp_alloc(d->e.subjects + 1, sizeof *g);
    int64_t groups;

    if (!g)
        return sp_fail_memory((size_t)d->e.subjects * sizeof *g);
    groups = list_groups(g, name, d->e.subjects, seed);
    for (int64_t s = 0; s < d->e.subjects; s++) {
        sp_examples *to =
            &out[part_of(place_of(g, groups, name[s]), groups, turn)];

        add_subject(to, &d->e.subject[s]);
        for (int64_t i = d->e.start[s]; i < d->e.start[s + 1]; i++)
            add_row(to, &d->e.row[i]);
    }
    sp_free(g);
    return SPRY_OK;
}

/* ---- within problems ---- */

static void split_rows(sp_examples out[SP_PARTS], const sp_data *d,
                       uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);

    for (int64_t s = 0; s < d->e.subjects; s++) {
        for (int k = 0; k < SP_PARTS; k++)
            add_subject(&out[k], &d->e.subject[s]);
        for (int64_t i = d->e.start[s]; i < d->e.start[s + 1]; i++) {
            double at = sp_rng_unit(&r);

            add_row(&out[at < shares[SP_TEACH]      ? SP_TEACH
                         : at < 1 - shares[SP_HELD] ? SP_STOP
                                                    : SP_HELD],
                    &d->e.row[i]);
        }
    }
}

spry_status sp_data_split(sp_examples out[SP_PARTS], const sp_data *d,
                          spry_split split, uint64_t seed, int turn)
{
    spry_status s = SPRY_OK;

    memset(out, 0, SP_PARTS * sizeof *out);
    for (int k = 0; k < SP_PARTS && s == SPRY_OK; k++)
        s = examples_new(&out[k], d->e.subjects, d->e.rows);
    if (s == SPRY_OK && split == SPRY_WITHIN_PROBLEM)
        split_rows(out, d, seed);
    else if (s == SPRY_OK)
        s = split_groups(out, d,
                         split == SPRY_BY_MACHINE ? d->machine : d->group, seed,
                         turn);
    for (int k = 0; k < SP_PARTS && s != SPRY_OK; k++)
        sp_examples_free(&out[k]);
    return s;
}
