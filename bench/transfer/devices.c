/* devices.c - Ginkgo's formats on many devices, one device left out.
 *
 * A model that has seen the other devices, on other matrices, chooses a format
 * for every matrix of a device of which it has seen nothing but its vector. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../contest/figures.h"
#include "transfer.h"

enum {
    DEVICES = 14,
    FORMATS = 5,
    MATRICES = 3200,
    PROPERTIES = 12,
    VECTOR = 4,
    WIDTH = PROPERTIES + FORMATS + VECTOR
};

static const char *const formats[FORMATS] = {"csr", "coo", "ell", "hybrid",
                                             "sellp"};

/* From the makers' data sheets: GB/s, fp64 GFLOP/s, processors, MB of the last
 * cache; 0: not published. */
static const struct {
    const char *file, *name;
    double vector[VECTOR];
} devices_known[DEVICES] = {
    {"K20Xm_cuda__master", "K20Xm", {250, 1310, 14, 1.5}},
    {"K40m_cuda__master", "K40m", {288, 1430, 15, 1.5}},
    {"P100_cuda__master", "P100", {732, 5300, 56, 4}},
    {"V100_SXM2_cuda__master", "V100", {900, 7800, 80, 6}},
    {"V100_summit_cuda__2019spmv-paper", "V100-summit", {900, 7800, 80, 6}},
    {"A100_cuda__A100", "A100-2020", {1555, 9700, 108, 40}},
    {"A100_cuda__TOMS-interface", "A100-2021", {1555, 9700, 108, 40}},
    {"MI100_hip__master", "MI100", {1229, 11500, 120, 8}},
    {"RadeonVII_hip__master", "RadeonVII", {1024, 3360, 60, 4}},
    {"AG_hip__2020porting_spmv", "AG", {0, 0, 0, 0}},
    {"Gen9_dpcpp__intel", "Gen9", {42, 110, 24, 0.75}},
    {"dg1_float_dpcpp__intel", "DG1", {68, 0, 96, 16}},
    {"E5-2670_omp__2019spmv-paper", "E5-omp", {51, 166, 8, 20}},
    {"E5-2670_reference__2019spmv-paper", "E5-seq", {51, 21, 1, 20}},
};

typedef struct {
    char *name[MATRICES];
    float property[MATRICES][PROPERTIES];
    int matrices;
    /* Natural logarithm of seconds; NAN: not measured. */
    float time[DEVICES][MATRICES][FORMATS];
    int present[DEVICES];
} field;

/* ---- reading ---- */

/* The next tab-separated word of a line, ended by 0; NULL: no more. */
static char *word(char **at)
{
    char *begin = *at, *end;

    if (!begin)
        return NULL;
    end = strchr(begin, '\t');
    if (end)
        *end++ = 0;
    *at = end;
    return begin;
}

typedef void line_reader(field *f, char *line, int device);

static int read_lines(field *f, const char *path, line_reader *read, int device)
{
    sp_file file;
    char *at, *next;

    if (sp_file_read(&file, path, (size_t)1 << 30) != SPRY_OK)
        return 0;
    at = strchr(file.data, '\n'); /* behind the title */
    for (at = at ? at + 1 : NULL; at && *at; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        read(f, at, device);
    }
    sp_file_free(&file);
    return 1;
}

