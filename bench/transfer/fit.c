/* fit.c - sources, and what becomes of them with few records. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "few.h"

static const sp_imagined imagined[IMAGINED] = {
    {1, 0.5, 1.5, 0.5, 0.5}, {1, 2, 0.7, 2, 1}, {1, 1, 2.5, 0.25, 1}};

void must(curve *c, spry_status s)
{
    if (s != SPRY_OK && !c->failed) {
        printf("%s -> %s: %s\n", c->from, c->to, spry_message());
        c->failed = 1;
    }
}

value *values_of(const sp_dataset *t, const float *score)
{
    value *v = sp_alloc(t->e->subjects + 1, sizeof *v);

    for (int64_t k = 0; v && k < t->e->subjects; k++)
        v[k] = score ? value_of(t, score, k) : value_of_chance(t, k);
    return v;
}

/* ---- what is fitted once ---- */

static const int VECTOR_FROM = SP_PATTERN;

/* What a model is not told of the machine: all, or all but what TenSet's
 * records have, which are cores, the bytes of a vector and of a line. */
static void blind(sp_dataset *t, int vector)
{
    for (int64_t i = 0; i < t->rows; i++)
        for (int k = vector == 1 ? 4 : 0; k < SP_MACHINE && vector < 2; k++)
            t->x[i * SP_FEATURES + VECTOR_FROM + k] = nanf("");
}

static void fit_source(curve *c, sp_pretrained *out, const sp_dataset *learn,
                       const sp_dataset *stop)
{
    sp_fitting l = {.seed = 1, .threads = 1, .rounds = c->b->quick ? 60 : 120};

    must(c, sp_pretrained_fit(out, learn, stop, &l));
}

static void all_tables(const curve *c, const sp_dataset *out[MOST_TASKS])
{
    int n = 0;

    out[n++] = &c->learn.t;
    if (c->second.t.rows)
        out[n++] = &c->second.t;
    for (int i = 0; i < IMAGINED; i++)
        if (c->simulated[i].t.rows)
            out[n++] = &c->simulated[i].t;
}

static int count_tables(const curve *c)
{
    int n = 1 + (c->second.t.rows > 0);

    for (int i = 0; i < IMAGINED; i++)
        n += c->simulated[i].t.rows > 0;
    return n;
}

/* Several machines at once; of three vectors, tried for one operation, the
 * whole is kept. */
static void fit_multi(curve *c)
{
    const sp_dataset *table[MOST_TASKS];

    c->tasks = count_tables(c);
    all_tables(c, table);
    for (int vector = 0; vector < VECTORS && !c->failed; vector++) {
        sp_slice all, test, stop;
        const sp_dataset *one[1] = {&c->test.t}, *few[1] = {&c->stop.t};
        sp_pretrained own;
        float *score = sp_alloc(c->test.t.rows + 1, sizeof *score);

        if (vector < 2 && (c->b->quick || c->brief || c->op != SPRY_SPMM)) {
            sp_free(score);
            continue;
        }
        must(c, sp_slice_join(&all, table, c->tasks));
        must(c, sp_slice_join(&test, one, 1));
        must(c, sp_slice_join(&stop, few, 1));
        blind(&all.t, vector);
        blind(&test.t, vector);
        blind(&stop.t, vector);
        fit_source(c, &own, &all.t, &stop.t);
        if (!c->failed)
            must(c, sp_pretrained_score(score, &own, &test.t));
        c->zero[vector] = values_of(&c->test.t, score);
        if (vector == 2)
            c->multi = own;
        else
            sp_pretrained_free(&own);
        sp_slice_free(&all);
        sp_slice_free(&test);
        sp_slice_free(&stop);
        sp_free(score);
    }
}

/* Subjects of a slice that have one pattern are one matrix. */
static int64_t *groups_of(const sp_dataset *t)
{
    int64_t n = t->e->subjects, *group = sp_alloc(n + 1, sizeof *group);

    for (int64_t i = 0, groups = 0; group && i < n; i++) {
        int64_t k = 0;

        while (k < i &&
               memcmp(t->e->subject[k].pattern, t->e->subject[i].pattern,
                      sizeof t->e->subject[k].pattern) != 0)
            k++;
        group[i] = k < i ? group[k] : groups++;
    }
    return group;
}

static void fit_meta(curve *c)
{
    const sp_dataset *table[MOST_TASKS];
    sp_meta_task task[MOST_TASKS];
    int64_t *group[MOST_TASKS];

    all_tables(c, table);
    for (int i = 0; i < c->tasks; i++) {
        group[i] = groups_of(table[i]);
        task[i] = (sp_meta_task){table[i], group[i]};
    }
    for (int kind = 0; kind < KINDS && !c->failed; kind++) {
        sp_meta how = SP_META_DEFAULTS;

        how.kind = (sp_meta_kind)kind;
        how.rounds = c->b->quick ? 10 : 50;
        how.patience = 30;
        how.seconds = c->b->quick ? 6 : 10;
        must(c, sp_pretrained_copy(&c->meta[kind], &c->multi));
        if (kind == SP_META_MAML || (!c->b->quick && !c->brief))
            must(c, sp_meta_learn(&c->meta[kind], task, c->tasks, &how,
                                  &c->meta_gain[kind]));
    }
    for (int i = 0; i < c->tasks; i++)
        sp_free(group[i]);
}

