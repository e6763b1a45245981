/* page.c - a report -> one page: the verdict first, then how it came about,
 * then everything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/charts.h"
#include "report/frame.h"
#include "report/html.h"
#include "report/report.h"

enum { ROWS = 25 }; /* of a table of trials, without script */

typedef struct {
    sp_buf *out;
    const sp_report *r;
    int plots;
} page;

static void text(page *p, const char *t)
{
    sp_html_text(p->out, t);
}

static void markup(page *p, const char *t)
{
    sp_buf_add(p->out, t);
}

/* ---- the verdict ---- */

void sp_report_how_to_probe(sp_buf *out, const sp_report *r)
{
    sp_buf_add(out, "<code>spry probe");
    if (r->store) {
        sp_buf_add(out, " --store ");
        sp_html_word(out, r->store);
    }
    sp_buf_add(out, "</code>");
}

static void fact(page *p, const char *name)
{
    sp_buf_printf(p->out, "<dt>%s</dt><dd>", name);
}

/* Runs until packing and tuning are paid for; HUGE_VAL: never. */
static double break_even(const sp_report_answer *a)
{
    double gain = a->baseline_seconds - a->seconds;

    return gain > 0 ? ceil((a->pack_seconds + a->tuning_seconds) / gain)
                    : HUGE_VAL;
}

/* What the noise grade means, in words. */
static const char *noise_words(char grade)
{
    switch (grade) {
    case 'A': return "A: equal runs differ by less than 1 %";
    case 'B': return "B: equal runs differ by less than 3 %";
    case 'C': return "C: equal runs differ by less than 10 %";
    case 'D': return "D: equal runs differ by 10 % or more; only pairs count";
    default: return "not known";
    }
}

static int is_changed(const sp_report_case *c)
{
    return c->answer.schedule != c->answer.baseline;
}

static void schedule_code(page *p, int schedule)
{
    markup(p, "<code>");
    text(p, p->r->text[schedule]);
    markup(p, "</code>");
}

/* What was gained, and over what. */
static void gain_facts(page *p, const sp_report_answer *a)
{
    char one[SP_HTML_NUMBER], two[SP_HTML_NUMBER];

    fact(p, "winner");
    schedule_code(p, a->schedule);
    markup(p, "</dd>");
    fact(p, "over");
    schedule_code(p, a->baseline);
    sp_buf_printf(p->out, ", %s, now %s</dd>",
                  sp_html_seconds(one, a->baseline_seconds),
                  sp_html_seconds(two, a->seconds));
    fact(p, "interval");
    sp_buf_printf(p->out, "%.2f to %.2f, 95 %% of interleaved pairs</dd>",
                  a->low, a->high);
}

static void stay_facts(page *p, const sp_report_answer *a)
{
    char one[SP_HTML_NUMBER];

    fact(p, "plain loop");
    schedule_code(p, a->baseline);
    sp_buf_printf(p->out, ", %s</dd>",
                  sp_html_seconds(one, a->baseline_seconds));
}

static void verdict_facts(page *p, const sp_report_case *c)
{
    const sp_report_answer *a = &c->answer;
    const spry_machine *m = sp_report_machine(p->r, c);
    char one[SP_HTML_NUMBER], two[SP_HTML_NUMBER];
    double calls = break_even(a);

    markup(p, "<dl class=facts>");
    if (is_changed(c))
        gain_facts(p, a);
    else
        stay_facts(p, a);
    fact(p, "verified");
    sp_buf_printf(p->out, "%s</dd>",
                  c->verified ? "yes, against the reference" : "not told");
    fact(p, "cost");
    sp_buf_printf(p->out, "%s to convert, %s to tune",
                  sp_html_seconds(one, a->pack_seconds),
                  sp_html_seconds(two, a->tuning_seconds));
    if (isfinite(calls))
        sp_buf_printf(p->out, "; paid back after %.0f runs", calls);
    markup(p, "</dd>");
    fact(p, "noise");
    if (sp_report_is_probed(p->r, c)) {
        markup(p, noise_words(spry_machine_grade(m)));
    } else {
        markup(p, "not known; ");
        sp_report_how_to_probe(p->out, p->r);
        markup(p, " measures it");
    }
    markup(p, "</dd></dl>");
}

