/* cost.c - what searching, predicting, tuning and training take. */
#define _DEFAULT_SOURCE /* setenv */
#include "learn.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../contest/folder.h"

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- search ---- */

enum { ASKED = 8 };

/* Best predicted, and all 20 on average, against the exhaustive ones. */
typedef struct {
    double best, mean, asked, seconds;
} hunt;

static spry_status search(sp_candidate top[TOP], hunt *h, const char *how,
                          sp_space *s)
{
    double begun = cpu_seconds(), sum = 0;
    int64_t asked = 0;
    int count = 0;
    spry_status status;

    s->asked = &asked;
    status = sp_strategy_find(how)->find(top, &count, TOP, s);
    s->asked = NULL;
    for (int i = 0; i < count; i++)
        sum += log(top[i].predicted);
    h->best = count ? log(top[0].predicted) : HUGE_VAL;
    h->mean = count ? sum / count : HUGE_VAL;
    h->asked = (double)asked;
    h->seconds = cpu_seconds() - begun;
    return status;
}

typedef struct {
    const char *how;
    int ef;
    double best, mean, share, seconds; /* sums over problems */
} line;

/* All strategies on one problem, against exhaustive. */
static spry_status compare(line *lines, int n, double *rate, bench *b, task *t,
                           const sp_cost *c, const sp_nests *nests)
{
    sp_candidate top[TOP];
    hunt all, h;
    asker a;
    sp_space s;
    spry_status status = ask_open(&a, t->p, &b->m, c);

    if (status != SPRY_OK)
        return status;
    s = ask_space(&a, SP_NESTS, nests);
    status = search(top, &all, "exhaustive", &s); /* blocks are counted here */
    if (status == SPRY_OK)
        status = search(top, &all, "exhaustive", &s);
    *rate += all.asked / all.seconds;
    for (int i = 0; i < n && status == SPRY_OK; i++) {
        s.ef = lines[i].ef;
        status = search(top, &h, lines[i].how, &s);
        lines[i].best += all.best - h.best;
        lines[i].mean += all.mean - h.mean;
        lines[i].share += h.asked / all.asked;
        lines[i].seconds += h.seconds;
    }
    ask_close(&a);
    return status;
}

static double print_op(bench *b, int o, int aim)
{
    line lines[] = {{"graph", 20, 0, 0, 0, 0},  {"graph", 50, 0, 0, 0, 0},
                    {"graph", 100, 0, 0, 0, 0}, {"graph", 200, 0, 0, 0, 0},
                    {"graph", 400, 0, 0, 0, 0}, {"graph", 800, 0, 0, 0, 0},
                    {"evolve", 0, 0, 0, 0, 0},  {"random", 0, 0, 0, 0, 0}};
    enum { LINES = sizeof lines / sizeof lines[0] };
    field *f = &b->f[o];
    spry_space space = {.op = f->op, .splits = {6, 6}, .threads = b->m.threads};
    sp_nests *nests = NULL;
    double begun = cpu_seconds(), embed, link, rate = 0;
    int asked = 0;

    if (!f->model[0] || sp_nests_make(&nests, &space) != SPRY_OK)
        return 0;
    if (sp_nests_embed(nests, f->model[0]) != SPRY_OK ||
        (embed = cpu_seconds() - begun,
         sp_nests_link(nests, 12, 40, 1) != SPRY_OK)) {
        printf("%s: %s\n", spry_op_name(f->op), spry_message());
        sp_nests_free(nests);
        return 0;
    }
    link = cpu_seconds() - begun - embed;
    for (int i = 0; i < f->count && asked < ASKED; i++)
        if (f->at[i]->fold == 0) {
            if (compare(lines, LINES, &rate, b, f->at[i], f->model[0], nests) ==
                SPRY_OK)
                asked++;
        }
    rate /= fmax(1, asked);
    printf("\n%s: %lld nests, halves %.2f s, graph %.1f s, exhaustive %.2f "
           "million/s, %d problems\n"
           "strategy    ef   best  top 20  evaluations   time\n",
           spry_op_name(f->op), (long long)sp_nests_count(nests), embed, link,
           rate / 1e6, asked);
    for (int i = 0; i < LINES && asked; i++) {
        line *l = &lines[i];
        double quality = exp(l->best / asked), share = l->share / asked;

        printf("%-8s %5d  %5.1f%%  %5.1f%%       %6.2f%%  %5.1f ms\n", l->how,
               l->ef, 100 * quality, 100 * exp(l->mean / asked), 100 * share,
               1e3 * l->seconds / asked);
        if (aim && strcmp(l->how, "graph") == 0 && share <= 0.02)
            b->graph = fmax(b->graph, exp(l->mean / asked));
    }
    sp_nests_free(nests);
    return rate;
}

