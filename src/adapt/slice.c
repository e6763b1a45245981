/* slice.c - some rows of a table, or several tables, as one. */
#include <math.h>
#include <string.h>

#include "adapt/adapt.h"

void sp_slice_free(sp_slice *s)
{
    sp_dataset_free(&s->t);
    sp_free(s->e.subject);
    sp_free(s->e.row);
    sp_free(s->e.start);
    memset(s, 0, sizeof *s);
}

spry_status sp_slice_open(sp_slice *s, int64_t subjects, int64_t rows)
{
    sp_examples *e = &s->e;
    sp_dataset *t = &s->t;

    memset(s, 0, sizeof *s);
    e->subject = sp_alloc(subjects + 1, sizeof *e->subject);
    e->row = sp_alloc(rows + 1, sizeof *e->row);
    e->start = sp_alloc(subjects + 2, sizeof *e->start);
    t->e = e;
    t->start = sp_alloc(subjects + 2, sizeof *t->start);
    t->from = sp_alloc(rows + 1, sizeof *t->from);
    t->x = sp_alloc_raw(rows + 1, SP_FEATURES * sizeof *t->x);
    t->slower = sp_alloc(rows + 1, sizeof *t->slower);
    t->bound = sp_alloc(rows + 1, sizeof *t->bound);
    t->noise = sp_alloc(rows + 1, sizeof *t->noise);
    t->elastic = sp_alloc(rows + 1, SP_ELASTICITIES * sizeof *t->elastic);
    if (e->subject && e->row && e->start && t->start && t->from && t->x &&
        t->slower && t->bound && t->noise && t->elastic)
        return SPRY_OK;
    sp_slice_free(s);
    return sp_fail_memory((size_t)rows * SP_FEATURES * sizeof(float));
}

static void set_elastic(sp_dataset *t, int64_t row, const float *from)
{
    memcpy(t->elastic + row * SP_ELASTICITIES, from,
           SP_ELASTICITIES * sizeof *from);
}

static void add_row(sp_slice *s, const sp_dataset *from, int64_t i)
{
    sp_dataset *t = &s->t;
    int64_t at = t->rows++;

    memcpy(t->x + at * SP_FEATURES, from->x + i * SP_FEATURES,
           SP_FEATURES * sizeof *t->x);
    t->slower[at] = from->slower[i];
    t->bound[at] = from->bound[i];
    t->noise[at] = from->noise[i];
    t->from[at] = at;
    set_elastic(t, at, sp_row_elastic(from, i));
    s->e.row[at] = from->e->row[from->from[i]];
    s->e.row[at].subject = s->e.subjects;
    s->e.rows = t->rows;
}

/* All that is kept of t, behind what is there. */
static void add_table(sp_slice *s, const sp_dataset *t, const uint8_t *keep)
{
    for (int64_t k = 0; k < t->e->subjects; k++) {
        int64_t before = s->t.rows;

        for (int64_t i = t->start[k]; i < t->start[k + 1]; i++)
            if (!keep || keep[i])
                add_row(s, t, i);
        if (s->t.rows == before)
            continue;
        s->e.subject[s->e.subjects++] = t->e->subject[k];
        s->e.start[s->e.subjects] = s->t.rows;
        s->t.start[s->e.subjects] = s->t.rows;
    }
}

spry_status sp_slice_new(sp_slice *out, const sp_dataset *t,
                         const uint8_t *keep)
{
    int64_t rows = 0;
    spry_status s;

    for (int64_t i = 0; i < t->rows; i++)
        rows += keep[i] != 0;
    s = sp_slice_open(out, t->e->subjects, rows);
    if (s == SPRY_OK)
        add_table(out, t, keep);
    return s;
}

spry_status sp_slice_join(sp_slice *out, const sp_dataset *const *t, int count)
{
    int64_t rows = 0, subjects = 0;
    spry_status s;

    for (int i = 0; i < count; i++) {
        rows += t[i]->rows;
        subjects += t[i]->e->subjects;
    }
    s = sp_slice_open(out, subjects, rows);
    for (int i = 0; s == SPRY_OK && i < count; i++)
        add_table(out, t[i], NULL);
    return s;
}

/* ---- what was seen before ---- */

/* 1: rows of one problem, seen on one machine. */
static int same_subject(const float *x, const float *y)
{
    for (int k = 0; k < SP_PATTERN + SP_MACHINE; k++)
        if (!(x[k] == y[k] || (isnan(x[k]) && isnan(y[k]))))
            return 0;
    return 1;
}

static void end_subject(sp_slice *s)
{
    if (s->t.rows == s->t.start[s->e.subjects])
        return;
    s->e.subjects++;
    s->e.start[s->e.subjects] = s->t.start[s->e.subjects] = s->t.rows;
}

static void add_seen(sp_slice *s, const sp_local *l, const sp_fresh *f)
{
    int64_t rows = sp_local_rows(l);

    for (int64_t i = 0; i < rows; i++) {
        const float *label = l->label->value + i * 4;
        int64_t at = s->t.rows;

        if (i > 0 && label[3] != label[-1])
            end_subject(s);
        sp_local_seen_row(s->t.x + at * SP_FEATURES, l, i);
        if (f->rows > 0 && same_subject(s->t.x + at * SP_FEATURES, f->x))
            continue; /* measured again: what is new counts */
        s->t.slower[at] = label[0];
        s->t.bound[at] = label[1];
        s->t.noise[at] = label[2];
        set_elastic(&s->t, at, l->seen_elastic->value + i * SP_ELASTICITIES);
        s->t.from[at] = at;
        s->e.rows = ++s->t.rows;
    }
    end_subject(s);
}

spry_status sp_slice_recall(sp_slice *out, const sp_local *l, const sp_fresh *f)
{
    int64_t rows = sp_local_rows(l) + f->rows;
    spry_status s = sp_slice_open(out, rows + 1, rows);

    if (s != SPRY_OK)
        return s;
    add_seen(out, l, f);
    for (int64_t i = 0; i < f->rows; i++) {
        int64_t at = out->t.rows;
        float *x = out->t.x + at * SP_FEATURES;

        memcpy(x, f->x + i * SP_FEATURES, SP_FEATURES * sizeof *x);
        out->t.slower[at] = f->slower[i];
        out->t.bound[at] = sp_row_bound(x);
        out->t.noise[at] = f->noise[i];
        set_elastic(&out->t, at, f->elastic + i * SP_ELASTICITIES);
        out->t.from[at] = at;
        out->e.rows = ++out->t.rows;
    }
    end_subject(out);
    return SPRY_OK;
}
