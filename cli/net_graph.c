/* net_graph.c - `spry net` on operator graphs: ONNX files and built-in
 * networks. */
#include "net.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph_files.h"
#include "graph_layers.h"

static const char *inputs, *out_file, *name = "network", *order = "payoff",
                                      *transfer = "on";
static const char *dims;
static double said_runs = -1; /* not said */
static double budget;
static double started; /* before the graph was read */
static int reference, untuned;

static const opt reading[] = {
    {"dim", OPT_TEXT, &dims, "N|SHAPES",
     "a size for dimensions without one (1), or shapes, 2x3x224x224,2x9"},
    {0}};
static const opt computing[] = {
    {"input", OPT_TEXT, &inputs, "FILES",
     "x.npy,y.npy: one for each input; else random numbers"},
    {"runs", OPT_COUNT, &said_runs, "N", "time so many (10)"},
    {"untuned", OPT_FLAG, &untuned, NULL, "leave the store out of it"},
    {0}};
static const opt giving[] = {
    {"out", OPT_TEXT, &out_file, "FILES",
     "x.npy,y.npy: write outputs, from the first on; - for stdout"},
    {"reference", OPT_FLAG, &reference, NULL,
     "compute plainly, in double, once"},
    {0}};
static const opt tuning[] = {{"budget", OPT_SECONDS, &budget, "TIME",
                              "take no longer, comparing included (60s)"},
                             {"order", OPT_TEXT, &order,
                              "payoff|gradient|flops",
                              "which operator is next (payoff)"},
                             {"transfer", OPT_TEXT, &transfer, "on|off",
                              "begin with what the store knows (on)"},
                             {0}};
static const opt exporting[] = {
    {"out", OPT_TEXT, &out_file, "DIR|FILE.onnx", "where to write (.)"},
    {"name", OPT_TEXT, &name, "NAME",
     "the name of files and functions (network)"},
    {"untuned", OPT_FLAG, &untuned, NULL, "leave the store out of it"},
    {0}};

int net_is_graph(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t n = strlen(argv[i]);

        if (strncmp(argv[i], "net:", 4) == 0 ||
            (n > 5 && strcmp(argv[i] + n - 5, ".onnx") == 0 &&
             strcmp(argv[i - 1], "--out") != 0))
            return 1;
    }
    return 0;
}

/* ---- what all of them do ---- */

static spry_status open_graph(spry_graph **g, const char *source)
{
    spry_graph_value shape[GRAPH_VALUES];
    spry_graph_options o = {.size = sizeof o, .input = shape};

    if (dims) {
        o.inputs = graph_shapes_parse(shape, dims);
        if (o.inputs == 1 && shape[0].dims == 1 && !strchr(dims, 'x')) {
            o.unknown = shape[0].dim[0];
            o.inputs = 0;
        } else if (!o.inputs)
            return say_fail(SPRY_USAGE,
                            "--dim takes a whole number, or shapes such as "
                            "2x3x224x224,2x9, not '%s'",
                            dims);
    } else
        o.inputs = graph_shapes_peek(shape, inputs);
    return say_status(spry_graph_read(g, source, &o));
}

/* With the machine of --machine and --isa; --threads says how many of this
 * one's, which must have them. */
static spry_status options_of(spry_executor_options *out, spry_effort effort)
{
    static spry_machine machine;
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    int given = machine_given();
    spry_status s = SPRY_OK;

    if (given || cli.threads)
        s = open_machine(&machine, given && effort >= SPRY_MEASURE);
    o.threads = cli.threads;
    o.effort = effort;
    o.seconds = budget;
    o.store = untuned ? ":memory:" : cli.store;
    o.machine = given ? &machine : NULL;
    *out = o;
    return s;
}

/* Those of --runs. */
static spry_status count_runs(int *out)
{
    static const double most = 1e9;
    int64_t runs;
    spry_status s = net_count(&runs, "runs", said_runs, 10);

    *out = (int)(said_runs > most ? most : (double)runs);
    return s;
}

static spry_status make_executor(spry_executor **e, const spry_graph *g,
                                 const spry_executor_options *o)
{
    spry_status s = say_status(spry_executor_make(e, g, o));

    if (s == SPRY_OK && *spry_executor_note(*e))
        say_note("%s", spry_executor_note(*e));
    return s;
}

/* Seconds of the fastest of several runs, of one at least. */
static spry_status time_runs(double *best, spry_executor *e,
                             const graph_arrays *a, int count)
{
    spry_status s = SPRY_OK;

    *best = HUGE_VAL;
    stop_watch();
    progress_say("running");
    for (int i = 0; s == SPRY_OK && i < count && !(i && stop_asked()); i++) {
        double begun = now_seconds(), took;

        s = say_status(
            spry_executor_run(e, (const void *const *)a->in, a->out));
        took = now_seconds() - begun;
        *best = took < *best ? took : *best;
    }
    progress_clear();
    return s;
}

/* ---- run ---- */

