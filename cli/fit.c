/* fit.c - the options of fitting models. */
#include "fit.h"

#include <math.h>

static const char *on, *operators;
static int split, rounds;
static double budget;

const opt fit_options[] = {
    {"op", OPT_WORD, &cli.op, "spmv|spmm|sddmm", "learn from these (spmm)"},
    {"operators", OPT_TEXT, &operators, "conv2d|depthwise|matmul",
     "of dense operators instead"},
    {"on", OPT_TEXT, &on, "MACHINE", "only this machine's records"},
    {"split", OPT_WORD, &split, "by_problem|within_problem|by_machine",
     "what is held out for grading (by_problem)"},
    {"rounds", OPT_INTEGER, &rounds, "N", "trees or epochs at most"},
    {"budget", OPT_SECONDS, &budget, "TIME",
     "of train: take no longer, reading included; else for each fit"},
    {0}};

static int progress(const spry_lap *lap, void *unused)
{
    char what[96];

    (void)unused;
    snprintf(what, sizeof what, "round %d, loss %.3f, regret %.1f %%",
             lap->round, lap->loss,
             isfinite(lap->regret) ? 100 * expm1(lap->regret) : 0.0);
    progress_text(what);
    return stop_asked();
}

spry_train_options fit_asked(void)
{
    spry_train_options o = SPRY_TRAIN_DEFAULTS;

    if (cli.op < 0)
        cli.op = (int)o.op;
    o.op = (spry_op)cli.op;
    o.machine = on;
    o.operators = operators;
    o.split = (spry_split)split;
    o.seed = cli.seed;
    o.threads = cli.threads;
    o.rounds = rounds;
    o.seconds = budget;
    o.progress = progress;
    return o;
}

const char *fit_subject(const spry_train_options *o)
{
    return o->operators ? o->operators : spry_op_name(o->op);
}
