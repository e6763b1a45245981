/* pruned.c - layers of ResNet-50 and of a Transformer with 50 to 98 % zeros:
 * the fastest dense way, the fastest sparse one and what a tune chooses, in
 * one race; the density at which dense and sparse take as long; whole pruned
 * networks beside their dense times.
 *
 * Zeros lie as training left them where the Deep Learning Matrix Collection
 * is among the data (at 80 and 95 %, marked *), else at random. QUICK=1 takes
 * a few layers on one thread, two threads see 80 to 95 % alone; ONLY=TEXT
 * takes layers whose operator has the text, NETS=NAME one network. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "contest/figures.h"
#include "contest/folder.h"
#include "dense/check.h"
#include "measure/measure.h"
#include "pruned/pattern.h"
#include "pruned/whole.h"
#include "spry/tune.h"

static const struct {
    const char *name, *op;
    int quick;
} layers[] = {
    {"bottleneck_1_block_group1_1_1", "conv2d,h=56,w=56,c=256,k=64", 1},
    {"bottleneck_2_block_group1_1_1", "conv2d,h=56,w=56,c=64,k=64,r=3,pad=1",
     1},
    {"bottleneck_3_block_group1_1_1", "conv2d,h=56,w=56,c=64,k=256", 0},
    {"bottleneck_1_block_group2_1_1", "conv2d,h=28,w=28,c=512,k=128", 0},
    {"bottleneck_2_block_group2_1_1", "conv2d,h=28,w=28,c=128,k=128,r=3,pad=1",
     0},
    {"bottleneck_3_block_group2_1_1", "conv2d,h=28,w=28,c=128,k=512", 0},
    {"bottleneck_1_block_group3_1_1", "conv2d,h=14,w=14,c=1024,k=256", 0},
    {"bottleneck_2_block_group3_1_1", "conv2d,h=14,w=14,c=256,k=256,r=3,pad=1",
     1},
    {"bottleneck_3_block_group3_1_1", "conv2d,h=14,w=14,c=256,k=1024", 0},
    {"bottleneck_projection_block_group_projection_block_group3",
     "conv2d,h=28,w=28,c=512,k=1024,stride=2", 0},
    {"bottleneck_1_block_group4_1_1", "conv2d,h=7,w=7,c=2048,k=512", 0},
    {"bottleneck_2_block_group4_1_1", "conv2d,h=7,w=7,c=512,k=512,r=3,pad=1",
     0},
    {"bottleneck_3_block_group4_1_1", "conv2d,h=7,w=7,c=512,k=2048", 1},
    {"body_decoder_layer_0_self_attention_multihead_attention_q_fully_"
     "connected",
     "matmul,m=128,n=512,k=512,transposed=1", 0},
    {"body_decoder_layer_0_ffn_conv1_fully_connected",
     "matmul,m=128,n=2048,k=512,transposed=1", 1},
    {"body_decoder_layer_0_ffn_conv2_fully_connected",
     "matmul,m=128,n=512,k=2048,transposed=1", 0}};
enum { LAYERS = sizeof layers / sizeof layers[0], LEVELS = 7, FEW = 6 };

static const double levels[LEVELS] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98};

typedef struct {
    const sp_dense_plan *plan;
    const spry_tensors *t;
} own_run;

static void run_own(void *x)
{
    const own_run *r = x;

    (void)sp_dense_run(r->plan, r->t);
}

/* ---- the fastest of a kind ---- */

typedef struct {
    double seconds;
    sp_dense_way x;
} guess;

static int by_guess(const void *a, const void *b)
{
    double x = ((const guess *)a)->seconds, y = ((const guess *)b)->seconds;

    return (x > y) - (x < y);
}

static guess *all_of(int *kept, const sp_dense_problem *p,
                     const spry_machine *m, int sparse)
{
    sp_dense_way *list = NULL;
    guess *out;
    int count = 0;

    *kept = 0;
    if (sp_dense_ways(&list, &count, p, m) != SPRY_OK)
        return NULL;
    out = sp_alloc(count + 1, sizeof *out);
    for (int i = 0; out && i < count; i++)
        if (list[i].threads == m->threads && list[i].algorithm != SP_PLAIN &&
            (list[i].algorithm == SP_PRUNED) == sparse)
            out[(*kept)++] = (guess){sp_dense_predict(p, &list[i], m), list[i]};
    if (out)
        qsort(out, (size_t)*kept, sizeof *out, by_guess);
    sp_free(list);
    return out;
}

