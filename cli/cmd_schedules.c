/* cmd_schedules.c - points of the SuperSchedule space, with what they store. */
#include "cli.h"

#include <stdlib.h>

static int counting, words, source;
static double sampled = -1, limit = 20;
static const char *file;
static const opt options[] = {
    {"count", OPT_FLAG, &counting, NULL, "say how many points there are"},
    {"limit", OPT_COUNT, &limit, "N", "list the first N (20)"},
    {"sample", OPT_COUNT, &sampled, "N", "draw N points by chance"},
    {"from", OPT_WORD, &source, "all|waco",
     "draw from all legal nests, or as WACO does (all)"},
    {"check", OPT_TEXT, &file, "FILE",
     "read WACO's lines and say what each would store"},
    {"format", OPT_WORD, &words, "spry|waco", "write points in these words"},
    {0}};
static const opt_page page = {
    "schedules",
    "MATRIX",
    "List points of WACO's space of SuperSchedules for a matrix: each once,\n"
    "with the exact size of its storage, or why it cannot be stored.",
    {options, cli_compute},
    1,
    1};

enum { WACO_THREADS = 48 }; /* what WACO writes into every line */

/* What is being printed, and how much of it was. */
typedef struct {
    const job *j;
    table *rows;
    json json;
    int64_t left, feasible, infeasible;
} listing;

static void begin(listing *l)
{
    if (cli.json) {
        l->json = json_begin("spry.schedules/1");
        json_text(&l->json, "problem", spry_problem_key(l->j->problem));
        json_open(&l->json, "schedules", '[');
    } else if (!words)
        l->rows = table_new("schedule<values>storage>verdict<");
}

static void add_json(listing *l, const char *text, const spry_storage *k,
                     double ms, const char *why)
{
    json_open(&l->json, NULL, '{');
    json_text(&l->json, "schedule", text);
    json_bool(&l->json, "feasible", !why);
    json_text(&l->json, "why", why ? why : "");
    json_integer(&l->json, "values", k->values);
    json_number(&l->json, "bytes", k->bytes);
    if (ms >= 0)
        json_number(&l->json, "seconds", ms / 1e3);
    json_close(&l->json, '}');
}

/* One point; a line that WACO can read is data, so nothing else goes there. */
static void add(listing *l, const spry_schedule *x, double ms)
{
    char text[SPRY_WACO_TEXT];
    spry_storage k = {.size = sizeof k};
    spry_status s = spry_space_storage(&k, x, l->j->problem);
    const char *why = s == SPRY_OK ? NULL : spry_message();

    l->feasible += !why;
    l->infeasible += why != NULL;
    if (words == 0)
        spry_schedule_text(text, x);
    else if (spry_waco_text(text, x, spry_problem_op(l->j->problem)))
        return;
    if (cli.json)
        add_json(l, text, &k, ms, why);
    else if (words)
        printf("%s\n", text);
    else {
        table_cell(l->rows, "%s", text);
        table_cell(l->rows, "%s", why ? "-" : say_count((double)k.values));
        table_cell(l->rows, "%s", why ? "-" : say_bytes(k.bytes));
        table_cell(l->rows, "%s", why ? why : "feasible");
    }
}

static int visit(const spry_schedule *x, void *payload)
{
    listing *l = payload;

    if (l->left-- <= 0 || stop_asked())
        return 1;
    add(l, x, -1);
    return 0;
}

static spry_status check_file(listing *l)
{
    spry_waco_list *list;
    spry_status s = spry_waco_read(&list, file, spry_problem_op(l->j->problem),
                                   words ? 0 : l->j->machine.threads);

    if (s != SPRY_OK)
        return say_status(s);
    begin(l);
    for (int64_t i = 0; i < list->count && !stop_asked(); i++)
        add(l, &list->entry[i].schedule, list->entry[i].ms);
    spry_waco_free(list);
    return SPRY_OK;
}

static spry_status draw(listing *l, const spry_space *space)
{
    int64_t count = (int64_t)sampled;
    spry_schedule *x;

    if (sampled > 1e6)
        return say_fail(SPRY_USAGE, "--sample draws at most 1M points");
    x = calloc((size_t)count + 1, sizeof *x);
    if (!x)
        return say_fail(SPRY_SYSTEM, "not enough memory");
    spry_space_sample(x, count, space,
                      source ? SPRY_SAMPLE_WACO : SPRY_SAMPLE_ALL, cli.seed);
    begin(l);
    for (int64_t i = 0; i < count && !stop_asked(); i++)
        add(l, &x[i], -1);
    free(x);
    return SPRY_OK;
}

static void print_count(const spry_space *space)
{
    int64_t count = spry_space_count(space);

    if (cli.json) {
        json j = json_begin("spry.schedules/1");

        json_integer(&j, "points", count);
        json_end(&j);
    } else
        printf("%s points\n", say_count((double)count));
}

static void finish(listing *l)
{
    if (cli.json) {
        json_close(&l->json, ']');
        json_integer(&l->json, "feasible", l->feasible);
        json_integer(&l->json, "infeasible", l->infeasible);
        json_end(&l->json);
    } else if (!words) {
        table_print(l->rows, stdout);
        printf("%s feasible, %s not\n", say_count((double)l->feasible),
               say_count((double)l->infeasible));
    }
}

static spry_status schedules(const job *j, const char *path)
{
    listing l = {.j = j, .left = (int64_t)limit};
    spry_space space =
        spry_space_of(j->problem, words ? WACO_THREADS : j->machine.threads);
    spry_status s = SPRY_OK;

    (void)path;
    stop_watch();
    if (counting) {
        print_count(&space);
        return SPRY_OK;
    }
    if (file)
        s = check_file(&l);
    else if (sampled >= 0)
        s = draw(&l, &space);
    else {
        begin(&l);
        spry_space_each(&space, visit, &l);
    }
    if (s == SPRY_OK)
        finish(&l);
    return s;
}

spry_status cmd_schedules(int argc, char **argv)
{
    return do_job(&page, argc, argv, JOB_DETECTED, schedules);
}
