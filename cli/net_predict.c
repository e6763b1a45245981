/* net_predict.c - how long ways to run a network should take, and what bounds
 * each; nothing is measured but the machine. */
#include "net.h"

#include <string.h>

enum { SEARCHED = 24 };

static char *texts;
static const opt options[] = {{"ways", OPT_TEXT, &texts, "\"A; B\"",
                               "predict these; else what a tune would race"},
                              {0}};
static const opt_page page = {
    "net predict",
    "NETWORK",
    "Rank ways to run a network by predicted time: edges issued, waiting for\n"
    "values beyond the first cache, streaming of edges, ends of layers, and\n"
    "threads.",
    {options, net_batching, net_reading},
    1,
    1};

typedef struct {
    char text[SPRY_SCHEDULE_TEXT];
    spry_prediction guess;
} forecast;

static void print_json(const forecast *f, int count, const job *from)
{
    json j = json_begin("spry.predict/1");

    json_text(&j, "problem", spry_problem_key(from->problem));
    json_text(&j, "machine", from->machine.fingerprint);
    json_text(&j, "model", "analytic");
    json_open(&j, "predictions", '[');
    for (int i = 0; i < count; i++) {
        const spry_prediction *p = &f[i].guess;

        json_open(&j, NULL, '{');
        json_text(&j, "schedule", f[i].text);
        json_number(&j, "seconds", p->seconds);
        json_text(&j, "bound", spry_prediction_bound(p));
        json_number(&j, "compute", p->compute);
        json_number(&j, "latency", p->latency);
        json_number(&j, "bandwidth", p->bandwidth);
        json_number(&j, "overhead", p->overhead);
        json_number(&j, "imbalance", p->imbalance);
        json_number(&j, "bytes", p->bytes);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void print_people(const forecast *f, int count)
{
    table *rows = table_new("way<time>bound by<compute>latency>bandwidth>"
                            "overhead>imbalance>");

    for (int i = 0; i < count; i++) {
        const spry_prediction *p = &f[i].guess;

        table_cell(rows, "%s", f[i].text);
        table_cell(rows, "%s", say_seconds(p->seconds));
        table_cell(rows, "%s", spry_prediction_bound(p));
        table_cell(rows, "%s", say_seconds(p->compute));
        table_cell(rows, "%s", say_seconds(p->latency));
        table_cell(rows, "%s", say_seconds(p->bandwidth));
        table_cell(rows, "%s", say_seconds(p->overhead));
        table_cell(rows, "%s", say_seconds(p->imbalance));
    }
    table_print(rows, stdout);
}

/* What a tune would race, best first. */
static spry_status search(forecast *f, int *count, const job *j)
{
    static spry_candidate found[SEARCHED];
    spry_tune_options o = tuned_options(j);
    spry_status s;

    o.machine = &j->machine;
    s = say_status(spry_propose(found, count, SEARCHED, j->problem, &o));
    for (int i = 0; s == SPRY_OK && i < *count; i++)
        memcpy(f[i].text, found[i].schedule, sizeof f[i].text);
    return s;
}

static spry_status name_all(forecast *f, int *count, const job *j)
{
    char *rest = texts, *text;
    spry_status s = SPRY_OK;

    if (!texts)
        return search(f, count, j);
    *count = 0;
    while (s == SPRY_OK && (text = shape_split(&rest))) {
        if (*count == SEARCHED)
            return say_fail(SPRY_USAGE, "at most %d ways at once", SEARCHED);
        snprintf(f[(*count)++].text, SPRY_SCHEDULE_TEXT, "%s", text);
        s = allow_threads(text);
    }
    if (s == SPRY_OK && *count == 0)
        s = say_fail(SPRY_USAGE, "no way is named");
    return s;
}

static spry_status predict(const job *j, const char *path)
{
    static forecast f[SEARCHED];
    int count = 0;
    spry_status s = name_all(f, &count, j);

    (void)path;
    for (int i = 0; s == SPRY_OK && i < count; i++) {
        f[i].guess.size = sizeof f[i].guess;
        s = say_status(
            spry_explain(&f[i].guess, j->problem, f[i].text, &j->machine));
    }
    if (s == SPRY_OK && cli.json)
        print_json(f, count, j);
    else if (s == SPRY_OK)
        print_people(f, count);
    return s;
}

spry_status net_predict(int argc, char **argv)
{
    return net_do_job(&page, argc, argv, JOB_PROBED, predict);
}
