/* story.c - what a tune found, as a table for people or JSON for programs;
 * the same for matrices, tensors and networks. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double budget, calls;
static const char *report;
static int effort = SPRY_MEASURE, again, frozen, require, top = 12;
static char *search;
const opt story_options[] = {
    {"budget", OPT_SECONDS, &budget, "TIME",
     "time to spend: 500ms, 60s, 2m (10s; 3.5s with a learned model)"},
    {"calls", OPT_COUNT, &calls, "N",
     "how often the kernel will run (very often)"},
    {"effort", OPT_WORD, &effort, "lookup|predict|measure|patient",
     "how hard to try"},
    {"search", OPT_NAME, &search, "exhaustive|descent|graph|evolve|random",
     "how candidates are found (depends on the effort)"},
    {"again", OPT_FLAG, &again, NULL,
     "measure even if the store has the answer"},
    {"frozen", OPT_FLAG, &frozen, NULL,
     "do not adapt the model to what is measured"},
    {"require-speedup", OPT_FLAG, &require, NULL,
     "exit 5 if nothing beats the baseline"},
    {"top", OPT_INTEGER, &top, "N",
     "show the N best candidates, 0 for all (12)"},
    {"report", OPT_TEXT, &report, "FILE", "write an HTML page about it"},
    {0}};
/* ---- order: the fastest first, failures last ---- */

static double rank_of(const spry_trial *t)
{
    return t->verdict == SPRY_VERDICT_OK ? t->speedup : -1;
}

static int by_rank(const void *a, const void *b)
{
    double x = rank_of(a), y = rank_of(b);

    return (x < y) - (x > y);
}

/* Whoever won the final is first, whatever others did in a heat. */
static void put_winner_first(spry_trial *order, const spry_tuning *t)
{
    for (int i = 1; i < t->trials; i++)
        if (strcmp(order[i].schedule, t->best) == 0) {
            spry_trial winner = order[i];

            memmove(order + 1, order, (size_t)i * sizeof *order);
            order[0] = winner;
            return;
        }
}

/* The trials, best first; NULL when memory is short. */
static spry_trial *ranked(const spry_tuning *t)
{
    spry_trial *order = calloc((size_t)t->trials + 1, sizeof *order);

    if (order && t->trials) {
        memcpy(order, t->trial, (size_t)t->trials * sizeof *order);
        qsort(order, (size_t)t->trials, sizeof *order, by_rank);
        if (strcmp(order[0].schedule, t->best) != 0)
            put_winner_first(order, t);
    }
    return order;
}

/* Raced now, or in the tune that the store remembers. */
static int measured(const spry_tuning *t)
{
    return t->trials > 0 || t->looked_up;
}

/* ---- for programs ---- */

static spry_status print_json(const spry_plan *plan, const char *path)
{
    char *text = NULL;
    spry_status s = say_status(spry_plan_story(&text, plan, path));

    if (s == SPRY_OK)
        puts(text);
    free(text);
    return s;
}

/* ---- for people ---- */

static void print_network(const spry_problem *p)
{
    const spry_network *n = spry_problem_net(p);

    printf("network of %s layers, %s edges, batch %s",
           say_count((double)n->layers), say_count((double)n->edges),
           say_count((double)spry_problem_batch(p)));
    if (spry_problem_raced(p) < spry_problem_batch(p))
        printf(", raced with %s of the inputs",
               say_count((double)spry_problem_raced(p)));
}

static void print_product(const spry_problem *p)
{
    const spry_matrix *A = spry_problem_matrix(p);

    printf("%s %s, %s x %s", spry_op_name(spry_problem_op(p)),
           spry_type_name(spry_problem_type(p)), say_count((double)A->rows),
           say_count((double)spry_problem_mid(p)));
    if (spry_op_modes(spry_problem_op(p)) == 3)
        printf(" x %s", say_count((double)spry_problem_inner(p)));
    printf(", %s entries", say_count((double)A->nnz));
    if (spry_op_columns(spry_problem_op(p)))
        printf(", %s dense columns", say_count((double)spry_problem_cols(p)));
}

static void print_question(const spry_problem *p, const spry_machine *m)
{
    if (spry_problem_net(p))
        print_network(p);
    else if (spry_problem_operator(p))
        printf("%s, %s operations", spry_problem_key(p),
               say_count(spry_problem_flops(p)));
    else
        print_product(p);
    printf("\n%s, %d thread%s, %s, noise %c\n", m->name, m->threads,
           m->threads > 1 ? "s" : "", spry_isa_name(m->isa),
           spry_machine_grade(m));
}

/* Why it failed, without repeating which one did. */
static const char *reason(const spry_trial *t)
{
    size_t n = strlen(t->schedule);

    return strncmp(t->why, t->schedule, n) == 0 && t->why[n] == ':'
               ? t->why + n + 2
               : t->why;
}

