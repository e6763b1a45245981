/* graph_inspect.c - what an operator graph takes, gives and is made of. */
#include "graph_layers.h"

#include <inttypes.h>
#include <stdio.h>

static void print_value(const char *what, const spry_graph_value *v)
{
    printf("%s %s: %s", what, v->name, v->whole ? "int64" : "float32");
    for (int i = 0; i < v->dims; i++)
        printf("%s%" PRId64, i ? " x " : " ", v->dim[i]);
    printf("\n");
}

static void json_value(json *j, const spry_graph_value *v)
{
    json_open(j, NULL, '{');
    json_text(j, "name", v->name);
    json_text(j, "type", v->whole ? "int64" : "float32");
    json_open(j, "shape", '[');
    for (int i = 0; i < v->dims; i++)
        json_integer(j, NULL, v->dim[i]);
    json_close(j, ']');
    json_close(j, '}');
}

static void inspect_json(const spry_graph *g)
{
    json j = json_begin("spry.net.graph/1");
    spry_graph_value v = {.size = sizeof v};

    json_integer(&j, "operators", spry_graph_nodes(g));
    json_integer(&j, "params", spry_graph_params(g));
    json_integer(&j, "macs", spry_graph_macs(g));
    json_open(&j, "inputs", '[');
    for (int i = 0; spry_graph_input(g, i, &v) == SPRY_OK; i++)
        json_value(&j, &v);
    json_close(&j, ']');
    json_open(&j, "outputs", '[');
    for (int i = 0; spry_graph_output(g, i, &v) == SPRY_OK; i++)
        json_value(&j, &v);
    json_close(&j, ']');
    graph_layers_json(&j, g);
    json_end(&j);
}

spry_status graph_inspect(const spry_graph *g)
{
    spry_graph_value v = {.size = sizeof v};

    if (cli.json) {
        inspect_json(g);
        return SPRY_OK;
    }
    printf("%d operators, %s parameters, %s multiply-adds\n",
           spry_graph_nodes(g), say_count((double)spry_graph_params(g)),
           say_count((double)spry_graph_macs(g)));
    for (int i = 0; spry_graph_input(g, i, &v) == SPRY_OK; i++)
        print_value("input", &v);
    for (int i = 0; spry_graph_output(g, i, &v) == SPRY_OK; i++)
        print_value("output", &v);
    graph_layers_print(g);
    return SPRY_OK;
}
