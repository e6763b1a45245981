/* dense.c - what commands do when the problem is a dense operator: op:KIND,...
 * instead of a matrix. */
#include "dense.h"

#include <stdlib.h>
#include <string.h>

int is_operator(const char *path)
{
    return strncmp(path, "op:", 3) == 0;
}

spry_status open_operator(spry_problem **out, const char *path)
{
    spry_operator op;
    spry_status s = spry_operator_parse(&op, path);

    if (s == SPRY_OK)
        s = spry_problem_dense(out, &op);
    return say_status(s);
}

spry_status operator_ways(spry_candidate *out, int *count, const job *j,
                          char *texts)
{
    spry_tune_options o = tuned_options(j);
    spry_status s = SPRY_OK;
    char *text;

    *count = 0;
    if (!texts || strcmp(texts, "all") == 0) {
        o.machine = &j->machine;
        return say_status(
            spry_propose(out, count, OPERATOR_WAYS, j->problem, &o));
    }
    while (s == SPRY_OK && (text = shape_split(&texts))) {
        spry_candidate *c = &out[*count];

        if ((*count)++ == OPERATOR_WAYS)
            return say_fail(SPRY_USAGE, "at most %d ways at once",
                            OPERATOR_WAYS);
        snprintf(c->schedule, sizeof c->schedule, "%s", text);
        s = allow_threads(text);
        if (s == SPRY_OK)
            s = say_status(
                spry_dense_predict(&c->seconds, j->problem, text, &j->machine));
    }
    if (s == SPRY_OK && *count == 0)
        s = say_fail(SPRY_USAGE, "no way is named");
    return s;
}

/* ---- predict ---- */

static int by_seconds(const void *a, const void *b)
{
    double x = ((const spry_candidate *)a)->seconds;
    double y = ((const spry_candidate *)b)->seconds;

    return (x > y) - (x < y);
}

spry_status predict_operator(const job *j, char *texts)
{
    static spry_candidate found[OPERATOR_WAYS];
    double flops = spry_problem_flops(j->problem);
    int count;
    table *t;
    spry_status s = operator_ways(found, &count, j, texts);

    if (s != SPRY_OK)
        return s;
    qsort(found, (size_t)count, sizeof *found, by_seconds);
    if (cli.json) {
        json out = json_begin("spry.predict/1");

        json_text(&out, "problem", spry_problem_key(j->problem));
        json_text(&out, "machine", j->machine.fingerprint);
        json_text(&out, "model", "analytic");
        json_open(&out, "predictions", '[');
        for (int i = 0; i < count; i++) {
            json_open(&out, NULL, '{');
            json_text(&out, "schedule", found[i].schedule);
            json_number(&out, "seconds", found[i].seconds);
            json_close(&out, '}');
        }
        json_close(&out, ']');
        json_end(&out);
        return SPRY_OK;
    }
    t = table_new("rank>schedule<time>rate>");
    for (int i = 0; i < count; i++) {
        table_cell(t, "%d", i + 1);
        table_cell(t, "%s", found[i].schedule);
        table_cell(t, "%s", say_seconds(found[i].seconds));
        table_cell(t, "%s", say_rate(flops / found[i].seconds, "FLOP/s"));
    }
    table_print(t, stdout);
    printf("by the model analytic; nothing was measured\n");
    return SPRY_OK;
}

/* ---- explain ---- */

static void print_side(const char *name, const char *text, double seconds,
                       const job *j)
{
    double flops = spry_problem_flops(j->problem);
    double bytes = spry_problem_bytes(j->problem);
    double peak = j->machine.fma_f32;

    printf("%-9s %s%s%s: %s by the model, %s", name, say_bold(stdout), text,
           say_plain(stdout), say_seconds(seconds),
           say_rate(flops / seconds, "FLOP/s"));
    if (peak > 0)
        printf(", %.0f %% of %d core%s' multiply-adds",
               100 * flops / seconds / peak / j->machine.threads,
               j->machine.threads, j->machine.threads > 1 ? "s" : "");
    printf("\n          %s operations on %s\n", say_count(flops),
           say_bytes(bytes));
}

spry_status explain_operator(const job *j, const char *text)
{
    char plain[SPRY_SCHEDULE_TEXT];
    double of_plain, of_winner;
    spry_plan *plan = NULL;
    spry_status s;

    snprintf(plain, sizeof plain, "plain threads=%d", j->machine.threads);
    s = open_named(&plan, j, text ? text : "tuned", SPRY_PREDICT);
    if (s == SPRY_OK)
        s = say_status(
            spry_dense_predict(&of_plain, j->problem, plain, &j->machine));
    if (s == SPRY_OK)
        s = say_status(spry_dense_predict(&of_winner, j->problem,
                                          spry_plan_text(plan), &j->machine));
    if (s == SPRY_OK && cli.json) {
        json out = json_begin("spry.explain/1");

        json_text(&out, "problem", spry_problem_key(j->problem));
        json_text(&out, "baseline", plain);
        json_number(&out, "baseline_seconds", of_plain);
        json_text(&out, "winner", spry_plan_text(plan));
        json_text(&out, "kernel", spry_plan_kernel(plan));
        json_number(&out, "winner_seconds", of_winner);
        json_number(&out, "operations", spry_problem_flops(j->problem));
        json_number(&out, "bytes", spry_problem_bytes(j->problem));
        json_number(&out, "packed_bytes", spry_plan_bytes(plan));
        json_end(&out);
    } else if (s == SPRY_OK) {
        print_side("baseline", plain, of_plain, j);
        print_side("winner", spry_plan_text(plan), of_winner, j);
        printf("          %s, %s packed in %s\n", spry_plan_kernel(plan),
               say_bytes(spry_plan_bytes(plan)),
               say_seconds(spry_plan_pack_seconds(plan)));
    }
    spry_plan_free(plan);
    return s;
}