/* All on one core: the clock is this thread's. */
void print_search(bench *b)
{
    int threads = omp_get_max_threads();

    omp_set_num_threads(1);
    for (int o = 0; o < OPS; o++) {
        double rate = print_op(b, o, o == 0);

        if (o == 0)
            b->rate = rate;
        fflush(stdout);
    }
    omp_set_num_threads(threads);
}

/* ---- one large problem ---- */

static double plain_seconds(bench *b, const spry_matrix *A)
{
    spry_schedule x = spry_schedule_baseline(b->m.threads);
    spry_problem *p;
    spry_plan *plan = NULL;
    spry_score score = {0};

    if (spry_problem_spmv(&p, A, SPRY_F32) != SPRY_OK)
        return 0;
    if (spry_plan_make(&plan, p, &x, &b->m) == SPRY_OK)
        (void)spry_race(&score, (const spry_plan *const *)&plan, 1, 31, 2);
    spry_plan_free(plan);
    spry_problem_free(p);
    return score.seconds;
}

/* Seconds of a whole tune, of effort predict or measure. */
static double tune_seconds(const bench *b, const spry_matrix *A,
                           spry_effort effort, spry_tuning *how)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    double begun = sp_seconds();
    spry_problem *p;
    spry_plan *plan = NULL;

    o.store = ":memory:";
    o.machine = &b->m; /* probed long before */
    o.effort = effort;
    if (spry_problem_spmm(&p, A, 128, SPRY_F32) != SPRY_OK)
        return 0;
    if (spry_tune(&plan, p, &o) == SPRY_OK)
        *how = *spry_plan_tuning(plan);
    else
        printf("tune: %s\n", spry_message());
    begun = sp_seconds() - begun;
    spry_plan_free(plan);
    spry_problem_free(p);
    return begun;
}

/* Seconds of what effort predict does before it has a schedule. */
typedef struct {
    double key, features, search;
} prediction;

static spry_status predict_once(prediction *out, const bench *b,
                                const spry_matrix *A, const sp_cost *c)
{
    double begun = sp_seconds();
    spry_schedule choice;
    spry_problem *p;
    asker a;
    spry_status s = spry_problem_spmm(&p, A, 128, SPRY_F32);

    if (s != SPRY_OK)
        return s;
    out->key = sp_seconds() - begun;
    s = ask_open(&a, p, &b->m, c);
    out->features = sp_seconds() - begun - out->key;
    if (s == SPRY_OK) {
        s = ask_choice(&choice, &a);
        ask_close(&a);
    }
    out->search = sp_seconds() - begun - out->key - out->features;
    spry_problem_free(p);
    return s;
}