static void verdict(page *p, const sp_report_case *c)
{
    if (!c->answered) {
        markup(p, "<p class=faint>No tune came to an answer here; what was "
                  "measured is below.</p>\n");
        return;
    }
    if (is_changed(c))
        sp_buf_printf(p->out,
                      "<div class=verdict><div><div class=big>%.2f&times;"
                      "</div>as fast</div>",
                      c->answer.speedup);
    else
        markup(p, "<div class=\"verdict stay\"><div><div class=big>1&times;"
                  "</div>the plain loop stays:<br>nothing was surely faster"
                  "</div>");
    verdict_facts(p, c);
    markup(p, "</div>\n");
}

/* ---- trials ---- */

typedef struct {
    const sp_report_trial *t;
    int at;
} ranked;

static int is_measured(const sp_report_trial *t)
{
    return t->seconds > 0;
}

/* The fastest first, those without a time last; then as they were measured. */
static int by_time(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    int none = is_measured(y->t) - is_measured(x->t);

    if (none)
        return none;
    if (x->t->speedup != y->t->speedup)
        return x->t->speedup > y->t->speedup ? -1 : 1;
    return x->at - y->at;
}

static void number_cell(page *p, double v, const char *shown)
{
    sp_buf_printf(p->out, "<td class=number data-v=%.9g>%s</td>", v, shown);
}

/* Bounds that bound nothing are not shown as if they did. */
static const char *interval_text(char out[2 * SP_HTML_NUMBER], double low,
                                 double high)
{
    if (low > 0 && high < 100 * low)
        snprintf(out, 2 * SP_HTML_NUMBER, "%.3g .. %.3g", low, high);
    else
        snprintf(out, 2 * SP_HTML_NUMBER, "-");
    return out;
}

static void trial_row(page *p, const sp_report_case *c,
                      const sp_report_trial *t)
{
    char shown[SP_HTML_NUMBER], range[2 * SP_HTML_NUMBER];
    const char *style = !c->answered                        ? ""
                        : t->schedule == c->answer.schedule ? " class=best"
                        : t->schedule == c->answer.baseline ? " class=base"
                                                            : "";

    sp_buf_printf(p->out, "<tr%s><td><code>", style);
    text(p, p->r->text[t->schedule]);
    sp_buf_printf(p->out, "</code></td><td>%s</td>",
                  spry_verdict_name(t->verdict));
    if (is_measured(t)) {
        number_cell(p, t->seconds, sp_html_seconds(shown, t->seconds));
        number_cell(p, t->speedup, sp_html_number(shown, t->speedup, 3));
        number_cell(p, t->low, interval_text(range, t->low, t->high));
    } else {
        for (int i = 0; i < 3; i++)
            number_cell(p, 0, "-");
    }
    number_cell(p, t->pack_seconds, sp_html_seconds(shown, t->pack_seconds));
    number_cell(p, t->bytes, sp_html_bytes(shown, t->bytes));
    markup(p, "</tr>\n");
}

