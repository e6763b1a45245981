/* frozen.c - answers that are frozen give the same schedules, the same kernels
 * and the same bits in a fresh process. */
#define _DEFAULT_SOURCE /* setenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "contest/figures.h"
#include "prove/prove.h"
#include "spry.h"
#include "tune/internal.h"

enum { KINDS = 10, LINE = 1024 };

/* What a problem is of; all but one are NULL. */
typedef struct {
    spry_matrix *A;
    spry_tensor *T;
    spry_network *net;
    spry_problem *p;
} subject;

static void subject_free(subject *x)
{
    spry_problem_free(x->p);
    spry_network_free(x->net);
    spry_tensor_free(x->T);
    spry_matrix_free(x->A);
}

static spry_status of_matrix(subject *x, spry_op op, spry_type type,
                             const char *kind, int i, int columns)
{
    char spec[96];
    spry_status s;

    snprintf(spec, sizeof spec, "%s", kind);
    snprintf(spec + strlen(spec), sizeof spec - strlen(spec), "%d",
             strstr(kind, "nx=") ? 20 + i : 500 + 20 * i);
    s = spry_matrix_generate(&x->A, spec, (uint64_t)i + 1);
    return s == SPRY_OK ? spry_problem_make(&x->p, op, x->A, columns, type) : s;
}

static spry_status of_tensor(subject *x, int i)
{
    char spec[96];
    spry_status s;

    snprintf(spec, sizeof spec, "fibers,i=%d,length=8", 200 + i);
    s = spry_tensor_generate(&x->T, spec, (uint64_t)i + 1);
    return s == SPRY_OK ? spry_problem_mttkrp(&x->p, x->T, 8, SPRY_F32) : s;
}

static spry_status of_network(subject *x, int i)
{
    char spec[96];
    spry_status s;

    snprintf(spec, sizeof spec, "gen:random,width=%d,depth=3", 64 + i);
    s = spry_network_read(&x->net, spec, NULL);
    return s == SPRY_OK ? spry_problem_network(&x->p, x->net, 16) : s;
}

static spry_status of_operator(subject *x, const char *format, int i)
{
    spry_operator op;
    char text[96];
    spry_status s;

    snprintf(text, sizeof text, "%s%d", format, 40 + i);
    s = spry_operator_parse(&op, text);
    return s == SPRY_OK ? spry_problem_dense(&x->p, &op) : s;
}

static spry_status choose(subject *x, int i)
{
    switch (i % KINDS) {
    case 0:
        return of_matrix(x, SPRY_SPMV, SPRY_F64, "uniform,nnz=9000,rows=", i,
                         1);
    case 1:
        return of_matrix(x, SPRY_SPMM, SPRY_F32, "banded,band=9,rows=", i, 16);
    case 2:
        return of_matrix(x, SPRY_SDDMM, SPRY_F32, "uniform,nnz=8000,rows=", i,
                         8);
    case 3: return of_matrix(x, SPRY_SPMV, SPRY_F32, "stencil5,nx=", i, 1);
    case 4: return of_matrix(x, SPRY_SPMM, SPRY_F64, "blocks,rows=", i, 4);
    case 5: return of_tensor(x, i);
    case 6: return of_network(x, i);
    case 7: return of_operator(x, "matmul,n=24,k=48,m=", i);
    case 8: return of_operator(x, "softmax,n=64,m=", i);
    default: return of_matrix(x, SPRY_SPMM, SPRY_F32, "arrow,rows=", i, 8);
    }
}

static void *operand(const spry_problem *p, int64_t n)
{
    size_t size = spry_problem_type(p) == SPRY_F64 ? 8 : 4;
    char *at = n > 0 ? calloc((size_t)n, size) : NULL;
    sp_rng r = sp_rng_seed((uint64_t)n);

    for (int64_t i = 0; at && i < n; i++)
        if (size == 8)
            ((double *)(void *)at)[i] = sp_rng_unit(&r);
        else
            ((float *)(void *)at)[i] = (float)sp_rng_unit(&r);
    return at;
}

/* The bits of the result, as a digest in hex. */
static spry_status digest(char out[2 * SP_SHA256 + 1], const spry_problem *p,
                          const spry_plan *plan)
{
    int64_t n = spry_problem_output_size(p);
    void *B = operand(p, spry_problem_input_size(p, 0));
    void *D = operand(p, spry_problem_input_size(p, 1));
    void *C = operand(p, n);
    uint8_t sum[SP_SHA256];
    spry_status s = spry_run_scaled(plan, 1, B, D, 0, C);

    if (s == SPRY_OK) {
        sp_sha256(sum, C,
                  (size_t)n * (spry_problem_type(p) == SPRY_F64 ? 8 : 4));
        sp_hex(out, sum, SP_SHA256);
    }
    free(C);
    free(D);
    free(B);
    return s;
}

