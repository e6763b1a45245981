/* net_breed.c - mutants of the loops that run networks, and their fates. */
#include "net_breed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "form/internal.h"
#include "inference/internal.h"
#include "jit/jit.h"
#include "machine/isa.h"
#include "measure/measure.h"
#include "spry/tune.h"

enum { ROUNDS = 6, MOST_INPUTS = 64 };

/* Seconds that a check may take. */
static const double PATIENCE = 8;

/* Weights of their own, one weight for all, shared sources, curves of every
 * kind, layers wider than 65536 slots; tiles of every width, tails, one input
 * and many. */
static const struct {
    const char *network, *way;
    int64_t batch;
} cases[] = {
    {"gen:random,width=61,depth=3,density=0.3", "rows tile=8 threads=2", 150},
    {"gen:random,width=61,depth=3,density=0.3", "rows tile=16 threads=1", 37},
    {"gen:random,width=61,depth=3,density=0.3", "rows tile=32 threads=2", 150},
    {"gen:random,width=61,depth=3,density=0.3", "rows tile=64 threads=1", 131},
    {"gen:random,width=61,depth=3,density=0.3", "gather threads=1", 3},
    {"gen:random,width=61,depth=3,density=0.3", "plain threads=2", 5},
    {"gen:random,width=61,depth=3,density=0.3", "plain threads=2", 70},
    {"gen:mixed,radices=3x4,copies=4", "rows tile=8 threads=1", 70},
    {"gen:mixed,radices=3x4,copies=4", "rows tile=16 threads=1", 70},
    {"gen:mixed,radices=5x7,copies=2", "rows tile=8 threads=1", 70},
    {"gen:mixed,radices=6x2,copies=3", "rows tile=16 threads=1", 70},
    {"gen:mixed,radices=3x2,copies=5", "rows tile=32 threads=1", 70},
    {"gen:radix,depth=3", "gather threads=2", 2},
    {"gen:radix,depth=3", "rows tile=16 threads=2", 90},
    {"gen:radix,depth=3", "plain threads=1", 20},
    {"gen:pruned,widths=30x40x20,sparsity=0.5,activation=tanh",
     "rows tile=16 threads=1", 40},
    {"gen:pruned,widths=30x40x20,sparsity=0.5,activation=sigmoid",
     "gather threads=1", 3},
    {"gen:pruned,widths=30x40x20,sparsity=0.5,activation=linear",
     "rows tile=8 threads=1", 20},
    {"gen:skip,width=40,depth=5,degree=6", "rows tile=32 threads=1", 90},
    {"gen:skip,width=40,depth=5,degree=6", "gather threads=1", 2},
    {"gen:smallworld,width=70001,depth=1,degree=4,rewire=0.5",
     "rows tile=8 threads=1", 9},
    {"gen:smallworld,width=70001,depth=1,degree=4,rewire=0.5",
     "gather threads=1", 2},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* ---- the text ---- */

static char *body_text(void)
{
    FILE *f = fopen(BENCH_SOURCE "/src/form/kernels_body.h", "r");
    enum { MOST = 1 << 16 };
    char *text = calloc(1, MOST);
    size_t n = f && text ? fread(text, 1, MOST - 1, f) : 0;

    if (f)
        fclose(f);
    if (n > 0)
        return text;
    free(text);
    return NULL;
}

int bench_net_choose(bench_mutant *m, int most, int each, sp_rng *r)
{
    char *text = body_text();
    int count = 0;

    for (int i = 0; text && i < bench_net_fault_count; i++) {
        const bench_fault *f = &bench_net_faults[i];
        int places = bench_fault_places(text, f), taken = 0;

        for (int k = 0; k < places && taken < each && count < most; k++)
            if (sp_rng_below(r, (uint64_t)(places - k)) <
                (uint64_t)(each - taken)) {
                m[count++] = (bench_mutant){f, k, BENCH_STILLBORN};
                taken++;
            }
    }
    free(text);
    return count;
}

static spry_status compile(sp_jit_code **out, const bench_mutant *m)
{
    const sp_isa *isa = sp_isa_of(sp_isa_here());
    const char *flags[SP_ISA_FLAGS + 6] = {"-I" BENCH_SOURCE "/src",
                                           "-I" BENCH_SOURCE "/include", "-O1",
                                           "-Wno-psabi"};
    char *text = body_text();
    sp_buf mutant = {0};
    spry_status s = SPRY_FAIL;

    for (int i = 0; isa->flags[i]; i++)
        flags[4 + i] = isa->flags[i];
    sp_buf_add(&mutant, "#define SET(name) name##_mutant\n#define BYTES 32\n"
                        "#include <stdint.h>\n");
    if (!text)
        s = sp_fail(SPRY_SYSTEM, "the text of the loops is not there");
    else if (bench_fault_apply(&mutant, text, m->fault, m->place) >= 0)
        s = sp_jit_load(out, mutant.data, flags, "network mutants");
    free(text);
    sp_buf_free(&mutant);
    return s;
}

/* ---- one case ---- */

typedef struct {
    spry_network *net;
    spry_problem *p;
    void *oracle;
} ground;

/* Networks and right answers are made once for all mutants. */
static spry_status open_ground(ground **out, int i)
{
    static ground made[CASES];
    ground *g = &made[i];
    spry_status s = SPRY_OK;

    *out = g;
    if (g->oracle)
        return SPRY_OK;
    s = spry_network_read(&g->net, cases[i].network, NULL);
    if (s == SPRY_OK)
        s = spry_problem_network(&g->p, g->net, cases[i].batch);
    return s == SPRY_OK ? sp_inference_ask(&g->oracle, g->p, 1, SP_TO_CHECK)
                        : s;
}

typedef struct {
    const ground *g;
    const spry_plan *faulty;
} trial;

typedef struct {
    spry_status checked;
    int harmless;
} outcome;

static void check(sp_shared *shared, void *arg)
{
    const trial *t = arg;

    sp_child_beat(shared, 1);
    ((outcome *)shared->data)->checked =
        sp_inference_check(t->g->oracle, t->faulty);
}

static void draw(float *x, int64_t count, int round, sp_rng *r)
{
    for (int64_t i = 0; i < count; i++) {
        double u = sp_rng_unit(r);

        x[i] = round % 3 == 0   ? (float)(u < 0.15)
               : round % 3 == 1 ? (float)(int)(5 * u)
                                : (float)(2 * u - 1);
    }
}

/* Is any of the answers wrong, on inputs that the check does not have? */
static int harmless_round(const trial *t, int round, sp_rng *r)
{
    const spry_network *n = t->g->net;
    int64_t count = spry_problem_batch(t->g->p);
    float *x = sp_alloc(count * n->inputs, sizeof *x);
    float *y = sp_alloc(count * n->outputs, sizeof *y);
    double *right = sp_alloc(count * n->outputs, sizeof *right);
    double *bound = sp_alloc(count * n->outputs, sizeof *bound);
    int same = x && y && right && bound;

    if (same) {
        draw(x, count * n->inputs, round, r);
        same = spry_run_inputs(t->faulty, x, y, count) == SPRY_OK &&
               sp_inference_answers(right, bound, n, x, count) == SPRY_OK;
    }
    for (int64_t i = 0; same && i < count * n->outputs; i++)
        same = fabs((double)y[i] - right[i]) <= bound[i];
    sp_free(x);
    sp_free(y);
    sp_free(right);
    sp_free(bound);
    return same;
}

static void compare(sp_shared *shared, void *arg)
{
    const trial *t = arg;
    sp_rng r = sp_rng_seed(77);
    int same = 1;

    for (int round = 0; same && round < ROUNDS; round++) {
        sp_child_beat(shared, 1 + round);
        same = harmless_round(t, round, &r);
    }
    ((outcome *)shared->data)->harmless = same;
}

static spry_status judge_case(bench_fate *fate, trial *t, sp_shared *shared)
{
    outcome *out = shared->data;
    sp_child_job job = {.work = check, .arg = t, .seconds = PATIENCE};
    sp_child_verdict v;
    spry_status s;

    *out = (outcome){SPRY_FAIL, 0};
    s = sp_child_run(&v, &job, shared);
    *fate = v.end == SP_CHILD_TIMEOUT ? BENCH_HANG
            : v.end != SP_CHILD_OK    ? BENCH_CRASH
                                      : BENCH_WRONG;
    if (s != SPRY_OK || v.end != SP_CHILD_OK || out->checked != SPRY_OK)
        return s;
    job.work = compare;
    s = sp_child_run(&v, &job, shared);
    *fate = v.end == SP_CHILD_OK && out->harmless ? BENCH_NO_EFFECT
                                                  : BENCH_SURVIVED;
    return s;
}

/* ---- one mutant ---- */

static spry_status run_cases(bench_mutant *m, sp_shared *shared)
{
    spry_status s = SPRY_OK;

    m->fate = BENCH_NO_EFFECT;
    for (int i = 0; s == SPRY_OK && i < CASES && m->fate == BENCH_NO_EFFECT;
         i++) {
        bench_fate fate = BENCH_NO_EFFECT;
        spry_plan *plan = NULL;
        ground *g;

        s = open_ground(&g, i);
        if (s == SPRY_OK)
            s = spry_plan_from(&plan, g->p, cases[i].way, NULL);
        if (s == SPRY_OK)
            s = judge_case(&fate, &(trial){g, plan}, shared);
        if (fate != BENCH_NO_EFFECT)
            m->fate = fate;
        if (fate == BENCH_SURVIVED)
            printf("          on %s, %s, batch %d\n", cases[i].network,
                   cases[i].way, (int)cases[i].batch);
        spry_plan_free(plan);
    }
    return s;
}

spry_status bench_net_judge(bench_mutant *m)
{
    sp_jit_code *code = NULL;
    sp_shared shared;
    spry_status s = compile(&code, m);

    if (s == SPRY_FAIL) {
        m->fate = BENCH_STILLBORN;
        return SPRY_OK;
    }
    if (s == SPRY_OK)
        s = sp_shared_open(&shared, sizeof(outcome));
    if (s == SPRY_OK) {
        sp_net_kernels_force(sp_jit_symbol(code, "sp_net_kernels_mutant"));
        s = run_cases(m, &shared);
        sp_net_kernels_force(NULL);
        sp_shared_close(&shared);
    }
    sp_jit_free(code);
    return s;
}