static void report_run(const graph_arrays *a, double seconds)
{
    const float *y = a->to[0].whole || !a->to[0].count ? NULL : a->out[0];
    int64_t best = 0,
            last = a->to[0].dims ? a->to[0].dim[a->to[0].dims - 1] : 1;

    for (int64_t i = 1; y && i < last; i++)
        best = y[i] > y[best] ? i : best;
    if (cli.json) {
        json j = json_begin("spry.net.graph.run/1");

        json_number(&j, "seconds", seconds);
        json_integer(&j, "largest", y ? best : -1);
        json_number(&j, "value", y && last ? (double)y[best] : (double)NAN);
        json_end(&j);
        return;
    }
    printf("%s\n", say_seconds(seconds));
    if (y && last > 1)
        printf("the largest of the first row of %s is number %" PRId64 ": %g\n",
               a->to[0].name, best, (double)y[best]);
}

static spry_status run_reference(double *seconds, const spry_graph *g,
                                 graph_arrays *a)
{
    double begun = now_seconds();
    spry_status s;

    if (said_runs >= 0)
        return say_fail(SPRY_USAGE, "--reference computes once, without "
                                    "--runs");
    s = say_status(spry_graph_reference(g, (const void *const *)a->in, a->out));
    *seconds = now_seconds() - begun;
    return s;
}

static spry_status run_executor(double *seconds, const spry_graph *g,
                                const graph_arrays *a)
{
    spry_executor_options o;
    spry_executor *e = NULL;
    int runs;
    spry_status s = count_runs(&runs);

    if (s == SPRY_OK)
        s = options_of(&o, SPRY_PREDICT);
    if (s == SPRY_OK)
        s = make_executor(&e, g, &o);
    if (s == SPRY_OK)
        s = time_runs(seconds, e, a, runs);
    spry_executor_free(e);
    return s;
}

static spry_status run(const spry_graph *g)
{
    graph_arrays a;
    double seconds = 0;
    spry_status s = graph_arrays_open(&a, g, inputs, out_file);

    if (s == SPRY_OK)
        s = reference ? run_reference(&seconds, g, &a)
                      : run_executor(&seconds, g, &a);
    if (s == SPRY_OK && out_file)
        s = graph_arrays_write(&a, out_file);
    if (s == SPRY_OK && !(out_file && strcmp(out_file, "-") == 0))
        report_run(&a, seconds);
    graph_arrays_close(&a);
    return s;
}

/* ---- explain ---- */

static spry_status explain(const spry_graph *g)
{
    spry_executor_options o;
    spry_executor *e = NULL;
    graph_arrays a;
    int runs;
    spry_status s = graph_arrays_open(&a, g, inputs, NULL);

    if (s == SPRY_OK)
        s = count_runs(&runs);
    if (s == SPRY_OK)
        s = options_of(&o, SPRY_PREDICT);
    if (s == SPRY_OK)
        s = make_executor(&e, g, &o);
    if (s == SPRY_OK)
        s = say_status(
            spry_executor_profile(e, (const void *const *)a.in, a.out, runs));
    if (s == SPRY_OK)
        graph_explain(e);
    spry_executor_free(e);
    graph_arrays_close(&a);
    return s;
}

/* ---- tune ---- */

static int watch(double elapsed, double seconds, int task, int tasks,
                 double saved, void *unused)
{
    char text[160];

    (void)unused;
    snprintf(text, sizeof text, "%.0f of %.0f s, task %d of %d, %s saved",
             elapsed, seconds, task, tasks, say_seconds(saved));
    progress_say(text);
    return stop_asked();
}

static spry_status tuning_of(spry_executor_options *o)
{
    spry_status s = say_status(spry_tuning_order_parse(&o->order, order));

    o->transfer = strcmp(transfer, "on") == 0;
    if (s == SPRY_OK && !o->transfer && strcmp(transfer, "off") != 0)
        s = say_fail(SPRY_USAGE, "--transfer is on or off, not '%s'", transfer);
    return s;
}

static void report_tuning(const spry_executor *e, const spry_executor_gain *x,
                          double spent)
{
    json j;

    if (!cli.json && x->pairs) {
        graph_chosen_print(e);
        printf("%s untuned, %s tuned: %s, 95 %% interval %s of %d pairs; "
               "tuning took %s\n",
               say_seconds(x->untuned), say_seconds(x->tuned),
               say_times(x->speedup), say_interval(x->low, x->high), x->pairs,
               say_seconds(spent));
        return;
    }
    if (!cli.json && x->speedup > 0) {
        graph_chosen_print(e);
        printf("%s: nothing was found that is faster than what the model "
               "chooses; tuning took %s\n",
               say_seconds(x->tuned), say_seconds(spent));
        return;
    }
    if (!cli.json) {
        printf("stopped after %s; what was found is kept\n",
               say_seconds(spent));
        return;
    }
    j = json_begin("spry.net.graph.tune/1");
    json_number(&j, "tuning_seconds", spent);
    json_number(&j, "untuned_seconds", x->untuned);
    json_number(&j, "tuned_seconds", x->tuned);
    json_number(&j, "speedup", x->speedup);
    json_number(&j, "low", x->low);
    json_number(&j, "high", x->high);
    json_integer(&j, "pairs", x->pairs);
    graph_chosen_json(&j, e);
    json_end(&j);
}

