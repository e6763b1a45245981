/* learn.c - is the learned tuner worth its data?
 *
 * Problems of many groups are sampled by chance and measured; models fitted
 * without a third of the groups rank the schedules of that third, choose
 * among all there are, and their choices are measured too. Then what search,
 * prediction and training cost. Everything within twenty minutes; LEARN_STORE
 * names a store whose records are used first and where new ones are kept.
 * QUICK=1 takes three minutes and says little. */
#include "learn/learn.h"

#include <math.h>
#include <stdio.h>

#include "contest/figures.h"

/* Seconds since the beginning at which each part ends. */
typedef struct {
    double samples, deep, fits, choices;
} times;
static const times FULL = {380, 570, 815, 985}, QUICK = {50, 62, 107, 130};

/* Without a problem nothing was shown. */
static double shown(const outcome *a, double value)
{
    return a->problems ? value : (double)NAN;
}

static void print_aims(const bench *b)
{
    for (int o = 0; o < OPS; o++) {
        const outcome *a = &b->outcome[o];
        const char *op = spry_op_name(b->f[o].op);
        char name[64];

#define AIM(text) (snprintf(name, sizeof name, "%s-" text, op), name)
        bench_aim_least(AIM("problems"), a->problems, 40);
        bench_aim_least(AIM("problems-of-400-samples"), a->deep, 40);
        bench_aim_least(AIM("pairs"), a->pairs, 0.88);
        bench_aim_least(AIM("top-1"), a->top1, 0.85);
        bench_aim_least(AIM("top-5"), a->top5, 0.96);
        bench_aim_most(AIM("regret-of-top-20"), shown(a, a->regret), 0.03);
        bench_aim_least(AIM("predict-keeps"), shown(a, a->kept), 0.85);
        bench_aim_most(AIM("predict-slower"), shown(a, a->slower), 0.02);
#undef AIM
    }
    bench_aim_least("collect-per-second", b->labels, 20);
    bench_aim_least("exhaustive-per-second", b->rate, 2e6);
    bench_aim_least("graph-quality-at-2-percent", b->graph, 0.95);
    bench_aim_most("predict-in-spmv-runs", b->runs, 10);
    bench_aim_most("tune-seconds", b->tune, 5);
    bench_aim_most("train-10000-seconds", b->train, 300);
}

int main(void)
{
    static bench b;
    spry_machine m[2];
    const times *t;

    b.begun = sp_seconds();
    b.quick = bench_quick();
    t = b.quick ? &QUICK : &FULL;
    if (bench_machines(m) != SPRY_OK) {
        printf("%s\n", spry_message());
        return 1;
    }
    b.m = m[1];
    if (open_fields(&b) != SPRY_OK) {
        printf("%s\n", spry_message());
        close_fields(&b);
        return 1;
    }
    collect_samples(&b, t->samples);
    collect_deep(&b, t->deep);
    fit_all(&b, t->fits);
    print_tables(&b);
    measure_choices(&b, t->choices);
    print_choices(&b);
    b.labels = collect_rate(&b);
    print_search(&b);
    print_cost(&b);
    print_training(&b);
    printf("\n%.0f s in all\n", elapsed(&b));
    print_aims(&b);
    close_fields(&b);
    return 0;
}