static void trial_table(page *p, const sp_report_case *c, int number)
{
    ranked *list = sp_alloc(c->trials + 1, sizeof *list);
    int shown = c->trials < ROWS ? c->trials : ROWS;

    if (!list || c->trials == 0) {
        sp_free(list);
        return;
    }
    for (int i = 0; i < c->trials; i++)
        list[i] = (ranked){&c->trial[i], i};
    qsort(list, (size_t)c->trials, sizeof *list, by_time);
    sp_buf_printf(p->out,
                  "<details%s><summary><h3>%d trials%s</h3></summary>"
                  "<div class=wide><table class=sortable data-case=%d><thead>"
                  "<tr><th scope=col>schedule</th><th scope=col>verdict</th>"
                  "<th scope=col class=number>time</th>"
                  "<th scope=col class=number>speed-up</th>"
                  "<th scope=col class=number>95 %%</th>"
                  "<th scope=col class=number>packing</th>"
                  "<th scope=col class=number>storage</th></tr></thead><tbody>",
                  p->r->cases == 1 ? " open" : "", c->trials,
                  shown < c->trials ? ", the fastest of them" : "", number);
    for (int i = 0; i < shown; i++)
        trial_row(p, c, list[i].t);
    markup(p, "</tbody></table></div></details>\n");
    sp_free(list);
}

/* ---- one case ---- */

static void picture(page *p, const sp_report_case *c)
{
    if (!c->picture.len)
        return;
    sp_buf_printf(
        p->out,
        "<figure><figcaption>The pattern</figcaption><img alt=\"where "
        "the %lld entries of the %lld x %lld matrix lie\" "
        "src=\"data:image/png;base64,",
        (long long)c->nnz, (long long)c->rows, (long long)c->cols);
    sp_html_base64(p->out, c->picture.data, c->picture.len);
    markup(p, "\"></figure>\n");
}

static void machine_line(page *p, const sp_report_case *c)
{
    const spry_machine *m = sp_report_machine(p->r, c);

    if (!m) {
        sp_buf_printf(p->out, "machine ");
        text(p, c->on);
        return;
    }
    text(p, m->name);
    sp_buf_printf(p->out, ", %d threads, %s", m->threads,
                  spry_isa_name(m->isa));
}

static void name_case(page *p, const sp_report_case *c)
{
    const char *about = p->r->text[c->about];

    text(p, about[0] ? about : c->key);
}

static void origin_line(page *p, const sp_report_case *c)
{
    markup(p, "<p class=faint>");
    if (p->r->text[c->source][0]) {
        markup(p, "<code>");
        text(p, p->r->text[c->source]);
        markup(p, "</code><br>");
    }
    machine_line(p, c);
    markup(p, "</p>\n");
}

static void legend(page *p)
{
    markup(p, "<p class=\"key faint\"><span><b class=w>&#9670;</b> winner"
              "</span><span><b class=b>&#9632;</b> baseline, the plain loop"
              "</span><span><b class=t>&#9679;</b> another schedule</span></p>"
              "\n");
}

static void show_case(page *p, int number)
{
    const sp_report_case *c = &p->r->one[number];

    sp_buf_printf(p->out, "<section id=c%d><h2>", number);
    name_case(p, c);
    markup(p, "</h2>\n");
    origin_line(p, c);
    verdict(p, c);
    legend(p);
    markup(p, "<div class=charts>\n");
    picture(p, c);
    sp_chart_roofline(p->out, p->r, c, &p->plots);
    sp_chart_predicted(p->out, p->r, c, &p->plots);
    sp_chart_search(p->out, p->r, c, &p->plots);
    markup(p, "</div>\n");
    if (c->trials == 0)
        markup(p, "<p class=faint>Nothing was measured for this page: there is "
                  "the answer alone.</p>\n");
    trial_table(p, c, number);
    markup(p, "</section>\n");
}

/* ---- all cases ---- */

/* The geometric mean of speed-ups, and the least; how many there are. */
static int sum_up(const sp_report *r, double *mean, double *least)
{
    double logs = 0;
    int n = 0;

    *least = HUGE_VAL;
    for (int i = 0; i < r->cases; i++) {
        const sp_report_case *c = &r->one[i];

        if (!c->answered || !(c->answer.speedup > 0))
            continue;
        logs += log(c->answer.speedup);
        *least = fmin(*least, c->answer.speedup);
        n++;
    }
    *mean = n ? exp(logs / n) : 1;
    return n;
}

