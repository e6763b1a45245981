/* cmd_verify.c - kernels against the reference: one, several, or one of
 * every family. */
#include "dense.h"

#include <string.h>

static char *texts;
static const opt options[] = {
    {"schedule", OPT_TEXT, &texts, "TEXT|all",
     "check this one, or several separated by ; (all)"},
    {0}};
static const opt_page page = {
    "verify",
    "MATRIX",
    "Compare kernels with the reference: bit for bit on integers, within the\n"
    "error bound on real numbers. Exit 4 when one is wrong.",
    {options, cli_compute},
    1,
    1};

typedef struct {
    table *rows;
    json json;
    int right, wrong, skipped;
} tally;

static void note(tally *t, const char *text, spry_status s, const char *kernel)
{
    const char *why = s == SPRY_OK ? "" : spry_message();
    const char *verdict = s == SPRY_OK      ? "right"
                          : s == SPRY_WRONG ? "wrong"
                                            : "skipped";

    t->right += s == SPRY_OK;
    t->wrong += s == SPRY_WRONG;
    t->skipped += s != SPRY_OK && s != SPRY_WRONG;
    if (cli.json) {
        json_open(&t->json, NULL, '{');
        json_text(&t->json, "schedule", text);
        json_text(&t->json, "kernel", kernel);
        json_text(&t->json, "verdict", verdict);
        json_text(&t->json, "why", why);
        json_close(&t->json, '}');
        return;
    }
    table_cell(t->rows, "%s", text);
    table_cell(t->rows, "%s%s%s", verdict, *why ? ": " : "", why);
}

/* What a plan needs and is not here, a compiler, is no fault of the kernel. */
static void check(tally *t, const job *j, const char *text)
{
    spry_plan *plan = NULL;
    spry_status s = spry_plan_from(&plan, j->problem, text, &j->machine);

    if (s == SPRY_OK)
        s = spry_plan_check(plan, cli.seed);
    note(t, text, s, plan ? spry_plan_kernel(plan) : NULL);
    spry_plan_free(plan);
}

static void begin(tally *t, const job *j)
{
    if (cli.json) {
        t->json = json_begin("spry.verify/1");
        json_text(&t->json, "problem", spry_problem_key(j->problem));
        json_open(&t->json, "checks", '[');
    } else {
        t->rows = table_new("schedule<verdict<");
    }
}

static spry_status finish(tally *t)
{
    progress_clear();
    if (cli.json) {
        json_close(&t->json, ']');
        json_integer(&t->json, "right", t->right);
        json_integer(&t->json, "wrong", t->wrong);
        json_integer(&t->json, "skipped", t->skipped);
        json_end(&t->json);
    } else {
        table_print(t->rows, stdout);
        printf("%d right, %d wrong, %d skipped\n", t->right, t->wrong,
               t->skipped);
    }
    if (t->wrong)
        return say_fail(SPRY_WRONG, "%d of %d kernels are wrong", t->wrong,
                        t->right + t->wrong);
    if (!t->right && !stop_asked())
        return say_fail(SPRY_FAIL, "no kernel could be checked");
    return SPRY_OK;
}

/* The texts of what is to be checked; there are fewer ways of operators. */
static spry_status list(char out[SHAPES_MOST][SPRY_SCHEDULE_TEXT], int *count,
                        const job *j)
{
    static spry_schedule x[SHAPES_MOST];
    static spry_candidate way[OPERATOR_WAYS];
    const spry_operator *op = spry_problem_operator(j->problem);
    spry_status s = op ? operator_ways(way, count, j, texts)
                       : shape_list(x, count, j, texts);

    for (int i = 0; s == SPRY_OK && i < *count; i++)
        if (op)
            memcpy(out[i], way[i].schedule, sizeof out[i]);
        else
            spry_schedule_text(out[i], &x[i]);
    return s;
}

static spry_status verify(const job *j, const char *path)
{
    static char text[SHAPES_MOST][SPRY_SCHEDULE_TEXT];
    tally t = {0};
    int count;
    spry_status s = list(text, &count, j);

    (void)path;
    if (s != SPRY_OK)
        return s;
    stop_watch();
    begin(&t, j);
    for (int i = 0; i < count && !stop_asked(); i++) {
        progress_step(i, count, text[i]);
        check(&t, j, text[i]);
    }
    return finish(&t);
}

spry_status cmd_verify(int argc, char **argv)
{
    return do_job(&page, argc, argv, JOB_DETECTED, verify);
}
