/* net_bench.c - ways to run a network raced against each other, interleaved:
 * Algorithm 1 in several orders, and every form. */
#include "net.h"

#include <stdlib.h>
#include <string.h>

static char *texts;
static const char *input;
static double batch = 1, budget;
static int enlarge;
static const opt options[] = {
    {"ways", OPT_TEXT, &texts, "\"A; B\"",
     "race these, against the first of them; else all forms"},
    {"batch", OPT_COUNT, &batch, "N", "inputs that come together (1)"},
    {"input", OPT_TEXT, &input, "FILE",
     "race with these: any matrix or .npy; else pen strokes"},
    {"enlarge", OPT_FLAG, &enlarge, NULL,
     "repeat the pixels of smaller square images"},
    {"budget", OPT_SECONDS, &budget, "TIME", "stop racing after this (10s)"},
    {0}};
static const opt_page page = {
    "net bench",
    "NETWORK",
    "Race ways to run a network in one process, in interleaved pairs, each\n"
    "checked against the reference first. Rates count the network's own\n"
    "edges, also where passes leave fewer to execute.\n"
    "  spry net bench gen:radix --ways \"edges order=ego; passes=all gather\"",
    {options, net_reading},
    1,
    1};

/* Algorithm 1 by destination first, which all are compared with. */
static const char *const usual[] = {"edges order=destination",
                                    "edges order=source",
                                    "edges order=blocked",
                                    "edges order=clustered",
                                    "edges order=ego",
                                    "gather threads=1",
                                    "gather",
                                    "rows threads=1",
                                    "rows",
                                    "passes=all gather threads=1",
                                    "passes=all rows"};
enum { USUAL = sizeof usual / sizeof *usual };

typedef struct {
    spry_way way[SPRY_WAYS_MOST];
    int count;
} field;

static spry_status add_way(field *f, const char *text)
{
    if (f->count == SPRY_WAYS_MOST)
        return say_fail(SPRY_USAGE, "at most %d ways race at once",
                        SPRY_WAYS_MOST);
    return say_status(spry_way_parse(&f->way[f->count++], text));
}

static spry_status enter(field *f)
{
    char *rest = texts, *text;
    spry_status s = SPRY_OK;

    for (int i = 0; !texts && s == SPRY_OK && i < USUAL; i++)
        s = add_way(f, usual[i]);
    while (texts && s == SPRY_OK && (text = shape_split(&rest)))
        s = add_way(f, text);
    return s;
}

/* ---- saying it ---- */

static double rate_of(const spry_choice *c, const spry_way_trial *t,
                      const spry_network *n)
{
    return t->seconds > 0 ? (double)n->edges * (double)c->raced / t->seconds
                          : 0;
}

static void print_json(const spry_choice *c, const spry_network *n)
{
    json j = json_begin("spry.net.bench/1");
    char text[SPRY_WAY_TEXT];

    json_integer(&j, "edges", n->edges);
    json_integer(&j, "batch", c->batch);
    json_integer(&j, "raced", c->raced);
    json_open(&j, "results", '[');
    for (int i = 0; i < c->trials; i++) {
        const spry_way_trial *t = &c->trial[i];

        json_open(&j, NULL, '{');
        json_text(&j, "way", spry_way_text(text, &t->way));
        json_text(&j, "verdict", spry_verdict_name(t->verdict));
        json_text(&j, "why", t->why);
        json_number(&j, "seconds", t->seconds);
        json_number(&j, "speedup", t->speedup);
        json_number(&j, "speedup_low", t->low);
        json_number(&j, "speedup_high", t->high);
        json_integer(&j, "pairs", t->pairs);
        json_number(&j, "make_seconds", t->make_seconds);
        json_integer(&j, "executed_edges", t->edges);
        json_number(&j, "nominal_edges_per_second", rate_of(c, t, n));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void print_people(const spry_choice *c, const spry_network *n)
{
    table *rows =
        table_new("way<time>speed-up (95 %)>nominal rate>executed>made in>");
    char text[SPRY_WAY_TEXT];

    for (int i = 0; i < c->trials; i++) {
        const spry_way_trial *t = &c->trial[i];

        table_cell(rows, "%s", spry_way_text(text, &t->way));
        if (t->verdict != SPRY_VERDICT_OK) {
            table_cell(rows, "-");
            table_cell(rows, "%s: %s", spry_verdict_name(t->verdict), t->why);
            for (int k = 0; k < 3; k++)
                table_cell(rows, "-");
            continue;
        }
        table_cell(rows, "%s", say_seconds(t->seconds));
        table_cell(rows, "%.2fx  %s", t->speedup,
                   say_interval(t->low, t->high));
        table_cell(rows, "%s", say_rate(rate_of(c, t, n), "edges/s"));
        table_cell(rows, "%s", say_count((double)t->edges));
        table_cell(rows, "%s", say_seconds(t->make_seconds));
    }
    printf("%s edges, %s inputs at a time\n", say_count((double)n->edges),
           say_count((double)c->raced));
    table_print(rows, stdout);
    if (c->raced < c->batch)
        say_note("raced with %s of the inputs", say_count((double)c->raced));
}

/* ---- the command ---- */

/* NULL without --input. */
static spry_status load_inputs(float **out, const spry_network *n)
{
    enum { BYTES = 1 << 28 };
    net_batch b = {0};
    spry_status s;

    *out = NULL;
    if (!input)
        return SPRY_OK;
    if (batch * (double)n->inputs * 4 > BYTES)
        return say_fail(SPRY_USAGE, "--batch is too large for --input");
    s = net_batch_open(&b, input, n->inputs, (int64_t)batch, enlarge);
    if (s != SPRY_OK)
        return s;
    *out = malloc((size_t)b.count * (size_t)n->inputs * sizeof **out);
    s = *out ? net_batch_load(*out, &b, 0, b.count, n->inputs)
             : say_fail(SPRY_SYSTEM, "not enough memory for the inputs");
    net_batch_close(&b);
    return s;
}

static int progress(int64_t done, int64_t of, void *what)
{
    return stop_asked() || progress_share(done < of ? done : of, of, what);
}

static spry_status race(spry_choice *c, const field *f, const spry_network *n)
{
    spry_choose_options o = SPRY_CHOOSE_DEFAULTS;
    char what[] = "race";
    float *x = NULL;
    spry_status s = load_inputs(&x, n);

    o.batch = (int64_t)batch;
    o.seconds = budget;
    o.threads = cli.threads;
    o.seed = cli.seed;
    o.x = x;
    o.progress = progress;
    o.payload = what;
    if (s == SPRY_OK)
        s = say_status(spry_ways_race(c, n, f->way, f->count, &o));
    progress_clear();
    free(x);
    return s;
}

spry_status net_bench(int argc, char **argv)
{
    spry_choice *c = NULL;
    spry_network *n = NULL;
    field f = {.count = 0};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    batch = batch < 1 ? 1 : batch;
    stop_watch();
    s = enter(&f);
    if (s == SPRY_OK)
        s = net_open(&n, argv[0]);
    if (s == SPRY_OK && !(c = calloc(1, sizeof *c)))
        s = say_fail(SPRY_SYSTEM, "not enough memory");
    if (s == SPRY_OK)
        s = race(c, &f, n);
    if (s == SPRY_OK && cli.json)
        print_json(c, n);
    else if (s == SPRY_OK)
        print_people(c, n);
    free(c);
    spry_network_free(n);
    return s;
}
