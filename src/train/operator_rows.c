/* operator_rows.c - records of dense operators become a table.
 *
 * A record has all that is needed: its problem is the operator's own text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/operators.h"

/* ---- records ---- */

void sp_operator_records_close(sp_operator_records *o)
{
    for (int64_t i = 0; i < o->subjects; i++) {
        free(o->subject[i].problem);
        free(o->subject[i].machine);
        free(o->subject[i].probe);
        spry_problem_free(o->subject[i].p);
        sp_free(o->subject[i].m);
    }
    sp_free(o->subject);
    sp_free(o->trial);
    sp_free(o->of);
    sp_slice_free(&o->all);
    memset(o, 0, sizeof *o);
}

static void *room_for(sp_operator_records *o, void *list, int64_t count,
                      int64_t *room, size_t size)
{
    int64_t larger = *room ? 2 * *room : 256;
    void *more;

    if (count < *room)
        return list;
    more = sp_grow(list, count, larger, size);
    if (more)
        *room = larger;
    else
        o->status = sp_fail_memory((size_t)larger * size);
    return more;
}

/* The operator and the machine of a record, read once. */
static void open_subject(sp_operator_records *o, sp_operator_subject *s)
{
    spry_operator op;
    spry_machine *m = sp_alloc(1, sizeof *m);
    int known = 0;

    if (spry_operator_parse(&op, s->problem) == SPRY_OK &&
        sp_dense_class_of(&op) == o->class &&
        spry_problem_dense(&s->p, &op) == SPRY_OK && m &&
        spry_records_get_probe(o->db, m, &known, s->probe, s->machine) ==
            SPRY_OK &&
        known)
        s->m = m;
    else
        sp_free(m);
    sp_message_clear();
}

/* -1: there is no memory. */
static int64_t subject_of(sp_operator_records *o, const spry_record *r)
{
    sp_operator_subject *s;

    for (int64_t i = o->subjects - 1; i >= 0; i--)
        if (!strcmp(o->subject[i].problem, r->problem) &&
            !strcmp(o->subject[i].machine, r->machine) &&
            !strcmp(o->subject[i].probe, r->probe))
            return i;
    s = room_for(o, o->subject, o->subjects, &o->subject_room, sizeof *s);
    if (!s)
        return -1;
    o->subject = s;
    s += o->subjects;
    *s = (sp_operator_subject){.problem = sp_strdup(r->problem),
                               .machine = sp_strdup(r->machine),
                               .probe = sp_strdup(r->probe)};
    o->subjects++;
    if (!s->problem || !s->machine || !s->probe) {
        o->status = sp_fail_memory(strlen(r->problem));
        return -1;
    }
    return o->subjects - 1;
}

static int add_record(const spry_record *r, void *payload)
{
    sp_operator_records *o = payload;
    sp_operator_trial *t =
        room_for(o, o->trial, o->trials, &o->trial_room, sizeof *t);

    if (!t)
        return 1;
    o->trial = t;
    t += o->trials;
    if (r->verdict != SPRY_VERDICT_OK || !(r->seconds > 0) ||
        !(r->speedup > 0) ||
        sp_dense_way_parse(&t->way, r->schedule) != SPRY_OK) {
        o->left_out++;
        return 0;
    }
    t->subject = subject_of(o, r);
    if (t->subject < 0)
        return 1;
    t->time = (sp_example){.log_seconds = log(r->seconds),
                           .log_speedup = log(r->speedup),
                           .noise = r->low > 0 && r->high >= r->low
                                        ? log(r->high / r->low) / 2
                                        : 0,
                           .verdict = (int)r->verdict};
    if (r->when > o->newest)
        o->newest = r->when;
    o->trials++;
    return 0;
}

static int by_subject(const void *a, const void *b)
{
    const sp_operator_trial *x = a, *y = b;

    return (x->subject > y->subject) - (x->subject < y->subject);
}

/* ---- the table ---- */

static void add_row(sp_slice *to, const sp_operator_subject *s,
                    const sp_operator_trial *t, double baseline)
{
    int64_t at = to->t.rows++;
    float *row = to->t.x + at * SP_FEATURES;

    sp_dense_row(row, sp_dense_of(s->p), &t->way, s->m);
    to->t.slower[at] = (float)-t->time.log_speedup;
    to->t.bound[at] = sp_row_bound(row);
    to->t.noise[at] = (float)t->time.noise;
    to->t.from[at] = at;
    to->e.row[at] = t->time;
    to->e.row[at].subject = to->e.subjects;
    /* races at different hours compare by their ratio to the baseline */
    to->e.row[at].log_seconds = baseline - t->time.log_speedup;
    to->e.rows = to->t.rows;
}

/* Trials [from, to) are of one subject; one with an odd way is left out. */
static void add_subject(sp_operator_records *o, int64_t from, int64_t to)
{
    const sp_operator_subject *s = &o->subject[o->trial[from].subject];
    double baseline = 0;
    int64_t before = o->all.t.rows;

    if (!s->m) {
        o->left_out += to - from;
        return;
    }
    for (int64_t i = from; i < to; i++)
        baseline +=
            (o->trial[i].time.log_seconds + o->trial[i].time.log_speedup) /
            (double)(to - from);
    for (int64_t i = from; i < to; i++)
        if (!sp_dense_way_illegal(sp_dense_of(s->p), &o->trial[i].way, s->m))
            add_row(&o->all, s, &o->trial[i], baseline);
        else
            o->left_out++;
    if (o->all.t.rows == before)
        return;
    o->of[o->all.e.subjects] = o->trial[from].subject;
    o->all.e.subjects++;
    o->all.e.start[o->all.e.subjects] = o->all.t.rows;
    o->all.t.start[o->all.e.subjects] = o->all.t.rows;
}

static spry_status make_table(sp_operator_records *o)
{
    spry_status s = sp_slice_open(&o->all, o->subjects, o->trials);

    o->of = sp_alloc(o->subjects + 1, sizeof *o->of);
    if (s == SPRY_OK && !o->of)
        s = sp_fail_memory((size_t)o->subjects * sizeof *o->of);
    if (s != SPRY_OK)
        return s;
    for (int64_t i = 0; i < o->subjects; i++)
        open_subject(o, &o->subject[i]);
    if (o->trials)
        qsort(o->trial, (size_t)o->trials, sizeof *o->trial, by_subject);
    for (int64_t i = 0, to; i < o->trials; i = to) {
        for (to = i;
             to < o->trials && o->trial[to].subject == o->trial[i].subject;
             to++)
            ;
        add_subject(o, i, to);
    }
    return SPRY_OK;
}

spry_status sp_operator_records_open(sp_operator_records *o, spry_records *db,
                                     const spry_train_options *opt)
{
    spry_status s;

    memset(o, 0, sizeof *o);
    o->opt = opt;
    o->db = db;
    SP_REFUSE(opt->meta || opt->split != SPRY_BY_PROBLEM ||
                  (strcmp(opt->kind, "spry") != 0 &&
                   strcmp(opt->kind, "operators") != 0),
              "operators are learned by one kind of model, whole operators "
              "held out, without meta-learning");
    s = sp_dense_class_parse(&o->class, opt->operators);
    if (s == SPRY_OK)
        s = spry_records_each(
            db, o->class == SP_LEARN_MATMUL ? "matmul," : "conv2d,",
            opt->machine, add_record, o);
    if (s == SPRY_OK)
        s = o->status;
    if (s == SPRY_OK)
        s = make_table(o);
    if (s != SPRY_OK)
        sp_operator_records_close(o);
    return s;
}
