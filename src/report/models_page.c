/* models_page.c - an evaluation -> one page: who chooses best, how near the
 * best, and on which problems not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/frame.h"
#include "report/html.h"
#include "report/models.h"
#include "report/plot.h"

enum {
    LINES = 6,  /* models with a style of their own */
    CLOUDS = 4, /* models with their predictions drawn */
    STEPS = 200 /* of a curve */
};

typedef struct {
    sp_buf *out;
    const sp_models *m;
    int plots, best; /* the model that chooses best; -1: none */
} page;

/* ---- which models ---- */

/* By its first choices; chance is none. */
static int best_model(const sp_models *m)
{
    int best = -1;

    for (int i = 0; i < m->models; i++)
        if (!sp_model_is_chance(m, i) && isfinite(m->grades[i].top1) &&
            (best < 0 || m->grades[i].top1 > m->grades[best].top1))
            best = i;
    return best;
}

/* How a model's line looks: by its number, chance apart; NULL: not drawn. */
static const char *style_of(const sp_models *m, int model)
{
    static const char *const styles[LINES] = {"m0", "m1", "m2",
                                              "m3", "m4", "m5"};
    int at = 0;

    if (sp_model_is_chance(m, model))
        return "equal";
    for (int i = 0; i < model; i++)
        at += !sp_model_is_chance(m, i);
    return at < LINES ? styles[at] : NULL;
}

static void key(page *p)
{
    sp_buf_add(p->out, "<p class=\"key faint\">");
    for (int i = 0; i < p->m->models; i++) {
        const char *style = style_of(p->m, i);

        if (!style)
            continue;
        sp_buf_printf(p->out,
                      "<span><svg class=swatch viewBox=\"0 0 30 8\" "
                      "aria-hidden=true><path class=\"line %s\" d=\"M0 4H30\"/>"
                      "</svg>",
                      style);
        sp_html_text(p->out, p->m->name[i]);
        sp_buf_add(p->out, "</span>");
    }
    sp_buf_add(p->out, "</p>\n");
}

/* ---- charts ---- */

/* Mean regret of so many choices, in %. */
static double regret_at(const sp_model_seen *s, int choices)
{
    return 100 * expm1(s->regret[choices - 1] / (double)s->rows);
}

/* All of every model, and as much of chance as lies beside them. */
static double regret_top(const sp_models *m)
{
    double top = 1;

    for (int i = 0; i < m->models; i++)
        if (m->seen[i].rows > 0)
            top = fmax(top,
                       regret_at(&m->seen[i],
                                 sp_model_is_chance(m, i) ? SP_CURVE / 2 : 1));
    return 1.05 * top;
}

