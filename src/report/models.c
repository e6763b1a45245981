/* models.c - an evaluation under way -> what a page about it is made from. */
#include "report/models.h"

#include <math.h>
#include <string.h>

/* Points of a problem that are drawn: so many say as much as all. */
enum { POINTS = 40 };

static void *grow(sp_report *r, void *old, int64_t count, int64_t *room,
                  size_t size)
{
    int64_t more = *room ? 2 * *room : 64;
    void *grown;

    if (count < *room)
        return old;
    grown = sp_grow(old, count, more, size);
    if (!grown) {
        r->status = sp_fail_memory((size_t)more * size);
        return old;
    }
    *room = more;
    return grown;
}

int sp_model_is_chance(const sp_models *m, int i)
{
    return strcmp(m->name[i], "random") == 0;
}

static double least(const double *v, int64_t n)
{
    double best = HUGE_VAL;

    for (int64_t i = 0; i < n; i++)
        best = fmin(best, v[i]);
    return best;
}

static void add_row(sp_models *m, sp_model_seen *x, const spry_judged *now)
{
    sp_model_row *rows =
        grow(&m->texts, x->row, x->rows, &x->row_room, sizeof *rows);
    int64_t n = now->choices;

    x->row = rows;
    if (m->texts.status != SPRY_OK)
        return;
    x->row[x->rows++] =
        (sp_model_row){.problem = sp_report_text(&m->texts, now->problem),
                       .choices = n,
                       .best = least(now->seconds, n),
                       .first = now->seconds[0],
                       .last = least(now->seconds, n < SP_CURVE ? n : SP_CURVE),
                       .baseline = now->baseline};
}

/* The mean of what is finite. */
static double mean_of(const double *v, int64_t n, int as_log)
{
    double sum = 0, count = 0;

    for (int64_t i = 0; i < n; i++) {
        double x = as_log ? log(v[i]) : v[i];

        if (isfinite(x)) {
            sum += x;
            count++;
        }
    }
    return count > 0 ? sum / count : 0;
}

/* Scores are of any height: both sides are told over their problem's mean. */
static void add_points(sp_models *m, sp_model_seen *x, const spry_judged *now)
{
    double score = mean_of(now->score, now->choices, 0);
    double time = mean_of(now->seconds, now->choices, 1);
    int64_t n = now->choices < POINTS ? now->choices : POINTS;

    for (int64_t k = 0; k < n; k++) {
        int64_t i = k * now->choices / n, room = x->point_room;

        if (!isfinite(now->score[i]) || fabs(now->score[i] - score) > 20)
            continue;
        x->predicted = grow(&m->texts, x->predicted, x->points, &room,
                            sizeof *x->predicted);
        x->time = grow(&m->texts, x->time, x->points, &x->point_room,
                       sizeof *x->time);
        if (m->texts.status != SPRY_OK)
            return;
        x->predicted[x->points] = exp(now->score[i] - score);
        x->time[x->points++] = exp(log(now->seconds[i]) - time);
    }
}

static void see(const spry_judged *now, void *payload)
{
    sp_models *m = payload;
    sp_model_seen *x = &m->seen[now->model];
    double best = HUGE_VAL, all = least(now->seconds, now->choices);

    if (m->texts.status != SPRY_OK || now->choices < 1)
        return;
    for (int k = 0; k < SP_CURVE; k++) {
        if (k < now->choices)
            best = fmin(best, now->seconds[k]);
        x->regret[k] += log(best / all);
    }
    add_row(m, x, now);
    if (!sp_model_is_chance(m, now->model))
        add_points(m, x, now);
}

/* ---- names ---- */

typedef struct {
    sp_models *m;
    int *source; /* [texts] what a problem is called instead; 0: nothing */
} naming;

static int name_problem(const spry_origin *o, void *payload)
{
    naming *n = payload;
    sp_report *r = &n->m->texts;
    int known = r->texts, problem = sp_report_text(r, o->problem);

    if (problem < known && !n->source[problem] && o->source[0])
        n->source[problem] = sp_report_text(r, o->source);
    return r->status != SPRY_OK;
}

/* Problems by where they come from, as far as that is known. */
static spry_status name_problems(sp_models *m, spry_records *db)
{
    naming n = {m, sp_alloc(m->texts.texts + 1, sizeof *n.source)};
    int known = m->texts.texts;
    spry_status s = n.source ? spry_records_each_origin(db, name_problem, &n)
                             : sp_fail_memory(sizeof *n.source);

    for (int i = 0; s == SPRY_OK && i < m->models; i++)
        for (int64_t k = 0; k < m->seen[i].rows; k++) {
            int *at = &m->seen[i].row[k].problem;

            if (*at < known && n.source[*at])
                *at = n.source[*at];
        }
    sp_free(n.source);
    return s == SPRY_OK ? m->texts.status : s;
}

/* ---- the door ---- */

static void close_models(sp_models *m)
{
    for (int i = 0; m->seen && i < m->models; i++) {
        sp_free(m->seen[i].row);
        sp_free(m->seen[i].predicted);
        sp_free(m->seen[i].time);
    }
    sp_free(m->seen);
    sp_report_free(&m->texts);
}

static spry_status write_models(const char *path, const sp_models *m,
                                const char *title)
{
    sp_buf page = {0};
    spry_status s = SPRY_OK;

    sp_models_page(&page, m, title ? title : "How well models choose");
    if (page.failed)
        s = sp_fail_memory(page.len);
    if (s == SPRY_OK)
        s = sp_file_write(path, page.data, page.len);
    sp_buf_free(&page);
    return s;
}

spry_status spry_report_models(const char *path, spry_grades *out,
                               const char *const *model, int count,
                               spry_records *db, const spry_train_options *opt,
                               const spry_report_options *options)
{
    SP_NEED(path, out, model, db);
    SP_REFUSE(count < 1, "there cannot be %d models", count);
    for (int i = 0; i < count; i++)
        SP_REFUSE(!model[i], "the name of model %d is NULL", i);

    spry_report_options told = SPRY_REPORT_DEFAULTS;
    spry_train_options o = SPRY_TRAIN_DEFAULTS;
    sp_models m = {.name = model, .grades = out, .models = count};
    spry_status s = SP_TAKE_OPTIONS(&told, options);

    if (s == SPRY_OK)
        s = SP_TAKE_OPTIONS(&o, opt);
    if (s == SPRY_OK)
        s = sp_writer_try(path);
    if (s != SPRY_OK)
        return s;
    o.size = sizeof o;
    o.judged = see;
    o.judged_payload = &m;
    m.subject = o.operators ? o.operators : spry_op_name(o.op);
    m.split = spry_split_name(o.split);
    m.seen = sp_alloc(count, sizeof *m.seen);
    s = m.seen ? spry_evaluate(out, model, count, db, &o)
               : sp_fail_memory((size_t)count * sizeof *m.seen);
    if (s == SPRY_OK)
        s = m.texts.status;
    if (s == SPRY_OK)
        s = name_problems(&m, db);
    if (s == SPRY_OK)
        s = write_models(path, &m, told.title);
    close_models(&m);
    return s;
}
