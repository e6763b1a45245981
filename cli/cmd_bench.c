/* cmd_bench.c - schedules raced against each other, interleaved, with the
 * plain CSR loop on one and on all threads always among them. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static char *texts;
static double budget = 10;
static int pairs = 31;
static const char *report;
static const opt options[] = {
    {"schedules", OPT_TEXT, &texts, "\"A; B\"",
     "race these; 'tuned' is what tune found (tuned)"},
    {"pairs", OPT_INTEGER, &pairs, "N", "rounds of the race (31)"},
    {"budget", OPT_SECONDS, &budget, "TIME", "stop racing after this (10s)"},
    {"report", OPT_TEXT, &report, "FILE", "write an HTML page about it"},
    {0}};
static const opt_page page = {
    "bench",
    "MATRIX",
    "Race schedules in one process, interleaved, and compare each with the\n"
    "plain CSR loop on all threads. Every kernel is verified first.",
    {options, cli_compute, cli_locking},
    1,
    1};

enum { MOST = 64 };

typedef struct {
    spry_plan *plan[MOST];
    spry_score score[MOST];
    int count;
} field;

static spry_status add_plan(field *f, const job *j, const char *text)
{
    spry_plan **slot = &f->plan[f->count];
    spry_status s;

    if (f->count == MOST)
        return say_fail(SPRY_USAGE, "at most %d schedules race at once", MOST);
    s = open_named(slot, j, text, SPRY_MEASURE);
    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < f->count; i++)
        if (strcmp(spry_plan_text(*slot), spry_plan_text(f->plan[i])) == 0) {
            spry_plan_free(*slot);
            *slot = NULL;
            return SPRY_OK;
        }
    f->count++;
    return SPRY_OK;
}

static spry_status add_baseline(field *f, const job *j, int threads)
{
    spry_schedule x = spry_schedule_baseline(threads);
    char text[SPRY_SCHEDULE_TEXT];

    spry_schedule_text(text, &x);
    if (spry_problem_operator(j->problem))
        snprintf(text, sizeof text, "plain threads=%d", threads);
    return add_plan(f, j, text);
}

static spry_status enter(field *f, const job *j)
{
    static char tuned[] = "tuned";
    char *rest = texts ? texts : tuned, *text;
    spry_status s = add_baseline(f, j, j->machine.threads);

    if (s == SPRY_OK)
        s = add_baseline(f, j, 1);
    while (s == SPRY_OK && (text = shape_split(&rest)))
        s = add_plan(f, j, text);
    for (int i = 0; i < f->count && s == SPRY_OK && !stop_asked(); i++) {
        progress_step(i, f->count, spry_plan_text(f->plan[i]));
        s = say_status(spry_plan_check(f->plan[i], cli.seed));
    }
    return s;
}

static void print_json(const field *f, const job *j)
{
    json out = json_begin("spry.bench/1");

    json_text(&out, "problem", spry_problem_key(j->problem));
    json_text(&out, "machine", j->machine.fingerprint);
    json_text(&out, "baseline", spry_plan_text(f->plan[0]));
    json_open(&out, "results", '[');
    for (int i = 0; i < f->count; i++) {
        const spry_score *s = &f->score[i];

        json_open(&out, NULL, '{');
        json_text(&out, "schedule", spry_plan_text(f->plan[i]));
        json_number(&out, "seconds", s->seconds);
        json_number(&out, "speedup", s->speedup);
        json_number(&out, "speedup_low", s->low);
        json_number(&out, "speedup_high", s->high);
        json_integer(&out, "pairs", s->pairs);
        json_number(&out, "bytes", spry_plan_bytes(f->plan[i]));
        json_number(&out, "pack_seconds", spry_plan_pack_seconds(f->plan[i]));
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_end(&out);
}

static void print_people(const field *f, const job *j)
{
    table *t = table_new("schedule<time>speed-up (95 %)>rate>storage>pairs>");
    double flops = spry_problem_flops(j->problem);

    for (int i = 0; i < f->count; i++) {
        const spry_score *s = &f->score[i];
        double rate = s->seconds > 0 ? flops / s->seconds : 0;

        table_cell(t, "%s", spry_plan_text(f->plan[i]));
        table_cell(t, "%s", say_seconds(s->seconds));
        table_cell(t, "%.2fx  %s", s->speedup, say_interval(s->low, s->high));
        table_cell(t, "%s", say_rate(rate, "FLOP/s"));
        table_cell(t, "%s", say_bytes(spry_plan_bytes(f->plan[i])));
        table_cell(t, "%d", s->pairs);
    }
    table_print(t, stdout);
}

static spry_status race(field *f, const job *j, const char *path)
{
    const spry_plan *plan[MOST];
    spry_status s = enter(f, j);

    if (s != SPRY_OK)
        return s;
    if (stop_asked()) {
        say_note("stopped before the race: nothing was measured");
        return s;
    }
    stop_within(1); /* a race stores nothing, and half of one says little */
    progress_step(f->count - 1, f->count, "racing");
    for (int i = 0; i < f->count; i++)
        plan[i] = f->plan[i];
    s = say_status(spry_race(f->score, plan, f->count, pairs, budget));
    progress_clear();
    if (s == SPRY_OK && cli.json)
        print_json(f, j);
    else if (s == SPRY_OK)
        print_people(f, j);
    if (s == SPRY_OK && report)
        s = race_page(report, j,
                      &(race_result){f->plan, f->score, f->count, path});
    return s;
}

static spry_status bench(const job *j, const char *path)
{
    static field f;
    spry_status s;

    stop_watch();
    s = race(&f, j, path);
    for (int i = 0; i < f.count; i++)
        spry_plan_free(f.plan[i]);
    return s;
}

spry_status cmd_bench(int argc, char **argv)
{
    return do_job(&page, argc, argv, JOB_TUNED, bench);
}