static void read_matrix(field *f, char *line, int device)
{
    static const int logarithm[PROPERTIES] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    float *to;
    char *at = line, *name = word(&at), *text;
    int n = 0;

    (void)device;
    if (f->matrices == MATRICES || !name)
        return;
    to = f->property[f->matrices];
    for (int column = 1; (text = word(&at)); column++) {
        double x = atof(text);

        if (column == 1 || column == 5 || column == 6 || column == 7 ||
            n == PROPERTIES)
            continue;
        to[n] = (float)(logarithm[n] ? log1p(fmax(0, x)) : x);
        n++;
    }
    f->name[f->matrices++] = sp_strdup(name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_time(field *f, char *line, int device)
{
    char *at = line, *name = word(&at), *format = word(&at), *time = word(&at);
    char **found;

    if (!time)
        return;
    found =
        bsearch(&name, f->name, (size_t)f->matrices, sizeof *f->name, by_name);
    for (int k = 0; found && k < FORMATS; k++)
        if (!strcmp(format, formats[k]) && atof(time) > 0)
            f->time[device][found - f->name][k] = (float)log(atof(time));
}

static int load(field *f)
{
    int count = 0;

    for (int d = 0; d < DEVICES; d++)
        for (int i = 0; i < MATRICES; i++)
            for (int k = 0; k < FORMATS; k++)
                f->time[d][i][k] = nanf("");
    if (!read_lines(f, "records/ginkgo/matrices.tsv.gz", read_matrix, 0))
        return 0;
    for (int i = 1; i < f->matrices; i++)
        if (strcmp(f->name[i - 1], f->name[i]) >= 0) {
            printf("ginkgo: matrices are not in order\n");
            return 0;
        }
    for (int d = 0; d < DEVICES; d++) {
        char path[160];

        snprintf(path, sizeof path, "records/ginkgo/%s.tsv.gz",
                 devices_known[d].file);
        f->present[d] = read_lines(f, path, read_time, d);
        count += f->present[d];
    }
    return count;
}

/* ---- learning ---- */

typedef struct {
    float *x, *label;
    int64_t rows;
} examples;

/* Half of the matrices teach, the others are tested. */
static int teaches(int matrix)
{
    return matrix % 2 == 0;
}

static void make_row(float *x, const field *f, int device, int matrix,
                     int format, int told)
{
    memcpy(x, f->property[matrix], PROPERTIES * sizeof *x);
    x += PROPERTIES;
    for (int k = 0; k < FORMATS; k++)
        *x++ = (float)(k == format);
    for (int k = 0; k < VECTOR; k++) {
        double v = devices_known[device].vector[k];

        *x++ = told && v > 0 ? (float)log(v) : nanf("");
    }
}

/* Formats of a matrix that were measured; their mean. */
static int measured(const field *f, int device, int matrix, double *mean)
{
    double sum = 0;
    int n = 0;

    for (int k = 0; k < FORMATS; k++)
        if (isfinite(f->time[device][matrix][k])) {
            sum += (double)f->time[device][matrix][k];
            n++;
        }
    *mean = n ? sum / n : 0;
    return n;
}

static void fill(examples *e, const field *f, int left_out, int told, int every)
{
    for (int d = 0; d < DEVICES; d++)
        for (int i = 0; i < f->matrices; i += every) {
            double mean;

            if (d == left_out || !teaches(i) || measured(f, d, i, &mean) < 2)
                continue;
            for (int k = 0; k < FORMATS; k++)
                if (isfinite(f->time[d][i][k])) {
                    make_row(e->x + e->rows * WIDTH, f, d, i, k, told);
                    e->label[e->rows++] = f->time[d][i][k] - (float)mean;
                }
        }
}

static int fit(sp_trees *out, const field *f, int left_out, int told, int quick)
{
    int64_t most = (int64_t)DEVICES * f->matrices * FORMATS;
    examples e = {sp_alloc(most, WIDTH * sizeof(float)),
                  sp_alloc(most, sizeof(float)), 0};
    int ok = e.x && e.label;

    if (ok) {
        row_table r;

        fill(&e, f, left_out, told, quick ? 6 : 2);
        r = (row_table){e.x, e.label, NULL, e.rows, WIDTH};
        ok = grow_rows(out, &r, quick ? 30 : 80);
    }
    sp_free(e.x);
    sp_free(e.label);
    return ok;
}

/* ---- testing ---- */

typedef struct {
    double model, single, csr; /* regrets: mean logarithms over the best */
    int64_t matrices;
    const char *best; /* single format, of this device itself */
} outcome;

static void add_choice(outcome *o, double regret[FORMATS], const sp_trees *t,
                       const field *f, int d, int i, int told)
{
    double best = HUGE_VAL, least = HUGE_VAL, chosen = 0, slowest = 0;
    float x[WIDTH];

    for (int k = 0; k < FORMATS; k++) {
        double time = (double)f->time[d][i][k], score;

        if (!isfinite(time))
            continue;
        best = fmin(best, time);
        slowest = fmax(slowest, time - best);
        make_row(x, f, d, i, k, told);
        score = sp_trees_sum(t, x);
        if (score < least) {
            least = score;
            chosen = time;
        }
    }
    o->model += chosen - best;
    for (int k = 0; k < FORMATS; k++) {
        double time = (double)f->time[d][i][k];

        /* one that cannot be had is as bad as the worst that can */
        regret[k] += isfinite(time) ? time - best : fmax(slowest, log(2));
    }
    o->matrices++;
}

static outcome test(const sp_trees *t, const field *f, int d, int told)
{
    outcome o = {0};
    double regret[FORMATS] = {0}, mean;
    int best = 0;

    for (int i = 0; i < f->matrices; i++)
        if (!teaches(i) && measured(f, d, i, &mean) >= 2)
            add_choice(&o, regret, t, f, d, i, told);
    for (int k = 1; k < FORMATS; k++)
        best = regret[k] < regret[best] ? k : best;
    o.model = expm1(o.model / (double)o.matrices);
    o.single = expm1(regret[best] / (double)o.matrices);
    o.csr = expm1(regret[0] / (double)o.matrices);
    o.best = formats[best];
    return o;
}

void devices(bench *b)
{
    field *f = calloc(1, sizeof *f);
    outcome o[DEVICES][2];
    double sum[3] = {0}, n = 0;
    int ok[DEVICES] = {0};

    printf("\n== Ginkgo, one device left out: a format for every unseen matrix "
           "==\n");
    if (!f || !load(f) || !sp_boost_ready()) {
        printf("not measured: records/ginkgo or XGBoost are absent\n");
        free(f);
        return;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
    for (int d = 0; d < DEVICES; d++)
        for (int told = 0; told < 2 && f->present[d]; told++) {
            sp_trees t = {0};

            if (!fit(&t, f, d, told, b->quick))
                continue;
            o[d][told] = test(&t, f, d, told);
            ok[d] = o[d][told].matrices > 0;
            sp_trees_free(&t);
        }
    printf("%-14s%9s%14s%12s%22s%9s\n", "device", "matrices", "zero-shot",
           "no vector", "best single format", "csr");
    for (int d = 0; d < DEVICES; d++) {
        if (!ok[d])
            continue;
        printf("%-14s%9lld%12.1f %%%10.1f %%%12s%8.1f %%%7.1f %%\n",
               devices_known[d].name, (long long)o[d][1].matrices,
               100 * o[d][1].model, 100 * o[d][0].model, o[d][1].best,
               100 * o[d][1].single, 100 * o[d][1].csr);
        sum[0] += o[d][1].model;
        sum[1] += o[d][0].model;
        sum[2] += o[d][1].single;
        n++;
    }
    printf("mean of %.0f devices, regret over the device's own best: %.1f %% "
           "zero-shot, %.1f %% without the vector, %.1f %% the single format "
           "that suits the device best\n",
           n, 100 * sum[0] / n, 100 * sum[1] / n, 100 * sum[2] / n);
    bench_aim_most("ginkgo-with-vector-below-single", sum[0] / n, sum[2] / n);
    bench_aim_most("ginkgo-without-below-single", sum[1] / n, sum[2] / n);
    for (int i = 0; i < f->matrices; i++)
        free(f->name[i]);
    free(f);
}