/* Of the ways that the model likes best, raced. */
static sp_dense_plan *fastest(const sp_dense_problem *p, const spry_machine *m,
                              const spry_tensors *t, int sparse, double seconds)
{
    sp_dense_plan *plan[FEW] = {NULL}, *out = NULL;
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant go[FEW];
    sp_racer racer[FEW];
    own_run run[FEW];
    int kept, count = 0, best = 0;
    guess *list = all_of(&kept, p, m, sparse);

    for (int i = 0; i < kept && count < FEW; i++)
        if (sp_dense_plan_make(&plan[count], p, &list[i].x, m) == SPRY_OK) {
            run[count] = (own_run){plan[count], t};
            go[count] = (sp_contestant){run_own, &run[count]};
            count++;
        }
    sp_free(list);
    o.seconds = seconds;
    o.pairs = 11;
    if (count > 0 && sp_race(racer, go, count, &o) == SPRY_OK)
        for (int i = 1; i < count; i++)
            if (racer[i].seconds < racer[best].seconds)
                best = i;
    for (int i = 0; i < count; i++)
        if (i == best)
            out = plan[i];
        else
            spry_plan_free(&plan[i]->head);
    return out;
}

/* ---- one layer at one level ---- */

enum { DENSE, SPARSE, CHOSEN, WAYS };

/* The worst of many ratios is mostly noise. So below this, where 0.98 is asked
 * for, a ratio is measured a second time, better, and that alone counts,
 * whatever it says. */
static const double AGAIN = 0.99;

typedef struct {
    double seconds[WAYS];
    double slack; /* the better of both over what was chosen, at most 1 */
    double first; /* the same as it was at first, if measured a second time */
    int again;    /* so many rivals were */
    char chosen[SPRY_SCHEDULE_TEXT];
} outcome;

typedef struct {
    double tune, race; /* seconds */
} spending;

static spry_plan *tuned(const spry_problem *p, const spry_machine *m,
                        double seconds)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan = NULL;

    o.seconds = seconds;
    o.threads = m->threads;
    o.store = ":memory:";
    o.machine = m;
    if (spry_tune(&plan, p, &o) != SPRY_OK)
        printf("  not tuned: %s\n", spry_message());
    return plan;
}

/* Medians of ratios within rounds: a over b. */
static double paired(const sp_racer *a, const sp_racer *b)
{
    double ratio[SP_RACE_PAIRS];
    int n = 0;

    for (int i = 0; i < a->pairs && i < b->pairs; i++)
        if (a->samples[i] > 0 && b->samples[i] > 0)
            ratio[n++] = a->samples[i] / b->samples[i];
    return n ? sp_median(ratio, n) : 1;
}

/* One way over another, on plans that are made anew, so that they lie elsewhere
 * in memory, by as many pairs as a race can have. */
static double judge_again(const char *rival, const char *chosen,
                          const spry_problem *p, const spry_machine *m,
                          const spry_tensors *t)
{
    const char *const text[2] = {rival, chosen};
    sp_race_options o = {.least = SP_RACE_PAIRS, .pairs = SP_RACE_PAIRS};
    spry_plan *plan[2] = {NULL, NULL};
    sp_contestant go[2];
    sp_racer racer[2];
    own_run run[2];
    double ratio = 0;

    for (int i = 0; i < 2; i++)
        if (spry_dense_plan(&plan[i], p, text[i], m) == SPRY_OK) {
            run[i] = (own_run){sp_dense_plan_of(plan[i]), t};
            go[i] = (sp_contestant){run_own, &run[i]};
        }
    if (plan[0] && plan[1] && sp_race(racer, go, 2, &o) == SPRY_OK)
        ratio = paired(&racer[0], &racer[1]);
    spry_plan_free(plan[0]);
    spry_plan_free(plan[1]);
    return ratio;
}

