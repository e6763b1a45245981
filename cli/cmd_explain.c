/* cmd_explain.c - what bounds a kernel, and what the winner does otherwise. */
#include "dense.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *schedule;
static const opt options[] = {
    {"schedule", OPT_TEXT, &schedule, "TEXT",
     "explain this one (as tuned, else as predicted)"},
    {0}};
static const opt_page page = {
    "explain",
    "MATRIX",
    "Split the predicted time of the plain CSR loop and of the winner into what\n"
    "they wait for, and say in words what the winner changed. Nothing is\n"
    "measured; tune does that.",
    {options, cli_compute, cli_locking},
    1,
    1};

/* ---- what bounds it ---- */

static const struct {
    const char *name;
    size_t at;
    const char *means;
} terms[] = {
    {"bandwidth", offsetof(spry_prediction, bandwidth),
     "bytes have to move, from memory or from a cache"},
    {"latency", offsetof(spry_prediction, latency),
     "scattered loads are waited for"},
    {"compute", offsetof(spry_prediction, compute),
     "multiply-adds have to be issued"},
    {"overhead", offsetof(spry_prediction, overhead),
     "loops, row ends and thread starts cost"},
    {"imbalance", offsetof(spry_prediction, imbalance),
     "one thread has more work than the others"},
};
enum { TERMS = sizeof terms / sizeof *terms };

static double term(const spry_prediction *p, int i)
{
    double value;

    memcpy(&value, (const char *)p + terms[i].at, sizeof value);
    return value;
}

static const char *meaning(const char *bound)
{
    for (int i = 0; i < TERMS; i++)
        if (strcmp(terms[i].name, bound) == 0)
            return terms[i].means;
    return "";
}

/* How close to what the machine can do at all: of the measured time if there
 * is one, else of the predicted. */
static void print_limit(const spry_prediction *p, double measured)
{
    double limit, seconds = measured > 0 ? measured : p->seconds;
    const char *name = spry_prediction_limit(p, &limit);

    if (limit > 0 && seconds > 0)
        printf("  limit %s: %s, %.0f %% of it %s\n", name, say_seconds(limit),
               100 * limit / seconds,
               measured > 0 ? "reached" : "reached by the model");
}

static void print_terms(const spry_schedule *x, const spry_prediction *p,
                        double measured)
{
    enum { BAR = 32 };
    char text[SPRY_SCHEDULE_TEXT];
    const char *bound = spry_prediction_bound(p);

    printf("%s%s%s: about %s a run, bound by %s (%s)\n", say_bold(stdout),
           spry_schedule_text(text, x), say_plain(stdout),
           say_seconds(p->seconds), bound, meaning(bound));
    for (int i = 0; i < TERMS; i++) {
        double part = p->seconds > 0 ? term(p, i) / p->seconds : 0;
        int bar = (int)lround(BAR * fmin(fmax(part, 0), 1));

        printf("  %-10s %9s%s%.*s\n", terms[i].name, say_seconds(term(p, i)),
               bar ? "  " : "", bar, "################################");
    }
    print_limit(p, measured);
    printf("  %s packed, %s of traffic beyond the caches\n\n",
           say_bytes(p->bytes), say_bytes(p->traffic));
}

/* ---- what it changed ---- */

static const char *const formats[] = {
    "keeps compressed rows",
    "stores dense blocks, one index for each",
    "stores slices of rows side by side, so that vectors run down the rows",
    "leaves empty rows out of the storage",
    "stores diagonals, with no column indices at all",
    "stores the tensor fiber by fiber",
    "walks a loop nest of its own, over levels in the same order",
};
static const char *const nestings[] = {
    "slices, then fibers along l", "slices, then fibers along k",
    "k, then l, and adds to rows of the result",
    "l, then k, and adds to rows of the result"};
static const char *const orders[] = {
    "in the given order", "by length",
    "by reverse Cuthill-McKee, so that neighbours meet",
    "so that rows with the same columns follow each other"};

