/* net_generate.c - a network of a known kind, into a file or a folder. */
#include "net.h"

#include <string.h>

static const char *file;
static int list;
static const opt options[] = {
    {"out", OPT_TEXT, &file, "PATH",
     "FILE.spnet, or a folder for Graph Challenge layers"},
    {"list", OPT_FLAG, &list, NULL, "show every kind and its parameters"},
    {0}};
static const opt_page page = {
    "net generate",
    "KIND [key=value...]",
    "Make a network: the same arguments and seed give the same one anywhere.\n"
    "  spry net generate radix width=1024 depth=120 --out neuron1024\n"
    "writes the official Graph Challenge layers, byte for byte.",
    {options},
    0,
    64};

static void list_all(json *j)
{
    for (int i = 0; spry_network_generator_name(i); i++)
        kind_list(j, "", spry_network_generator_name(i),
                  spry_network_generator_help(i),
                  spry_network_generator_params(i));
}

static spry_status print_list(void)
{
    json j;

    if (!cli.json) {
        list_all(NULL);
        return SPRY_OK;
    }
    j = json_begin("spry.net.generators/1");
    json_open(&j, "generators", '[');
    list_all(&j);
    json_close(&j, ']');
    json_end(&j);
    return SPRY_OK;
}

/* Kinds that are chains need not be held whole. */
static spry_status write_network(const char *spec)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_layers *layers = NULL;
    spry_network *whole = NULL;
    spry_status s;

    o.seed = cli.seed;
    s = spry_layers_open(&layers, spec, &o);
    if (s == SPRY_OK) {
        s = spry_layers_write(layers, file);
    } else {
        s = spry_network_read(&whole, spec, &o);
        if (s == SPRY_OK)
            s = spry_network_write(whole, file);
    }
    spry_layers_close(layers);
    spry_network_free(whole);
    return say_status(s);
}

spry_status net_generate(int argc, char **argv)
{
    char spec[1024];
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (list)
        return print_list();
    if (argc == 0)
        return say_fail(SPRY_USAGE, "net generate needs a kind; spry net "
                                    "generate --list shows them");
    if (!file)
        return say_fail(SPRY_USAGE, "net generate needs --out PATH");
    s = kind_join(spec, sizeof spec, "gen:", argc, argv);
    if (s == SPRY_OK)
        s = write_network(spec);
    if (s != SPRY_OK)
        return s;
    if (cli.json) {
        json j = json_begin("spry.net.generate/1");

        json_text(&j, "spec", spec);
        json_integer(&j, "seed", (int64_t)cli.seed);
        json_text(&j, "file", file);
        json_end(&j);
    } else {
        printf("%s: %s\n", file, spec + strlen("gen:"));
    }
    return SPRY_OK;
}
