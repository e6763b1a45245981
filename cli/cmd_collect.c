/* cmd_collect.c - matrices x operations x schedules, measured to learn from. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "sources.h"

static const char *suite, *ops = "spmv,spmm,sddmm", *widths = "128",
                          *types = "f32", *counts;
static int schedules = 100, from = SPRY_DRAW_BOTH, timer, choose;
static double budget;
static const opt options[] = {
    {"suite", OPT_TEXT, &suite, "small|default|operators",
     "add generated matrices of many kinds, or dense operators"},
    {"ops", OPT_TEXT, &ops, "LIST", "operations (spmv,spmm,sddmm)"},
    {"widths", OPT_TEXT, &widths, "LIST", "dense columns (128)"},
    {"types", OPT_TEXT, &types, "LIST", "element types (f32)"},
    {"limits", OPT_TEXT, &counts, "LIST", "thread counts, 1,2 (all cores)"},
    {"schedules", OPT_INTEGER, &schedules, "N",
     "how many for each problem (100)"},
    {"from", OPT_WORD, &from, "both|super|families",
     "super: loop nests, as WACO draws them; families: formats"},
    {"choose", OPT_FLAG, &choose, NULL,
     "draw eight times as many, measure what would teach the model most"},
    {"clock", OPT_WORD, &timer, "wall|processor",
     "processor: processor time of one thread, for a busy machine"},
    {"budget", OPT_SECONDS, &budget, "TIME", "stop after: 60s, 10m, 2h"},
    {0}};
static const opt_page page = {
    "collect",
    "[MATRIX|FOLDER|gen:SPEC|op:SPEC...]",
    "Measure many schedules of many problems, as training data. Each is\n"
    "verified, timed in turns with the plain loop in a process of its own, and\n"
    "stored, also if it is wrong, crashes, hangs, cannot be built, or was so\n"
    "slow that it was cut short. What the store has is not measured again, so a\n"
    "collection that was stopped can be continued; several may share a store.",
    {options},
    0,
    100000};

enum { MOST = 8 };

/* What to measure of every matrix. */
typedef struct {
    spry_op op[MOST];
    int64_t width[MOST];
    spry_type type[MOST];
    spry_machine machine[MOST];
    int ops, widths, types, machines;
} plan;

/* How far it is. */
typedef struct {
    spry_records *db;
    spry_kernels *kernels;
    const char *source;
    int passed, of; /* problems */
    int lost;       /* of them failed, or of matrices that did */
    int fresh;      /* of them not all known before */
    double fresh_seconds, begun;
    int known, busy, failed;
    int64_t verdict[8], trials;
    double compile_seconds;
    int stopped;
} tally;

/* ---- lists of words ---- */

/* The next word of "a,b,c" into out; 0 past the last. */
static int next_word(char out[32], const char **at)
{
    size_t n = strcspn(*at, ",");

    if (!**at)
        return 0;
    snprintf(out, 32, "%.*s", n < 31 ? (int)n : 31, *at);
    *at += n + ((*at)[n] == ',');
    return 1;
}

static spry_status too_many(const char *option)
{
    return say_fail(SPRY_USAGE, "--%s takes at most %d values", option,
                    (int)MOST);
}

static spry_status whole_number(int64_t *out, const char *word,
                                const char *option, double most)
{
    char *end;
    double x = strtod(word, &end);

    if (end == word || *end || !(x >= 1 && x <= most) || floor(x) < x)
        return say_fail(SPRY_USAGE, "--%s takes whole numbers, not '%s'",
                        option, word);
    *out = (int64_t)x;
    return SPRY_OK;
}

static spry_status read_ops(plan *p)
{
    char word[32];
    spry_status s = SPRY_OK;

    for (const char *at = ops; s == SPRY_OK && next_word(word, &at);)
        s = p->ops == MOST ? too_many("ops")
                           : say_status(spry_op_parse(&p->op[p->ops++], word));
    for (const char *at = types; s == SPRY_OK && next_word(word, &at);)
        s = p->types == MOST
                ? too_many("types")
                : say_status(spry_type_parse(&p->type[p->types++], word));
    for (const char *at = widths; s == SPRY_OK && next_word(word, &at);)
        s = p->widths == MOST
                ? too_many("widths")
                : whole_number(&p->width[p->widths++], word, "widths", 1e6);
    return s;
}

/* Well probed, if there is time for that; a budget that leaves none for any
 * probe is refused. */
static spry_status open_probed(spry_machine *out)
{
    static const double PROBE = 2, WELL = 3 * 2;
    double part = budget > 0 ? 0.2 * budget : HUGE_VAL;
    const char *store = store_to_name();

    if (part < PROBE && !machine_is_known())
        return say_fail(SPRY_BUDGET,
                        "this machine is not known yet, and probing takes "
                        "about %s: spry probe%s%s does it once",
                        say_seconds(PROBE), store ? " --store " : "",
                        store ? store : "");
    return open_machine(out, part < WELL ? 1 : 2);
}