/* The better of both over what was chosen. */
static void judge(outcome *out, const sp_dense_plan *const *plan,
                  const sp_racer *racer, const spry_problem *p,
                  const spry_machine *m, const spry_tensors *t)
{
    out->slack = out->first = 1; /* the same way takes as long */
    for (int i = 0; i < CHOSEN; i++) {
        const char *rival = plan[i]->head.text;
        const char *chosen = plan[CHOSEN]->head.text;
        double ratio = paired(&racer[i], &racer[CHOSEN]);

        if (strcmp(rival, chosen) == 0)
            continue;
        out->first = fmin(out->first, ratio);
        if (ratio < AGAIN) {
            out->again++;
            ratio = judge_again(rival, chosen, p, m, t);
        }
        out->slack = fmin(out->slack, ratio);
    }
}

static int race(outcome *out, const sp_dense_plan *const *plan,
                const spry_problem *p, const spry_machine *m,
                const spry_tensors *t, double seconds)
{
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant go[WAYS];
    sp_racer racer[WAYS];
    own_run run[WAYS];

    for (int i = 0; i < WAYS; i++) {
        run[i] = (own_run){plan[i], t};
        go[i] = (sp_contestant){run_own, &run[i]};
    }
    o.seconds = seconds;
    o.least = 15;
    if (sp_race(racer, go, WAYS, &o) != SPRY_OK)
        return 0;
    for (int i = 0; i < WAYS; i++)
        out->seconds[i] = racer[i].seconds;
    judge(out, plan, racer, p, m, t);
    return 1;
}

static int measure(outcome *out, const spry_operator *op, const spry_machine *m,
                   const spending *s)
{
    sp_dense_plan *plan[WAYS] = {NULL};
    spry_problem *problem = NULL;
    float *in = NULL, *to = NULL;
    spry_plan *chosen = NULL;
    int done = 0;

    if (spry_problem_dense(&problem, op) == SPRY_OK) {
        const sp_dense_problem *p = sp_dense_of(problem);
        spry_tensors t;

        in = sp_alloc(sp_dense_in(&p->op), sizeof *in);
        to = sp_alloc(sp_dense_out(&p->op), sizeof *to);
        t = (spry_tensors){.in = in, .out = to};
        for (int64_t i = 0; in && i < sp_dense_in(&p->op); i++)
            in[i] = (float)(i % 13) - 6;
        if (in && to) {
            plan[DENSE] = fastest(p, m, &t, 0, s->race);
            plan[SPARSE] = fastest(p, m, &t, 1, s->race);
            chosen = tuned(problem, m, s->tune);
        }
        if (chosen && plan[DENSE] && plan[SPARSE]) {
            const sp_dense_plan *go[WAYS] = {plan[DENSE], plan[SPARSE],
                                             sp_dense_plan_of(chosen)};

            snprintf(out->chosen, sizeof out->chosen, "%s",
                     spry_plan_text(chosen));
            done = race(out, go, problem, m, &t, s->race);
        }
    }
    for (int i = 0; i < 2; i++)
        if (plan[i])
            spry_plan_free(&plan[i]->head);
    spry_plan_free(chosen);
    spry_problem_free(problem);
    sp_free(in);
    sp_free(to);
    return done;
}

/* ---- all of them ---- */

typedef struct {
    double slack[2 * LAYERS * LEVELS]; /* of chosen ways */
    int slacks;
    double first; /* the worst before any was measured a second time */
    double gain[2][LEVELS][LAYERS]; /* dense over chosen */
    int gains[2][LEVELS];
} tally;

/* Where the logarithm of sparse over dense crosses 0, between two levels. */
static void print_break_even(const double *ratio, const double *at, int count)
{
    for (int i = 0; i + 1 < count; i++)
        if (ratio[i] > 1 && ratio[i + 1] <= 1) {
            double x = log(ratio[i]), y = log(ratio[i + 1]);
            double zeros = at[i] + (at[i + 1] - at[i]) * x / (x - y);

            printf("   both take as long at density %.2f\n", 1 - zeros);
            return;
        }
    if (count > 0)
        printf("   sparse is %s at density %.2f\n",
               ratio[0] <= 1 ? "faster already" : "slower still",
               ratio[0] <= 1 ? 1 - at[0] : 1 - at[count - 1]);
}

