/* breed.c - a plan to mutants of its kernel, and mutants to their fates.
 *
 * A mutant takes the place of the plan's kernel and goes through the same
 * check, in the same kind of child, as every candidate of a tune. One that
 * passes is not yet a survivor: its fault may be without effect on this
 * problem, the only one for which the plan is ever handed out (a loop that
 * this width never enters, sums in another order). The rule: it is without
 * effect if on ROUNDS sets of integer operands, where every order of summing
 * is exact, every number of C is the one that the kernel without the fault
 * computes, and for kernels that pad also with operands that are not finite.
 * That is no proof for races, only likely: racy faults get RACY_ROUNDS. */
#include "breed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure.h"
#include "plan/internal.h"

enum { ROUNDS = 12, SPECIAL = 4, RACY_ROUNDS = 240 };

/* A check may take so many times what it takes without a fault, and some
 * seconds. */
static const double PATIENCE = 20, LEAST_PATIENCE = 1;

/* ---- choosing ---- */

/* Where the kernel's own function begins: what is before is shared. */
static const char *own_part(const char *source, const sp_sparse_plan *plan)
{
    char head[SP_KERNEL_NAME + 8];
    const char *at;

    snprintf(head, sizeof head, "int %s(", plan->name);
    at = strstr(source, head);
    return at ? at : source;
}

/* `each` places of every fault, at random, in the kernel itself. */
static int choose_in(bench_mutant *m, int most, int each, const char *own,
                     int before, const bench_fault *f, sp_rng *r)
{
    int places = bench_fault_places(own, f), n = 0;

    for (int k = 0; k < places && n < each && n < most; k++)
        if (sp_rng_below(r, (uint64_t)(places - k)) < (uint64_t)(each - n))
            m[n++] = (bench_mutant){f, before + k, BENCH_STILLBORN};
    return n;
}

static void shuffle(bench_mutant *m, int count, sp_rng *r)
{
    for (int i = count - 1; i > 0; i--) {
        int j = (int)sp_rng_below(r, (uint64_t)i + 1);
        bench_mutant kept = m[i];

        m[i] = m[j];
        m[j] = kept;
    }
}

int bench_choose(bench_mutant *m, int most, int each, int racy,
                 const sp_sparse_plan *plan, sp_rng *r)
{
    static bench_mutant all[4096];
    const char *own;
    char *source;
    int count = 0;

    if (spry_plan_source(&source, &plan->head) != SPRY_OK)
        return 0;
    own = own_part(source, plan);
    for (int i = 0; i < bench_fault_count; i++) {
        const bench_fault *f = &bench_faults[i];
        int before = bench_fault_places(source, f) - bench_fault_places(own, f);

        if (!f->racy || racy)
            count +=
                choose_in(all + count, 4096 - count, each, own, before, f, r);
    }
    shuffle(all, count, r);
    count = count < most ? count : most;
    memcpy(m, all, (size_t)count * sizeof *m);
    free(source);
    return count;
}

/* ---- compiling: many mutants, one file ---- */

/* The mutant's function, or both of them, under names of their own. */
static int add_mutant(sp_buf *out, const bench_mutant *m, int number,
                      const char *source, const sp_sparse_plan *plan)
{
    size_t own = (size_t)(own_part(source, plan) - source);
    char rest[SP_KERNEL_NAME] = "rest"; /* or nobody's name */
    sp_buf text = {0};
    long at = bench_fault_apply(&text, source, m->fault, m->place);

    if (plan->rest)
        sp_codegen_name(rest, &plan->rest_spec);
    if (at >= (long)own && !text.failed)
        sp_buf_printf(out,
                      "#define %s mutant_%d\n#define %s rest_%d\n%s\n"
                      "#undef %s\n#undef %s\n",
                      plan->name, number, rest, number, text.data + own,
                      plan->name, rest);
    sp_buf_free(&text);
    return at >= (long)own;
}

static spry_status compile(sp_jit_code **out, const bench_mutant *m, int count,
                           const char *source, const sp_sparse_plan *plan)
{
    const char *flags[SP_FLAGS];
    sp_buf text = {0};
    spry_status s;

    sp_buf_printf(&text, "#define UNITS %lld\n",
                  (long long)plan->packed->part[0].units);
    sp_buf_bytes(&text, source, (size_t)(own_part(source, plan) - source));
    for (int i = 0; i < count; i++)
        if (!add_mutant(&text, &m[i], i, source, plan))
            text.failed = 1;
    s = text.failed
            ? sp_fail(SPRY_FAIL, "a fault has lost its place")
            : sp_jit_load(out, text.data, sp_codegen_flags(flags, &plan->spec),
                          "mutants");
    sp_buf_free(&text);
    return s;
}

/* ---- judging, in a child ---- */

typedef struct {
    const sp_sparse_plan *plan; /* without a fault */
    sp_sparse_plan faulty;
    const sp_oracle *o;
    double patience; /* seconds */
    int rounds;
} trial;

typedef struct {
    spry_status checked;
    int same;
} outcome;

static void check(sp_shared *shared, void *arg)
{
    const trial *t = arg;

    sp_child_beat(shared, 1);
    ((outcome *)shared->data)->checked = sp_oracle_check(t->o, &t->faulty);
}

/* Integers, and in the last rounds of padding kernels a few other numbers. */
static void fill(const sp_sparse *p, void *X, int64_t count, int special,
                 sp_rng *r)
{
    static const double odd[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};

    for (int64_t k = 0; k < count; k++)
        sp_dense_put(p, X, k, (double)sp_rng_below(r, 19) - 9);
    for (int i = 0; special && count > 0 && i < 3; i++)
        sp_dense_put(p, X, (int64_t)sp_rng_below(r, (uint64_t)count), odd[i]);
}

