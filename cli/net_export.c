/* net_export.c - a network and its weights as C that needs no spry. */
#include "net.h"

static const char *dir = ".", *name = "network";
static const opt options[] = {
    {"out", OPT_TEXT, &dir, "DIR", "the folder to write to (.)"},
    {"name", OPT_TEXT, &name, "NAME",
     "the name of files and functions (network)"},
    {0}};
static const opt_page page = {
    "net export",
    "NETWORK",
    "Write NAME.c and NAME.h: the network, made smaller by --passes, and its\n"
    "weights, which compile without spry. Passes are exact for finite inputs;\n"
    "with --passes none NaN propagates along edges.\n"
    "  spry net export gen:radix --name digits\n"
    "An operator graph has options of its own: spry net export x.onnx --help.",
    {options, net_passing, net_reading},
    1,
    1};

static void print_files(const spry_graph_report *r)
{
    json j;

    if (!cli.json) {
        printf("%s/%s.c\n%s/%s.h\n", dir, name, dir, name);
        fprintf(stderr, "edges: nominal %s, executed %s\n",
                say_count((double)r->nominal_edges),
                say_count((double)r->edges));
        return;
    }
    j = json_begin("spry.net.export/1");
    json_integer(&j, "nominal_edges", r->nominal_edges);
    json_integer(&j, "executed_edges", r->edges);
    json_open(&j, "files", '[');
    for (int i = 0; i < 2; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s.%c", dir, name, "ch"[i]);
        json_text(&j, NULL, path);
    }
    json_close(&j, ']');
    json_end(&j);
}

spry_status net_export(int argc, char **argv)
{
    spry_network *n = NULL;
    spry_graph_report r = {.size = sizeof r};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    s = net_open_compiled(&n, &r, argv[0], "all");
    if (s == SPRY_OK)
        s = make_folder(dir);
    if (s == SPRY_OK)
        s = say_status(spry_network_export(n, dir, name));
    if (s == SPRY_OK)
        print_files(&r);
    spry_network_free(n);
    return s;
}
