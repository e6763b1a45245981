/* cmd_net.c - sparse networks: the table of what can be done with one. */
#include "net.h"

#include <string.h>

static const opt options[] = {{0}};
static const opt_page page = {
    "net",
    "generate|inspect|compile|order|train-order|simulate|tune|predict|"
    "bench|verify|run|explain|export ...",
    "generate  make a network of a known kind and write it\n"
    "inspect   show layers, edges and whether it is an official one\n"
    "compile   make it smaller; the outputs stay the same\n"
    "order     put the edges into an order and show or write it\n"
    "train-order  learn how to order, for order --order eon\n"
    "simulate  count what an order moves between fast and slow memory\n"
    "tune      find the fastest way to run it\n"
    "predict   say how long ways to run it should take, and why\n"
    "bench     race ways to run it against each other\n"
    "verify    compare ways to run it with the reference\n"
    "run       compute the outputs of a batch of inputs\n"
    "explain   say what bounds the way it runs, or where the time of an\n"
    "          operator graph goes\n"
    "export    write it as C that stands alone\n\n"
    "A network is gen:KIND,key=value, a .spnet file, a list of edges, a Graph\n"
    "Challenge folder (n1024-l1.tsv...) or a folder of one matrix per layer;\n"
    "or an operator graph: MODEL.onnx or net:resnet50 (inspect, run, explain,\n"
    "tune, export).\n"
    "spry net ACTION --help says more.",
    {options},
    1,
    64};

static const struct {
    const char *name;
    command *run;
} actions[] = {{"generate", net_generate},
               {"inspect", net_inspect},
               {"compile", net_compile},
               {"order", net_order},
               {"train-order", net_train_order},
               {"simulate", net_simulate},
               {"tune", net_tune},
               {"predict", net_predict},
               {"explain", net_explain},
               {"bench", net_bench},
               {"verify", net_verify},
               {"run", net_run},
               {"export", net_export},
               {0}};

spry_status cmd_net(int argc, char **argv)
{
    spry_status s;

    if (net_is_graph(argc, argv))
        return net_graph(argc, argv);
    for (int a = 0; argc > 0 && actions[a].name; a++)
        if (strcmp(argv[0], actions[a].name) == 0)
            return actions[a].run(argc - 1, argv + 1);
    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    return opt_unknown_action("net", argv[0], actions, sizeof *actions);
}
