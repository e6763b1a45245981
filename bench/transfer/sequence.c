/* sequence.c - the BiLSTM tuner beside trees, on one split of the same
 * records. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../contest/figures.h"
#include "model/cost.h"
#include "transfer.h"

static const char *const kinds[] = {"gbdt", "gbdt-leaf", "mlp", "sequence",
                                    "sequence-rank"};
enum { KINDS_HERE = sizeof kinds / sizeof *kinds, EACH = 40 };

/* Squared error of the share of the best speed, where scores are costs of
 * that; only what was fitted to it knows it. */
static double square_error(const sp_dataset *t, const float *score, int64_t k)
{
    double best = HUGE_VAL, sum = 0;

    for (int64_t i = t->start[k]; i < t->start[k + 1]; i++)
        best = fmin(best, (double)t->slower[i]);
    for (int64_t i = t->start[k]; i < t->start[k + 1]; i++) {
        double told = fmin(1, exp(-(double)score[i]));

        sum += pow(told - exp(best - (double)t->slower[i]), 2);
    }
    return sum;
}

static int score_all(float *score, const sp_cost *c, const sp_dataset *t)
{
    int ok = 1;

    for (int64_t k = 0; k < t->e->subjects && ok; k++) {
        sp_view *v = NULL;

        ok = sp_cost_look(&v, c, &t->e->subject[k]) == SPRY_OK;
        for (int64_t i = t->start[k]; i < t->start[k + 1] && ok; i++) {
            double x;

            ok = sp_view_score(&x, v, &t->e->row[t->from[i]].x, 1) == SPRY_OK;
            score[i] = (float)x;
        }
        sp_view_free(v);
    }
    return ok;
}

/* One kind; its error, NAN when it knows none. */
static double one_kind(const char *name, const sp_fitting *l,
                       const sp_dataset *held, spry_op op)
{
    float *score = sp_alloc(held->rows + 1, sizeof *score);
    double begin = sp_seconds(), sum[3] = {0}, n = 0, wrong = 0;
    int knows = strcmp(name, "mlp") != 0;
    sp_cost *c = NULL;

    if (!score || sp_cost_fit(&c, sp_cost_kind_find(name), op, l) != SPRY_OK ||
        !score_all(score, c, held)) {
        printf("%-15s %s\n", name, spry_message());
        sp_cost_free(c);
        sp_free(score);
        return (double)NAN;
    }
    for (int64_t k = 0; k < held->e->subjects; k++) {
        value v = value_of(held, score, k);

        if (!isfinite(v.pairs))
            continue;
        sum[0] += v.pairs;
        sum[1] += v.top1;
        sum[2] += v.top5;
        wrong += square_error(held, score, k);
        n++;
    }
    wrong = knows ? sqrt(wrong / (double)held->rows) : (double)NAN;
    printf("%-15s%9.3f%9.3f%9.3f%9.3f%8.0f s\n", name, wrong, sum[0] / n,
           sum[1] / n, sum[2] / n, sp_seconds() - begin);
    sp_cost_free(c);
    sp_free(score);
    return wrong;
}

static int part(const machine_task *m, int op, int64_t k, void *payload)
{
    int in = part_of_group(m->d[op].group[k], 6);

    return *(int *)payload == (in == 1 ? 2 : in == 2 ? 1 : 0);
}

void sequences(bench *b)
{
    const machine_task *m = &b->task[XEON];
    sp_slice cut[3];
    double error[KINDS_HERE];
    int op = b->ops > 1 ? 1 : 0;

    printf("\n== the BiLSTM tuner, %s on %s, matrices held out ==\n",
           spry_op_name(bench_ops[op]), m->name);
    if (!m->present) {
        printf("not measured: records are absent\n");
        return;
    }
    for (int i = 0; i < 3; i++)
        take_rows(&cut[i], m, op, part, &i, EACH, HUGE_VAL);
    printf("%lld records teach, %lld stop, %lld of %lld problems are held out; "
           "a network has %d s of its 200 epochs\n%-15s%9s%9s%9s%9s\n",
           (long long)cut[0].t.rows, (long long)cut[1].t.rows,
           (long long)cut[2].t.rows, (long long)cut[2].e.subjects,
           b->quick ? 8 : 90, "", "rmse", "pairs", "top-1", "top-5");
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
    for (int k = 0; k < KINDS_HERE; k++) {
        sp_fitting l = {.train = &cut[0].e,
                        .test = &cut[1].e,
                        .seed = 1,
                        .threads = 1,
                        .seconds = b->quick ? 8 : 90};

        error[k] = one_kind(kinds[k], &l, &cut[2].t, bench_ops[op]);
    }
    bench_aim_most("sequence-rmse-over-gbdt", error[3] / error[0], 0.6);
    for (int i = 0; i < 3; i++)
        sp_slice_free(&cut[i]);
}