/* A field that differs is told as "<before>value<after>". */
static const struct {
    const char *name;
    size_t at;
    const char *before, *after;
} fields[] = {
    {"tile", offsetof(spry_schedule, tile), "holds ",
     " vectors of dense columns in registers"},
    {"r", offsetof(spry_schedule, r), "blocks are ", " rows tall"},
    {"c", offsetof(spry_schedule, c), "blocks are ", " columns wide"},
    {"rest", offsetof(spry_schedule, rest), "blocks filled less than ",
     " % are stored as rows"},
    {"slice", offsetof(spry_schedule, slice), "a slice is ",
     " vectors of rows"},
    {"symmetric", offsetof(spry_schedule, symmetric),
     "stores one triangle, which stands for both (", ")"},
    {"sigma", offsetof(spry_schedule, sigma),
     "sorts rows by length in windows of ", ""},
    {"unroll", offsetof(spry_schedule, unroll), "works on ",
     " entries at a time"},
    {"gather", offsetof(spry_schedule, gather), "uses hardware gathers (", ")"},
    {"index", offsetof(spry_schedule, index), "column indices take ", " bits"},
    {"palette", offsetof(spry_schedule, palette),
     "stores values in a table of ", ""},
    {"prefetch", offsetof(spry_schedule, prefetch), "asks for operands ",
     " entries ahead"},
    {"panel", offsetof(spry_schedule, panel), "walks A in panels of ",
     " columns, which stay in cache"},
    {"pass", offsetof(spry_schedule, pass), "takes ",
     " dense columns per pass over A"},
    {"copy", offsetof(spry_schedule, copy),
     "packs the dense columns of a pass first (", ")"},
    {"stream", offsetof(spry_schedule, stream),
     "writes results past the cache (", ")"},
    {"fixed", offsetof(spry_schedule, fixed),
     "has the dense width compiled in (", ")"},
    {"threads", offsetof(spry_schedule, threads), "runs on ", " threads"},
    {"chunk", offsetof(spry_schedule, chunk), "hands out rows in chunks of ",
     " as threads come free"},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static int32_t field(const spry_schedule *x, int i)
{
    int32_t value;

    memcpy(&value, (const char *)x + fields[i].at, sizeof value);
    return value;
}

/* One sentence per difference, handed to `tell`. */
static void differences(const spry_schedule *from, const spry_schedule *to,
                        void (*tell)(json *, const char *), json *j)
{
    char text[160];

    if (from->format != to->format && to->format >= SPRY_CSR &&
        to->format <= SPRY_SUPER)
        tell(j, formats[to->format]);
    if (from->modes != to->modes && to->modes >= SPRY_MODES_IKL &&
        to->modes <= SPRY_MODES_LKI) {
        snprintf(text, sizeof text, "walks %s", nestings[to->modes]);
        tell(j, text);
    }
    if (from->order != to->order && to->order >= SPRY_ORDER_NONE &&
        to->order <= SPRY_ORDER_CLUSTER) {
        snprintf(text, sizeof text, "takes rows %s", orders[to->order]);
        tell(j, text);
    }
    for (int i = 0; i < FIELDS; i++) {
        if (field(from, i) == field(to, i))
            continue;
        snprintf(text, sizeof text, "%s%d%s", fields[i].before, field(to, i),
                 fields[i].after);
        tell(j, text);
    }
}

static void tell_person(json *j, const char *sentence)
{
    (void)j;
    printf("  - %s\n", sentence);
}

static void tell_program(json *j, const char *sentence)
{
    json_text(j, NULL, sentence);
}

/* ---- both ---- */

typedef struct {
    spry_schedule baseline, winner;
    spry_prediction of_baseline, of_winner;
    int measured;
    double speedup, low, high;
    double seconds[2];   /* measured of the baseline and of the winner, or 0 */
    char who[SPRY_WHO];  /* predicts */
    double predicted[2]; /* seconds of the baseline and of the winner */
} story;

/* What packing the winner costs, in runs of the baseline. */
static double pack_runs(const story *t)
{
    return t->of_winner.pack_seconds / t->of_baseline.seconds;
}

static void json_side(json *j, const char *key, const spry_schedule *x,
                      const spry_prediction *p, double measured)
{
    char text[SPRY_SCHEDULE_TEXT];
    double limit;
    const char *name = spry_prediction_limit(p, &limit);

    json_open(j, key, '{');
    json_text(j, "schedule", spry_schedule_text(text, x));
    json_number(j, "seconds", p->seconds);
    json_text(j, "bound", spry_prediction_bound(p));
    for (int i = 0; i < TERMS; i++)
        json_number(j, terms[i].name, term(p, i));
    json_number(j, "bytes", p->bytes);
    json_number(j, "traffic", p->traffic);
    json_text(j, "limit", name);
    json_number(j, "limit_seconds", limit);
    json_number(j, "limit_share",
                limit / (measured > 0 ? measured : p->seconds));
    json_close(j, '}');
}

static void print_json(const story *t, const job *work)
{
    json j = json_begin("spry.explain/1");

    json_text(&j, "problem", spry_problem_key(work->problem));
    json_side(&j, "baseline", &t->baseline, &t->of_baseline, t->seconds[0]);
    json_side(&j, "winner", &t->winner, &t->of_winner, t->seconds[1]);
    json_open(&j, "changes", '[');
    differences(&t->baseline, &t->winner, tell_program, &j);
    json_close(&j, ']');
    json_number(&j, "pack_runs", pack_runs(t));
    json_text(&j, "model", t->who);
    json_number(&j, "predicted_speedup", t->predicted[0] / t->predicted[1]);
    json_number(&j, "speedup", t->measured ? t->speedup : HUGE_VAL);
    json_number(&j, "speedup_low", t->measured ? t->low : HUGE_VAL);
    json_number(&j, "speedup_high", t->measured ? t->high : HUGE_VAL);
    json_end(&j);
}

static void print_people(const story *t)
{
    char text[SPRY_SCHEDULE_TEXT], baseline[SPRY_SCHEDULE_TEXT];

    print_terms(&t->baseline, &t->of_baseline, t->seconds[0]);
    spry_schedule_text(baseline, &t->baseline);
    if (strcmp(spry_schedule_text(text, &t->winner), baseline) == 0) {
        printf("Nothing better is known: the plain loop stays.\n");
        return;
    }
    print_terms(&t->winner, &t->of_winner, t->seconds[1]);
    printf("What changed:\n");
    differences(&t->baseline, &t->winner, tell_person, NULL);
    printf("Packing costs about %s plain runs.\n", say_runs(pack_runs(t)));
    if (t->measured)
        printf("Measured when it was tuned: %.2f times as fast, 95 %% interval "
               "%s.\n",
               t->speedup, say_interval(t->low, t->high));
    else
        printf("Predicted: %.2f times as fast, by the model %s; spry tune "
               "measures.\n",
               t->predicted[0] / t->predicted[1], t->who);
}

/* The schedule that was named, else the tuner's answer. */
static spry_status find_winner(story *t, const job *j)
{
    spry_plan *plan = NULL;
    const spry_tuning *how;
    spry_status s;

    if (schedule && strcmp(schedule, "tuned") != 0)
        return open_schedule(&t->winner, j, schedule);
    s = open_named(&plan, j, "tuned", SPRY_PREDICT);
    if (s == SPRY_OK) {
        how = spry_plan_tuning(plan);
        t->winner = *spry_plan_schedule(plan);
        s = say_status(spry_schedule_parse(&t->baseline, how->baseline));
        t->measured = how->looked_up && how->speedup > 0;
        if (t->measured) {
            t->speedup = how->speedup;
            t->low = how->low;
            t->high = how->high;
            t->seconds[0] = how->baseline_seconds;
            t->seconds[1] = how->seconds;
        }
    }
    spry_plan_free(plan);
    progress_clear();
    return s;
}

static spry_status ask_model(story *t, const job *j)
{
    spry_schedule x[] = {t->baseline, t->winner};

    return say_status(
        spry_guess(t->predicted, t->who, j->problem, x, 2, &j->machine));
}

static spry_status explain(const job *j, const char *path)
{
    story t = {.baseline = spry_schedule_baseline(j->machine.threads),
               .of_baseline.size = sizeof t.of_baseline,
               .of_winner.size = sizeof t.of_winner};
    spry_status s;

    (void)path;
    if (spry_problem_operator(j->problem))
        return explain_operator(j, schedule);
    s = find_winner(&t, j);
    if (s == SPRY_OK)
        s = say_status(
            spry_predict(&t.of_baseline, j->problem, &t.baseline, &j->machine));
    if (s == SPRY_OK)
        s = say_status(
            spry_predict(&t.of_winner, j->problem, &t.winner, &j->machine));
    if (s == SPRY_OK)
        s = ask_model(&t, j);
    if (s == SPRY_OK && cli.json)
        print_json(&t, j);
    else if (s == SPRY_OK)
        print_people(&t);
    return s;
}

spry_status cmd_explain(int argc, char **argv)
{
    return do_job(&page, argc, argv, JOB_PROBED, explain);
}
