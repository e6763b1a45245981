/* jit.c - how long it takes to make a kernel, and where the time goes.
 *
 * Every way of making one takes its turn in every round, so that the
 * machine's mood is the same for all; what is printed are medians of wall
 * time. Nothing is found in a cache: each text is new. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contest/folder.h"
#include "gccjit/gccjit.h"
#include "jit/internal.h"
#include "measure/measure.h"
#include "plan/sparse.h"

enum { ROUNDS = 7, WAYS = 16, KERNELS = 5, BATCH = 10 };

/* Typical of what is compiled on demand. */
static const struct {
    spry_op op;
    int64_t n;
    const char *schedule;
} kernels[KERNELS] = {
    {SPRY_SPMM, 96, "csr tile=4 fixed=1"},
    {SPRY_SPMM, 100, "csr tile=2 unroll=2 prefetch=8"},
    {SPRY_SPMM, 48, "bcsr r=4 c=2 tile=2 fixed=1"},
    {SPRY_SPMV, 1, "csr unroll=6"},
    {SPRY_SDDMM, 100, "csr tile=3 unroll=4 fixed=1"},
};

typedef struct {
    char *source;
    const char *flags[SP_FLAGS];
} text;

static text texts[KERNELS];
static char directory[BENCH_FOLDER];

/* ---- what there is to make ---- */

static spry_status read_text(text *t, const spry_matrix *A, int i)
{
    spry_problem *p = NULL;
    spry_plan *plan = NULL;
    spry_schedule x;
    spry_status s =
        spry_problem_make(&p, kernels[i].op, A, kernels[i].n, SPRY_F32);

    if (s == SPRY_OK)
        s = spry_schedule_parse(&x, kernels[i].schedule);
    if (s == SPRY_OK)
        s = spry_plan_make(&plan, p, &x, NULL);
    if (s == SPRY_OK)
        s = spry_plan_source(&t->source, plan);
    if (s == SPRY_OK)
        (void)sp_codegen_flags(t->flags, &sp_sparse_plan_of(plan)->spec);
    spry_plan_free(plan);
    spry_problem_free(p);
    return s;
}

static spry_status read_texts(void)
{
    spry_matrix *A;
    spry_status s = spry_matrix_generate(&A, "uniform rows=2k nnz=32k", 1);

    for (int i = 0; s == SPRY_OK && i < KERNELS; i++)
        s = read_text(&texts[i], A, i);
    if (s == SPRY_OK)
        spry_matrix_free(A);
    return s;
}

/* ---- ways to make it ---- */

static sp_compiler compiler;
static int fresh; /* makes every text new */

static spry_status load(const char *source, const char *const flags[])
{
    sp_buf new_text = {0};
    sp_jit_code *code = NULL;
    spry_status s;

    sp_buf_printf(&new_text, "/* %d */\n%s", fresh++, source);
    s = sp_jit_load(&code, new_text.data, flags, "bench");
    sp_jit_free(code);
    sp_buf_free(&new_text);
    return s;
}

/* All of it, as a plan does. */
static spry_status whole(const text *t, const char *unused)
{
    (void)unused;
    return load(t->source, t->flags);
}

/* The compiler with our flags, the kernel's and some more. */
static spry_status call(const text *t, const char *words)
{
    const char *argv[40] = {compiler.path};
    char source[BENCH_FOLDER + 16], object[BENCH_FOLDER + 16], more[128];
    sp_buf said = {0};
    int n = 1, code = 1;
    char *rest = NULL;
    spry_status s;

    snprintf(source, sizeof source, "%s/kernel.c", directory);
    snprintf(object, sizeof object, "%s/kernel.out", directory);
    snprintf(more, sizeof more, "%s", words);
    s = sp_file_write(source, t->source, strlen(t->source));
    for (int i = 0; sp_compile_flags[i]; i++)
        argv[n++] = sp_compile_flags[i];
    for (int i = 0; t->flags[i]; i++)
        argv[n++] = t->flags[i];
    for (char *w = strtok_r(more, " ", &rest); w;
         w = strtok_r(NULL, " ", &rest))
        argv[n++] = w;
    argv[n++] = source;
    argv[n++] = "-o";
    argv[n] = object;
    if (s == SPRY_OK)
        s = sp_run(&code, &said, argv, directory, 20);
    sp_buf_free(&said);
    return s == SPRY_OK && code ? SPRY_FAIL : s;
}

