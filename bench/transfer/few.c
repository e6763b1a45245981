/* few.c - few-shot curves as tables, and what they say of the aims. */
#include "few.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../contest/figures.h"

const char *const method_names[METHODS] = {
    "analytic",      "random",           "scratch on k",
    "before",        "source only",      "fine-tune",
    "bayes",         "bayes, chosen",    "residual trees",
    "tune+residual", "multi-task+bayes", "meta (maml)+tune",
    "kept by adapt", "trained there"};
const char *const vector_names[VECTORS] = {
    "no machine vector", "cores, vector, line", "probed numbers"};

/* ---- tables ---- */

typedef double value_get(const value *v);
static double get_pairs(const value *v)
{
    return v->pairs;
}
static double get_top1(const value *v)
{
    return v->top1;
}
static double get_top5(const value *v)
{
    return v->top5;
}
static double get_regret20(const value *v)
{
    return v->regret20;
}
static double get_kept(const value *v)
{
    return v->kept;
}
static double get_slower(const value *v)
{
    return v->slower;
}

static double mean_seed(const curve *c, int m, int k, int seed, value_get *get)
{
    double sum = 0, n = 0;

    for (int64_t i = 0; i < c->test.e.subjects; i++) {
        double x = get(&c->v[m][k][seed][i]);

        if (isfinite(c->v[m][k][seed][i].pairs)) {
            sum += x;
            n++;
        }
    }
    return sum / n;
}

/* Over seeds and operations. */
static double mean_of(const curve *c, int ops, int m, int k, value_get *get)
{
    double sum = 0;

    for (int o = 0; o < ops; o++)
        for (int s = 0; s < c->b->seeds; s++)
            sum += mean_seed(&c[o], m, k, s, get) / (ops * c->b->seeds);
    return sum;
}

/* Problem by problem, the mean over seeds of a's value less b's; paired and
 * drawn again over matrices. */
static interval difference(const curve *c, int ops, int a, int b, int k,
                           value_get *get)
{
    double *d = sp_alloc(1000, sizeof *d);
    int64_t n = 0;
    interval out;

    for (int o = 0; o < ops; o++)
        for (int64_t i = 0; i < c[o].test.e.subjects && n < 1000; i++) {
            double sum = 0;

            for (int s = 0; s < c->b->seeds; s++)
                sum += (get(&c[o].v[a][k][s][i]) - get(&c[o].v[b][k][s][i])) /
                       c->b->seeds;
            if (isfinite(sum))
                d[n++] = sum;
        }
    out = interval_of(d, n);
    sp_free(d);
    return out;
}

static void print_table(const curve *c, int ops, const char *title,
                        value_get *get)
{
    printf("\n%-18s", title);
    for (int k = 0; k < SHOTS; k++)
        printf("%8d", bench_shots[k]);
    printf("\n");
    for (int m = 0; m < METHODS; m++) {
        if (!is_run(c, m))
            continue;
        printf("%-18s", method_names[m]);
        for (int k = 0; k < SHOTS; k++)
            printf("%8.3f", mean_of(c, ops, m, k, get));
        printf("\n");
    }
}

static void print_operations(const curve *c, int ops)
{
    static const int shown[] = {ANALYTIC, BEFORE, SOURCE, FINE, BAYES,
                                CHOSEN,   META,   KEPT,   THERE};

    printf("\npairs by operation");
    for (int k = 0; k < SHOTS; k++)
        printf("%8d", bench_shots[k]);
    printf("\n");
    for (int o = 0; o < ops; o++)
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
            if (!is_run(c, shown[i]))
                continue;
            printf("%-6s %-15s", spry_op_name(c[o].op), method_names[shown[i]]);
            for (int k = 0; k < SHOTS; k++)
                printf("%8.3f", mean_of(&c[o], 1, shown[i], k, get_pairs));
            printf("\n");
        }
}

