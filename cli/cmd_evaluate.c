/* cmd_evaluate.c - models side by side on problems they have not seen. */
#include "cli.h"

#include <string.h>

#include "grades.h"

enum { MOST = 16 };

static const char *on;
static int split, rounds, turns;
static double budget;
static const opt options[] = {
    {"op", OPT_WORD, &cli.op, "spmv|spmm|sddmm", "of these records (spmm)"},
    {"on", OPT_TEXT, &on, "MACHINE", "only this machine's records"},
    {"split", OPT_WORD, &split, "by_problem|within_problem|by_machine",
     "what is held out (by_problem)"},
    {"turns", OPT_FLAG, &turns, NULL,
     "again and again, until every problem was held out once"},
    {"rounds", OPT_INTEGER, &rounds, "N", "trees or epochs at most"},
    {"budget", OPT_SECONDS, &budget, "TIME", "stop fitting each after so long"},
    {0}};
static const opt_page page = {
    "evaluate",
    "[MODEL...]",
    "Train models and grade them on what was held out of the store, choices\n"
    "by chance beside them. A model is a kind (spry, waconet, mlp, gbdt,\n"
    "gbdt-leaf, analytic), or a file, which may have seen what is held out\n"
    "here. Without any: spry, mlp, gbdt, gbdt-leaf and analytic.\n\n"
    "pairwise  pairs of schedules of a problem in the right order\n"
    "top-1     the best time over that of the first choice; top-5: of five\n"
    "rank      Spearman's correlation; rmse: of log time\n"
    "regret@k  how much slower than the best the best of k choices is\n"
    "speed-up  over the plain loop; slower: first choices 5 % behind it",
    {options},
    0,
    MOST - 1};

static void print(const spry_grades *g, int count)
{
    json j;

    if (!cli.json) {
        grades_print(g, count);
        return;
    }
    j = json_begin("spry.evaluate/1");
    json_text(&j, "op", spry_op_name((spry_op)cli.op));
    json_text(&j, "split", spry_split_name((spry_split)split));
    json_open(&j, "models", '[');
    for (int i = 0; i < count; i++) {
        json_open(&j, NULL, '{');
        grades_json(&j, &g[i]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static int progress(const spry_lap *lap, void *unused)
{
    char what[64];

    (void)unused;
    snprintf(what, sizeof what, "learning: round %d, loss %.3f", lap->round,
             lap->loss);
    progress_text(what);
    return stop_asked();
}

static spry_status evaluate(const char *const *model, int count)
{
    spry_fit_options o = SPRY_FIT_DEFAULTS;
    spry_grades g[MOST];
    spry_records *db = NULL;
    spry_status s = open_store(&db);

    if (s != SPRY_OK)
        return s;
    o.op = (spry_op)cli.op;
    o.machine = on;
    o.split = (spry_split)split;
    o.whole = turns;
    o.seed = cli.seed;
    o.threads = cli.threads;
    o.rounds = rounds;
    o.seconds = budget;
    o.progress = progress;
    stop_watch();
    s = say_status(spry_evaluate(g, model, count, db, &o));
    progress_clear();
    spry_records_close(db);
    if (s == SPRY_OK)
        print(g, count);
    return s;
}

spry_status cmd_evaluate(int argc, char **argv)
{
    static const char *const usual[] = {"spry", "mlp", "gbdt", "gbdt-leaf",
                                        "analytic"};
    const char *model[MOST];
    int count = 0;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (cli.op < 0)
        cli.op = SPRY_SPMM;
    for (; count < argc; count++)
        model[count] = argv[count];
    for (; argc == 0 && count < 5; count++)
        model[count] = usual[count];
    model[count++] = "random";
    return evaluate(model, count);
}
