/* net_tune.c - a network in, the fastest proven way to run it out, with the
 * table of everything that was tried. */
#include "net.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *input;
static double batch = 1, budget, calls;
static int again, require, enlarge, lookup;
static const opt options[] = {
    {"batch", OPT_COUNT, &batch, "N", "inputs that come together (1)"},
    {"input", OPT_TEXT, &input, "FILE",
     "race with these: any matrix or .npy; else pen strokes"},
    {"enlarge", OPT_FLAG, &enlarge, NULL,
     "repeat the pixels of smaller square images"},
    {"budget", OPT_SECONDS, &budget, "TIME",
     "spend about this: 500ms, 60s, 2m (10s)"},
    {"calls", OPT_COUNT, &calls, "N", "how many batches will come (very many)"},
    {"lookup", OPT_FLAG, &lookup, NULL,
     "what the store knows, else a guess; no race"},
    {"again", OPT_FLAG, &again, NULL, "race even if the store has the answer"},
    {"require-speedup", OPT_FLAG, &require, NULL,
     "exit 5 if nothing beats the baseline"},
    {0}};
static const opt_page page = {
    "net tune",
    "NETWORK",
    "Find the fastest way to run a network: passes, form, tile and threads.\n"
    "Ways are verified, raced against plain loops in interleaved pairs, and\n"
    "win only when the 95 % interval of their speed-up lies above 1.02.\n"
    "net run then runs it so, and asked again, the answer comes from the\n"
    "store. Ctrl-C ends with the best so far.",
    {options, net_passing, net_reading},
    1,
    1};

/* ---- order: the fastest first, failures last ---- */

static double rank_of(const spry_way_trial *t)
{
    return t->verdict == SPRY_VERDICT_OK ? t->speedup : -1;
}

static int by_rank(const void *a, const void *b)
{
    double x = rank_of(a), y = rank_of(b);

    return (x < y) - (x > y);
}

/* ---- for programs ---- */

static void json_way(json *j, const char *key, const spry_way *w)
{
    char text[SPRY_WAY_TEXT];

    json_text(j, key, spry_way_text(text, w));
}

static void json_speedup(json *j, double speedup, double low, double high)
{
    json_number(j, "speedup", speedup);
    json_number(j, "speedup_low", low);
    json_number(j, "speedup_high", high);
}

static void json_trial(json *j, const spry_way_trial *t)
{
    json_open(j, NULL, '{');
    json_way(j, "way", &t->way);
    json_text(j, "verdict", spry_verdict_name(t->verdict));
    json_number(j, "seconds", t->seconds);
    json_speedup(j, t->speedup, t->low, t->high);
    json_integer(j, "pairs", t->pairs);
    json_number(j, "predicted", t->predicted);
    json_number(j, "make_seconds", t->make_seconds);
    json_integer(j, "executed_edges", t->edges);
    json_text(j, "why", t->why);
    json_close(j, '}');
}

static void print_json(const spry_choice *c, const spry_network *n)
{
    json j = json_begin("spry.net.tune/1");
    char key[33];

    spry_network_key(key, n);
    json_text(&j, "key", key);
    json_integer(&j, "edges", n->edges);
    json_integer(&j, "batch", c->batch);
    json_integer(&j, "raced", c->raced);
    json_integer(&j, "threads", c->machine.threads);
    json_open(&j, "baseline", '{');
    json_way(&j, "way", &c->baseline);
    json_number(&j, "seconds", c->baseline_seconds);
    json_close(&j, '}');
    json_open(&j, "best", '{');
    json_way(&j, "way", &c->best);
    json_number(&j, "seconds", c->seconds);
    json_speedup(&j, c->speedup, c->low, c->high);
    json_close(&j, '}');
    json_bool(&j, "changed", c->changed);
    json_bool(&j, "measured", c->measured);
    json_bool(&j, "looked_up", c->looked_up);
    json_bool(&j, "stopped", c->stopped);
    json_number(&j, "make_seconds", c->make_seconds);
    json_number(&j, "tuning_seconds", c->tuning_seconds);
    json_number(&j, "break_even_calls", c->break_even_calls);
    json_text(&j, "note", c->note);
    json_open(&j, "trials", '[');
    for (int i = 0; i < c->trials; i++)
        json_trial(&j, &c->trial[i]);
    json_close(&j, ']');
    json_end(&j);
}

/* ---- for people ---- */

static void print_row(table *rows, const spry_way_trial *t, int rank, int won)
{
    char text[SPRY_WAY_TEXT];
    int ok = t->verdict == SPRY_VERDICT_OK && t->seconds > 0;

    table_cell(rows, "%d", rank);
    table_cell(rows, "%s", spry_way_text(text, &t->way));
    table_cell(rows, "%s", ok ? say_seconds(t->seconds) : "-");
    if (ok)
        table_cell(rows, "%.2fx  %s", t->speedup,
                   say_interval(t->low, t->high));
    else
        table_cell(rows, "-");
    table_cell(rows, "%s", say_count((double)t->edges));
    table_cell(rows, "%s%s%s", spry_verdict_name(t->verdict),
               *t->why ? ": " : "", t->why);
    if (won)
        table_bold(rows);
}