/* The median of several, by features and search together. */
static prediction predict_seconds(const bench *b, const spry_matrix *A,
                                  const sp_cost *c)
{
    enum { TIMES = 9 };
    prediction sorted[TIMES] = {{0}};

    for (int i = 0; i < TIMES; i++) {
        prediction one = {0};
        int at = i;

        if (predict_once(&one, b, A, c) != SPRY_OK)
            printf("predict: %s\n", spry_message());
        for (; at > 0 && sorted[at - 1].features + sorted[at - 1].search >
                             one.features + one.search;
             at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = one;
    }
    return sorted[TIMES / 2];
}

void print_cost(bench *b)
{
    char dir[BENCH_FOLDER], path[BENCH_FOLDER + 24];
    const sp_cost *c = b->f[0].model[0];
    spry_tuning how = {0};
    spry_matrix *A;
    double plain, predict;
    prediction took;

    if (!c || !bench_folder(dir) ||
        spry_matrix_generate(&A, "uniform rows=100k nnz=1M", 1) != SPRY_OK)
        return;
    snprintf(path, sizeof path, "%s/cost-spmm.spry", dir);
    if (sp_cost_save(c, NULL, path) == SPRY_OK)
        setenv("SPRY_MODELS", dir, 1);
    plain = plain_seconds(b, A);
    took = predict_seconds(b, A, c);
    predict = tune_seconds(b, A, SPRY_PREDICT, &how);
    b->tune = tune_seconds(b, A, SPRY_MEASURE, &how);
    b->runs = plain > 0 ? (took.features + took.search) / plain : 0;
    printf(
        "\na million entries, spmm 128: a plain spmv takes %.2f ms; features "
        "%.1f ms and search %.1f ms, %.1f of those;\nthe pattern's key, to "
        "look it up, %.1f ms; all of predict, with packing and checking, %.0f "
        "ms; measure %.1f s, %d trials, %.2f times as fast, ranked by %s\n",
        1e3 * plain, 1e3 * took.features, 1e3 * took.search, b->runs,
        1e3 * took.key, 1e3 * predict, b->tune, how.trials, how.speedup,
        how.model);
    bench_folder_remove(dir);
    unsetenv("SPRY_MODELS");
    spry_matrix_free(A);
    fflush(stdout);
}

/* ---- training ---- */

enum { RECORDS = 10000 };

static int count_laps(const sp_lap *lap, void *payload)
{
    if (lap->round > 0)
        *(int *)payload = lap->round;
    return 0;
}

/* The rows of a dataset again and again until there are 10,000. */
static spry_status repeat(sp_examples *out, const sp_examples *e)
{
    *out = (sp_examples){.subject = sp_alloc(RECORDS, sizeof(sp_subject)),
                         .row = sp_alloc(RECORDS, sizeof(sp_example)),
                         .start = sp_alloc(RECORDS + 1, sizeof(int64_t))};
    if (!out->subject || !out->row || !out->start) {
        free_examples(out);
        return sp_fail_memory(RECORDS * sizeof(sp_subject));
    }
    for (int64_t s = 0; e->rows && out->rows < RECORDS; s++) {
        int64_t from = s % e->subjects;

        out->subject[out->subjects] = e->subject[from];
        for (int64_t i = e->start[from];
             i < e->start[from + 1] && out->rows < RECORDS; i++) {
            out->row[out->rows] = e->row[i];
            out->row[out->rows++].subject = out->subjects;
        }
        out->start[++out->subjects] = out->rows;
    }
    return SPRY_OK;
}

void print_training(bench *b)
{
    sp_examples few, all;
    double limit = b->quick ? 5 : 20;

    if (gather(&few, &b->f[0], -1, ALL) != SPRY_OK)
        return;
    if (repeat(&all, &few) != SPRY_OK || all.rows < RECORDS) {
        free_examples(&few);
        return;
    }
    printf("\ntraining on %d records of spmm, 2 threads\n", RECORDS);
    for (int k = 0; k < KINDS - 2; k++) {
        int laps = 0, slow = strcmp(kinds[k], "waconet") == 0;
        sp_fitting l = {.train = &all,
                        .seed = 1,
                        .threads = 2,
                        .seconds = slow || b->quick ? limit : 300,
                        .note = count_laps,
                        .payload = &laps};
        double begun = sp_seconds(), took;
        sp_cost *c;
        spry_status s =
            sp_cost_fit(&c, sp_cost_kind_find(kinds[k]), b->f[0].op, &l);

        took = sp_seconds() - begun;
        if (s != SPRY_OK)
            printf("%-10s %s\n", kinds[k], spry_message());
        else if (slow)
            printf("%-10s %d rounds in %.0f s; 80 would take %.0f min\n",
                   kinds[k], laps, took, took / fmax(1, laps) * 80 / 60);
        else
            printf("%-10s %.1f s, %d rounds\n", kinds[k], took, laps);
        if (!slow)
            b->train = fmax(b->train, took);
        sp_cost_free(s == SPRY_OK ? c : NULL);
        fflush(stdout);
    }
    free_examples(&all);
    free_examples(&few);
}