int is_run(const curve *c, int m)
{
    if (m == BEFORE)
        return c->before != NULL;
    return !c->given || (m != MULTI && m != META);
}

/* Trained on all that the target gave. */
static void fit_there(curve *c)
{
    static int64_t nowhere[2];
    static const sp_examples nobody = {.start = nowhere};
    sp_dataset none = {.e = &nobody};

    fit_source(c, &c->there, &c->pool.t, &none);
}

static void load_model(curve *c, sp_pretrained *out, const char *folder)
{
    sp_cost *cost = NULL;
    char path[512];

    snprintf(path, sizeof path, "%.480s/cost-%s.spry", folder,
             spry_op_name(c->op));
    must(c, sp_cost_load(&cost, path));
    if (!c->failed)
        must(c, sp_pretrained_of(out, cost));
    sp_cost_free(cost);
}

static void fit_given(curve *c)
{
    load_model(c, &c->source, c->given);
    if (!c->failed && c->before)
        load_model(c, &c->earlier, c->before);
    if (!c->failed)
        fit_there(c);
}

static void fit_sources(curve *c)
{
    if (c->given) {
        fit_given(c);
        return;
    }
    for (int i = 0; i < IMAGINED && !c->failed; i++)
        must(c, sp_simulate(&c->simulated[i], &c->machine[i], &c->imagine.t,
                            &imagined[i]));
    if (!c->failed)
        fit_source(c, &c->source, &c->learn.t, &c->stop.t);
    if (!c->failed)
        fit_multi(c);
    if (!c->failed)
        fit_meta(c);
    if (!c->failed && !c->brief)
        fit_there(c);
}

/* ---- shots ---- */

/* Scores with `shots`; as it is when there are none. */
void score_way(curve *c, float *score, const sp_pretrained *from,
               const sp_dataset *shots, const sp_dataset *test,
               sp_correction way, uint64_t seed)
{
    sp_adapting how = {.threads = 1, .seed = seed};

    must(c, shots->rows && way
                ? sp_adapt_score(score, from, shots, test, &how, way)
                : sp_pretrained_score(score, from, test));
}

static void score_scratch(curve *c, float *score, const sp_slice *shots,
                          uint64_t seed)
{
    sp_residual how = {80, 5, 0.1, 2, 1, seed};
    sp_trees trees = {0};

    memcpy(score, c->test.t.bound, (size_t)c->test.t.rows * sizeof *score);
    if (!shots->t.rows)
        return;
    must(c, sp_residual_grow(&trees, &shots->t, shots->t.bound, &how));
    for (int64_t i = 0; i < c->test.t.rows && !c->failed; i++)
        score[i] += (float)sp_trees_sum(&trees, c->test.t.x + i * SP_FEATURES);
    sp_trees_free(&trees);
}

/* As spry adapt: judged on matrices held back, kept if better. */
static sp_correction choose(curve *c, const sp_slice *shots, uint64_t seed)
{
    sp_adapting how = {.threads = 1, .seed = seed};
    int64_t *group = groups_of(&shots->t);
    sp_adapted_way chosen = {.way = 0};

    if (shots->e.subjects > 1)
        must(c, sp_adapt_choose(&chosen, &c->source, &shots->t, group, &how));
    sp_free(group);
    return chosen.way;
}

/* What a method has to learn from: records of schedules drawn by chance, or
 * that its variance chose. */
typedef struct {
    sp_slice drawn, chosen;
} shots_of;

static void one_method(curve *c, float *score, method m, const shots_of *all,
                       uint64_t seed)
{
    const sp_slice *shots = &all->drawn;
    const sp_pretrained *from = &c->source;
    sp_correction way = 0;

    switch (m) {
    case ANALYTIC:
        memcpy(score, c->test.t.bound, (size_t)c->test.t.rows * sizeof *score);
        return;
    case SCRATCH: score_scratch(c, score, shots, seed); return;
    case BEFORE: from = &c->earlier; break;
    case SOURCE: break;
    case FINE: way = SP_CORRECT_INNER; break;
    case BAYES: way = SP_CORRECT_LINEAR; break;
    case CHOSEN:
        shots = &all->chosen;
        way = SP_CORRECT_LINEAR;
        break;
    case RESIDUAL: way = SP_CORRECT_TREES; break;
    case BOTH: way = SP_CORRECT_INNER | SP_CORRECT_TREES; break;
    case MULTI:
        from = &c->multi;
        way = SP_CORRECT_LINEAR;
        break;
    case META:
        from = &c->meta[SP_META_MAML];
        way = SP_CORRECT_INNER;
        break;
    case KEPT:
        shots = &all->chosen;
        way = choose(c, shots, seed);
        break;
    case THERE: from = &c->there; break;
    case RANDOM:
    case METHODS: return;
    }
    score_way(c, score, from, &shots->t, &c->test.t, way, seed);
}