/* The fastest trial of a case, or NULL. */
static const sp_report_trial *fastest(const sp_report_case *c)
{
    const sp_report_trial *best = NULL;

    for (int i = 0; i < c->trials; i++)
        if (c->trial[i].verdict == SPRY_VERDICT_OK &&
            (!best || c->trial[i].speedup > best->speedup))
            best = &c->trial[i];
    return best;
}

/* What was proven, or else what was measured as fastest. */
static void overview_row(page *p, int i)
{
    const sp_report_case *c = &p->r->one[i];
    const sp_report_trial *best = fastest(c);
    double gain = c->answered ? c->answer.speedup : best ? best->speedup : 0;
    char shown[SP_HTML_NUMBER];

    markup(p, "<tr><td>");
    if (i < SP_REPORT_SHOWN)
        sp_buf_printf(p->out, "<a href=\"#c%d\">", i);
    name_case(p, c);
    if (i < SP_REPORT_SHOWN)
        markup(p, "</a>");
    markup(p, "</td><td class=on>");
    machine_line(p, c);
    markup(p, "</td><td>");
    if (c->answered)
        schedule_code(p, c->answer.schedule);
    else if (best)
        schedule_code(p, best->schedule);
    sp_buf_printf(p->out, "</td><td>%s</td>",
                  is_changed(c) ? "proven"
                  : c->answered ? "the plain loop stays"
                  : best        ? "measured"
                                : "failed");
    number_cell(p, gain, gain > 0 ? sp_html_number(shown, gain, 3) : "-");
    snprintf(shown, sizeof shown, "%d", c->trials);
    number_cell(p, c->trials, shown);
    markup(p, "</tr>\n");
}

static void overview(page *p)
{
    const sp_report *r = p->r;
    double mean, least;
    int n = sum_up(r, &mean, &least);

    if (n)
        sp_buf_printf(p->out,
                      "<div class=verdict><div><div class=big>%.2f&times;</div>"
                      "as fast</div><dl class=facts><dt>mean</dt><dd>geometric,"
                      " over %d tuned problems, against the best plain loop of "
                      "each</dd><dt>least</dt><dd>%.2f</dd></dl></div>\n",
                      mean, n, least);
    markup(p, "<div class=charts>\n");
    sp_chart_speedups(p->out, r, &p->plots);
    markup(p, "</div>\n<h2>Problems</h2><div class=wide><table class=sortable>"
              "<thead><tr><th scope=col>problem</th><th scope=col>machine</th>"
              "<th scope=col>fastest</th><th scope=col>how</th>"
              "<th scope=col class=number>speed-up"
              "</th><th scope=col class=number>trials</th></tr></thead><tbody>"
              "\n");
    for (int i = 0; i < r->cases; i++)
        overview_row(p, i);
    markup(p, "</tbody></table></div>\n");
    if (r->cases > SP_REPORT_SHOWN)
        sp_buf_printf(p->out,
                      "<p class=faint>The first %d have charts below. The %d "
                      "others are in this table, and their trials in the CSV; "
                      "<code>spry report --problem PREFIX</code> shows those "
                      "whose keys begin so.</p>\n",
                      SP_REPORT_SHOWN, r->cases - SP_REPORT_SHOWN);
}

void sp_report_page(sp_buf *out, const sp_report *r, const char *title)
{
    page p = {out, r, 0};
    int shown = r->cases < SP_REPORT_SHOWN ? r->cases : SP_REPORT_SHOWN;

    sp_page_head(out, title);
    if (r->cases > 1)
        overview(&p);
    for (int i = 0; i < shown; i++)
        show_case(&p, i);
    sp_chart_machines(out, r);
    sp_chart_peers(out, r, &p.plots);
    markup(&p, "<p class=faint>Times are compared only as interleaved pairs of "
               "one race; a schedule replaces the plain loop when the lower "
               "end of the 95 % interval is above 1.02.</p>\n"
               "<div class=tools id=take></div>\n");
    sp_report_data(out, r);
    sp_page_foot(out);
}
