/* charts.c - cases -> plots. */
#include "report/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem/operation.h"
#include "report/html.h"
#include "report/plot.h"

/* ---- what a problem must do ---- */

/* NULL: a network, say, of which nnz are the edges. */
static const sp_operation *op_of(const sp_report *r, const sp_report_case *c)
{
    return sp_operation_named(r->text[c->op]);
}

/* Operations of one run; 0 when the problem's shape is not known. */
static double flops_of(const sp_report *r, const sp_report_case *c)
{
    const sp_operation *d = op_of(r, c);

    return (d ? d->flops : 2) * (double)c->nnz * (double)c->n;
}

/* The bytes that a run moves at least when A is stored in `packed`. */
static double bytes_of(const sp_report *r, const sp_report_case *c,
                       double packed)
{
    double word = strcmp(r->text[c->type], "f64") == 0 ? 8 : 4;
    double rows = (double)c->rows, cols = (double)c->cols, n = (double)c->n;
    const sp_operation *d = op_of(r, c);

    if (d && d->sampled)
        return packed + word * ((rows + cols) * n + (double)c->nnz);
    if (d && d->modes == 3)
        return packed + word * rows * n; /* B and D are not told */
    return packed + word * (rows + cols) * n;
}

/* ---- points ---- */

typedef struct {
    double *x, *y;
    int *trial; /* whose point it is */
    int count;
} points;

static int open_points(points *p, int room)
{
    p->x = sp_alloc(room + 1, sizeof *p->x);
    p->y = sp_alloc(room + 1, sizeof *p->y);
    p->trial = sp_alloc(room + 1, sizeof *p->trial);
    p->count = 0;
    return p->x && p->y && p->trial;
}

static void close_points(points *p)
{
    sp_free(p->x);
    sp_free(p->y);
    sp_free(p->trial);
}

static void add_point(points *p, double x, double y, int trial)
{
    if (!(x > 0) || !(y > 0) || !isfinite(x) || !isfinite(y))
        return;
    p->x[p->count] = x;
    p->y[p->count] = y;
    p->trial[p->count++] = trial;
}

static int is_timed(const sp_report_trial *t)
{
    return (t->verdict == SPRY_VERDICT_OK || t->verdict == SPRY_VERDICT_SLOW) &&
           t->seconds > 0;
}

/* All trials as small marks, the baseline and the winner by name on top. */
static void draw_points(sp_plot *p, const sp_report *r, const sp_report_case *c,
                        const points *all)
{
    sp_plot_marks(p, SP_MARK_TRIAL, all->x, all->y, all->count);
    for (int i = 0; c->answered && i < all->count; i++) {
        int schedule = c->trial[all->trial[i]].schedule;

        if (schedule == c->answer.baseline || schedule == c->answer.schedule)
            sp_plot_named(p,
                          schedule == c->answer.schedule ? SP_MARK_WINNER
                                                         : SP_MARK_BASELINE,
                          all->x[i], all->y[i], r->text[schedule]);
    }
}

/* ---- the roofline ---- */

/* Of all threads; 0 when the machine was not probed. */
static double peak_of(const spry_machine *m, const char *type)
{
    double one = strcmp(type, "f64") == 0 ? m->fma_f64 : m->fma_f32;

    return m->probed ? one * m->threads : 0;
}

static double stream_of(const spry_machine *m)
{
    return m->probed && m->points ? m->triad[m->points - 1] : 0;
}

static void draw_roof(sp_plot *p, double peak, double stream)
{
    double ridge = peak / stream;
    double x[3] = {p->x.low, ridge, p->x.high}, y[3];

    for (int i = 0; i < 3; i++)
        y[i] = fmin(peak, stream * x[i]) / 1e9;
    if (ridge <= x[0] || ridge >= x[2]) {
        x[1] = x[2];
        y[1] = y[2];
        sp_plot_line(p, "roof", x, y, 2, 0);
    } else {
        sp_plot_line(p, "roof", x, y, 3, 0);
    }
}