/* All kinds of meta-learning, with 32 records. */
static void other_kinds(curve *c, float *score, const sp_slice *shots, int seed)
{
    for (int kind = 0; kind < KINDS && !c->failed; kind++) {
        value *now;

        score_way(c, score, &c->meta[kind], &shots->t, &c->test.t,
                  SP_CORRECT_INNER, (uint64_t)seed + 1);
        now = values_of(&c->test.t, score);
#pragma omp critical
        for (int64_t k = 0; now && k < c->test.e.subjects; k++) {
            c->kind[kind][k].pairs += now[k].pairs / c->b->seeds;
            c->kind[kind][k].top1 += now[k].top1 / c->b->seeds;
            c->kind[kind][k].top5 += now[k].top5 / c->b->seeds;
        }
        sp_free(now);
    }
}

/* The same whatever the records are. */
static int is_fixed(int m)
{
    return m == ANALYTIC || m == RANDOM || m == BEFORE || m == SOURCE ||
           m == THERE;
}

/* What does not depend on records is graded once. */
static void run_fixed(curve *c)
{
    static const sp_dataset none = {.rows = 0};
    float *score = sp_alloc(c->test.t.rows + 1, sizeof *score);
    shots_of nothing = {.drawn = {.t = none}, .chosen = {.t = none}};

    for (int m = 0; m < METHODS && score && !c->failed; m++)
        if (is_fixed(m) && is_run(c, m)) {
            one_method(c, score, (method)m, &nothing, 1);
            c->fixed[m] = values_of(&c->test.t, m == RANDOM ? NULL : score);
        }
    sp_free(score);
}

static value *copy_values(const value *v, int64_t n)
{
    value *out = sp_alloc(n + 1, sizeof *out);

    if (out && v)
        memcpy(out, v, (size_t)n * sizeof *out);
    return out;
}

void curve_run(curve *c, int seed)
{
    float *score = sp_alloc(c->test.t.rows + 1, sizeof *score);

    for (int k = 0; k < SHOTS && !c->failed; k++) {
        shots_of all;

        draw_shots(&all.drawn, &c->pool.t, bench_shots[k], (uint64_t)seed + 1,
                   NULL);
        draw_shots(&all.chosen, &c->pool.t, bench_shots[k], (uint64_t)seed + 1,
                   &c->source);
        for (int m = 0; m < METHODS && !c->failed; m++) {
            if (is_run(c, m) && is_fixed(m))
                c->v[m][k][seed] = copy_values(c->fixed[m], c->test.e.subjects);
            if (!is_run(c, m) || is_fixed(m))
                continue;
            one_method(c, score, (method)m, &all, (uint64_t)seed + 1);
            c->v[m][k][seed] = values_of(&c->test.t, score);
        }
        if (bench_shots[k] == 32 && !c->b->quick && !c->given)
            other_kinds(c, score, &all.drawn, seed);
        sp_slice_free(&all.drawn);
        sp_slice_free(&all.chosen);
    }
    sp_free(score);
}

void curve_fit(curve *c)
{
    fit_sources(c);
    if (!c->failed && !c->brief)
        run_fixed(c);
}

void curve_free(curve *c)
{
    for (int m = 0; m < METHODS; m++)
        sp_free(c->fixed[m]);
    for (int m = 0; m < METHODS; m++)
        for (int k = 0; k < SHOTS; k++)
            for (int s = 0; s < SEEDS; s++)
                sp_free(c->v[m][k][s]);
    for (int i = 0; i < VECTORS; i++)
        sp_free(c->zero[i]);
    for (int i = 0; i < KINDS; i++) {
        sp_free(c->kind[i]);
        sp_pretrained_free(&c->meta[i]);
    }
    sp_pretrained_free(&c->there);
    sp_pretrained_free(&c->multi);
    sp_pretrained_free(&c->earlier);
    sp_pretrained_free(&c->source);
    for (int i = 0; i < IMAGINED; i++)
        sp_slice_free(&c->simulated[i]);
    sp_slice_free(&c->second);
    sp_slice_free(&c->learn);
    sp_slice_free(&c->imagine);
    sp_slice_free(&c->stop);
    sp_slice_free(&c->pool);
    sp_slice_free(&c->test);
    sp_slice_free(&c->home);
}
