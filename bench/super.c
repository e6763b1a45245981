/* super.c - are all SuperSchedules right, and how long does one take to make?
 *
 * Random legal points of every operation, each as likely as the others, on
 * small odd matrices and tensors: integer operands must agree bit for bit
 * with the reference, real ones within the bound of a sum. 10,000 for each
 * operation, as many as 18 minutes allow; QUICK=1 takes 300. Most of the time
 * is the compiler's, so two processes share the operations. Then kernels are
 * made one by one, the compiler's start included. */
#define _DEFAULT_SOURCE /* setenv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/folder.h"
#include "plan/sparse.h"
#include "spry.h"

enum {
    BATCH = 50,
    SHAPES = 8,
    PROBLEMS = 2 * SHAPES,
    KERNELS = 21,
    PROCESSES = 2
};

static const double SECONDS = 1080, QUICK_SECONDS = 150; /* in all */
static const double SOON = 2e-4; /* seconds of one run */

static const char *const matrices[SHAPES] = {
    "uniform rows=37 cols=301 nnz=900",
    "uniform rows=303 cols=29 nnz=900",
    "uniform rows=1 cols=97 nnz=40",
    "uniform rows=101 cols=1 nnz=50",
    "uniform rows=67 cols=61 nnz=60",
    "uniform rows=12 cols=11 nnz=120",
    "rmat scale=7 degree=4",
    "uniform rows=1 cols=1 nnz=1",
};
static const char *const tensors[SHAPES] = {
    "uniform i=40 k=30 l=50 nnz=900", "uniform i=100 k=9 l=9 nnz=60",
    "uniform i=1 k=40 l=30 nnz=300",  "uniform i=40 k=1 l=31 nnz=300",
    "uniform i=41 k=30 l=1 nnz=300",  "uniform i=6 k=5 l=4 nnz=120",
    "zipf i=61 k=53 l=67 nnz=500",    "uniform i=1 k=1 l=1 nnz=1",
};

typedef struct {
    spry_matrix *A[SHAPES];
    spry_tensor *T[SHAPES];
    spry_problem *p[PROBLEMS];
    sp_oracle *o[PROBLEMS];
    spry_machine m;
    int64_t right, wrong;
} world;

static void insist(spry_status s)
{
    if (s == SPRY_OK)
        return;
    fprintf(stderr, "%s\n", spry_message());
    exit(1);
}

/* ---- problems ---- */

static spry_status make_problem(spry_problem **p, const world *w, int i,
                                spry_op op, int64_t n, spry_type type)
{
    return op == SPRY_MTTKRP ? spry_problem_mttkrp(p, w->T[i], n, type)
                             : spry_problem_make(p, op, w->A[i], n, type);
}

static void open_world(world *w, spry_op op)
{
    static const int64_t widths[] = {1, 3, 8, 37, 70};

    for (int i = 0; i < SHAPES; i++) {
        insist(spry_matrix_generate(&w->A[i], matrices[i], 1));
        insist(spry_tensor_generate(&w->T[i], tensors[i], 1));
    }
    for (int i = 0; i < PROBLEMS; i++) {
        insist(make_problem(&w->p[i], w, i % SHAPES, op, widths[i % 5],
                            i < SHAPES ? SPRY_F32 : SPRY_F64));
        insist(sp_oracle_make(&w->o[i], sp_sparse_of(w->p[i]), 7));
    }
    w->right = w->wrong = 0;
}

static void close_world(world *w)
{
    for (int i = 0; i < PROBLEMS; i++) {
        sp_oracle_free(w->o[i]);
        spry_problem_free(w->p[i]);
    }
    for (int i = 0; i < SHAPES; i++) {
        spry_matrix_free(w->A[i]);
        spry_tensor_free(w->T[i]);
    }
}

/* ---- points ---- */

/* The next problem that the point is done with soon, else the one that it is
 * done with first: some start threads in their innermost loop. */
static int choose(const world *w, const spry_schedule *x, int from)
{
    double least = HUGE_VAL;
    int best = from % PROBLEMS;

    for (int i = from; least > SOON && i < from + PROBLEMS; i++) {
        spry_prediction guess = {.size = sizeof guess};

        if (spry_predict(&guess, w->p[i % PROBLEMS], x, &w->m) == SPRY_OK &&
            guess.seconds < least) {
            least = guess.seconds;
            best = i % PROBLEMS;
        }
    }
    return best;
}

static void judge(world *w, spry_plan *const *plan, const int *which)
{
    for (int i = 0; i < BATCH; i++) {
        if (!plan[i])
            continue;
        if (sp_oracle_check(w->o[which[i]], sp_sparse_plan_of(plan[i])) ==
            SPRY_OK)
            w->right++;
        else {
            w->wrong++;
            printf("wrong: %s\n", spry_message());
        }
        spry_plan_free(plan[i]);
    }
}