/* The compiler's driver alone. */
static spry_status driver(const text *t, const char *unused)
{
    const char *argv[] = {compiler.path, "--version", NULL};
    sp_buf said = {0};
    int code;
    spry_status s = sp_run(&code, &said, argv, directory, 20);

    (void)t;
    (void)unused;
    sp_buf_free(&said);
    return s;
}

static spry_status intrinsics(const text *t, const char *unused)
{
    sp_buf with = {0};
    spry_status s;

    (void)unused;
    sp_buf_printf(&with, "#include <immintrin.h>\n%s", t->source);
    s = load(with.data, t->flags);
    sp_buf_free(&with);
    return s;
}

/* Ten kernels in one file; the caller divides. */
static spry_status batch(const text *t, const char *unused)
{
    const char *own = strstr(t->source, "\nint ");
    sp_buf all = {0};
    spry_status s;

    (void)unused;
    sp_buf_bytes(&all, t->source, (size_t)(own - t->source));
    for (int i = 0; i < BATCH; i++) {
        const char *name = own + 5;

        sp_buf_printf(&all, "\nint k%d%s", i, strchr(name, '('));
    }
    s = load(all.data, t->flags);
    sp_buf_free(&all);
    return s;
}

static spry_status gccjit(const text *t, const char *unused)
{
    void *code;
    sp_kernel *k = bench_gccjit_make(&code);

    (void)t;
    (void)unused;
    bench_gccjit_free(code);
    return k ? SPRY_OK : SPRY_FAIL;
}

static const struct {
    const char *name;
    spry_status (*make)(const text *t, const char *words);
    const char *words;
    int kernels; /* made at once */
} ways[WAYS] = {
    {"whole: compile and load", whole, "", 1},
    {"the driver alone", driver, "", 1},
    {"preprocess", call, "-E", 1},
    {"compile to assembly", call, "-S", 1},
    {"and assemble", call, "-c", 1},
    {"and link", call, "", 1},
    {"and link, -O1", call, "-O1", 1},
    {"and link, -O3", call, "-O3", 1},
    {"and link, -pipe", call, "-pipe", 1},
    {"and link, without libraries", call, "-nostdlib", 1},
    {"whole, with immintrin.h", intrinsics, "", 1},
    {"whole, ten in a file, each", batch, "", BATCH},
    {"libgccjit, by hand", gccjit, "", 1},
};
enum { WHOLE, GCCJIT = 12, MADE = 13 };

/* ---- measuring ---- */

static double seconds[WAYS][KERNELS][ROUNDS];

static spry_status run_round(int round)
{
    spry_status s = SPRY_OK;

    for (int w = 0; s == SPRY_OK && w < MADE; w++)
        for (int i = 0; s == SPRY_OK && i < KERNELS; i++) {
            double begun = sp_seconds();

            if (w == GCCJIT && (!bench_gccjit_built() || i > 0))
                continue;
            s = ways[w].make(&texts[i], ways[w].words);
            seconds[w][i][round] = (sp_seconds() - begun) / ways[w].kernels;
        }
    return s;
}

/* Milliseconds, the median over rounds. */
static double typical(int way, int kernel)
{
    double copy[ROUNDS];

    memcpy(copy, seconds[way][kernel], sizeof copy);
    return 1e3 * sp_median(copy, ROUNDS);
}