static spry_status tune(const spry_graph *g)
{
    spry_executor_options o;
    spry_executor *e = NULL;
    spry_executor_gain x = {.size = sizeof x};
    double begun;
    spry_status s = options_of(&o, SPRY_MEASURE);

    if (s == SPRY_OK)
        s = tuning_of(&o);
    begun = now_seconds();
    stop_watch();
    o.progress = watch;
    if (budget > 0)
        o.seconds = budget - (begun - started);
    if (s == SPRY_OK && budget > 0 && o.seconds <= 0)
        s = say_fail(SPRY_BUDGET,
                     "reading the network takes %s; the budget is %s",
                     say_seconds(begun - started), say_seconds(budget));
    if (s == SPRY_OK)
        s = make_executor(&e, g, &o);
    progress_clear();
    if (s == SPRY_OK)
        s = spry_executor_gain_of(e, &x);
    if (s == SPRY_OK)
        report_tuning(e, &x, now_seconds() - begun);
    spry_executor_free(e);
    return s == SPRY_OK && stop_asked() ? (spry_status)stop_asked() : s;
}

/* ---- export ---- */

static void print_files(const char *dir)
{
    static const char *const file[] = {"c", "h", "bin"};
    char path[4200];
    json j;

    if (!cli.json) {
        for (int i = 0; i < 3; i++)
            printf("%s/%s.%s\n", dir, name, file[i]);
        printf("%s/kernels\n%s/example.c\n%s/CMakeLists.txt\n", dir, dir, dir);
        return;
    }
    j = json_begin("spry.net.graph.export/1");
    json_open(&j, "files", '[');
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%.4000s/%.64s.%s", dir, name, file[i]);
        json_text(&j, NULL, path);
    }
    json_close(&j, ']');
    json_end(&j);
}

static spry_status export_c(const spry_graph *g, const char *dir)
{
    spry_executor_options o;
    spry_executor *e = NULL;
    spry_status s = options_of(&o, SPRY_PREDICT);

    if (s == SPRY_OK)
        s = make_folder(dir);
    if (s == SPRY_OK)
        s = make_executor(&e, g, &o);
    if (s == SPRY_OK)
        s = say_status(spry_executor_export(e, dir, name));
    if (s == SPRY_OK)
        print_files(dir);
    spry_executor_free(e);
    return s;
}

static spry_status export_graph(const spry_graph *g)
{
    size_t n = out_file ? strlen(out_file) : 0;

    if (n > 5 && strcmp(out_file + n - 5, ".onnx") == 0)
        return say_status(spry_graph_write(g, out_file));
    return export_c(g, out_file ? out_file : ".");
}

/* ---- the table ---- */

static const struct {
    const char *name;
    spry_status (*act)(const spry_graph *g);
    opt_page page;
} actions[] = {
    {"inspect",
     graph_inspect,
     {"net inspect",
      "MODEL.onnx|net:NAME",
      "Show inputs, outputs, parameters and multiply-adds, and of every layer\n"
      "the weights and the share of zeros among them.",
      {reading},
      1,
      1}},
    {"run",
     run,
     {"net run",
      "MODEL.onnx|net:NAME",
      "Compute the outputs and say how long the fastest run took.",
      {giving, computing, reading},
      1,
      1}},
    {"explain",
     explain,
     {"net explain",
      "MODEL.onnx|net:NAME",
      "A line for each stage: what it computes, how, and how long it takes.",
      {computing, reading},
      1,
      1}},
    {"tune",
     tune,
     {"net tune",
      "MODEL.onnx|net:NAME",
      "Find the fastest way to compute every operator, first where most is\n"
      "to be won, beginning with what the store knows of equal and near ones.\n"
      "In the end the network races its untuned self, and is left as it was\n"
      "unless it is faster. The store keeps what was found. Ctrl-C ends with it.",
      {tuning, reading},
      1,
      1}},
    {"export",
     export_graph,
     {"net export",
      "MODEL.onnx|net:NAME",
      "Write C that needs no spry: NAME.c and NAME.h, NAME.bin with the weights,\n"
      "the kernels that the store or the model choose, a CMakeLists.txt and an\n"
      "example. With --out FILE.onnx: the graph as ONNX.\n"
      "  spry net tune model.onnx && spry net export model.onnx --out dir",
      {exporting, reading},
      1,
      1}}};

spry_status net_graph(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(argv[0], actions[i].name) == 0) {
            spry_graph *g = NULL;
            spry_status s;

            argc--;
            argv++;
            if (!opt_parse(&s, &actions[i].page, &argc, argv))
                return s;
            started = now_seconds();
            s = open_graph(&g, argv[0]);
            if (s == SPRY_OK)
                s = actions[i].act(g);
            spry_graph_free(g);
            return s;
        }
    return say_fail(SPRY_USAGE,
                    "of an operator graph: net inspect, run, explain, tune or "
                    "export, not '%s'",
                    argv[0]);
}
