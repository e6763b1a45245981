/* grades.c - how well models choose, as a table and as JSON. */
#include "grades.h"

#include <math.h>

void grades_json(json *j, const spry_grades *g)
{
    json_text(j, "model", g->model);
    json_integer(j, "problems", g->problems);
    json_integer(j, "records", g->records);
    json_number(j, "pairwise", g->pairwise);
    json_number(j, "pairwise_low", g->pairwise_low);
    json_number(j, "pairwise_high", g->pairwise_high);
    json_number(j, "top1", g->top1);
    json_number(j, "top1_low", g->top1_low);
    json_number(j, "top1_high", g->top1_high);
    json_number(j, "top5", g->top5);
    json_number(j, "top5_low", g->top5_low);
    json_number(j, "top5_high", g->top5_high);
    json_number(j, "spearman", g->spearman);
    json_number(j, "rmse", g->rmse);
    json_number(j, "regret1", g->regret1);
    json_number(j, "regret5", g->regret5);
    json_number(j, "regret20", g->regret20);
    json_number(j, "regret20_low", g->regret20_low);
    json_number(j, "regret20_high", g->regret20_high);
    json_number(j, "speedup1", g->speedup1);
    json_number(j, "speedup20", g->speedup20);
    json_number(j, "csr1", g->csr1);
    json_number(j, "csr20", g->csr20);
    json_number(j, "slower", g->slower);
}

/* "0.88 0.86..0.90"; "-" when it is not known. */
static void cell_interval(table *t, double value, double low, double high)
{
    if (isfinite(value))
        table_cell(t, "%.3f %.2f..%.2f", value, low, high);
    else
        table_cell(t, "-");
}

static void cell_number(table *t, double value)
{
    if (isfinite(value))
        table_cell(t, "%.2f", value);
    else
        table_cell(t, "-");
}

static void cell_percent(table *t, double value)
{
    if (isfinite(value))
        table_cell(t, "%.1f %%", 100 * value);
    else
        table_cell(t, "-");
}

static void cell_times(table *t, double value)
{
    table_cell(t, "%s", isfinite(value) ? say_times(value) : "-");
}

void grades_print(const spry_grades *g, int count)
{
    table *t = table_new("model<pairwise>top-1>top-5>rank>rmse>regret@1>@5>"
                         "@20>speed-up@1>@20>slower>problems>"
                         "records>");

    for (int i = 0; i < count; i++, g++) {
        table_cell(t, "%s", g->model);
        cell_interval(t, g->pairwise, g->pairwise_low, g->pairwise_high);
        cell_interval(t, g->top1, g->top1_low, g->top1_high);
        cell_interval(t, g->top5, g->top5_low, g->top5_high);
        cell_number(t, g->spearman);
        cell_number(t, g->rmse);
        cell_percent(t, g->regret1);
        cell_percent(t, g->regret5);
        cell_percent(t, g->regret20);
        cell_times(t, g->speedup1);
        cell_times(t, g->speedup20);
        cell_percent(t, g->slower);
        table_cell(t, "%lld", (long long)g->problems);
        table_cell(t, "%lld", (long long)g->records);
    }
    table_print(t, stdout);
    printf("on held-out problems; intervals of 95 %% over problems\n");
}