/* Number by number; a zero may have either sign, a NaN any bits. */
static int equal(const sp_sparse *p, const void *X, const void *Y,
                 int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        double x = sp_dense_get(p, X, k), y = sp_dense_get(p, Y, k);

        if (!(x == y || (isnan(x) && isnan(y))))
            return 0;
    }
    return 1;
}

/* One round; t->o's arrays are not used, other operands are the point. */
static int same_round(const trial *t, void *X[4], int round, sp_rng *r)
{
    static const double alpha[] = {1, -2, 3, 0.5}, beta[] = {0, 2, -1};
    const sp_sparse *p = t->plan->p;
    int64_t c = sp_sparse_output_size(p);
    int special = t->plan->packed->pads && round % ROUNDS >= ROUNDS - SPECIAL;
    double a = alpha[round % 4], b = beta[round % 3];

    fill(p, X[0], sp_sparse_input_size(p, 0), special, r);
    fill(p, X[1], sp_sparse_input_size(p, 1), 0, r);
    fill(p, X[2], c, 0, r);
    if (b == 0)
        memset(X[2], 0xff, (size_t)c * p->type);
    memcpy(X[3], X[2], (size_t)c * p->type);
    return spry_run_scaled(&t->plan->head, a, X[0], X[1], b, X[2]) == SPRY_OK &&
           spry_run_scaled(&t->faulty.head, a, X[0], X[1], b, X[3]) ==
               SPRY_OK &&
           equal(p, X[2], X[3], c);
}

/* The matrix as integers too; this is a fork, nobody else sees it. */
static void make_integer(const sp_sparse_plan *plan)
{
    for (int i = 0; i < plan->packed->parts; i++) {
        const sp_part *q = &plan->packed->part[i];

        for (int64_t k = 0; k < q->values; k++)
            sp_dense_put(plan->p, q->val, k,
                         sp_to_integer(sp_dense_get(plan->p, q->val, k)));
    }
}

static void compare(sp_shared *shared, void *arg)
{
    const trial *t = arg;
    const sp_sparse *p = t->plan->p;
    int64_t c = sp_sparse_output_size(p);
    int64_t size[4] = {sp_sparse_input_size(p, 0), sp_sparse_input_size(p, 1),
                       c, c};
    sp_rng r = sp_rng_seed(11);
    void *X[4];
    int same = 1;

    make_integer(t->plan);
    for (int i = 0; i < 4; i++)
        X[i] = sp_alloc(size[i] + 64, p->type);
    for (int round = 0; same && round < t->rounds; round++) {
        sp_child_beat(shared, 1 + round);
        same = X[0] && X[1] && X[2] && X[3] && same_round(t, X, round, &r);
    }
    ((outcome *)shared->data)->same = same;
}

static spry_status judge_one(bench_mutant *m, trial *t, sp_shared *shared)
{
    outcome *out = shared->data;
    sp_child_job job = {.work = check, .arg = t, .seconds = t->patience};
    sp_child_verdict v;
    spry_status s;

    *out = (outcome){SPRY_FAIL, 0};
    s = sp_child_run(&v, &job, shared);
    if (s != SPRY_OK)
        return s;
    m->fate = v.end == SP_CHILD_TIMEOUT ? BENCH_HANG
              : v.end != SP_CHILD_OK    ? BENCH_CRASH
                                        : BENCH_WRONG;
    if (v.end != SP_CHILD_OK || out->checked != SPRY_OK)
        return SPRY_OK;
    t->rounds = m->fault->racy ? RACY_ROUNDS : ROUNDS;
    job.work = compare;
    s = sp_child_run(&v, &job, shared);
    m->fate =
        v.end == SP_CHILD_OK && out->same ? BENCH_NO_EFFECT : BENCH_SURVIVED;
    return s;
}

/* Halve a file that does not compile until the culprit is alone. */
static spry_status judge_some(bench_mutant *m, int count, const char *source,
                              trial *t, sp_shared *shared)
{
    sp_jit_code *code = NULL;
    spry_status s = compile(&code, m, count, source, t->plan);

    if (s == SPRY_FAIL && count == 1) {
        m->fate = BENCH_STILLBORN;
        return SPRY_OK;
    }
    if (s == SPRY_FAIL) {
        s = judge_some(m, count / 2, source, t, shared);
        return s == SPRY_OK ? judge_some(m + count / 2, count - count / 2,
                                         source, t, shared)
                            : s;
    }
    for (int i = 0; s == SPRY_OK && i < count; i++) {
        char name[32];

        snprintf(name, sizeof name, "mutant_%d", i);
        *(void **)&t->faulty.kernel = sp_jit_symbol(code, name);
        snprintf(name, sizeof name, "rest_%d", i);
        if (t->plan->rest)
            *(void **)&t->faulty.rest = sp_jit_symbol(code, name);
        s = judge_one(&m[i], t, shared);
    }
    sp_jit_free(code);
    return s;
}

spry_status bench_judge(bench_mutant *m, int count, const sp_sparse_plan *plan,
                        const sp_oracle *o)
{
    trial t = {plan, *plan, o, sp_seconds(), ROUNDS};
    sp_shared shared;
    char *source;
    spry_status s = sp_oracle_check(o, plan);

    t.patience = LEAST_PATIENCE + PATIENCE * (sp_seconds() - t.patience);
    if (s == SPRY_OK)
        s = spry_plan_source(&source, &plan->head);
    if (s != SPRY_OK)
        return s;
    s = sp_shared_open(&shared, sizeof(outcome));
    if (s == SPRY_OK) {
        s = count ? judge_some(m, count, source, &t, &shared) : SPRY_OK;
        sp_shared_close(&shared);
    }
    free(source);
    return s;
}
