/* net_explain.c - what bounds a way to run a network, and what the winner
 * does otherwise than the plain loops. */
#include "net.h"

#include <math.h>
#include <string.h>

static const char *way;
static const opt options[] = {
    {"way", OPT_TEXT, &way, "TEXT",
     "explain this one (as tuned, else as predicted)"},
    {0}};
static const opt_page page = {
    "net explain",
    "NETWORK",
    "Split the time of plain loops and of the winner into what they wait for,\n"
    "and say what the winner does. By the model; net tune measures.\n"
    "An operator graph has options of its own: spry net explain x.onnx --help.",
    {options, net_batching, net_reading, cli_locking},
    1,
    1};

/* Plain loops, and the winner. */
enum { PLAIN, WINNER, SIDES };
typedef struct {
    char text[SIDES][SPRY_SCHEDULE_TEXT];
    spry_prediction guess[SIDES];
    int64_t edges; /* that the winner executes at most */
    int measured;
    double speedup, low, high;
} comparison;

/* ---- saying it ---- */

static void json_way(json *j, const char *key, const char *text,
                     const spry_prediction *p)
{
    json_open(j, key, '{');
    json_text(j, "schedule", text);
    json_number(j, "seconds", p->seconds);
    json_text(j, "bound", spry_prediction_bound(p));
    json_number(j, "compute", p->compute);
    json_number(j, "latency", p->latency);
    json_number(j, "bandwidth", p->bandwidth);
    json_number(j, "overhead", p->overhead);
    json_number(j, "imbalance", p->imbalance);
    json_number(j, "bytes", p->bytes);
    json_close(j, '}');
}

static void print_json(const comparison *c, const job *from)
{
    json j = json_begin("spry.net.explain/1");

    json_text(&j, "problem", spry_problem_key(from->problem));
    json_way(&j, "baseline", c->text[PLAIN], &c->guess[PLAIN]);
    json_way(&j, "winner", c->text[WINNER], &c->guess[WINNER]);
    json_integer(&j, "edges", from->net->edges);
    json_integer(&j, "executed_edges", c->edges);
    json_bool(&j, "executed_is_upper_bound", 1);
    json_number(&j, "predicted_speedup",
                c->guess[PLAIN].seconds / c->guess[WINNER].seconds);
    json_number(&j, "speedup", c->measured ? c->speedup : HUGE_VAL);
    json_number(&j, "speedup_low", c->measured ? c->low : HUGE_VAL);
    json_number(&j, "speedup_high", c->measured ? c->high : HUGE_VAL);
    json_end(&j);
}

static void print_way(const char *text, const spry_prediction *p)
{
    printf("%s%s%s: about %s a batch, bound by %s\n", say_bold(stdout), text,
           say_plain(stdout), say_seconds(p->seconds),
           spry_prediction_bound(p));
    printf("  compute %s, latency %s, bandwidth %s", say_seconds(p->compute),
           say_seconds(p->latency), say_seconds(p->bandwidth));
    printf(", overhead %s, imbalance %s\n", say_seconds(p->overhead),
           say_seconds(p->imbalance));
}

/* What the words of a way mean. */
static void print_meaning(const comparison *c, const job *from)
{
    const char *text = c->text[WINNER];

    for (int i = 0; spry_form_name(i); i++) {
        const char *at = strstr(text, spry_form_name(i));

        if (at && (at == text || at[-1] == ' '))
            printf("  - %s\n", spry_form_help(i));
    }
    if (c->edges < from->net->edges)
        printf("  - passes leave %s of %s edges, at most, to execute\n",
               say_count((double)c->edges),
               say_count((double)from->net->edges));
}

static void print_people(const comparison *c, const job *from)
{
    print_way(c->text[PLAIN], &c->guess[PLAIN]);
    if (strcmp(c->text[PLAIN], c->text[WINNER]) == 0) {
        printf("Nothing better is known: the plain loops stay.\n");
        return;
    }
    print_way(c->text[WINNER], &c->guess[WINNER]);
    print_meaning(c, from);
    if (c->measured)
        printf("Measured when it was tuned: %.2f times as fast, 95 %% interval "
               "%s.\n",
               c->speedup, say_interval(c->low, c->high));
    else
        printf("Predicted: %.2f times as fast; spry net tune measures.\n",
               c->guess[PLAIN].seconds / c->guess[WINNER].seconds);
}

/* ---- finding it ---- */

static spry_status find_winner(comparison *c, const job *j)
{
    spry_tune_options o = tuned_options(j);
    const spry_tuning *how;
    spry_plan *plan = NULL;
    spry_status s;

    o.effort = SPRY_PREDICT;
    s = way ? open_way(&plan, j, way)
            : say_status(spry_tune(&plan, j->problem, &o));
    progress_clear();
    if (s != SPRY_OK)
        return s;
    snprintf(c->text[PLAIN], SPRY_SCHEDULE_TEXT, "plain threads=%d",
             j->machine.threads);
    snprintf(c->text[WINNER], SPRY_SCHEDULE_TEXT, "%s", spry_plan_text(plan));
    c->edges = spry_plan_edges(plan);
    how = spry_plan_tuning(plan);
    if (how && how->looked_up && how->speedup > 0) {
        snprintf(c->text[PLAIN], SPRY_SCHEDULE_TEXT, "%s", how->baseline);
        c->measured = 1;
        c->speedup = how->speedup;
        c->low = how->low;
        c->high = how->high;
    }
    spry_plan_free(plan);
    return SPRY_OK;
}

static spry_status explain(const job *j, const char *path)
{
    comparison c = {.measured = 0};
    spry_status s = find_winner(&c, j);

    (void)path;
    for (int i = 0; s == SPRY_OK && i < SIDES; i++) {
        c.guess[i].size = sizeof c.guess[i];
        s = say_status(
            spry_explain(&c.guess[i], j->problem, c.text[i], &j->machine));
    }
    if (s == SPRY_OK && cli.json)
        print_json(&c, j);
    else if (s == SPRY_OK)
        print_people(&c, j);
    return s;
}

spry_status net_explain(int argc, char **argv)
{
    return net_do_job(&page, argc, argv, JOB_PROBED, explain);
}
