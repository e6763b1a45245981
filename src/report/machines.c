/* machines.c - do machines agree on which schedules are fast? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/charts.h"
#include "report/html.h"

/* One schedule as two machines had it. */
typedef struct {
    double a, b;
    double rank_a, rank_b;
} sp_shared_time;

/* The last measured time of a schedule; 0: none. */
static double time_of(const sp_report_case *c, int schedule)
{
    for (int i = c->trials - 1; i >= 0; i--)
        if (c->trial[i].schedule == schedule &&
            c->trial[i].verdict == SPRY_VERDICT_OK)
            return c->trial[i].seconds;
    return 0;
}

static int by_a(const void *x, const void *y)
{
    double a = ((const sp_shared_time *)x)->a,
           b = ((const sp_shared_time *)y)->a;

    return (a > b) - (a < b);
}

static int by_b(const void *x, const void *y)
{
    double a = ((const sp_shared_time *)x)->b,
           b = ((const sp_shared_time *)y)->b;

    return (a > b) - (a < b);
}

/* Spearman's rank correlation. */
static double agreement(sp_shared_time *t, int n)
{
    double d = 0;

    qsort(t, (size_t)n, sizeof *t, by_a);
    for (int i = 0; i < n; i++)
        t[i].rank_a = i;
    qsort(t, (size_t)n, sizeof *t, by_b);
    for (int i = 0; i < n; i++)
        d += (t[i].rank_a - i) * (t[i].rank_a - i);
    return 1 - 6 * d / ((double)n * ((double)n * n - 1));
}

/* Of one problem on two machines; NaN when they share fewer than five. */
static double agree_on(const sp_report_case *x, const sp_report_case *y)
{
    sp_shared_time *t = sp_alloc(x->trials + 1, sizeof *t);
    double rho = (double)NAN;
    int n = 0;

    for (int i = 0; t && i < x->trials; i++) {
        double a = time_of(x, x->trial[i].schedule);
        double b = a == x->trial[i].seconds ? time_of(y, x->trial[i].schedule)
                                            : 0; /* each schedule once */

        if (a > 0 && b > 0)
            t[n++] = (sp_shared_time){.a = a, .b = b};
    }
    if (n >= 5)
        rho = agreement(t, n);
    sp_free(t);
    return rho;
}

/* The mean over problems that both machines know. */
static double agree(const sp_report *r, int a, int b, int *problems)
{
    double sum = 0;

    *problems = 0;
    for (int i = 0; i < r->cases; i++)
        for (int j = 0; j < r->cases; j++) {
            const sp_report_case *x = &r->one[i], *y = &r->one[j];
            double rho;

            if (x->problem != y->problem ||
                strcmp(x->on, r->machine[a].fingerprint) != 0 ||
                strcmp(y->on, r->machine[b].fingerprint) != 0)
                continue;
            rho = agree_on(x, y);
            if (rho == rho) {
                sum += rho;
                ++*problems;
            }
        }
    return *problems ? sum / *problems : (double)NAN;
}

static void name_machine(sp_buf *out, const spry_machine *m)
{
    sp_html_text(out, m->name);
    sp_buf_printf(out, ", %d threads, %s", m->threads, spry_isa_name(m->isa));
}

void sp_chart_machines(sp_buf *out, const sp_report *r)
{
    if (r->machines < 2)
        return;
    sp_buf_add(out, "<h2>Machines</h2><p>Do they agree on which schedules are "
                    "fast? Spearman's rank correlation of the times of "
                    "schedules that both measured, mean over the problems "
                    "they share (how many).</p><div class=wide><table><tr><td>"
                    "</td>");
    for (int i = 0; i < r->machines; i++) {
        sp_buf_add(out, "<th scope=col>");
        name_machine(out, &r->machine[i]);
        sp_buf_add(out, "</th>");
    }
    sp_buf_add(out, "</tr>\n");
    for (int i = 0; i < r->machines; i++) {
        sp_buf_add(out, "<tr><th scope=row>");
        name_machine(out, &r->machine[i]);
        sp_buf_add(out, "</th>");
        for (int j = 0; j < r->machines; j++) {
            int problems;
            double rho = agree(r, i, j, &problems);

            if (i == j || !problems)
                sp_buf_add(out, "<td class=number>-</td>");
            else
                sp_buf_printf(out, "<td class=number>%.2f (%d)</td>", rho,
                              problems);
        }
        sp_buf_add(out, "</tr>\n");
    }
    sp_buf_add(out, "</table></div>\n");
}