/* One machine per thread count; each is probed by itself, once. */
static spry_status read_machines(plan *p)
{
    char word[32];
    int64_t threads = 0;
    spry_status s = SPRY_OK;

    if (timer)
        cli.threads = 1;
    if (!counts) {
        p->machines = 1;
        return open_probed(&p->machine[0]);
    }
    for (const char *at = counts; s == SPRY_OK && next_word(word, &at);) {
        if (p->machines == MOST)
            return too_many("limits");
        s = whole_number(&threads, word, "limits", 1e4);
        cli.threads = (int)threads;
        if (s == SPRY_OK)
            s = open_probed(&p->machine[p->machines++]);
    }
    return s;
}

/* ---- one problem ---- */

static double seconds_left(const tally *t)
{
    return budget > 0 ? budget - (now_seconds() - t->begun) : HUGE_VAL;
}

static int show(const spry_collected *now, void *payload)
{
    const tally *t = payload;
    char text[256];
    int trials = 0;
    double part, eta;

    for (int i = 0; i < 8; i++)
        trials += now->verdict[i];
    part = now->planned > 0 ? (double)trials / now->planned : 0;
    eta = (t->of - t->passed - part) * (t->fresh_seconds + now->seconds) /
          (t->fresh + fmax(part, 0.05));
    eta = fmin(eta, seconds_left(t));
    snprintf(text, sizeof text,
             "problem %d of %d, trial %d of %d, %.0f a second, %s left: %.80s",
             t->passed + 1, t->of, trials, now->planned,
             (double)(t->trials + trials) /
                 fmax(t->fresh_seconds + now->seconds, 1e-3),
             say_seconds(eta), t->source);
    progress_say(text);
    return stop_asked();
}

static void count(tally *t, const spry_collected *c)
{
    int trials = 0;

    for (int i = 0; i < 8; i++) {
        t->verdict[i] += c->verdict[i];
        trials += c->verdict[i];
    }
    t->trials += trials;
    t->known += c->known;
    t->busy += c->busy;
    t->compile_seconds += c->compile_seconds;
    t->stopped |= c->stopped;
    t->passed += !c->stopped;
    if (trials > 0) {
        t->fresh++;
        t->fresh_seconds += c->seconds;
    }
}

static spry_status collect_one(tally *t, const spry_problem *p,
                               const spry_machine *m)
{
    spry_collect_options o = SPRY_COLLECT_DEFAULTS;
    spry_collected c = {.size = sizeof c};
    spry_status s;

    o.schedules = schedules;
    o.draw = (spry_draw)from;
    o.seconds = budget > 0 ? fmax(seconds_left(t), 1e-3) : 0;
    o.seed = cli.seed;
    o.machine = m;
    o.kernels = t->kernels;
    o.processor_time = timer;
    o.choose = choose;
    o.progress = show;
    o.payload = t;
    s = spry_collect(&c, t->db, p, t->source, NULL, &o);
    if (s == SPRY_BUDGET && t->trials > 0) { /* enough for others, not for it */
        t->stopped = 1;
        return SPRY_OK;
    }
    s = say_status(s);
    count(t, &c);
    t->lost += s != SPRY_OK;
    if (stop_asked() || seconds_left(t) <= 0)
        t->stopped = 1;
    return s;
}

static spry_status on_machines(tally *t, const plan *p, spry_problem *problem)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < p->machines && !t->stopped; i++)
        s = collect_one(t, problem, &p->machine[i]);
    spry_problem_free(problem);
    return s;
}

/* ---- one matrix ---- */

static int uses_tensor(const plan *p, const char *source)
{
    cli.op = p->ops == 1 && spry_op_modes(p->op[0]) == 3 ? (int)p->op[0] : -1;
    return is_tensor(source);
}

/* How many problems a matrix is good for. */
static int problems_of(const plan *p, const char *source)
{
    int tensor, n = 0;

    if (is_operator(source))
        return p->machines;
    tensor = uses_tensor(p, source);

    for (int i = 0; i < p->ops; i++)
        if ((spry_op_modes(p->op[i]) == 3) == tensor)
            n += spry_op_columns(p->op[i]) ? p->widths : 1;
    return n * p->types * p->machines;
}

static spry_status make_problem(spry_problem **out, const spry_matrix *A,
                                spry_op op, int64_t n, spry_type type)
{
    return say_status(spry_problem_make(out, op, A, n, type));
}

/* All problems of one matrix or of one tensor; the other is NULL. */
static spry_status collect_all(tally *t, const plan *p, const spry_matrix *A,
                               const spry_tensor *T)
{
    spry_problem *problem;
    spry_status s = SPRY_OK;

    for (int i = 0; i < p->ops; i++)
        for (int k = 0; k < p->types; k++)
            for (int w = 0; s == SPRY_OK && w < p->widths && !t->stopped; w++) {
                int tensor = spry_op_modes(p->op[i]) == 3;

                if (tensor != (T != NULL) ||
                    (w > 0 && !spry_op_columns(p->op[i])))
                    continue;
                s = tensor ? say_status(spry_problem_mttkrp(
                                 &problem, T, p->width[w], p->type[k]))
                           : make_problem(&problem, A, p->op[i], p->width[w],
                                          p->type[k]);
                if (s == SPRY_OK)
                    s = on_machines(t, p, problem);
            }
    return s;
}

