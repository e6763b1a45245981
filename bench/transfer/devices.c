/* devices.c - Ginkgo's formats on many devices, one device left out.
 *
 * Every device teaches trees of its own. For one of which nothing is known but
 * its vector the others vote on matrices that nobody has seen: those whose
 * vectors are near weigh more. Thirteen vectors are too few for trees to split
 * on: they learn names of devices, and an unknown one gets the name of some
 * other. How much nearness counts, if at all, is chosen by leaving out one
 * more device, on matrices that neither taught nor are tested. */
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
    WIDTH = PROPERTIES + FORMATS
};

/* Who wrote the kernels of a device for what: they differ more than devices
 * do. */
typedef enum { CUDA, HIP, SYCL, OPENMP, PLAIN_C } language;

static const char *const formats[FORMATS] = {"csr", "coo", "ell", "hybrid",
                                             "sellp"};

/* From the makers' data sheets: GB/s, fp64 GFLOP/s, processors, MB of the last
 * cache; 0: not published. */
static const struct {
    const char *file, *name;
    language in;
    double vector[VECTOR];
} devices_known[DEVICES] = {
    {"K20Xm_cuda__master", "K20Xm", CUDA, {250, 1310, 14, 1.5}},
    {"K40m_cuda__master", "K40m", CUDA, {288, 1430, 15, 1.5}},
    {"P100_cuda__master", "P100", CUDA, {732, 5300, 56, 4}},
    {"V100_SXM2_cuda__master", "V100", CUDA, {900, 7800, 80, 6}},
    {"V100_summit_cuda__2019spmv-paper",
     "V100-summit",
     CUDA,
     {900, 7800, 80, 6}},
    {"A100_cuda__A100", "A100-2020", CUDA, {1555, 9700, 108, 40}},
    {"A100_cuda__TOMS-interface", "A100-2021", CUDA, {1555, 9700, 108, 40}},
    {"MI100_hip__master", "MI100", HIP, {1229, 11500, 120, 8}},
    {"RadeonVII_hip__master", "RadeonVII", HIP, {1024, 3360, 60, 4}},
    {"AG_hip__2020porting_spmv", "AG", HIP, {0, 0, 0, 0}},
    {"Gen9_dpcpp__intel", "Gen9", SYCL, {42, 110, 24, 0.75}},
    {"dg1_float_dpcpp__intel", "DG1", SYCL, {68, 0, 96, 16}},
    {"E5-2670_omp__2019spmv-paper", "E5-omp", OPENMP, {51, 166, 8, 20}},
    {"E5-2670_reference__2019spmv-paper", "E5-seq", PLAIN_C, {51, 21, 1, 20}},
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

/* Half of the matrices are tested; of the others one half teaches and one
 * chooses how much vectors count. */
typedef enum { TEACH, CHOOSE, TEST } use;

static use use_of(int matrix)
{
    return matrix % 2 ? TEST : matrix % 4 ? CHOOSE : TEACH;
}

static void make_row(float *x, const field *f, int matrix, int format)
{
    memcpy(x, f->property[matrix], PROPERTIES * sizeof *x);
    for (int k = 0; k < FORMATS; k++)
        x[PROPERTIES + k] = (float)(k == format);
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

static void fill(examples *e, const field *f, int d, int every)
{
    for (int i = 0; i < f->matrices; i += every) {
        double mean;

        if (use_of(i) != TEACH || measured(f, d, i, &mean) < 2)
            continue;
        for (int k = 0; k < FORMATS; k++)
            if (isfinite(f->time[d][i][k])) {
                make_row(e->x + e->rows * WIDTH, f, i, k);
                e->label[e->rows++] = f->time[d][i][k] - (float)mean;
            }
    }
}

/* What one device says of all formats of all matrices. */
static int teach(float (*said)[FORMATS], const field *f, int d, int quick)
{
    int64_t most = (int64_t)f->matrices * FORMATS;
    examples e = {sp_alloc(most, WIDTH * sizeof(float)),
                  sp_alloc(most, sizeof(float)), 0};
    sp_trees t = {0};
    int ok = e.x && e.label;

    if (ok) {
        row_table r;

        fill(&e, f, d, quick ? 2 : 1);
        r = (row_table){e.x, e.label, NULL, e.rows, WIDTH};
        ok = e.rows > 60 && grow_rows(&t, &r, quick ? 30 : 80);
    }
    for (int i = 0; ok && i < f->matrices; i++)
        for (int k = 0; k < FORMATS; k++) {
            float x[WIDTH];

            make_row(x, f, i, k);
            said[i][k] = (float)sp_trees_sum(&t, x);
        }
    sp_trees_free(&t);
    sp_free(e.x);
    sp_free(e.label);
    return ok;
}

/* ---- who is near ---- */

typedef struct {
    double width;    /* of nearness, in deviations; 0: all count alike */
    double language; /* how far apart kernels of two languages lie */
} nearness;

static const nearness choices[] = {{0, 0}, {2, 0}, {2, 2},   {1, 0},  {1, 1},
                                   {1, 2}, {1, 4}, {0.5, 1}, {0.5, 2}};
enum { CHOICES = sizeof choices / sizeof *choices };

/* Squared distance of two devices: numbers that both have published, each on
 * the scale on which devices differ. */
static double distance(int a, int b, const nearness *n)
{
    double sum = 0, known = 0;

    for (int k = 0; k < VECTOR; k++) {
        double x = devices_known[a].vector[k], y = devices_known[b].vector[k];
        double mean = 0, square = 0, count = 0;

        for (int d = 0; d < DEVICES; d++)
            if (devices_known[d].vector[k] > 0) {
                double v = log(devices_known[d].vector[k]);

                mean += v;
                square += v * v;
                count++;
            }
        mean /= count;
        square = square / count - mean * mean;
        if (x > 0 && y > 0) {
            sum += pow(log(x / y), 2) / square;
            known++;
        }
    }
    return (known > 0 ? sum / known : 1) +
           (devices_known[a].in != devices_known[b].in ? n->language : 0);
}

typedef struct {
    const field *f;
    float (*said)[MATRICES][FORMATS]; /* [DEVICES] */
    int able[DEVICES];                /* taught */
} votes;

/* Where nobody is near, all count alike. */
static const double ANYBODY = 0.05;

/* The format that devices other than `without` and `d` itself want. */
static int elect(const votes *v, int d, int without, int matrix,
                 const nearness *n)
{
    double sum[FORMATS] = {0};
    int best = -1;

    for (int e = 0; e < DEVICES; e++) {
        double weight = 1;

        if (e == d || e == without || !v->able[e])
            continue;
        if (n->width > 0)
            weight = exp(-distance(d, e, n) / (2 * n->width * n->width));
        for (int k = 0; k < FORMATS; k++)
            sum[k] += (weight + ANYBODY) * (double)v->said[e][matrix][k];
    }
    for (int k = 0; k < FORMATS; k++)
        if (isfinite(v->f->time[d][matrix][k]) &&
            (best < 0 || sum[k] < sum[best]))
            best = k;
    return best;
}

/* Mean logarithm of the time over the best's, of matrices of one use. */
static double regret_of(const votes *v, int d, int without, use of,
                        const nearness *n, int64_t *matrices)
{
    double sum = 0, mean;
    int64_t count = 0;

    for (int i = 0; i < v->f->matrices; i++) {
        const float *time = v->f->time[d][i];
        double best = HUGE_VAL;

        if (use_of(i) != of || measured(v->f, d, i, &mean) < 2)
            continue;
        for (int k = 0; k < FORMATS; k++)
            best = isfinite(time[k]) ? fmin(best, (double)time[k]) : best;
        sum += (double)time[elect(v, d, without, i, n)] - best;
        count++;
    }
    if (matrices)
        *matrices = count;
    return count ? sum / (double)count : 0;
}

/* How much nearness counts, by the devices that are known: each is left out in
 * turn. */
static nearness choose(const votes *v, int left_out)
{
    double least = HUGE_VAL;
    int best = 0;

    for (int c = 0; c < CHOICES; c++) {
        double sum = 0;

        for (int d = 0; d < DEVICES; d++)
            if (d != left_out && v->f->present[d])
                sum += regret_of(v, d, left_out, CHOOSE, &choices[c], NULL);
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    return choices[best];
}

/* ---- testing ---- */

typedef struct {
    double with, without, single, csr; /* regrets */
    int64_t matrices;
    const char *best; /* single format, of this device itself */
    nearness chosen;
} outcome;

/* One format for all; one that cannot be had is as bad as the worst that
 * can. */
static void single_formats(double regret[FORMATS], const field *f, int d)
{
    double n = 0, mean;

    memset(regret, 0, FORMATS * sizeof *regret);
    for (int i = 0; i < f->matrices; i++) {
        double best = HUGE_VAL, worst = log(2);

        if (use_of(i) != TEST || measured(f, d, i, &mean) < 2)
            continue;
        for (int k = 0; k < FORMATS; k++)
            if (isfinite(f->time[d][i][k]))
                best = fmin(best, (double)f->time[d][i][k]);
        for (int k = 0; k < FORMATS; k++)
            if (isfinite(f->time[d][i][k]))
                worst = fmax(worst, (double)f->time[d][i][k] - best);
        for (int k = 0; k < FORMATS; k++)
            regret[k] += isfinite(f->time[d][i][k])
                             ? (double)f->time[d][i][k] - best
                             : worst;
        n++;
    }
    for (int k = 0; k < FORMATS; k++)
        regret[k] = expm1(regret[k] / fmax(1, n));
}

static outcome test(const votes *v, int d)
{
    static const nearness nobody = {0, 0};
    outcome o = {.chosen = choose(v, d)};
    double regret[FORMATS];
    int best = 0;

    o.with = expm1(regret_of(v, d, d, TEST, &o.chosen, &o.matrices));
    o.without = expm1(regret_of(v, d, d, TEST, &nobody, NULL));
    single_formats(regret, v->f, d);
    for (int k = 1; k < FORMATS; k++)
        best = regret[k] < regret[best] ? k : best;
    o.single = regret[best];
    o.csr = regret[0];
    o.best = formats[best];
    return o;
}

static void print_outcomes(const outcome *o, const field *f)
{
    double sum[3] = {0}, all[3] = {0}, n = 0, matrices = 0;

    printf("%-14s%9s%14s%12s%22s%9s%20s\n", "device", "matrices", "zero-shot",
           "no vector", "best single format", "csr", "width, language");
    for (int d = 0; d < DEVICES; d++) {
        if (!f->present[d] || !o[d].matrices)
            continue;
        printf("%-14s%9lld%12.1f %%%10.1f %%%12s%8.1f %%%7.1f %%%14g, %g\n",
               devices_known[d].name, (long long)o[d].matrices, 100 * o[d].with,
               100 * o[d].without, o[d].best, 100 * o[d].single, 100 * o[d].csr,
               o[d].chosen.width, o[d].chosen.language);
        sum[0] += o[d].with;
        sum[1] += o[d].without;
        sum[2] += o[d].single;
        all[0] += o[d].with * (double)o[d].matrices;
        all[1] += o[d].without * (double)o[d].matrices;
        all[2] += o[d].single * (double)o[d].matrices;
        matrices += (double)o[d].matrices;
        n++;
    }
    printf("mean of %.0f devices, regret over the device's own best: %.1f %% "
           "zero-shot, %.1f %% without the vector, %.1f %% the single format "
           "that suits the device best\n",
           n, 100 * sum[0] / n, 100 * sum[1] / n, 100 * sum[2] / n);
    printf("the same, every matrix of a device counting alike (%.0f): %.1f %%, "
           "%.1f %%, %.1f %%\n",
           matrices, 100 * all[0] / matrices, 100 * all[1] / matrices,
           100 * all[2] / matrices);
    bench_aim_most("ginkgo-below-single-format", sum[0] / n, sum[2] / n);
    bench_aim_most("ginkgo-vector-below-none-by-device", sum[0] / n,
                   sum[1] / n);
    bench_aim_most("ginkgo-vector-below-none-by-matrix", all[0] / matrices,
                   all[1] / matrices);
}

void devices(bench *b)
{
    field *f = calloc(1, sizeof *f);
    votes v = {f, calloc(DEVICES, sizeof *v.said), {0}};
    outcome o[DEVICES] = {{0}};

    printf("\n== Ginkgo, one device left out: a format for every unseen matrix "
           "==\n");
    if (!f || !v.said || !load(f) || !sp_boost_ready())
        printf("not measured: records/ginkgo or XGBoost are absent\n");
    else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
        for (int d = 0; d < DEVICES; d++)
            v.able[d] = f->present[d] && teach(v.said[d], f, d, b->quick);
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
        for (int d = 0; d < DEVICES; d++)
            if (f->present[d])
                o[d] = test(&v, d);
        print_outcomes(o, f);
    }
    for (int i = 0; f && i < f->matrices; i++)
        free(f->name[i]);
    free(v.said);
    free(f);
}
