/* certificate.c - a store thinned out, and what that costs.
 *
 * The certificate goes round the groups: a model learns from what a way keeps
 * of those that teach, and is graded on all records of those held out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "train/sample.h"

static const spry_sample_options defaults = SPRY_SAMPLE_DEFAULTS;

static int threads_of(const spry_sample_options *opt)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return opt->threads > 0 ? opt->threads : online > 0 ? (int)online : 1;
}

/* ---- store to store ---- */

static uint64_t mark_of(const char *problem, const char *machine,
                        const spry_schedule *x)
{
    char text[SPRY_SCHEDULE_TEXT];
    sp_hash h = sp_hash_begin();

    spry_schedule_text(text, x);
    sp_hash_add(&h, problem, strlen(problem) + 1);
    sp_hash_add(&h, machine, strlen(machine) + 1);
    sp_hash_add(&h, text, strlen(text));
    return h.a;
}

static int by_mark(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

typedef struct {
    spry_records *to;
    const uint64_t *mark; /* [marks] of what is kept, sorted */
    int64_t marks;
    spry_sampled *out;
    spry_status status;
} copying;

static int copy_record(const spry_record *r, void *payload)
{
    copying *c = payload;
    spry_schedule x;
    uint64_t mark;

    c->out->records++;
    if (spry_schedule_parse(&x, r->schedule) != SPRY_OK) {
        c->out->invalid++;
        return 0;
    }
    mark = mark_of(r->problem, r->machine, &x);
    if (!bsearch(&mark, c->mark, (size_t)c->marks, sizeof mark, by_mark))
        return 0;
    c->status = spry_records_add(c->to, r);
    c->out->kept += c->status == SPRY_OK;
    return c->status != SPRY_OK;
}

typedef struct {
    spry_records *to;
    const sp_data *d;
    spry_status status;
} origins;

static int copy_origin(const spry_origin *o, void *payload)
{
    origins *c = payload;

    for (int64_t s = 0; s < c->d->e.subjects; s++)
        if (strcmp(c->d->problem[s], o->problem) == 0) {
            c->status = spry_records_put_origin(c->to, o);
            break;
        }
    return c->status != SPRY_OK;
}

/* Problems and machines of what is kept; of a machine every card. */
static spry_status copy_subjects(spry_records *from, spry_records *to,
                                 const sp_data *d)
{
    origins o = {to, d, SPRY_OK};
    spry_status s = spry_records_each_origin(from, copy_origin, &o);

    if (s == SPRY_OK)
        s = o.status;
    for (int64_t k = 0; k < d->e.subjects && s == SPRY_OK; k++)
        if (d->m[k])
            s = spry_records_put_machine(to, d->m[k]);
    return s;
}

static spry_status copy_kept(spry_sampled *out, spry_records *from,
                             spry_records *to, const sp_data *d,
                             const uint8_t *keep,
                             const spry_sample_options *opt)
{
    uint64_t *mark = sp_alloc(d->e.rows + 1, sizeof *mark);
    copying c = {.to = to, .mark = mark, .out = out, .status = SPRY_OK};
    char prefix[32];
    spry_status s;

    if (!mark)
        return sp_fail_memory((size_t)d->e.rows * sizeof *mark);
    for (int64_t k = 0; k < d->e.subjects; k++)
        for (int64_t i = d->e.start[k]; i < d->e.start[k + 1]; i++)
            if (keep[i])
                mark[c.marks++] =
                    mark_of(d->problem[k], d->machine[k], &d->e.row[i].x);
    qsort(mark, (size_t)c.marks, sizeof *mark, by_mark);
    snprintf(prefix, sizeof prefix, "%s-", spry_op_name(opt->op));
    s = copy_subjects(from, to, d);
    if (s == SPRY_OK)
        s = spry_records_batch(to);
    if (s == SPRY_OK) {
        s = spry_records_each(from, prefix, opt->machine, copy_record, &c);
        if (s == SPRY_OK)
            s = c.status;
        if (s == SPRY_OK)
            s = spry_records_commit(to);
    }
    sp_free(mark);
    return s;
}

spry_status spry_records_sample(spry_sampled *out, spry_records *from,
                                spry_records *to,
                                const spry_sample_options *opt)
{
    SP_NEED(out, from, to);
    SP_ROOM(out);

    spry_sampled n = {.records = 0};
    uint8_t *keep = NULL;
    sp_data d = {0};
    spry_sample_options o = defaults;
    spry_status s = SP_TAKE_OPTIONS(&o, opt);

    if (s != SPRY_OK)
        return s;
    opt = &o;
    SP_NEED(opt->way);
    s = sp_data_open(&d, from, opt->op, opt->machine, threads_of(opt));
    if (s != SPRY_OK)
        return s;
    keep = sp_alloc(d.e.rows + 1, 1);
    if (!keep)
        s = sp_fail_memory((size_t)d.e.rows);
    else if (d.e.rows == 0)
        s = sp_fail(SPRY_USAGE, "the store has no records of %s to sample",
                    spry_op_name(opt->op));
    if (s == SPRY_OK)
        s = sp_sample_rows(keep, &d.e, opt->way, opt->share, opt->seed,
                           threads_of(opt), &n);
    if (s == SPRY_OK)
        s = copy_kept(&n, from, to, &d, keep, opt);
    n.spared = n.records - n.invalid - n.rare - n.kept;
    SP_GIVE(out, &n);
    sp_free(keep);
    sp_data_close(&d);
    return s;
}

/* ---- the certificate ---- */

/* What a way keeps of what teaches. */
static spry_status thin_out(sp_examples *out, const sp_examples *e,
                            const spry_certificate *line,
                            const spry_sample_options *opt)
{
    uint8_t *keep = sp_alloc(e->rows + 1, 1);
    spry_status s = SPRY_OK;

    if (!keep)
        return sp_fail_memory((size_t)e->rows);
    if (line->share >= 1)
        memset(keep, 1, (size_t)e->rows);
    else
        s = sp_sample_rows(keep, e, line->way, line->share, opt->seed,
                           threads_of(opt), NULL);
    if (s == SPRY_OK)
        s = sp_examples_subset(out, e, keep);
    sp_free(keep);
    return s;
}

static spry_status one_turn(spry_certificate *line, sp_grading *g,
                            const sp_examples part[SP_PARTS],
                            const sp_cost_kind *kind,
                            const spry_sample_options *opt)
{
    double begin;
    sp_examples kept;
    sp_cost *c = NULL;
    spry_status s = thin_out(&kept, &part[SP_TEACH], line, opt);
    sp_fitting l = {.train = &kept,
                    .test = part[SP_STOP].rows ? &part[SP_STOP] : NULL,
                    .seed = opt->seed,
                    .threads = threads_of(opt)};

    if (s != SPRY_OK)
        return s;
    begin = sp_seconds();
    s = sp_cost_fit(&c, kind, opt->op, &l);
    line->seconds += sp_seconds() - begin;
    line->records += part[SP_TEACH].rows;
    line->kept += kept.rows;
    if (s == SPRY_OK)
        s = sp_grade_model(g, c, &part[SP_HELD]);
    sp_cost_free(c);
    sp_examples_free(&kept);
    return s;
}

static spry_status all_turns(spry_certificate *line, sp_grading **g, int count,
                             const sp_data *d, const sp_cost_kind *kind,
                             const spry_sample_options *opt)
{
    int turns = sp_data_turns(d, SPRY_BY_PROBLEM);
    spry_status s = SPRY_OK;

    for (int turn = 0; turn < turns && s == SPRY_OK; turn++) {
        sp_examples part[SP_PARTS];

        s = sp_data_split(part, d, SPRY_BY_PROBLEM, opt->seed, turn);
        if (s != SPRY_OK)
            return s;
        if (part[SP_TEACH].rows < 2 || part[SP_HELD].rows == 0)
            s = sp_fail(SPRY_USAGE,
                        "%lld records of %lld problems are too few "
                        "to learn from and to hold some out",
                        (long long)d->e.rows, (long long)d->e.subjects);
        for (int i = 0; i < count && s == SPRY_OK; i++)
            s = one_turn(&line[i], g[i], part, kind, opt);
        for (int k = 0; k < SP_PARTS; k++)
            sp_examples_free(&part[k]);
    }
    return s;
}

spry_status spry_sample_certify(spry_certificate *line, int count,
                                spry_records *db,
                                const spry_sample_options *opt)
{
    SP_NEED(line, db);
    SP_REFUSE(count < 0, "%d lines of a certificate", count);

    const sp_cost_kind *kind;
    sp_grading **g;
    sp_data d = {0};
    spry_sample_options o = defaults;
    spry_status s = SP_TAKE_OPTIONS(&o, opt);

    if (s != SPRY_OK)
        return s;
    opt = &o;
    SP_NEED(opt->kind);
    g = sp_alloc(count + 1, sizeof(sp_grading *));
    if (!g)
        return sp_fail_memory((size_t)count * sizeof *g);
    kind = sp_cost_kind_find(opt->kind);
    if (!kind)
        s = sp_fail(SPRY_USAGE, "there is no kind of model '%s'", opt->kind);
    for (int i = 0; i < count && s == SPRY_OK; i++) {
        line[i].records = line[i].kept = 0;
        line[i].seconds = 0;
        s = sp_grading_new(&g[i], opt->op);
    }
    if (s == SPRY_OK)
        s = sp_data_open(&d, db, opt->op, opt->machine, threads_of(opt));
    if (s == SPRY_OK)
        s = all_turns(line, g, count, &d, kind, opt);
    for (int i = 0; i < count && s == SPRY_OK; i++)
        s = sp_grading_end(&line[i].grades, g[i], line[i].way, kind->absolute);
    for (int i = 0; i < count; i++)
        sp_grading_free(g[i]);
    sp_free(g);
    sp_data_close(&d);
    return s;
}

/* ---- importance ---- */

static int by_weight(const void *a, const void *b)
{
    const spry_feature_weight *x = a, *y = b;

    if (x->importance != y->importance)
        return x->importance > y->importance ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void name_feature(char out[32], int k)
{
    static const struct {
        const char *name;
        int width;
    } parts[] = {{"pattern", SP_PATTERN},
                 {"machine", SP_MACHINE},
                 {"schedule", SP_SCHEDULE},
                 {"joint", SP_JOINT}};
    int p = 0;

    while (k >= parts[p].width)
        k -= parts[p++].width;
    if (p == 1)
        snprintf(out, 32, "%s", sp_machine_column(k));
    else
        snprintf(out, 32, "%s %d", parts[p].name, k);
}

spry_status spry_sample_importance(spry_feature_weight *out, int most,
                                   int *count, spry_records *db,
                                   const spry_sample_options *opt)
{
    SP_NEED(count, db);
    SP_REFUSE(most < 0, "%d features cannot be listed", most);

    double importance[SP_FEATURES];
    spry_feature_weight all[SP_FEATURES];
    sp_dataset t = {0};
    sp_data d = {0};
    spry_sample_options o = defaults;
    spry_status s = SP_TAKE_OPTIONS(&o, opt);

    *count = 0;
    if (s != SPRY_OK)
        return s;
    opt = &o;
    s = sp_data_open(&d, db, opt->op, opt->machine, threads_of(opt));
    if (s == SPRY_OK)
        s = sp_dataset_new(&t, &d.e, threads_of(opt));
    if (s == SPRY_OK) {
        sp_sample_importance(importance, &t);
        for (int k = 0; k < SP_FEATURES; k++) {
            name_feature(all[k].name, k);
            all[k].importance = importance[k];
        }
        qsort(all, SP_FEATURES, sizeof *all, by_weight);
        *count = SP_FEATURES < most || !out ? SP_FEATURES : most;
        if (out)
            memcpy(out, all, (size_t)*count * sizeof *all);
        sp_dataset_free(&t);
    }
    sp_data_close(&d);
    return s;
}
