/* test_kernels.c - every kernel of every family against the reference.
 *
 * The kernels are the built-in ones, found by walking the schedule space;
 * the matrices are the odd ones on which kernels go wrong. */
#include "odd_matrices.h"

#include <string.h>

#include "matrix/matrix.h"
#include "plan/sparse.h"
#include "schedule/schedule.h"

/* ---- every schedule that needs no compiler ----
 *
 * They are listed once per operation and type, and dealt out to the matrices
 * in turn; the first lap meets every kernel. */

enum { LISTED = 40000 };

typedef struct {
    spry_schedule x[LISTED];
    sp_kernel *kernel[LISTED];
    int count, next;
    int kernels; /* different ones; their first schedules lead the list */
} list;

/* Values of a parameter that reach every branch of the code. */
static int values_of(int32_t out[16], const sp_param *q)
{
    static const struct {
        const char *name;
        int32_t value;
    } other[] = {{"threads", 3}, {"prefetch", 12}, {"panel", 16}, {"pass", 16},
                 {"sigma", 64},  {"chunk", 3},     {"pass", 32}};
    int n = 0;

    out[n++] = q->otherwise;
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (strcmp(q->name, other[i].name) == 0)
            out[n++] = other[i].value;
    if (n > 1)
        return n;
    for (int i = 0; q->value[i] >= 0; i++)
        if (q->value[i] != q->otherwise)
            out[n++] = q->value[i];
    if (strcmp(q->name, "index") == 0)
        out[n++] = 64;
    return n;
}

static void add(list *l, const spry_schedule *x, const spry_problem *p,
                const spry_machine *m)
{
    sp_spec k =
        sp_codegen_spec(x, sp_sparse_of(p), m->isa, x->index ? x->index : 32);
    sp_kernel *kernel = sp_builtin_find(&k);

    if (kernel && l->count < LISTED &&
        spry_schedule_legal(x, p, m) == SPRY_OK) {
        l->kernel[l->count] = kernel;
        l->x[l->count++] = *x;
    }
}

/* Choose a value for parameter `at` and all after it. */
static void enumerate(list *l, spry_schedule x, int at, const spry_problem *p,
                      const spry_machine *m)
{
    int32_t value[16];
    int n;

    if (at == sp_param_count) {
        add(l, &x, p, m);
        return;
    }
    if (!sp_param_used(&sp_params[at], x.format, spry_problem_op(p))) {
        enumerate(l, x, at + 1, p, m);
        return;
    }
    n = values_of(value, &sp_params[at]);
    for (int i = 0; i < n; i++) {
        sp_param_set(&x, &sp_params[at], value[i]);
        enumerate(l, x, at + 1, p, m);
    }
}

static void swap(list *l, int i, int j)
{
    spry_schedule x = l->x[i];
    sp_kernel *kernel = l->kernel[i];

    l->x[i] = l->x[j];
    l->kernel[i] = l->kernel[j];
    l->x[j] = x;
    l->kernel[j] = kernel;
}

/* In random order, but one schedule of every kernel first. */
static void shuffle(list *l, sp_rng *r)
{
    for (int i = l->count - 1; i > 0; i--)
        swap(l, i, (int)sp_rng_below(r, (uint64_t)i + 1));
    for (int i = l->kernels = 0; i < l->count; i++) {
        int k = 0;

        while (k < l->kernels && l->kernel[k] != l->kernel[i])
            k++;
        if (k == l->kernels)
            swap(l, l->kernels++, i);
    }
}

static spry_status make_problem(spry_problem **p, const spry_matrix *A,
                                spry_op op, int64_t n, spry_type type)
{
    return op == SPRY_SPMV   ? spry_problem_spmv(p, A, type)
           : op == SPRY_SPMM ? spry_problem_spmm(p, A, n, type)
                             : spry_problem_sddmm(p, A, n, type);
}

/* All schedules of an operation; the matrix is large enough for each. */
static void make_list(list *l, spry_op op, int64_t n, spry_type type,
                      const spry_machine *m, sp_rng *r)
{
    spry_matrix *A = make_matrix(6);
    spry_problem *p;

    check_ok(make_problem(&p, A, op, n, type));
    l->count = l->next = 0;
    for (int f = 0; f < sp_format_count; f++)
        if (sp_formats[f].uses[op])
            enumerate(l, sp_schedule_default(f), 0, p, m);
    assert_in_range(l->count, 1, LISTED - 1);
    shuffle(l, r);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* The next `most` plans of the list must agree with the oracle, if they fit
 * the problem. */
static int check_problem(list *l, const spry_problem *p, const spry_machine *m,
                         int most)
{
    sp_oracle *o;
    int done = 0;

    check_ok(sp_oracle_make(&o, sp_sparse_of(p), 5));
    for (int i = 0; i < most; i++) {
        spry_plan *plan;
        spry_status s =
            spry_plan_make(&plan, p, &l->x[l->next++ % l->count], m);

        if (s == SPRY_USAGE) /* does not fit: 16 bits, too much padding */
            continue;
        check_ok(s);
        check_ok(sp_oracle_check(o, sp_sparse_plan_of(plan)));
        spry_plan_free(plan);
        done++;
    }
    sp_oracle_free(o);
    return done;
}

/* Every odd matrix with every dense width. */
static int check_list(list *l, spry_op op, spry_type type, const int64_t *n,
                      int widths, const spry_machine *m)
{
    int done = 0;

    for (int a = 0; a < MAKERS; a++) {
        spry_matrix *A = make_matrix(a);

        for (int i = 0; i < widths; i++) {
            spry_problem *p;

            check_ok(make_problem(&p, A, op, n[i], type));
            done += check_problem(l, p, m, op == SPRY_SPMV ? 40 : 16);
            spry_problem_free(p);
        }
        spry_matrix_free(A);
    }
    assert_true(l->next > l->kernels);
    return done;
}

/* Kernels for any dense width, then those that have theirs compiled in. */
static void check_isa(spry_isa isa)
{
    static const int64_t any[] = {0, 1, 3, 8, 37, 71}, fixed[] = {32, 64, 128};
    static list l;
    sp_rng r = sp_rng_seed((uint64_t)isa);
    spry_machine m;
    int done = 0;

    check_ok(spry_machine_detect(&m));
    m.isa = isa;
    m.threads = 3;
    for (int op = SPRY_SPMV; op <= SPRY_SDDMM; op++)
        for (int t = 4; t <= 8; t += 4) {
            make_list(&l, (spry_op)op, 71, (spry_type)t, &m, &r);
            done += check_list(&l, (spry_op)op, (spry_type)t, any,
                               op == SPRY_SPMV ? 1 : 6, &m);
            for (int i = 0; op != SPRY_SPMV && i < 3; i++) {
                make_list(&l, (spry_op)op, fixed[i], (spry_type)t, &m, &r);
                done +=
                    check_list(&l, (spry_op)op, (spry_type)t, &fixed[i], 1, &m);
            }
        }
    assert_true(done > 2000);
}

/* Those built in for every set that this CPU runs. */
static void kernels_agree(void **state)
{
    int sets = 0;

    (void)state;
    for (int isa = 0; isa < sp_isa_count; isa++)
        if (has_kernels((spry_isa)isa)) {
            check_isa((spry_isa)isa);
            sets++;
        }
    assert_true(sets > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
