/* tuned.c - the tuner, with the settings of the command line. */
#include "cli.h"

#include <string.h>

spry_tune_options tuned_options(const job *j)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;

    o.threads = cli.threads;
    o.seed = cli.seed;
    o.store = cli.store;
    o.machine = machine_given() ? &j->machine : NULL;
    o.progress = progress_tune;
    o.source = j->source;
    o.lock = cli.lock;
    return o;
}

static spry_status open_tuned(spry_plan **out, const job *j, spry_effort effort)
{
    spry_tune_options o = tuned_options(j);

    o.effort = effort;
    return say_status(spry_tune(out, j->problem, &o));
}

spry_status open_named(spry_plan **out, const job *j, const char *text,
                       spry_effort effort)
{
    spry_schedule x;
    spry_status s;

    if (strcmp(text, "tuned") == 0)
        return open_tuned(out, j, effort);
    if (spry_problem_operator(j->problem))
        return open_way(out, j, text);
    s = open_schedule(&x, j, text);
    return s == SPRY_OK ? open_plan(out, j, &x) : s;
}
