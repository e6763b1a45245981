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

    if (c->flops > 0)
        return c->flops;
    return (d ? d->flops : 2) * (double)c->nnz * (double)c->n;
}

/* The bytes that a run moves at least when A is stored in `packed`. */
static double bytes_of(const sp_report *r, const sp_report_case *c,
                       double packed)
{
    double word = strcmp(r->text[c->type], "f64") == 0 ? 8 : 4;
    double rows = (double)c->rows, cols = (double)c->cols, n = (double)c->n;
    const sp_operation *d = op_of(r, c);

    if (c->moved > 0)
        return c->moved;
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

/* ---- where a chart would be ---- */

static void open_missing(sp_buf *out, const char *title)
{
    sp_buf_printf(out, "<figure><figcaption>%s</figcaption><p class=faint>",
                  title);
}

static void close_missing(sp_buf *out)
{
    sp_buf_add(out, "</p></figure>\n");
}

static void missing(sp_buf *out, const char *title, const char *why)
{
    open_missing(out, title);
    sp_html_text(out, why);
    close_missing(out);
}

static int times_of(const sp_report_case *c)
{
    int n = 0;

    for (int i = 0; i < c->trials; i++)
        n += is_timed(&c->trial[i]);
    return n;
}

/* ---- the roofline ---- */

/* Of all threads; 0 when the machine was not probed. */
static double peak_of(const spry_machine *m, const char *type)
{
    double one = strcmp(type, "f64") == 0 ? m->fma_f64 : m->fma_f32;

    return m->probed ? one * m->threads : 0;
}

/* A level of the memory, and how fast all threads read it. */
typedef struct {
    const char *name;
    double rate; /* bytes/s */
} level;

enum { ROOFS = 1 + SPRY_CACHES };

/* Memory first, then each cache that is clearly faster than those below; returns
 * how many. A cache was read by one thread: all are expected to read as many
 * times as much, which a shared one may not give them. */
static int roofs_of(level out[ROOFS], const spry_machine *m)
{
    static const char *const name[SPRY_CACHES] = {"L1", "L2", "L3"};
    static const double APART = 1.2;
    int n = 0, last = m->points - 1;

    if (!m->probed || m->points < 1)
        return 0;
    out[n++] = (level){"memory", fmax(m->read[last], m->triad[last])};
    for (int i = SPRY_CACHES - 1; i >= 0 && out[0].rate > 0; i--) {
        double rate = m->cache_read[i] * m->threads;

        if (spry_machine_cache(m, i) > 0 && rate > APART * out[n - 1].rate)
            out[n++] = (level){name[i], rate};
    }
    return out[0].rate > 0 ? n : 0;
}

/* From where it comes into the picture up to the peak, where its name is: what
 * was measured is mostly further down. */
static void draw_roof(sp_plot *p, const level *roof, double peak,
                      const char *style)
{
    enum { LETTER = 8, END = 30 };
    double from = fmax(p->x.low, p->y.low * 1e9 / roof->rate);
    double ridge = fmin(peak / roof->rate, p->x.high);
    double a[2] = {from, roof->rate * from / 1e9};
    double b[2] = {ridge, roof->rate * ridge / 1e9};
    double x[2] = {a[0], b[0]}, y[2] = {a[1], b[1]};

    if (!(from < ridge))
        return;
    sp_plot_line(p, style, x, y, 2, 0);
    sp_plot_along(p, roof->name, a, b, -LETTER * (int)strlen(roof->name) - END);
}

static void draw_peak(sp_plot *p, double peak, double ridge)
{
    double x[2] = {fmax(ridge, p->x.low), p->x.high};
    double y[2] = {peak / 1e9, peak / 1e9};
    double a[2] = {x[0], y[0]}, b[2] = {x[1], y[1]};

    sp_plot_line(p, "roof", x, y, 2, 0);
    sp_plot_along(p, "peak", a, b, -32);
}

/* Every mark, the slope of every roof, and the flat part behind the last. */
static void fit_roofline(sp_plot *p, const points *all, const level *roof,
                         int roofs, double peak)
{
    double low = all->x[0], high = all->x[0];
    double ends[3] = {2 * peak / 1e9, 0, 0};

    ends[1] = all->y[0];
    for (int i = 0; i < all->count; i++) {
        low = fmin(low, all->x[i]);
        high = fmax(high, all->x[i]);
        ends[0] = fmax(ends[0], all->y[i]);
        ends[1] = fmin(ends[1], all->y[i]);
    }
    low = fmin(low, peak / roof[roofs - 1].rate) / 4;
    high = fmax(4 * high, 2.5 * peak / roof[0].rate);
    ends[2] = roof[0].rate * low / 1e9;
    p->x = (sp_axis){low, high, 1, "operations per byte"};
    p->y = sp_axis_of(ends, 3, 1, 0, "GFLOP/s");
}

/* The numbers of the lines. */
static void note_roofs(sp_buf *out, const spry_machine *m, const level *roof,
                       int roofs, double peak)
{
    sp_buf_printf(out, "peak %.3g GFLOP/s; GB/s:", peak / 1e9);
    for (int i = 0; i < roofs; i++)
        sp_buf_printf(out, "%s %s %.3g", i ? "," : "", roof[i].name,
                      roof[i].rate / 1e9);
    if (roofs > 1 && m->threads > 1)
        sp_buf_printf(out, " (caches: one thread's times %d)", m->threads);
}

/* What stands in for it when the machine or the shape is not known. */
static void no_roofline(sp_buf *out, const sp_report *r,
                        const sp_report_case *c)
{
    static const char title[] = "Roofline";

    if (sp_report_is_probed(r, c)) {
        missing(out, title,
                flops_of(r, c) > 0
                    ? "Missing: the probe of this machine found neither its "
                      "bandwidth nor its peak."
                    : "Missing: the store does not tell how many operations "
                      "this problem takes.");
        return;
    }
    open_missing(out, title);
    sp_buf_add(out, "Missing: there is no probe of this machine. ");
    sp_report_how_to_probe(out, r);
    sp_buf_add(out, " on it fills this, with the <code>--threads</code> and "
                    "<code>--isa</code> of the tune if it had any.");
    close_missing(out);
}

void sp_chart_roofline(sp_buf *out, const sp_report *r, const sp_report_case *c,
                       int *number)
{
    const spry_machine *m = sp_report_machine(r, c);
    double flops = flops_of(r, c), peak = m ? peak_of(m, r->text[c->type]) : 0;
    sp_plot plot = {.out = out, .number = *number};
    level roof[ROOFS];
    int roofs = m ? roofs_of(roof, m) : 0;
    points all;

    if (!times_of(c))
        return;
    if (!roofs || !(flops > 0) || !(peak > 0)) {
        no_roofline(out, r, c);
        return;
    }
    if (open_points(&all, c->trials))
        for (int i = 0; i < c->trials; i++)
            if (is_timed(&c->trial[i]))
                add_point(&all, flops / bytes_of(r, c, c->trial[i].bytes),
                          flops / c->trial[i].seconds / 1e9, i);
    if (all.count > 0) {
        fit_roofline(&plot, &all, roof, roofs, peak);
        sp_plot_open(&plot, "Roofline",
                     "Speed of every schedule over its operations per byte; "
                     "the lines are what memory and caches of the machine let "
                     "through, up to its peak");
        for (int i = 0; i < roofs; i++)
            draw_roof(&plot, &roof[i], peak, i ? "roof cache" : "roof");
        draw_peak(&plot, peak, peak / roof[roofs - 1].rate);
        draw_points(&plot, r, c, &all);
        note_roofs(&plot.note, m, roof, roofs, peak);
        sp_plot_close(&plot);
        ++*number;
    }
    close_points(&all);
}

/* ---- predicted against measured ---- */

/* Whose predictions they are. */
static void note_model(sp_buf *out, const sp_report *r, const sp_report_case *c)
{
    const char *who = r->text[c->model];

    if (who[0])
        sp_buf_printf(out, "by the model %s, asked %s", who,
                      c->recalled ? "for this page: what was predicted then is "
                                    "not kept"
                                  : "before they were measured");
}

void sp_chart_predicted(sp_buf *out, const sp_report *r,
                        const sp_report_case *c, int *number)
{
    static const char title[] = "Predicted and measured";
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
        sp_plot_open(&plot, title,
                     "Time of every schedule as the model expected it and as "
                     "it was; on the line both are equal");
        sp_plot_line(&plot, "equal", ends, ends, 2, 0);
        draw_points(&plot, r, c, &all);
        note_model(&plot.note, r, c);
        sp_plot_close(&plot);
        ++*number;
    } else if (times_of(c) > 1) {
        missing(out, title,
                c->unpredicted ? c->unpredicted
                               : "Missing: the model predicts fewer than two "
                                 "of these.");
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