static void regret_chart(page *p)
{
    sp_plot plot = {.out = p->out, .number = p->plots++};

    plot.x = (sp_axis){1, SP_CURVE, 0, "choices that are measured"};
    plot.y = (sp_axis){0, regret_top(p->m), 0, "% slower than the best"};
    sp_plot_open(&plot, "Regret",
                 "How much slower than the best schedule the best of the "
                 "first choices is, mean over problems, by model");
    for (int i = 0; i < p->m->models; i++) {
        const sp_model_seen *s = &p->m->seen[i];
        double x[SP_CURVE], y[SP_CURVE];
        int n = 0;

        for (int k = 1; k <= SP_CURVE && s->rows > 0; k++)
            if (regret_at(s, k) <= plot.y.high) {
                x[n] = k;
                y[n++] = regret_at(s, k);
            }
        if (n > 0 && style_of(p->m, i))
            sp_plot_line(&plot, style_of(p->m, i), x, y, n, 0);
    }
    sp_plot_close(&plot);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Speed-ups of first choices, the least first; how many are known. */
static int64_t sort_gains(double *v, const sp_model_seen *s)
{
    int64_t n = 0;

    for (int64_t i = 0; i < s->rows; i++)
        if (s->row[i].baseline > 0 && s->row[i].first > 0)
            v[n++] = s->row[i].baseline / s->row[i].first;
    qsort(v, (size_t)n, sizeof *v, ascending);
    return n;
}

/* At most STEPS of the sorted values; how many. */
static int shares(double *x, double *y, const double *v, int64_t n)
{
    int steps = n < STEPS ? (int)n : STEPS;

    for (int k = 0; k < steps; k++) {
        int64_t i = (k + 1) * n / steps - 1;

        x[k] = v[i];
        y[k] = 100.0 * (double)(i + 1) / (double)n;
    }
    return steps;
}

static void gain_chart(page *p)
{
    sp_plot plot = {.out = p->out, .number = p->plots};
    double x[STEPS], y[STEPS], ends[2] = {HUGE_VAL, 0};
    int64_t room = 1;
    double *v;

    for (int i = 0; i < p->m->models; i++)
        room = p->m->seen[i].rows > room ? p->m->seen[i].rows : room;
    v = sp_alloc(room, sizeof *v);
    for (int i = 0; v && i < p->m->models; i++) {
        int64_t n = style_of(p->m, i) ? sort_gains(v, &p->m->seen[i]) : 0;

        if (n > 0 && (!sp_model_is_chance(p->m, i) || p->m->models == 1)) {
            ends[0] = fmin(ends[0], v[0]);
            ends[1] = fmax(ends[1], v[n - 1]);
        }
    }
    if (v && ends[0] <= ends[1]) {
        plot.x = sp_axis_of(ends, 2, 1, 0, "speed-up over the plain loop");
        plot.y = (sp_axis){0, 100, 0, "% of problems, at most so much"};
        sp_plot_open(&plot, "Speed-ups of first choices",
                     "The share of problems whose first choice is at most so "
                     "much faster than the plain loop, by model");
        for (int i = 0; i < p->m->models; i++) {
            int64_t n = style_of(p->m, i) ? sort_gains(v, &p->m->seen[i]) : 0;

            if (n > 0)
                sp_plot_line(&plot, style_of(p->m, i), x, y, shares(x, y, v, n),
                             1);
        }
        sp_plot_close(&plot);
        p->plots++;
    }
    sp_free(v);
}

static void cloud(page *p, int model)
{
    const sp_model_seen *s = &p->m->seen[model];
    sp_plot plot = {.out = p->out, .number = p->plots};
    sp_axis x = sp_axis_of(s->predicted, (int)s->points, 1, 0,
                           "predicted, over the problem's mean");
    sp_axis y = sp_axis_of(s->time, (int)s->points, 1, 0,
                           "measured, over the problem's mean");
    double ends[2] = {fmin(x.low, y.low), fmax(x.high, y.high)};
    sp_buf title = {0};

    if (s->points < 2)
        return;
    sp_buf_printf(&title, "Predicted and measured: %s", p->m->name[model]);
    plot.x = (sp_axis){ends[0], ends[1], 1, x.label};
    plot.y = (sp_axis){ends[0], ends[1], 1, y.label};
    sp_plot_open(&plot, title.data ? title.data : "",
                 "Times as the model expected them and as they were, each over "
                 "the mean of its problem; on the line both are equal");
    sp_plot_line(&plot, "equal", ends, ends, 2, 0);
    sp_plot_marks(&plot, SP_MARK_TRIAL, s->predicted, s->time, (int)s->points);
    sp_plot_close(&plot);
    p->plots++;
    p->out->failed |= title.failed;
    sp_buf_free(&title);
}

static void charts(page *p)
{
    int clouds = 0;

    key(p);
    sp_buf_add(p->out, "<div class=charts>\n");
    regret_chart(p);
    gain_chart(p);
    if (p->best >= 0)
        cloud(p, p->best);
    for (int i = 0; i < p->m->models && clouds < CLOUDS - 1; i++)
        if (i != p->best && p->m->seen[i].points > 1) {
            cloud(p, i);
            clouds++;
        }
    sp_buf_add(p->out, "</div>\n");
}

/* ---- in words ---- */

static void fact(page *p, const char *name)
{
    sp_buf_printf(p->out, "<dt>%s</dt><dd>", name);
}

static void verdict(page *p)
{
    const spry_grades *g;

    if (p->best < 0) {
        sp_buf_add(p->out, "<p class=faint>No problem that was held out has "
                           "five schedules to choose from.</p>\n");
        return;
    }
    g = &p->m->grades[p->best];
    sp_buf_printf(p->out,
                  "<div class=verdict><div><div class=big>%.0f&thinsp;%%</div>"
                  "of the best speed<br>by the first choice</div>"
                  "<dl class=facts>",
                  100 * g->top1);
    fact(p, "model");
    sp_html_text(p->out, p->m->name[p->best]);
    sp_buf_printf(p->out, ", interval %.0f to %.0f %%</dd>", 100 * g->top1_low,
                  100 * g->top1_high);
    fact(p, "five choices");
    sp_buf_printf(p->out, "%.0f %% of the best speed by the best of them</dd>",
                  100 * g->top5);
    fact(p, "pairs");
    sp_buf_printf(p->out, "%.1f %% in the right order; by chance 50 %%</dd>",
                  100 * g->pairwise);
    if (isfinite(g->speedup1)) {
        fact(p, "speed-up");
        sp_buf_printf(p->out,
                      "%.2f over the plain loop, geometric mean of first "
                      "choices; %.0f %% of them are 5 %% slower than it or "
                      "worse</dd>",
                      g->speedup1, 100 * g->slower);
    }
    fact(p, "held out");
    sp_buf_printf(p->out, "%lld problems, %lld records of ",
                  (long long)g->problems, (long long)g->records);
    sp_html_text(p->out, p->m->subject);
    sp_buf_printf(p->out, ", split %s</dd></dl></div>\n", p->m->split);
}

/* ---- tables ---- */

static void number_cell(page *p, double v, double shown, const char *unit)
{
    if (isfinite(v))
        sp_buf_printf(p->out, "<td class=number data-v=%.9g>%.3g%s</td>", v,
                      shown, unit);
    else
        sp_buf_add(p->out, "<td class=number data-v=-1>-</td>");
}

static void model_row(page *p, int i)
{
    const spry_grades *g = &p->m->grades[i];
    const double share[] = {g->pairwise, g->top1, g->top5, g->regret1,
                            g->regret20};

    sp_buf_printf(p->out, "<tr%s><td><code>",
                  i == p->best ? " class=best" : "");
    sp_html_text(p->out, p->m->name[i]);
    sp_buf_printf(p->out, "</code></td><td class=number data-v=%lld>%lld</td>",
                  (long long)g->problems, (long long)g->problems);
    for (size_t k = 0; k < sizeof share / sizeof *share; k++)
        number_cell(p, share[k], 100 * share[k], " %");
    number_cell(p, g->speedup1, g->speedup1, "");
    number_cell(p, g->slower, 100 * g->slower, " %");
    sp_buf_add(p->out, "</tr>\n");
}

static void head_row(page *p, const char *const *name, int count, int texts)
{
    sp_buf_add(p->out, "<div class=wide><table class=sortable><thead><tr>");
    for (int i = 0; i < count; i++)
        sp_buf_printf(p->out, "<th scope=col%s>%s</th>",
                      i < texts ? "" : " class=number", name[i]);
    sp_buf_add(p->out, "</tr></thead><tbody>\n");
}

static void model_table(page *p)
{
    static const char *const name[] = {"model",     "problems", "pairs",
                                       "top-1",     "top-5",    "regret@1",
                                       "regret@20", "speed-up", "slower"};

    sp_buf_add(p->out, "<h2>Models</h2>");
    head_row(p, name, sizeof name / sizeof *name, 1);
    for (int i = 0; i < p->m->models; i++)
        model_row(p, i);
    sp_buf_add(p->out,
               "</tbody></table></div>\n<p class=faint>Pairs: of two schedules "
               "of a problem, in the right order. Top-1, top-5: the best time "
               "over that of the first choice, of the best of five. Regret: "
               "how much slower than the best the best of so many choices is. "
               "Speed-up: of first choices over the plain loop. "
               "Slower: first choices that are 5 % slower than the plain loop, "
               "or worse.</p>\n");
}

static void time_cell(page *p, double seconds)
{
    char shown[SP_HTML_NUMBER];

    sp_buf_printf(p->out, "<td class=number data-v=%.9g>%s</td>", seconds,
                  sp_html_seconds(shown, seconds));
}

static void problem_row(page *p, const sp_model_row *r, int64_t number)
{
    const char *name = p->m->texts.text[r->problem];

    sp_buf_add(p->out, "<tr><td><code>");
    if (name[0])
        sp_html_text(p->out, name);
    else
        sp_buf_printf(p->out, "problem %lld", (long long)number + 1);
    sp_buf_printf(p->out, "</code></td><td class=number data-v=%lld>%lld</td>",
                  (long long)r->choices, (long long)r->choices);
    time_cell(p, r->best);
    time_cell(p, r->first);
    number_cell(p, r->best / r->first, 100 * r->best / r->first, " %");
    number_cell(p, r->best / r->last, 100 * r->best / r->last, " %");
    number_cell(p, r->baseline / r->first, r->baseline / r->first, "");
    sp_buf_add(p->out, "</tr>\n");
}

/* Where it chose worst comes first. */
static int by_share(const void *a, const void *b)
{
    const sp_model_row *x = a, *y = b;
    double s = x->best / x->first, t = y->best / y->first;

    return (s > t) - (s < t);
}

static void problem_table(page *p)
{
    static const char *const name[] = {
        "problem", "schedules",     "best",    "first choice",
        "reached", "by 20 choices", "speed-up"};
    const sp_model_seen *s;

    if (p->best < 0)
        return;
    s = &p->m->seen[p->best];
    qsort(s->row, (size_t)s->rows, sizeof *s->row, by_share);
    sp_buf_add(p->out, "<h2>Problems, as ");
    sp_html_text(p->out, p->m->name[p->best]);
    sp_buf_add(p->out, " chose</h2>");
    head_row(p, name, sizeof name / sizeof *name, 1);
    for (int64_t i = 0; i < s->rows; i++)
        problem_row(p, &s->row[i], i);
    sp_buf_add(p->out, "</tbody></table></div>\n");
}

void sp_models_page(sp_buf *out, const sp_models *m, const char *title)
{
    page p = {out, m, 0, best_model(m)};
    sp_report none = {0};

    sp_page_head(out, title);
    verdict(&p);
    charts(&p);
    model_table(&p);
    problem_table(&p);
    sp_buf_add(out, "<div class=tools id=take></div>\n");
    sp_report_data(out, &none);
    sp_page_foot(out);
}