static void print_ways(void)
{
    printf("ms, median of %d%30s", ROUNDS, "");
    for (int i = 0; i < KERNELS; i++)
        printf(" %7d", i + 1);
    printf("\n");
    for (int w = 0; w < MADE; w++) {
        printf("%-36s", ways[w].name);
        for (int i = 0; i < KERNELS && (w != GCCJIT || i == 0); i++)
            printf(" %7.1f", typical(w, i));
        printf("\n");
    }
    for (int i = 0; i < KERNELS; i++)
        printf("%d: %s, n %lld\n", i + 1, kernels[i].schedule,
               (long long)kernels[i].n);
}

/* The slowest of the typical kernels. */
static double slowest_kernel(void)
{
    double most = 0;

    for (int i = 0; i < KERNELS; i++)
        most = typical(WHOLE, i) > most ? typical(WHOLE, i) : most;
    return most;
}

/* ---- built-in candidates ---- */

static const char *const built_in[] = {"csr",
                                       "csr tile=4 prefetch=12",
                                       "csr tile=2 panel=4096",
                                       "csr tile=8",
                                       "bcsr r=2 c=2 tile=4",
                                       "dcsr tile=2",
                                       "csr tile=4 order=length"};
enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

/* What a plan costs beyond packing, in milliseconds. */
static double beyond_packing(const spry_problem *p, const spry_machine *m,
                             const char *schedule)
{
    double sample[ROUNDS];
    int n = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double begun = sp_seconds();
        spry_schedule x;
        spry_plan *plan;

        if (spry_schedule_parse(&x, schedule) != SPRY_OK ||
            spry_plan_make(&plan, p, &x, m) != SPRY_OK)
            return 0;
        if (spry_plan_builtin(plan))
            sample[n++] = sp_seconds() - begun - spry_plan_pack_seconds(plan);
        spry_plan_free(plan);
    }
    return n ? 1e3 * sp_median(sample, n) : 0;
}

static double slowest_built_in(void)
{
    static const char *const matrices[] = {"uniform rows=2k nnz=32k",
                                           "uniform rows=50k nnz=800k",
                                           "banded rows=200k band=5"};
    double most = 0;
    spry_machine m;

    if (spry_machine_detect(&m) != SPRY_OK)
        return 0;
    for (int i = 0; i < 3; i++) {
        spry_matrix *A;
        spry_problem *p;

        if (spry_matrix_generate(&A, matrices[i], 1) != SPRY_OK)
            return 0;
        if (spry_problem_spmm(&p, A, 32, SPRY_F32) != SPRY_OK)
            return 0;
        for (int k = 0; k < BUILT_IN; k++) {
            double ms = beyond_packing(p, &m, built_in[k]);

            most = ms > most ? ms : most;
        }
        spry_problem_free(p);
        spry_matrix_free(A);
    }
    return most;
}

static void aim(const char *name, double value, double goal)
{
    printf("aim %s %.2f %g %s\n", name, value, goal,
           value > 0 && value <= goal ? "met" : "short");
}

int main(void)
{
    spry_status s;

    if (!bench_folder(directory) || setenv("SPRY_HOME", directory, 1) != 0)
        return 1;
    s = sp_compiler_find(&compiler);
    if (s == SPRY_OK)
        s = read_texts();
    for (int round = 0; s == SPRY_OK && round < ROUNDS; round++)
        s = run_round(round);
    if (s == SPRY_OK) {
        printf("%s\n\n", compiler.version);
        print_ways();
        aim("jit_gcc_ms", slowest_kernel(), 130);
        if (bench_gccjit_built())
            aim("jit_gccjit_ms", typical(GCCJIT, 0), 60);
        aim("builtin_ms", slowest_built_in(), 5);
    } else {
        fprintf(stderr, "%s\n", spry_message());
    }
    for (int i = 0; i < KERNELS; i++)
        free(texts[i].source);
    bench_folder_remove(directory);
    return s == SPRY_OK ? 0 : 1;
}
