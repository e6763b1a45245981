/* four.c - four tests of meta-learned WACO: a base and a meta-learned model on
 * the machine that taught them, the base as it is on a second one, and the
 * meta-learned one there after 100 matrices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../contest/figures.h"
#include "few.h"

enum { MATRICES = 100, EACH = 8, MOST_PROBLEMS = 1000 };

static const char *const names[FOUR] = {"base, machine 1", "meta, machine 1",
                                        "base, machine 2",
                                        "meta fine-tuned, machine 2"};

void four_run(four_values *out, curve *c)
{
    int64_t most =
        c->home.t.rows > c->test.t.rows ? c->home.t.rows : c->test.t.rows;
    float *score = sp_alloc(most + 1, sizeof *score);
    sp_dataset none = {.rows = 0};

    out->matrices =
        c->pool.e.subjects < MATRICES ? c->pool.e.subjects : MATRICES;
    for (int seed = 0; seed < c->b->seeds && score && !c->failed; seed++) {
        const sp_pretrained *meta = &c->meta[SP_META_MAML];
        uint64_t chance = (uint64_t)seed + 1;
        sp_slice shots;

        draw_shots(&shots, &c->pool.t, (int)(EACH * out->matrices), chance,
                   NULL);
        out->records = shots.t.rows;
        score_way(c, score, &c->source, &none, &c->home.t, 0, chance);
        out->v[0][seed] = values_of(&c->home.t, score);
        score_way(c, score, meta, &none, &c->home.t, 0, chance);
        out->v[1][seed] = values_of(&c->home.t, score);
        score_way(c, score, &c->source, &none, &c->test.t, 0, chance);
        out->v[2][seed] = values_of(&c->test.t, score);
        score_way(c, score, meta, &shots.t, &c->test.t, SP_CORRECT_INNER,
                  chance);
        out->v[3][seed] = values_of(&c->test.t, score);
        sp_slice_free(&shots);
    }
    sp_free(score);
}

void four_free(four_values *f)
{
    for (int i = 0; i < FOUR; i++)
        for (int s = 0; s < SEEDS; s++)
            sp_free(f->v[i][s]);
}

/* Mean over operations, problems and seeds. */
static void print_row(const four_values *f, const curve *c, int ops, int row)
{
    double sum[4] = {0}, n = 0;
    int64_t problems = 0;

    for (int o = 0; o < ops; o++) {
        int64_t count = row < 2 ? c[o].home.e.subjects : c[o].test.e.subjects;

        problems += count;
        for (int s = 0; s < c->b->seeds; s++)
            for (int64_t k = 0; f[o].v[row][s] && k < count; k++) {
                const value *v = &f[o].v[row][s][k];

                if (!isfinite(v->pairs))
                    continue;
                sum[0] += v->pairs;
                sum[1] += v->top1;
                sum[2] += v->top5;
                sum[3] += v->regret20;
                n++;
            }
    }
    printf("%-28s%8.3f%8.3f%8.3f%10.1f %%%8lld\n", names[row], sum[0] / n,
           sum[1] / n, sum[2] / n, 100 * expm1(sum[3] / n),
           (long long)problems);
}

/* Problem by problem, the mean over seeds of row a's pairs less row b's. */
static interval less(const four_values *f, const curve *c, int ops, int a,
                     int b)
{
    double d[MOST_PROBLEMS];
    int64_t n = 0;

    for (int o = 0; o < ops; o++) {
        int64_t count = a < 2 ? c[o].home.e.subjects : c[o].test.e.subjects;

        for (int64_t k = 0; k < count && n < MOST_PROBLEMS; k++) {
            double sum = 0;

            for (int s = 0; s < c->b->seeds; s++)
                sum += f[o].v[a][s] && f[o].v[b][s]
                           ? (f[o].v[a][s][k].pairs - f[o].v[b][s][k].pairs) /
                                 c->b->seeds
                           : (double)NAN;
            if (isfinite(sum))
                d[n++] = sum;
        }
    }
    return interval_of(d, n);
}

/* Is the meta-learned one ahead where the document says that it is? */
static void print_gain(const four_values *f, const curve *c, int ops)
{
    interval one = less(f, c, ops, 1, 0), two = less(f, c, ops, 3, 2);
    char name[96];

    printf("meta less base, pairs: machine 1 %+.4f [%+.4f, %+.4f], machine 2 "
           "%+.4f [%+.4f, %+.4f]\n",
           one.mean, one.low, one.high, two.mean, two.low, two.high);
    snprintf(name, sizeof name, "%s-to-%s-meta-above-base", c->from, c->to);
    for (char *p = name; *p; p++)
        if (*p == ' ')
            *p = '-';
    bench_aim(name, two.mean, 0, two.low > 0);
}

void four_print(const four_values *f, const curve *c, int ops)
{
    printf("\n== tests of meta-learned WACO, %s -> %s: after %lld matrices of "
           "machine 2 (%lld records) ==\n%-28s%8s%8s%8s%12s%8s\n",
           c->from, c->to, (long long)f->matrices, (long long)f->records, "",
           "pairs", "top-1", "top-5", "regret@20", "problems");
    for (int row = 0; row < FOUR; row++)
        print_row(f, c, ops, row);
    print_gain(f, c, ops);
}
