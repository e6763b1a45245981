/* cmd_evaluate.c - models side by side on problems they have not seen. */
#include "cli.h"

#include "fit.h"
#include "grades.h"

enum { MOST = 16 };

static int turns;
static const char *report;
static const opt options[] = {
    {"report", OPT_TEXT, &report, "FILE", "write an HTML page about it"},
    {"turns", OPT_FLAG, &turns, NULL,
     "repeat until every problem was held out once"},
    {0}};
static const opt_page page = {
    "evaluate",
    "[MODEL...]",
    "Train models and grade them on held-out records, beside random choice. A\n"
    "model is a kind (spry, waconet, mlp, gbdt, gbdt-leaf, analytic), or a file,\n"
    "which may have been trained on what is held out here. Default: spry, mlp,\n"
    "gbdt, gbdt-leaf and analytic; with --operators: operators and analytic.\n"
    "\n"
    "pairwise  share of pairs of schedules of a problem in the right order\n"
    "top-1     best time over that of the first choice; top-5: of the best of five\n"
    "rank      Spearman's correlation; rmse: of log time\n"
    "regret@k  how much slower than the best the best of k choices is\n"
    "speed-up  over the plain loop; slower: share of first choices 5 % behind it",
    {options, fit_options},
    0,
    MOST - 1};

static void print(const spry_grades *g, int count, const spry_train_options *o)
{
    json j;

    if (!cli.json) {
        grades_print(g, count);
        return;
    }
    j = json_begin("spry.evaluate/1");
    json_text(&j, "op", fit_subject(o));
    json_text(&j, "split", spry_split_name(o->split));
    json_open(&j, "models", '[');
    for (int i = 0; i < count; i++) {
        json_open(&j, NULL, '{');
        grades_json(&j, &g[i]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}

static spry_status evaluate(spry_train_options o, const char *const *model,
                            int count)
{
    spry_grades g[MOST];
    spry_records *db = NULL;
    spry_status s = open_store_to_read(&db);

    if (s != SPRY_OK)
        return s;
    o.whole = turns;
    stop_within(1);
    s = say_status(
        report ? spry_report_models(report, g, model, count, db, &o, NULL)
               : spry_evaluate(g, model, count, db, &o));
    progress_clear();
    spry_records_close(db);
    if (s == SPRY_OK)
        print(g, count, &o);
    return s;
}

spry_status cmd_evaluate(int argc, char **argv)
{
    static const char *const matrices[] = {"spry",      "mlp",      "gbdt",
                                           "gbdt-leaf", "analytic", NULL};
    static const char *const operators[] = {"operators", "analytic", NULL};
    const char *const *usual;
    spry_train_options o;
    const char *model[MOST];
    int count = 0;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    for (; count < argc; count++)
        model[count] = argv[count];
    o = fit_asked();
    usual = o.operators ? operators : matrices;
    for (; argc == 0 && usual[count]; count++)
        model[count] = usual[count];
    model[count++] = "random";
    return evaluate(o, model, count);
}