static spry_status collect_operator(tally *t, const plan *p)
{
    spry_problem *problem;
    spry_status s = open_operator(&problem, t->source);

    return s == SPRY_OK ? on_machines(t, p, problem) : s;
}

static spry_status collect_source(tally *t, const plan *p)
{
    spry_matrix *A = NULL;
    spry_tensor *T = NULL;
    spry_status s;

    if (is_operator(t->source))
        return collect_operator(t, p);
    s = uses_tensor(p, t->source) ? open_tensor(&T, t->source)
                                  : open_matrix(&A, t->source);
    if (s == SPRY_INPUT) { /* the others are not to suffer */
        t->failed++;
        t->passed += problems_of(p, t->source);
        t->lost += problems_of(p, t->source);
        return SPRY_OK;
    }
    if (s == SPRY_OK)
        s = collect_all(t, p, A, T);
    spry_matrix_free(A);
    spry_tensor_free(T);
    return s;
}

/* ---- the whole ---- */

static int done(const tally *t)
{
    return t->passed - t->busy - t->lost;
}

static void print_tally(const tally *t)
{
    double rate =
        t->fresh_seconds > 0 ? (double)t->trials / t->fresh_seconds : 0;
    json j;

    progress_clear();
    if (!cli.json) {
        printf("%s trials of %d problems in %s, %.1f a second\n",
               say_count((double)t->trials), t->fresh,
               say_seconds(now_seconds() - t->begun), rate);
        for (int i = 0; i < 8; i++)
            if (t->verdict[i])
                printf("  %-11s %s\n", spry_verdict_name((spry_verdict)i),
                       say_count((double)t->verdict[i]));
        printf("%s were known; %d of %d problems done%s\n",
               say_count((double)t->known), done(t), t->of,
               t->stopped ? ", stopped early" : "");
        return;
    }
    j = json_begin("spry.collect/1");
    json_text(&j, "store", spry_records_path(t->db));
    json_integer(&j, "problems", t->of);
    json_integer(&j, "done", done(t));
    json_integer(&j, "busy", t->busy);
    json_integer(&j, "failed_sources", t->failed);
    json_integer(&j, "known", t->known);
    json_integer(&j, "trials", t->trials);
    json_open(&j, "verdicts", '{');
    for (int i = 0; i <= SPRY_VERDICT_DOUBTFUL; i++)
        json_integer(&j, spry_verdict_name((spry_verdict)i), t->verdict[i]);
    json_close(&j, '}');
    json_number(&j, "seconds", now_seconds() - t->begun);
    json_number(&j, "measuring_seconds", t->fresh_seconds);
    json_number(&j, "compile_seconds", t->compile_seconds);
    json_number(&j, "trials_per_second", rate);
    json_bool(&j, "stopped", t->stopped);
    json_end(&j);
}

static spry_status find_sources(sources *l, int argc, char **argv)
{
    spry_status s = suite ? sources_add_suite(l, suite) : SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < argc; i++)
        s = sources_add(l, argv[i]);
    if (s == SPRY_OK && l->count == 0)
        return say_fail(SPRY_USAGE, "collect needs matrices, or --suite small");
    return s;
}

static spry_status collect(tally *t, const plan *p, const sources *l)
{
    spry_status s = SPRY_OK;

    for (int i = 0; i < l->count; i++)
        t->of += problems_of(p, l->name[i]);
    if (t->of == 0)
        return say_fail(SPRY_USAGE, "--ops names no operation of what is "
                                    "given: a tensor takes mttkrp, a matrix "
                                    "the others");
    for (int i = 0; s == SPRY_OK && i < l->count && !t->stopped; i++) {
        t->source = l->name[i];
        s = collect_source(t, p);
    }
    print_tally(t);
    if (s == SPRY_OK && t->failed)
        s = say_fail(SPRY_INPUT, "%d of the matrices could not be read",
                     t->failed);
    return s;
}

spry_status cmd_collect(int argc, char **argv)
{
    sources list = {0};
    plan *p;
    tally t = {.begun = now_seconds()};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    p = calloc(1, sizeof *p);
    if (!p)
        return say_fail(SPRY_SYSTEM, "not enough memory");
    if (schedules < 1)
        s = say_fail(SPRY_USAGE, "--schedules takes 1 or more");
    stop_watch();
    if (s == SPRY_OK)
        s = find_sources(&list, argc, argv);
    if (s == SPRY_OK)
        s = read_ops(p);
    if (s == SPRY_OK)
        s = read_machines(p);
    if (s == SPRY_OK)
        s = open_store(&t.db);
    if (s == SPRY_OK)
        s = say_status(spry_kernels_open(&t.kernels));
    if (s == SPRY_OK)
        s = collect(&t, p, &list);
    spry_kernels_close(t.kernels);
    spry_records_close(t.db);
    sources_free(&list);
    free(p);
    return s;
}