static void print_difference(const curve *c, int ops, int a, int b)
{
    printf("%s less %s, pairs:", method_names[a], method_names[b]);
    for (int k = 0; k < SHOTS; k++) {
        interval d = difference(c, ops, a, b, k, get_pairs);

        printf("  %d: %+.4f [%+.4f, %+.4f]", bench_shots[k], d.mean, d.low,
               d.high);
    }
    printf("\n");
}

/* Which of the two lies ahead at 32 records, and is that sure? */
static void say_meta(const curve *c, int ops)
{
    interval d = difference(c, ops, META, FINE, 2, get_pairs);
    interval e = difference(c, ops, META, BAYES, 2, get_pairs);

    printf("With 32 records meta-learning %s plain fine-tuning of the source "
           "(%+.4f [%+.4f, %+.4f])\nand %s the correction in closed form "
           "(%+.4f [%+.4f, %+.4f]).\n",
           d.low > 0    ? "beats"
           : d.high < 0 ? "is worse than"
                        : "is not told from",
           d.mean, d.low, d.high,
           e.low > 0    ? "beats"
           : e.high < 0 ? "is worse than"
                        : "is not told from",
           e.mean, e.low, e.high);
}

/* What problems are worth, added up. */
typedef struct {
    double pairs, top1, top5, count;
} total;

static void add_values(total *sum, const value *v, int64_t count)
{
    for (int64_t k = 0; v && k < count; k++)
        if (isfinite(v[k].pairs)) {
            sum->pairs += v[k].pairs;
            sum->top1 += v[k].top1;
            sum->top5 += v[k].top5;
            sum->count++;
        }
}

/* Of operations for which all vectors were tried. */
static void print_vectors(const curve *c, int ops)
{
    printf("\nmulti-task, no target records%10s%8s%8s%10s\n", "pairs", "top-1",
           "top-5", "problems");
    for (int i = 0; i < VECTORS; i++) {
        total sum = {0};

        for (int o = 0; o < ops; o++)
            if (c[o].zero[0])
                add_values(&sum, c[o].zero[i], c[o].test.e.subjects);
        if (sum.count > 0)
            printf("%-29s%10.3f%8.3f%8.3f%10.0f\n", vector_names[i],
                   sum.pairs / sum.count, sum.top1 / sum.count,
                   sum.top5 / sum.count, sum.count);
    }
}

static void print_kinds(const curve *c, int ops)
{
    printf("\nmeta, then fine-tuned on 32%12s%8s%8s   wrong order less, "
           "validation\n",
           "pairs", "top-1", "top-5");
    for (int i = 0; i < KINDS && !c->b->quick; i++) {
        total sum = {0};
        double gain = 0;

        for (int o = 0; o < ops; o++) {
            gain += c[o].meta_gain[i] / ops;
            add_values(&sum, c[o].kind[i], c[o].test.e.subjects);
        }
        printf("%-29s%10.3f%8.3f%8.3f   %.4f\n", sp_meta_name((sp_meta_kind)i),
               sum.pairs / sum.count, sum.top1 / sum.count,
               sum.top5 / sum.count, gain);
    }
}

/* ---- aims ---- */

/* Where the gap begins: at the models of an earlier day where these are given,
 * else at the source. */
static double zero_shot(const curve *c, int ops)
{
    return mean_of(c, ops, is_run(c, BEFORE) ? BEFORE : SOURCE, 0, get_pairs);
}

static double closed(const curve *c, int ops, int m, int k)
{
    double zero = zero_shot(c, ops);
    double there = mean_of(c, ops, THERE, 0, get_pairs);

    return (mean_of(c, ops, m, k, get_pairs) - zero) / (there - zero);
}

/* How often what was kept is below the source, of all operations, numbers of
 * records and seeds. */