static void check_batch(world *w, const spry_space *space, uint64_t seed)
{
    const sp_sparse *p[BATCH];
    spry_schedule x[BATCH];
    spry_plan *plan[BATCH];
    int which[BATCH];

    spry_space_sample(x, BATCH, space, SPRY_SAMPLE_ALL, seed);
    for (int i = 0; i < BATCH; i++) {
        which[i] = choose(w, &x[i], (int)(seed * 7 + (uint64_t)i));
        p[i] = sp_sparse_of(w->p[which[i]]);
        x[i].index = i % 3 ? 0 : 64;
    }
    insist(sp_plan_make_nests(plan, BATCH, p, x, &w->m));
    judge(w, plan, which);
    spry_jit_clear(NULL); /* none is met again */
}

static void check_operation(world *w, spry_op op, int64_t goal, double seconds)
{
    spry_space space = {.op = op, .splits = {8, 8, 6}, .threads = 3};
    double begun = sp_seconds();

    open_world(w, op);
    for (uint64_t seed = 1;
         w->right + w->wrong < goal && sp_seconds() - begun < seconds; seed++)
        check_batch(w, &space, seed);
    printf("%-6s %6lld points right, %lld wrong, %.0f s\n", spry_op_name(op),
           (long long)w->right, (long long)w->wrong, sp_seconds() - begun);
    printf("aim super_right_%s %lld %lld %s\n", spry_op_name(op),
           (long long)w->right, (long long)goal,
           w->wrong == 0 && w->right >= goal ? "met" : "short");
    fflush(stdout);
    close_world(w);
}

/* ---- making one ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median milliseconds from a schedule to a plan, nothing of it kept. */
static void time_kernels(const spry_machine *m)
{
    spry_space space = {SPRY_SPMM, {6, 6}, 2};
    spry_schedule x[KERNELS];
    double ms[KERNELS], typical;
    spry_matrix *A;
    spry_problem *p;

    insist(spry_matrix_generate(&A, matrices[0], 1));
    insist(spry_problem_spmm(&p, A, 128, SPRY_F32));
    spry_space_sample(x, KERNELS, &space, SPRY_SAMPLE_WACO, 1);
    for (int i = 0; i < KERNELS; i++) {
        double begun = sp_seconds();
        spry_plan *plan;

        insist(spry_plan_make(&plan, p, &x[i], m));
        ms[i] = 1e3 * (sp_seconds() - begun);
        spry_plan_free(plan);
    }
    qsort(ms, KERNELS, sizeof *ms, by_value);
    typical = ms[KERNELS / 2];
    printf("a kernel is made in %.0f ms (%.0f .. %.0f of %d)\n", typical, ms[0],
           ms[KERNELS - 1], KERNELS);
    printf("aim super_kernel_ms %.0f 130 %s\n", typical,
           typical <= 130 ? "met" : "short");
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* The operations of one process: every PROCESSES-th. */
static void check_some(world *w, int first, int quick)
{
    int mine = (SPRY_OPS - first + PROCESSES - 1) / PROCESSES;
    double seconds = (quick ? QUICK_SECONDS : SECONDS) / mine;

    insist(spry_machine_detect(&w->m));
    w->m.threads = 3;
    for (int op = first; op < SPRY_OPS; op += PROCESSES)
        check_operation(w, (spry_op)op, quick ? 300 : 10000, seconds);
}

/* Each child says itself what came out; one that dies is not forgotten. To be
 * called before there are threads, which would not come along. */
static int check_all(world *w, int quick)
{
    int bad = 0, status;

    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();

        if (pid < 0) {
            perror("fork");
            return 1;
        }
        if (pid == 0) {
            check_some(w, i, quick);
            exit(0);
        }
    }
    while (wait(&status) > 0)
        bad |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (bad)
        fprintf(stderr, "bench-super: a process died\n");
    return bad;
}

/* More threads than processors: those that wait shall not spin. OpenMP reads
 * this when a program begins, so it begins again. */
static void wait_asleep(char **argv)
{
    if (getenv("OMP_WAIT_POLICY"))
        return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    const char *quick = getenv("QUICK");
    char home[BENCH_FOLDER];
    static world w;
    int bad;

    (void)argc;
    wait_asleep(argv);
    if (!bench_folder(home) || setenv("SPRY_HOME", home, 1))
        return 1;
    insist(spry_jit_available());
    sp_jit_limit(300);
    bad = check_all(&w, quick && *quick == '1');
    insist(spry_machine_detect(&w.m));
    time_kernels(&w.m);
    bench_folder_remove(home);
    return bad;
}