/* Says of a schedule that it is not the plain loop. */
#define CHANGED " (no plain loop)"

/* "digest schedule, kernel" of what a tune of problem i gives. */
static spry_status describe(char out[LINE], int i, const spry_tune_options *o)
{
    char hex[2 * SP_SHA256 + 1], mark[SP_KERNEL_MARK];
    spry_plan *plan = NULL;
    subject x = {0};
    spry_status s = choose(&x, i);

    if (s == SPRY_OK)
        s = spry_tune(&plan, x.p, o);
    if (s == SPRY_OK)
        s = digest(hex, x.p, plan);
    if (s == SPRY_OK) {
        sp_kernel_mark(mark, plan);
        snprintf(out, LINE, "%s %s%s, %s", hex, spry_plan_text(plan),
                 spry_plan_tuning(plan)->changed ? CHANGED : "", mark);
    }
    spry_plan_free(plan);
    subject_free(&x);
    return s;
}

/* argv: "fresh-frozen", the lock file, how many. */
int prove_fresh_frozen(int argc, char **argv)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    char line[LINE];
    long count;

    if (argc != 3)
        return 2;
    o.lock = argv[1];
    count = strtol(argv[2], NULL, 10);
    for (int i = 0; i < count; i++)
        printf("%s\n",
               describe(line, i, &o) == SPRY_OK ? line : spry_message());
    return 0;
}

typedef struct {
    int picked, differ;
} verdicts;

/* The line of a problem, then and now. */
static void compare(verdicts *v, const char *then, const char *now)
{
    const size_t digest_ends = (size_t)2 * SP_SHA256;
    int same = strlen(then) > digest_ends && strlen(now) > digest_ends &&
               strcmp(then + digest_ends, now + digest_ends) == 0;
    int differ = !same || strncmp(then, now, digest_ends) != 0;

    v->picked += same;
    v->differ += differ;
    if (differ)
        printf("then: %s\nnow:  %s\n", then, now);
}

/* How many answers there are to freeze; -1: they cannot be. */
static int64_t freeze(const char *store, const char *lock)
{
    int64_t answers = 0;
    spry_records *db;
    spry_status s = spry_records_open(&db, store);

    if (s == SPRY_OK)
        s = spry_records_freeze(db, lock, &answers);
    spry_records_close(db);
    return s == SPRY_OK ? answers : -1;
}

/* A tune that ends before it knows anything leaves no answer: then with more
 * time. 0: there is none even so. */
static int decide(char line[LINE], int i, const char *store, const char *lock)
{
    static const double budget[] = {0.5, 2, 10};
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    int64_t before = freeze(store, lock);

    o.store = store;
    for (int k = 0; k < 3; k++) {
        o.seconds = budget[k];
        if (describe(line, i, &o) == SPRY_OK && before >= 0 &&
            freeze(store, lock) > before)
            return 1;
    }
    printf("problem %d: no answer: %s %s\n", i, line, spry_message());
    return 0;
}

/* What the fresh process says, against line[count]. */
static void thaw(verdicts *v, char (*line)[LINE], int count, const char *lock,
                 const char *said)
{
    char number[16], now[LINE];
    const char *const word[PROVE_WORDS] = {"fresh-frozen", lock, number};
    FILE *f;

    snprintf(number, sizeof number, "%d", count);
    if (!prove_self(said, word))
        printf("the fresh process failed\n");
    f = fopen(said, "r");
    for (int i = 0; i < count; i++) {
        if (!f || !fgets(now, sizeof now, f))
            now[0] = 0;
        now[strcspn(now, "\n")] = 0;
        compare(v, line[i], now);
    }
    if (f)
        fclose(f);
}

void prove_frozen(const char *folder)
{
    int count = prove_count(10, 100), tuned = 0, changed = 0;
    char store[4096], lock[4096], said[4096];
    char(*line)[LINE] = calloc((size_t)count, LINE);
    double begun = sp_seconds();
    verdicts v = {0};

    setenv("SPRY_HOME", folder, 1);
    snprintf(store, sizeof store, "%s/frozen.db", folder);
    snprintf(lock, sizeof lock, "%s/frozen.lock", folder);
    snprintf(said, sizeof said, "%s/frozen.said", folder);
    for (int i = 0; line && i < count; i++) {
        tuned += decide(line[i], i, store, lock);
        changed += strstr(line[i], CHANGED) != NULL;
    }
    printf("%d of %d problems of %d kinds tuned in %.0f s, %d to another than "
           "the plain loop\n",
           tuned, count, (int)KINDS, sp_seconds() - begun, changed);
    if (line)
        thaw(&v, line, count, lock, said);
    bench_aim_least("frozen_picks", v.picked, count);
    bench_aim_most("frozen_outputs_that_differ", line ? v.differ : count, 0);
    free(line);
}
