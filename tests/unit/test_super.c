/* test_super.c - random SuperSchedules against the reference. */
#include "odd_matrices.h"

#include <string.h>

#include "plan/sparse.h"
#include "schedule/super.h"

enum { PROBLEMS = 40, BATCH = 50, POINTS = 200 };

/* Odd tensors: empty slices, modes of one, nothing at all. */
static const char *const tensors[MAKERS] = {
    "uniform i=40 k=30 l=50 nnz=900",
    "uniform i=100 k=9 l=9 nnz=60",
    "uniform i=1 k=40 l=30 nnz=300",
    "uniform i=40 k=1 l=30 nnz=300",
    "uniform i=40 k=30 l=1 nnz=300",
    "uniform i=1 k=1 l=1 nnz=1",
    "uniform i=7 k=6 l=5 nnz=0",
    "uniform i=6 k=5 l=4 nnz=120",
    "zipf i=61 k=53 l=67 nnz=500",
    "clusters i=64 k=50 l=40 side=4 nnz=800",
    "fibers i=20 k=60 l=31 length=9 nnz=600",
    "uniform i=17 k=13 l=19 nnz=200",
};

/* Problems of one operation on odd matrices, with their right answers. */
typedef struct {
    spry_matrix *A[MAKERS];
    spry_tensor *T[MAKERS];
    spry_problem *p[PROBLEMS];
    sp_oracle *o[PROBLEMS];
    int count;
} world;

static spry_status make_problem(spry_problem **p, const world *w, int i,
                                spry_op op, int64_t n, spry_type type)
{
    return op == SPRY_SPMV    ? spry_problem_spmv(p, w->A[i], type)
           : op == SPRY_SPMM  ? spry_problem_spmm(p, w->A[i], n, type)
           : op == SPRY_SDDMM ? spry_problem_sddmm(p, w->A[i], n, type)
                              : spry_problem_mttkrp(p, w->T[i], n, type);
}

static void open_world(world *w, spry_op op)
{
    static const int64_t widths[] = {1, 3, 8, 37, 70};

    w->count = 0;
    for (int i = 0; i < MAKERS; i++) {
        w->A[i] = make_matrix(i);
        check_ok(spry_tensor_generate(&w->T[i], tensors[i], 1));
        for (int t = 0; t < 3; t++) {
            int64_t n = op == SPRY_SPMV ? 1 : widths[(i + 2 * t) % 5];
            spry_type type = (i + t) % 2 ? SPRY_F32 : SPRY_F64;

            check_ok(make_problem(&w->p[w->count], w, i, op, n, type));
            check_ok(sp_oracle_make(&w->o[w->count],
                                    sp_sparse_of(w->p[w->count]), 7));
            w->count++;
        }
    }
}

static void close_world(world *w)
{
    for (int i = 0; i < w->count; i++) {
        sp_oracle_free(w->o[i]);
        spry_problem_free(w->p[i]);
    }
    for (int i = 0; i < MAKERS; i++) {
        spry_matrix_free(w->A[i]);
        spry_tensor_free(w->T[i]);
    }
}

/* What was stored is what was foretold. */
static void check_storage(const spry_plan *plan)
{
    sp_super_storage k;

    check_ok(
        sp_super_store(&k, spry_plan_schedule(plan), sp_sparse_of(plan->p)));
    assert_int_equal(k.index, sp_sparse_plan_of(plan)->packed->index);
    assert_int_equal(k.sizes.values,
                     sp_sparse_plan_of(plan)->packed->part->values);
    assert_true(k.bytes == sp_sparse_plan_of(plan)->packed->bytes);
}

/* The next problem on which a point is done soon, else the one on which it is
 * done first; -1 when even that takes long: some points start threads in
 * their innermost loop. */
static int choose_problem(const world *w, const spry_schedule *x, int from,
                          const spry_machine *m)
{
    double least = HUGE_VAL;
    int best = from % w->count;

    for (int i = from; least > 2e-4 && i < from + w->count; i++) {
        spry_prediction guess = {.size = sizeof guess};

        if (spry_predict(&guess, w->p[i % w->count], x, m) == SPRY_OK &&
            guess.seconds < least) {
            least = guess.seconds;
            best = i % w->count;
        }
    }
    return least < 1e-3 ? best : -1;
}

/* Points first .. first + BATCH of the sample, dealt out to the problems. */
static int check_batch(const world *w, const spry_schedule *x, int first,
                       const spry_machine *m)
{
    const sp_sparse *p[BATCH];
    spry_schedule y[BATCH];
    spry_plan *plan[BATCH];
    int which[BATCH], count = 0, done = 0;

    for (int i = 0; i < BATCH; i++) {
        which[count] = choose_problem(w, &x[first + i], first + i, m);
        if (which[count] < 0)
            continue;
        p[count] = sp_sparse_of(w->p[which[count]]);
        y[count] = x[first + i];
        y[count].index = i % 3 ? 0 : 64;
        count++;
    }
    check_ok(sp_plan_make_nests(plan, count, p, y, m));
    for (int i = 0; i < count; i++) {
        if (!plan[i])
            continue;
        check_ok(sp_oracle_check(w->o[which[i]], sp_sparse_plan_of(plan[i])));
        check_storage(plan[i]);
        spry_plan_free(plan[i]);
        done++;
    }
    return done;
}

static void check_operation(spry_op op)
{
    static spry_schedule x[POINTS + 2 * BATCH];
    spry_space space = {.op = op, .splits = {8, 8, 6}, .threads = 3};
    spry_machine m;
    world w;
    int done = 0, points = unless_emulated(POINTS, BATCH);

    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    check_ok(spry_machine_detect(&m));
    m.threads = 3;
    sp_jit_limit(200);
    open_world(&w, op);
    spry_space_sample(x, POINTS + 2 * BATCH, &space, SPRY_SAMPLE_ALL, 11);
    for (int at = 0; done < points && at < POINTS + 2 * BATCH; at += BATCH)
        done += check_batch(&w, x, at, &m);
    assert_true(done >= points);
    close_world(&w);
}

static void spmv_nests_are_right(void **state)
{
    (void)state;
    check_operation(SPRY_SPMV);
}

static void spmm_nests_are_right(void **state)
{
    (void)state;
    check_operation(SPRY_SPMM);
}

static void sddmm_nests_are_right(void **state)
{
    (void)state;
    check_operation(SPRY_SDDMM);
}

static void mttkrp_nests_are_right(void **state)
{
    (void)state;
    check_operation(SPRY_MTTKRP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spmv_nests_are_right),
        cmocka_unit_test(spmm_nests_are_right),
        cmocka_unit_test(sddmm_nests_are_right),
        cmocka_unit_test(mttkrp_nests_are_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
