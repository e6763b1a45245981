/* cmd_predict.c - the model's ranking of schedules; nothing is measured. */
#include "dense.h"

#include <stdlib.h>

enum { SEARCHED = 24 };

static char *texts, *search;
static const opt options[] = {
    {"schedule", OPT_TEXT, &texts, "TEXT",
     "predict this one, or several separated by ;"},
    {"search", OPT_TEXT, &search, "NAME",
     "predict what a tune would race: exhaustive, descent, graph, evolve, "
     "random"},
    {0}};
static const opt_page page = {
    "predict",
    "MATRIX",
    "Rank schedules (a few of every format, those given, or those that a search\n"
    "finds) by the learned model of the operation, or by the analytic one when\n"
    "there is none. What bounds each is told by the analytic model.",
    {options, cli_compute},
    1,
    1};

typedef struct {
    spry_schedule schedule;
    double seconds; /* by whoever knows best */
    spry_prediction prediction;
} guess;

static char who[SPRY_WHO];

static int by_seconds(const void *a, const void *b)
{
    const guess *x = a, *y = b;

    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* What a tune with this search would race. */
static spry_status search_list(spry_schedule *x, int *count, const job *j)
{
    spry_tune_options o = tuned_options(j);
    static spry_candidate found[SEARCHED];
    spry_status s;

    o.machine = &j->machine;
    o.search = search;
    s = say_status(spry_propose(found, count, SEARCHED, j->problem, &o));
    for (int i = 0; s == SPRY_OK && i < *count; i++)
        s = open_schedule(&x[i], j, found[i].schedule);
    return s;
}

/* Predict all that were named or found, else the handful; *count of them. Of
 * the handful, what this matrix cannot be stored as is passed over. */
static spry_status predict_all(guess *out, int *count, const job *j)
{
    static spry_schedule x[SHAPES_MOST];
    int listed, named = texts != NULL;
    spry_status s =
        search ? search_list(x, &listed, j) : shape_list(x, &listed, j, texts);

    *count = 0;
    for (int i = 0; i < listed && s == SPRY_OK; i++) {
        guess *g = &out[*count];

        g->schedule = x[i];
        g->prediction.size = sizeof g->prediction;
        s = spry_predict(&g->prediction, j->problem, &x[i], &j->machine);
        *count += s == SPRY_OK;
        if (s == SPRY_USAGE && !named)
            s = SPRY_OK;
        say_status(s);
    }
    return s;
}

/* What the learned model says of all of them. */
static spry_status guess_all(guess *g, int count, const job *j)
{
    static spry_schedule x[SHAPES_MOST];
    static double seconds[SHAPES_MOST];
    spry_status s;

    for (int i = 0; i < count; i++)
        x[i] = g[i].schedule;
    s = spry_guess(seconds, who, j->problem, x, count, &j->machine);
    for (int i = 0; s == SPRY_OK && i < count; i++)
        g[i].seconds = seconds[i];
    return say_status(s);
}

static void print_json(const guess *g, int count, const job *j)
{
    json out = json_begin("spry.predict/1");

    json_text(&out, "problem", spry_problem_key(j->problem));
    json_text(&out, "machine", j->machine.fingerprint);
    json_text(&out, "model", who);
    json_open(&out, "predictions", '[');
    for (; count--; g++) {
        char text[SPRY_SCHEDULE_TEXT];

        json_open(&out, NULL, '{');
        json_text(&out, "schedule", spry_schedule_text(text, &g->schedule));
        json_number(&out, "seconds", g->seconds);
        json_number(&out, "analytic", g->prediction.seconds);
        json_text(&out, "bound", spry_prediction_bound(&g->prediction));
        json_number(&out, "bandwidth", g->prediction.bandwidth);
        json_number(&out, "latency", g->prediction.latency);
        json_number(&out, "compute", g->prediction.compute);
        json_number(&out, "overhead", g->prediction.overhead);
        json_number(&out, "imbalance", g->prediction.imbalance);
        json_number(&out, "bytes", g->prediction.bytes);
        json_number(&out, "traffic", g->prediction.traffic);
        json_number(&out, "pack_seconds", g->prediction.pack_seconds);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_end(&out);
}

static void print_people(const guess *g, int count)
{
    table *t = table_new("rank>schedule<time>bound by<storage>packing>");

    for (int i = 0; i < count; i++) {
        char text[SPRY_SCHEDULE_TEXT];

        table_cell(t, "%d", i + 1);
        table_cell(t, "%s", spry_schedule_text(text, &g[i].schedule));
        table_cell(t, "%s", say_seconds(g[i].seconds));
        table_cell(t, "%s", spry_prediction_bound(&g[i].prediction));
        table_cell(t, "%s", say_bytes(g[i].prediction.bytes));
        table_cell(t, "%s", say_seconds(g[i].prediction.pack_seconds));
    }
    table_print(t, stdout);
    printf("by the model %s; nothing was measured\n", who);
}

static spry_status predict(const job *j, const char *path)
{
    static guess guesses[SHAPES_MOST];
    int count;
    spry_status s;

    (void)path;
    if (search && texts)
        return say_fail(SPRY_USAGE, "give --schedule or --search, not both");
    if (spry_problem_operator(j->problem))
        return predict_operator(j, texts);
    s = predict_all(guesses, &count, j);
    if (s == SPRY_OK)
        s = guess_all(guesses, count, j);
    if (s != SPRY_OK)
        return s;
    qsort(guesses, (size_t)count, sizeof *guesses, by_seconds);
    if (cli.json)
        print_json(guesses, count, j);
    else
        print_people(guesses, count);
    return SPRY_OK;
}

spry_status cmd_predict(int argc, char **argv)
{
    return do_job(&page, argc, argv, JOB_PROBED, predict);
}