static int below(const curve *c, int ops, int *of)
{
    int count = 0;

    *of = 0;
    for (int o = 0; o < ops; o++)
        for (int k = 0; k < SHOTS; k++)
            for (int s = 0; s < c->b->seeds; s++) {
                count += mean_seed(&c[o], KEPT, k, s, get_pairs) <
                         mean_seed(&c[o], SOURCE, k, s, get_pairs);
                ++*of;
            }
    return count;
}

/* What is as good as what was trained there leaves no gap. */
static void aim_gap(const char *name, const curve *c, int ops, int k,
                    double goal)
{
    if (mean_of(c, ops, THERE, 0, get_pairs) > zero_shot(c, ops))
        bench_aim_least(name, closed(c, ops, KEPT, k), goal);
    else
        bench_aim_unknown(name, goal, "what was trained there is no better");
}

static void print_aims(const curve *c, int ops)
{
    char name[64];
    int of, count = below(c, ops, &of);

#define AIM(text) \
    (snprintf(name, sizeof name, "%s-to-%s-" text, c->from, c->to), name)
    printf("\nkept is below the source in %d of %d cases (operation, records, "
           "seed)\n",
           count, of);
    bench_aim_least(AIM("zero-shot-pairs"),
                    mean_of(c, ops, SOURCE, 0, get_pairs), 0.875);
    bench_aim_least(AIM("zero-shot-top-1"),
                    mean_of(c, ops, SOURCE, 0, get_top1), 0.88);
    bench_aim_least(AIM("zero-shot-top-5"),
                    mean_of(c, ops, SOURCE, 0, get_top5), 0.95);
    if (!c->given) {
        bench_aim_least(AIM("zero-shot-multi-task-pairs"),
                        mean_of(c, ops, MULTI, 0, get_pairs), 0.875);
        bench_aim_least(AIM("zero-shot-multi-task-top-1"),
                        mean_of(c, ops, MULTI, 0, get_top1), 0.88);
        bench_aim_least(AIM("zero-shot-multi-task-top-5"),
                        mean_of(c, ops, MULTI, 0, get_top5), 0.95);
    }
    aim_gap(AIM("gap-closed-by-32"), c, ops, 2, 0.5);
    aim_gap(AIM("gap-closed-by-128"), c, ops, 3, 0.8);
    bench_aim_most(AIM("below-source"), count, 0);
    bench_aim_most(AIM("regret-of-top-20"),
                   expm1(mean_of(c, ops, KEPT, 4, get_regret20)), 0.03);
    bench_aim_least(AIM("predict-keeps"),
                    exp(mean_of(c, ops, KEPT, 4, get_kept)), 0.85);
    bench_aim_most(AIM("predict-slower"), mean_of(c, ops, KEPT, 4, get_slower),
                   0.02);
#undef AIM
}

void print_curves(curve *c, int count, int ops)
{
    (void)count;
    printf("\n== %s -> %s: few records of a machine that was held out, unseen "
           "matrices ==\n",
           c->from, c->to);
    for (int o = 0; o < ops; o++)
        printf("%s: %lld problems teach, %d tasks with simulated ones; shots "
               "from %lld, tested on %lld\n",
               spry_op_name(c[o].op), (long long)c[o].learn.e.subjects,
               c[o].tasks, (long long)c[o].pool.e.subjects,
               (long long)c[o].test.e.subjects);
    print_table(c, ops, "pairs", get_pairs);
    print_table(c, ops, "top-1", get_top1);
    print_table(c, ops, "top-5", get_top5);
    print_operations(c, ops);
    printf("\n");
    print_difference(c, ops, BAYES, SOURCE);
    print_difference(c, ops, CHOSEN, BAYES);
    print_difference(c, ops, FINE, BAYES);
    if (!c->given) {
        print_difference(c, ops, MULTI, BAYES);
        print_difference(c, ops, META, FINE);
    }
    print_difference(c, ops, KEPT, SOURCE);
    if (!c->given) {
        say_meta(c, ops);
        print_vectors(c, ops);
        print_kinds(c, ops);
    }
    print_aims(c, ops);
}