static void print_trials(const spry_choice *c)
{
    table *rows;
    char best[SPRY_WAY_TEXT], text[SPRY_WAY_TEXT];

    if (c->trials == 0)
        return;
    rows = table_new("rank>way<time>speed-up (95 %)>edges>verdict<");
    spry_way_text(best, &c->best);
    for (int i = 0; i < c->trials; i++)
        print_row(rows, &c->trial[i], i + 1,
                  strcmp(spry_way_text(text, &c->trial[i].way), best) == 0);
    printf("\n");
    table_print(rows, stdout);
}

static void print_winner(const spry_choice *c)
{
    char best[SPRY_WAY_TEXT], baseline[SPRY_WAY_TEXT];

    spry_way_text(best, &c->best);
    spry_way_text(baseline, &c->baseline);
    if (!c->changed)
        printf("stay with  %s: nothing was proven faster\n", best);
    else if (c->measured)
        printf("winner     %s%s%s\n           %.2f times as fast as %s, 95 %% "
               "interval %s\n",
               say_bold(stdout), best, say_plain(stdout), c->speedup, baseline,
               say_interval(c->low, c->high));
    else
        printf("winner     %s%s%s\n           by a guess %.2f times as fast "
               "as %s; nothing was measured\n",
               say_bold(stdout), best, say_plain(stdout), c->speedup, baseline);
}

static void print_text(const spry_choice *c, const spry_network *n)
{
    printf("%s layers, %s edges, batch %s\n%s, %d thread%s\n",
           say_count((double)n->layers), say_count((double)n->edges),
           say_count((double)c->batch), c->machine.name, c->machine.threads,
           c->machine.threads > 1 ? "s" : "");
    if (c->raced < c->batch && c->trials > 0)
        printf("raced with %s of the inputs\n", say_count((double)c->raced));
    print_trials(c);
    printf("\n");
    print_winner(c);
    if (c->trials > 0)
        printf("verified   yes, against the reference\n");
    printf("cost       %s to make ready; %s to %s\n",
           say_seconds(c->make_seconds), say_seconds(c->tuning_seconds),
           c->looked_up ? "look it up in the store" : "tune");
    if (c->changed && c->trials > 0 && isfinite(c->break_even_calls))
        printf("pays       after %s batches\n",
               say_count(ceil(c->break_even_calls)));
    if (c->stopped)
        say_note("stopped early; this is the best so far");
    if (*c->note)
        say_note("%s", c->note);
}

/* ---- the command ---- */

/* The first inputs of the file, as many as can be of use; NULL without. */
static spry_status load_inputs(float **out, spry_choose_options *o,
                               const spry_network *n)
{
    enum { BYTES = 1 << 28 };
    int64_t most = BYTES / (4 * n->inputs);
    net_batch b = {0};
    spry_status s;

    *out = NULL;
    if (!input)
        return SPRY_OK;
    s = net_batch_open(&b, input, n->inputs, o->batch, enlarge);
    if (s != SPRY_OK)
        return s;
    if (o->batch > most)
        s = say_fail(SPRY_USAGE, "--batch is too large for --input; at most %s",
                     say_count((double)most));
    if (s == SPRY_OK) {
        *out = malloc((size_t)(o->batch * n->inputs) * sizeof **out);
        s = *out ? net_batch_load(*out, &b, 0, o->batch, n->inputs)
                 : say_fail(SPRY_SYSTEM, "not enough memory for the inputs");
    }
    net_batch_close(&b);
    o->x = *out;
    return s;
}

static int progress(int64_t done, int64_t of, void *what)
{
    return stop_asked() || progress_share(done < of ? done : of, of, what);
}

static spry_status choose(spry_choice *c, const spry_network *n)
{
    spry_choose_options o = SPRY_CHOOSE_DEFAULTS;
    char what[] = "tune";
    float *x = NULL;
    spry_status s;

    o.batch = batch < 1 ? 1 : (int64_t)batch;
    o.seconds = budget;
    o.calls = calls;
    o.threads = cli.threads;
    o.lookup = lookup;
    o.again = again;
    o.seed = cli.seed;
    o.store = cli.store;
    o.passes = net_passes_text;
    o.progress = progress;
    o.payload = what;
    s = load_inputs(&x, &o, n);
    if (s == SPRY_OK)
        s = say_status(spry_network_choose(c, n, &o));
    progress_clear();
    free(x);
    return s;
}

static spry_status tune(const spry_network *n)
{
    spry_choice *c = malloc(sizeof *c);
    spry_status s;

    if (!c)
        return say_fail(SPRY_SYSTEM, "not enough memory");
    s = choose(c, n);
    if (s == SPRY_OK) {
        qsort(c->trial, (size_t)c->trials, sizeof *c->trial, by_rank);
        if (cli.json)
            print_json(c, n);
        else
            print_text(c, n);
        if (require && !c->changed)
            s = say_fail(SPRY_NO_GAIN, "nothing beat the baseline");
    }
    free(c);
    return s;
}

spry_status net_tune(int argc, char **argv)
{
    spry_network *n = NULL;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    stop_watch();
    s = net_open(&n, argv[0]);
    if (s == SPRY_OK)
        s = tune(n);
    spry_network_free(n);
    return s;
}
