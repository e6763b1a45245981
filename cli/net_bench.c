/* net_bench.c - ways to run a network raced against each other, interleaved:
 * Algorithm 1 in several orders, and every form. */
#include "net.h"

static char *texts;
static double budget = 10;
static const char *report;
static const opt options[] = {
    {"ways", OPT_TEXT, &texts, "\"A; B\"",
     "race these, against the first of them; else all forms"},
    {"budget", OPT_SECONDS, &budget, "TIME", "stop racing after this (10s)"},
    {"report", OPT_TEXT, &report, "FILE", "write an HTML page about it"},
    {0}};
static const opt_page page = {
    "net bench",
    "NETWORK",
    "Time ways to run a network in turns, in one process, each checked against\n"
    "the reference first. Rates count the edges of the network as given, also\n"
    "where passes leave fewer; the executed edges are an upper bound, since the\n"
    "values of an input may stop changing early.\n"
    "  spry net bench gen:radix --ways \"edges order=ego; passes=all gather\"",
    {options, net_batching, net_reading},
    1,
    1};

typedef struct {
    const job *j;
    spry_plan *plan[NET_WAYS];
    spry_score score[NET_WAYS];
    int count;
} contest;

static double rate_of(const contest *c, int i)
{
    double edges =
        (double)c->j->net->edges * (double)spry_problem_batch(c->j->problem);

    return c->score[i].seconds > 0 ? edges / c->score[i].seconds : 0;
}

static void print_json(const contest *c)
{
    json j = json_begin("spry.net.bench/1");

    json_integer(&j, "edges", c->j->net->edges);
    json_integer(&j, "batch", spry_problem_batch(c->j->problem));
    json_integer(&j, "raced", spry_problem_raced(c->j->problem));
    json_open(&j, "results", '[');
    for (int i = 0; i < c->count; i++) {
        const spry_score *r = &c->score[i];

        json_open(&j, NULL, '{');
        json_text(&j, "way", spry_plan_text(c->plan[i]));
        json_number(&j, "seconds", r->seconds);
        json_number(&j, "speedup", r->speedup);
        json_number(&j, "speedup_low", r->low);
        json_number(&j, "speedup_high", r->high);
        json_integer(&j, "pairs", r->pairs);
        json_number(&j, "make_seconds", spry_plan_pack_seconds(c->plan[i]));
        json_integer(&j, "executed_edges", spry_plan_edges(c->plan[i]));
        json_bool(&j, "executed_is_upper_bound", 1);
        json_number(&j, "nominal_edges_per_second", rate_of(c, i));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static void print_people(const contest *c)
{
    int64_t batch = spry_problem_batch(c->j->problem);
    int64_t raced = spry_problem_raced(c->j->problem);
    table *rows = table_new(
        "way<time>speed-up (95 %)>nominal rate>executed at most>made in>");

    for (int i = 0; i < c->count; i++) {
        const spry_score *r = &c->score[i];

        table_cell(rows, "%s", spry_plan_text(c->plan[i]));
        table_cell(rows, "%s", say_seconds(r->seconds));
        table_cell(rows, "%.2fx  %s", r->speedup,
                   say_interval(r->low, r->high));
        table_cell(rows, "%s", say_rate(rate_of(c, i), "edges/s"));
        table_cell(rows, "%s", say_count((double)spry_plan_edges(c->plan[i])));
        table_cell(rows, "%s", say_seconds(spry_plan_pack_seconds(c->plan[i])));
    }
    printf("%s edges, %s inputs at a time\n",
           say_count((double)c->j->net->edges), say_count((double)batch));
    table_print(rows, stdout);
    if (raced < batch)
        say_note("raced with %s of the inputs", say_count((double)raced));
}

static spry_status check_all(const contest *c)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < c->count && !stop_asked(); i++) {
        progress_step(i, c->count, "checked");
        s = say_status(spry_plan_check(c->plan[i], cli.seed));
    }
    progress_clear();
    return s;
}

static spry_status race(contest *c, const char *path)
{
    spry_status s = say_status(spry_race(
        c->score, (const spry_plan *const *)c->plan, c->count, 31, budget));

    if (s == SPRY_OK && cli.json)
        print_json(c);
    else if (s == SPRY_OK)
        print_people(c);
    if (s == SPRY_OK && report)
        s = race_page(report, c->j,
                      &(race_result){c->plan, c->score, c->count, path});
    return s;
}

static spry_status bench(const job *j, const char *path)
{
    static contest c;
    spry_status s;

    c.j = j;
    s = net_ways(c.plan, &c.count, j, texts);
    if (s == SPRY_OK)
        s = check_all(&c);
    if (s == SPRY_OK && stop_asked())
        say_note("stopped before the race: nothing was measured");
    else if (s == SPRY_OK)
        s = race(&c, path);
    net_ways_free(c.plan, c.count);
    return s;
}

spry_status net_bench(int argc, char **argv)
{
    stop_within(1);
    return net_do_job(&page, argc, argv, JOB_DETECTED, bench);
}
