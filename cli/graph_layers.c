/* graph_layers.c - what is said of each layer of an operator graph. */
#include "graph_layers.h"

#include <inttypes.h>
#include <string.h>

static double share_of(const spry_graph_layer *x)
{
    return (double)x->zeros / (double)x->weights;
}

void graph_layers_print(const spry_graph *g)
{
    table *t = spry_graph_layers(g)
                   ? table_new("layer<operator<weights>zeros>multiply-adds>")
                   : NULL;
    spry_graph_layer x = {.size = sizeof x};

    for (int i = 0; t && spry_graph_layer_of(g, i, &x) == SPRY_OK; i++) {
        char shape[128];
        int at = 0;

        for (int d = 0; d < x.dims && at < (int)sizeof shape; d++)
            at += snprintf(shape + at, sizeof shape - (size_t)at, "%s%" PRId64,
                           d ? " x " : "", x.dim[d]);
        table_cell(t, "%s", x.name);
        table_cell(t, "%s", x.op);
        table_cell(t, "%s", shape);
        table_cell(t, "%.1f %%", 100 * share_of(&x));
        table_cell(t, "%s", say_count((double)x.macs));
    }
    if (t)
        table_print(t, stdout);
}

void graph_layers_json(json *j, const spry_graph *g)
{
    spry_graph_layer x = {.size = sizeof x};

    json_open(j, "layers", '[');
    for (int i = 0; spry_graph_layer_of(g, i, &x) == SPRY_OK; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", x.name);
        json_text(j, "operator", x.op);
        json_open(j, "shape", '[');
        for (int d = 0; d < x.dims; d++)
            json_integer(j, NULL, x.dim[d]);
        json_close(j, ']');
        json_integer(j, "weights", x.weights);
        json_number(j, "sparsity", share_of(&x));
        json_integer(j, "macs", x.macs);
        json_close(j, '}');
    }
    json_close(j, ']');
}

const char *graph_chosen(const spry_executor_stage *x)
{
    if (x->macs == 0)
        return "";
    return strncmp(x->way, "sparse", 6) == 0 ? "sparse" : "dense";
}

void graph_chosen_print(const spry_executor *e)
{
    table *t = NULL;
    spry_executor_stage x = {.size = sizeof x};

    for (int i = 0; spry_executor_stage_of(e, i, &x) == SPRY_OK; i++) {
        if (x.macs == 0)
            continue;
        if (!t) /* no heading over nothing */
            t = table_new("layer<zeros>computed<way<");
        if (!t)
            return;
        table_cell(t, "%s", x.name);
        table_share(t, x.density < 1, 1 - x.density);
        table_cell(t, "%s", graph_chosen(&x));
        table_cell(t, "%s", x.way);
    }
    if (t)
        table_print(t, stdout);
}

void graph_chosen_json(json *j, const spry_executor *e)
{
    spry_executor_stage x = {.size = sizeof x};

    json_open(j, "layers", '[');
    for (int i = 0; spry_executor_stage_of(e, i, &x) == SPRY_OK; i++) {
        if (x.macs == 0)
            continue;
        json_open(j, NULL, '{');
        json_text(j, "name", x.name);
        json_number(j, "sparsity", 1 - x.density);
        json_text(j, "computed", graph_chosen(&x));
        json_text(j, "way", x.way);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* ---- what each stage takes ---- */

/* Multiply-adds a second at most; 0: not known. */
static double peak_of(void)
{
    spry_machine m;

    if (open_machine(&m, 1) != SPRY_OK || !m.probed)
        return 0;
    return m.fma_f32 * (cli.threads ? cli.threads : m.threads);
}

static void explain_json(const spry_executor *e, double peak, double sum)
{
    json j = json_begin("spry.net.graph.explain/1");
    spry_executor_stage x = {.size = sizeof x};

    json_number(&j, "seconds", sum);
    json_number(&j, "peak", peak);
    json_integer(&j, "arena", spry_executor_arena(e));
    json_integer(&j, "live", spry_executor_live(e));
    json_open(&j, "stages", '[');
    for (int i = 0; spry_executor_stage_of(e, i, &x) == SPRY_OK; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "name", x.name);
        json_text(&j, "task", x.task);
        json_text(&j, "way", x.way);
        json_text(&j, "computed", graph_chosen(&x));
        json_number(&j, "density", x.density);
        json_number(&j, "macs", x.macs);
        json_number(&j, "seconds", x.seconds);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void explain_text(const spry_executor *e, double peak, double sum)
{
    table *t = table_new("layer<task<computed<way<zeros>time>share>of peak>");
    spry_executor_stage x = {.size = sizeof x};

    for (int i = 0; t && spry_executor_stage_of(e, i, &x) == SPRY_OK; i++) {
        double rate = x.seconds > 0 ? 2 * x.macs / x.seconds : 0;

        table_cell(t, "%s", x.name);
        table_cell(t, "%s", x.task);
        table_cell(t, "%s", graph_chosen(&x));
        table_cell(t, "%s", x.way);
        table_share(t, x.density < 1, 1 - x.density);
        table_cell(t, "%s", say_seconds(x.seconds));
        table_cell(t, "%.1f %%", sum > 0 ? 100 * x.seconds / sum : 0);
        table_share(t, peak > 0 && x.macs > 0, rate / (peak > 0 ? peak : 1));
    }
    if (t)
        table_print(t, stdout);
    printf("%s together; the arena has %s, of which %s live at once\n",
           say_seconds(sum), say_bytes((double)spry_executor_arena(e)),
           say_bytes((double)spry_executor_live(e)));
}

void graph_explain(const spry_executor *e)
{
    spry_executor_stage x = {.size = sizeof x};
    double sum = 0, peak = peak_of();

    for (int i = 0; spry_executor_stage_of(e, i, &x) == SPRY_OK; i++)
        sum += x.seconds;
    if (cli.json)
        explain_json(e, peak, sum);
    else
        explain_text(e, peak, sum);
}