static void print_row(int threads, const char *op, double zeros, int real,
                      const outcome *x)
{
    printf("%d  %-42s %3.0f %%%s %8.0f %8.0f %8.0f  %5.2f %6.3f%s  %s\n",
           threads, op, 100 * zeros, real ? "*" : " ", 1e6 * x->seconds[DENSE],
           1e6 * x->seconds[SPARSE], 1e6 * x->seconds[CHOSEN],
           x->seconds[DENSE] / x->seconds[CHOSEN], x->slack,
           x->again ? "+" : " ", x->chosen);
    fflush(stdout);
}

static int is_left_out(int level, int threads)
{
    return (bench_quick() && (level == 1 || level == 5)) ||
           (threads > 1 && (level < 3 || level > 5));
}

static void measure_layer(tally *t, int which, const spry_machine *m,
                          const char *folder, const spending *s)
{
    double ratio[LEVELS], at[LEVELS];
    int count = 0;

    for (int i = 0; i < LEVELS; i++) {
        outcome x = {.slack = 0};
        spry_operator op;
        float *weights;
        int real;

        if (is_left_out(i, m->threads))
            continue;
        if (spry_operator_parse(&op, layers[which].op) != SPRY_OK ||
            sp_operator_settle(&op) != SPRY_OK)
            return;
        weights =
            pattern_weights(&op, folder, layers[which].name, levels[i], &real);
        op.weights = weights;
        if (weights && measure(&x, &op, m, s)) {
            print_row(m->threads, layers[which].op, levels[i], real, &x);
            ratio[count] = x.seconds[SPARSE] / x.seconds[DENSE];
            at[count++] = levels[i];
            t->first = t->slacks ? fmin(t->first, x.first) : x.first;
            t->slack[t->slacks++] = x.slack;
            t->gain[m->threads - 1][i][t->gains[m->threads - 1][i]++] =
                x.seconds[DENSE] / x.seconds[CHOSEN];
        }
        sp_free(weights);
    }
    print_break_even(ratio, at, count);
}

static void print_aims(const tally *t)
{
    char name[64];
    double worst = HUGE_VAL;

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < LEVELS; i++)
            if (t->gains[k][i] > 0)
                printf("%d thread%s, %2.0f %% zeros: chosen is %.2f times as "
                       "fast as dense, geomean of %d layers\n",
                       k + 1, k ? "s" : "", 100 * levels[i],
                       sp_geomean(t->gain[k][i], t->gains[k][i]).mid,
                       t->gains[k][i]);
    for (int i = 0; i < t->slacks; i++)
        worst = fmin(worst, t->slack[i]);
    if (t->slacks > 0) /* only who seemed to lose had a second chance */
        printf("worst of what was chosen, before any was measured twice: "
               "%.3f\n",
               t->first);
    snprintf(name, sizeof name, "pruned-chosen-worst-of-%d", t->slacks);
    if (t->slacks > 0)
        bench_aim_least(name, worst, 0.98);
    else
        bench_aim_unknown("pruned-chosen-worst", 0.98,
                          "no layer was asked for");
    whole_aims();
}

int main(void)
{
    static tally t;
    char room[BENCH_FOLDER], *folder;
    spending s = {3.0, bench_quick() ? 0.4 : 0.5};
    const char *only = getenv("ONLY");
    spry_machine m[2];

    if (bench_machines(m) != SPRY_OK) {
        printf("%s\n", spry_message());
        return 1;
    }
    folder = pattern_open(room);
    printf("microseconds; over dense; the better of dense and sparse over "
           "what was chosen (+: measured twice)\n"
           "   %-42s zeros     dense   sparse   chosen\n",
           "layer");
    for (int k = 0; k < (bench_quick() ? 1 : m[1].threads); k++)
        for (int i = 0; i < LAYERS; i++)
            if ((!bench_quick() || layers[i].quick) &&
                (!only || strstr(layers[i].op, only)))
                measure_layer(&t, i, &m[k], folder, &s);
    pattern_close(folder);
    for (int k = 0; k < (bench_quick() ? 1 : m[1].threads); k++)
        whole_networks(&m[k]);
    print_aims(&t);
    return 0;
}
