/* cmd_adapt.c - a model that was trained elsewhere, and the records of one
 * machine. */
#include <string.h>

#include "cli.h"

#include <math.h>

static const char *on, *method, *out;
static const opt options[] = {
    {"op", OPT_WORD, &cli.op, "spmv|spmm|sddmm",
     "the model in use of this operation (all there are)"},
    {"on", OPT_TEXT, &on, "MACHINE",
     "learn from this machine's records, by fingerprint (this one's)"},
    {"method", OPT_TEXT, &method, "NAME",
     "bayes, residual, inner or inner+residual (whichever is best)"},
    {"out", OPT_TEXT, &out, "FILE", "write it there (where tunes look)"},
    {0}};
static const opt_page page = {
    "adapt",
    "[MODEL]",
    "Adapt a model to a machine it was not trained on, from the records of\n"
    "that machine in the store. Ways of adapting are judged on matrices they\n"
    "have not seen: kept, in a file beside the user's models, is what tells their\n"
    "times better without surely ordering them worse, or surely orders them\n"
    "better. The model's own file is not changed: spry model forget undoes it.\n\n"
    "A tune does a little of this by itself; spry tune --frozen does not.",
    {options},
    0,
    1};

static void print_json(json *j, const spry_adapted *a)
{
    json_text(j, "file", a->path);
    json_text(j, "op", a->op);
    json_text(j, "machine", a->machine);
    json_text(j, "method", a->method);
    json_integer(j, "records", a->records);
    json_integer(j, "problems", a->problems);
    json_number(j, "wrong_before", a->before);
    json_number(j, "wrong_after", a->after);
    json_number(j, "seconds", a->seconds);
}

static void print_people(const spry_adapted *a)
{
    printf("%-6s on %s, %lld records of %lld problems, %s\n", a->op, a->machine,
           (long long)a->records, (long long)a->problems,
           say_seconds(a->seconds));
    printf("       wrong order on matrices held back: %.1f %% before, ",
           100 * a->before);
    if (strcmp(a->method, "none") == 0)
        printf("no way was better: the model stays\n");
    else
        printf("%.1f %% after (%s%s)\n", 100 * a->after, a->method,
               a->after < a->before ? "" : ", which tells times better");
    printf("       %s\n", a->path);
}

static void print_one(json *j, const spry_adapted *a)
{
    if (!cli.json) {
        print_people(a);
        return;
    }
    json_open(j, NULL, '{');
    print_json(j, a);
    json_close(j, '}');
}

/* Every operation of matrices: one that has nothing to learn from is passed
 * over, unless all are. */
static spry_status adapt_all(json *j, spry_records *db, spry_adapt_options *o)
{
    int adapted = 0;

    for (int op = 0; op < SPRY_OPS; op++) {
        spry_adapted a = {.size = sizeof a};
        spry_status s;

        if (spry_op_modes((spry_op)op) != 2)
            continue;
        o->op = (spry_op)op;
        s = spry_adapt(&a, db, o);
        if (s == SPRY_OK)
            print_one(j, &a);
        else if (s == SPRY_USAGE)
            say_note("%s: %s", spry_op_name(o->op), spry_message());
        else
            return say_status(s);
        adapted += s == SPRY_OK;
    }
    return adapted ? SPRY_OK
                   : say_fail(SPRY_USAGE, "there is nothing to adapt");
}

static spry_status adapt_named(json *j, spry_records *db, spry_adapt_options *o)
{
    spry_adapted a = {.size = sizeof a};
    spry_status s;

    o->op = cli.op < 0 ? 0 : (spry_op)cli.op;
    s = say_status(spry_adapt(&a, db, o));
    if (s == SPRY_OK)
        print_one(j, &a);
    return s;
}

static spry_status adapt(const char *model)
{
    spry_adapt_options o = SPRY_ADAPT_DEFAULTS;
    spry_records *db = NULL;
    spry_status s = open_store_to_read(&db);
    json j = {0};

    if (s != SPRY_OK)
        return s;
    o.model = model;
    o.machine = on;
    o.method = method;
    o.out = out;
    o.seed = cli.seed;
    o.threads = cli.threads;
    if (cli.json) {
        j = json_begin("spry.adapt/1");
        json_open(&j, "adapted", '[');
    }
    s = model || cli.op >= 0 ? adapt_named(&j, db, &o) : adapt_all(&j, db, &o);
    if (cli.json) {
        json_close(&j, ']');
        json_end(&j);
    }
    spry_records_close(db);
    return s;
}

spry_status cmd_adapt(int argc, char **argv)
{
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (out && argc == 0 && cli.op < 0)
        return say_fail(SPRY_USAGE, "--out wants one model: name it, or --op");
    return adapt(argc > 0 ? argv[0] : NULL);
}