static void print_row(table *rows, const spry_trial *t, int rank, int won)
{
    int ok = t->verdict == SPRY_VERDICT_OK;

    table_cell(rows, "%d", rank);
    table_cell(rows, "%s", t->schedule);
    table_cell(rows, "%s", ok ? say_seconds(t->seconds) : "-");
    if (ok && t->speedup > 0)
        table_cell(rows, "%.2fx  %s", t->speedup,
                   say_interval(t->low, t->high));
    else
        table_cell(rows, "-");
    table_cell(rows, "%s%s%s", spry_verdict_name(t->verdict),
               *t->why ? ": " : "", reason(t));
    if (won)
        table_bold(rows);
}

static void print_trials(const spry_tuning *t, const spry_trial *order,
                         const spry_problem *p)
{
    int shown = top && top < t->trials ? top : t->trials;
    table *rows;

    if (t->trials == 0)
        return;
    rows = table_new(spry_problem_net(p)
                         ? "rank>way<time>speed-up (95 %)>verdict<"
                         : "rank>schedule<time>speed-up (95 %)>verdict<");
    for (int i = 0; i < shown; i++)
        print_row(rows, &order[i], i + 1,
                  strcmp(order[i].schedule, t->best) == 0);
    printf("\n");
    table_print(rows, stdout);
    if (shown < t->trials)
        printf("and %d more; --top 0 shows all\n", t->trials - shown);
}

static void print_winner(const spry_tuning *t)
{
    const char *best = t->best, *baseline = t->baseline;

    if (!t->changed)
        printf("stay with  %s: nothing was proven faster\n", best);
    else if (measured(t))
        printf("winner     %s%s%s\n           %.2f times as fast as %s, 95 %% "
               "interval %s\n",
               say_bold(stdout), best, say_plain(stdout), t->speedup, baseline,
               say_interval(t->low, t->high));
    else
        printf("winner     %s%s%s\n           by the model %.2f times as fast "
               "as %s; nothing was measured\n",
               say_bold(stdout), best, say_plain(stdout), t->speedup, baseline);
}

static void print_verdict(const spry_tuning *t, const spry_problem *p)
{
    const char *runs = spry_problem_net(p) ? "batches" : "runs";
    double convert_runs = spry_tuning_convert_runs(t);

    printf("\n");
    print_winner(t);
    printf("verified   %s\n", !t->verified   ? "no"
                              : t->looked_up ? "yes, all when it was tuned, "
                                               "some again now"
                                             : "yes, against the reference");
    if (*t->model)
        printf("ranked     by the model %s\n", t->model);
    printf("cost       %s to convert", say_seconds(t->convert_seconds));
    if (!isnan(convert_runs))
        printf(", as much as %s plain runs", say_runs(convert_runs));
    printf("; %s to %s\n", say_seconds(t->tuning_seconds),
           t->looked_up ? "look it up in the store" : "tune");
    if (t->changed && isfinite(t->break_even_calls))
        printf("pays       after %s %s\n", say_count(ceil(t->break_even_calls)),
               runs);
    if (t->stopped)
        say_note("stopped early; this is the best so far");
    if (*t->note)
        say_note("%s", t->note);
}

static spry_status print_people(const spry_plan *plan)
{
    const spry_tuning *t = spry_plan_tuning(plan);
    const spry_problem *p = spry_plan_problem(plan);
    spry_trial *order = ranked(t);

    if (!order)
        return say_fail(SPRY_SYSTEM, "not enough memory for the table");
    print_question(p, &t->machine);
    print_trials(t, order, p);
    print_verdict(t, p);
    free(order);
    return SPRY_OK;
}

static spry_status print_tuning(const spry_plan *plan, const char *path)
{
    spry_status s;

    progress_clear();
    s = cli.json ? print_json(plan, path) : print_people(plan);
    if (s == SPRY_OK && require && !spry_plan_tuning(plan)->changed)
        s = say_fail(SPRY_NO_GAIN, "nothing beat the baseline");
    return s;
}

/* ---- tuning ---- */

static spry_status find(spry_plan **out, const job *j)
{
    spry_tune_options o = tuned_options(j);

    o.seconds = budget;
    o.calls = calls;
    o.effort = (spry_effort)effort;
    o.again = again;
    o.frozen = frozen;
    o.search = search;
    return say_status(spry_tune(out, j->problem, &o));
}

spry_status story_tune(const job *j, const char *path)
{
    spry_report_options page = SPRY_REPORT_DEFAULTS;
    spry_plan *plan = NULL;
    spry_status s;

    page.store = store_to_name();
    stop_watch();
    s = find(&plan, j);
    if (s == SPRY_OK && report)
        s = say_status(spry_report_plan(report, plan, path, &page));
    if (s == SPRY_OK)
        s = print_tuning(plan, path);
    progress_clear();
    spry_plan_free(plan);
    return s;
}