void sp_chart_roofline(sp_buf *out, const sp_report *r, const sp_report_case *c,
                       int *number)
{
    const spry_machine *m = sp_report_machine(r, c);
    double flops = flops_of(r, c), peak, stream;
    sp_plot plot = {.out = out, .number = *number};
    points all;

    if (!m || !(flops > 0) || !((peak = peak_of(m, r->text[c->type])) > 0) ||
        !((stream = stream_of(m)) > 0))
        return;
    if (open_points(&all, c->trials))
        for (int i = 0; i < c->trials; i++)
            if (is_timed(&c->trial[i]))
                add_point(&all, flops / bytes_of(r, c, c->trial[i].bytes),
                          flops / c->trial[i].seconds / 1e9, i);
    if (all.count > 0) {
        double low = all.x[0], high = all.x[0], tops[2] = {peak / 1e9, 0};

        for (int i = 0; i < all.count; i++) {
            low = fmin(low, all.x[i]);
            high = fmax(high, all.x[i]);
            tops[1] = i ? fmin(tops[1], all.y[i]) : all.y[i];
        }
        plot.x = (sp_axis){low / 4, high * 4, 1, "operations per byte"};
        plot.y = sp_axis_of(tops, 2, 1, 0, "GFLOP/s");
        sp_plot_open(&plot, "Roofline",
                     "Speed of every schedule over its operations per byte; "
                     "the line is the machine's bandwidth, then its peak");
        draw_roof(&plot, peak, stream);
        draw_points(&plot, r, c, &all);
        sp_plot_close(&plot);
        ++*number;
    }
    close_points(&all);
}

/* ---- predicted against measured ---- */

void sp_chart_predicted(sp_buf *out, const sp_report *r,
                        const sp_report_case *c, int *number)
{
    sp_plot plot = {.out = out, .number = *number};
    points all;

    if (open_points(&all, c->trials))
        for (int i = 0; i < c->trials; i++)
            if (is_timed(&c->trial[i]))
                add_point(&all, 1e3 * c->trial[i].predicted,
                          1e3 * c->trial[i].seconds, i);
    if (all.count > 1) {
        sp_axis x = sp_axis_of(all.x, all.count, 1, 0, "predicted ms");
        sp_axis y = sp_axis_of(all.y, all.count, 1, 0, "measured ms");
        double ends[2] = {fmin(x.low, y.low), fmax(x.high, y.high)};

        plot.x = (sp_axis){ends[0], ends[1], 1, x.label};
        plot.y = (sp_axis){ends[0], ends[1], 1, y.label};
        sp_plot_open(&plot, "Predicted and measured",
                     "Time of every schedule as the model expected it and as "
                     "it was; on the line both are equal");
        sp_plot_line(&plot, "equal", ends, ends, 2, 0);
        draw_points(&plot, r, c, &all);
        sp_plot_close(&plot);
        ++*number;
    }
    close_points(&all);
}

/* ---- how the search went ---- */

void sp_chart_search(sp_buf *out, const sp_report *r, const sp_report_case *c,
                     int *number)
{
    sp_plot plot = {.out = out, .number = *number};
    points all, best;
    int opened = open_points(&all, c->trials);

    if (open_points(&best, c->trials) && opened)
        for (int i = 0; i < c->trials; i++)
            if (is_timed(&c->trial[i])) {
                double gain = c->trial[i].speedup;
                double most = best.count ? best.y[best.count - 1] : gain;

                add_point(&all, i + 1, gain, i);
                add_point(&best, i + 1, fmax(most, gain), i);
            }
    if (all.count > 1) {
        plot.x = sp_axis_of(all.x, all.count, 0, 1, "trial");
        plot.y = sp_axis_of(all.y, all.count, 1, 0, "speed-up");
        sp_plot_open(&plot, "The search",
                     "Speed-up of every trial in order of measuring; the "
                     "line is the best so far");
        sp_plot_line(&plot, "path", best.x, best.y, best.count, 1);
        draw_points(&plot, r, c, &all);
        sp_plot_close(&plot);
        ++*number;
    }
    close_points(&all);
    close_points(&best);
}

/* ---- over all problems ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void sp_chart_speedups(sp_buf *out, const sp_report *r, int *number)
{
    sp_plot plot = {.out = out, .number = *number};
    points all;

    if (open_points(&all, r->cases))
        for (int i = 0; i < r->cases; i++)
            if (r->one[i].answered)
                add_point(&all, r->one[i].answer.speedup, 1, i);
    if (all.count > 1) {
        qsort(all.x, (size_t)all.count, sizeof *all.x, ascending);
        for (int i = 0; i < all.count; i++)
            all.y[i] = 100.0 * (i + 1) / all.count;
        plot.x = sp_axis_of(all.x, all.count, 1, 0, "speed-up");
        plot.y = (sp_axis){0, 100, 0, "% of problems, at most so much"};
        sp_plot_open(&plot, "Speed-ups of all problems",
                     "The share of problems whose speed-up is at most the "
                     "value below");
        sp_plot_line(&plot, "path", all.x, all.y, all.count, 1);
        sp_plot_marks(&plot, SP_MARK_TRIAL, all.x, all.y, all.count);
        sp_plot_close(&plot);
        ++*number;
    }
    close_points(&all);
}
