/* fleet_submit.c - matrices x operations x widths x types to jobs, one for
 * each problem, so that a lease is never long. */
#include "fleet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sources.h"

static const char *suite, *ops = "spmv,spmm,sddmm", *widths = "128",
                          *types = "f32", *machine;
static int kind, schedules = 100, from, priority;
static double seconds = 600;
const opt fleet_submit_options[] = {
    {"kind", OPT_WORD, &kind, "collect|tune|survey",
     "submit: what to do with a problem (collect)"},
    {"suite", OPT_TEXT, &suite, "small|default",
     "submit: generated matrices of many kinds"},
    {"ops", OPT_TEXT, &ops, "LIST", "submit: operations (spmv,spmm,sddmm)"},
    {"widths", OPT_TEXT, &widths, "LIST", "submit: dense columns (128)"},
    {"types", OPT_TEXT, &types, "LIST", "submit: element types (f32)"},
    {"schedules", OPT_INTEGER, &schedules, "N",
     "submit: how many for each problem (100)"},
    {"from", OPT_WORD, &from, "both|super|families",
     "submit: where schedules are drawn from"},
    {"budget", OPT_SECONDS, &seconds, "TIME",
     "submit: of each job, at most (10m)"},
    {"priority", OPT_INTEGER, &priority, "N",
     "submit: greater ones go first (0)"},
    {"on", OPT_TEXT, &machine, "MACHINE",
     "submit: only for this machine, by fingerprint"},
    {0}};

typedef struct {
    spry_fleet *f;
    int64_t jobs, added;
} tally;

/* The next word of "a,b,c"; 0 past the last. */
static int next(char out[32], const char **at)
{
    size_t n = strcspn(*at, ",");

    if (!**at)
        return 0;
    snprintf(out, 32, "%.*s", n < 31 ? (int)n : 31, *at);
    *at += n + ((*at)[n] == ',');
    return 1;
}

static spry_status submit_one(tally *t, const spry_job *task)
{
    int64_t id;
    int added = 0;
    spry_status s =
        spry_fleet_submit(t->f, task, priority, machine, &id, &added);

    t->jobs++;
    t->added += added;
    return say_status(s);
}

/* All widths that make a difference. */
static spry_status submit_widths(tally *t, spry_job *task)
{
    char word[32];
    spry_status s = SPRY_OK;

    for (const char *at = widths; s == SPRY_OK && next(word, &at);) {
        char *end;

        task->cols = strtol(word, &end, 10);
        if (*end || task->cols < 1 || task->cols > 4096)
            return say_fail(SPRY_USAGE,
                            "--widths takes whole numbers to 4096, not '%s'",
                            word);
        s = submit_one(t, task);
        if (!spry_op_columns(task->op))
            break;
    }
    return s;
}

static spry_status submit_source(tally *t, const char *source)
{
    spry_job task = {.kind = (spry_job_kind)kind,
                     .threads = cli.threads,
                     .schedules = schedules,
                     .from = (spry_draw)from,
                     .seconds = seconds,
                     .seed = cli.seed};
    char hash[SPRY_FLEET_HASH], op[32], type[32];
    spry_status s = SPRY_OK;

    if (strncmp(source, "gen:", 4) != 0) {
        s = say_status(spry_fleet_offer(t->f, source, hash));
        source = hash;
    }
    snprintf(task.matrix, sizeof task.matrix, "%s", source);
    for (const char *o = ops; s == SPRY_OK && next(op, &o);) {
        s = say_status(spry_op_parse(&task.op, op));
        for (const char *y = types; s == SPRY_OK && next(type, &y);) {
            s = say_status(spry_type_parse(&task.type, type));
            if (s == SPRY_OK)
                s = submit_widths(t, &task);
        }
    }
    return s;
}

spry_status fleet_submit(spry_fleet *f, int argc, char **argv)
{
    tally t = {.f = f};
    sources list = {0};
    json j;
    spry_status s = suite ? sources_add_suite(&list, suite) : SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < argc; i++)
        s = sources_add(&list, argv[i]);
    if (s == SPRY_OK && list.count == 0)
        s = say_fail(SPRY_USAGE,
                     "fleet submit needs matrices, or --suite small");
    for (int i = 0; s == SPRY_OK && i < list.count && !stop_asked(); i++)
        s = submit_source(&t, list.name[i]);
    sources_free(&list);
    if (s != SPRY_OK)
        return s;
    if (cli.json) {
        j = json_begin("spry.fleet/1");
        json_text(&j, "store", spry_fleet_name(f));
        json_integer(&j, "jobs", t.jobs);
        json_integer(&j, "added", t.added);
        json_end(&j);
    } else
        printf("%" PRId64 " jobs, %" PRId64 " of them new\n", t.jobs, t.added);
    return s;
}
