/* test_cost_waconet.c - WACO's network has the published size, and sees large
 * patterns from afar. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/meta.h"
#include "model/waconet.h"
#include "spry/space.h"

/* As many numbers as were published. */
static void has_the_published_size(void **state)
{
    const struct {
        spry_op op;
        int64_t numbers;
    } published[] = {
        {SPRY_SPMV, 371777}, {SPRY_SPMM, 376769}, {SPRY_SDDMM, 380961}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        static int64_t nowhere;
        static const sp_examples none = {.start = &nowhere};
        sp_fitting l = {.train = &none, .threads = 1, .rounds = 1};
        sp_cost *c;

        check_ok(
            sp_cost_fit(&c, sp_cost_kind_find("waconet"), published[i].op, &l));
        assert_int_equal(sp_nn_count(c->nn), published[i].numbers);
        sp_cost_free(c);
    }
}

/* Patterns beyond the limit shrink to it, those below stay as they are. */
static void patterns_shrink_to_the_limit(void **state)
{
    static const struct {
        const char *spec;
        int shrinks;
    } input[] = {{"gen:uniform,rows=300,nnz=4k", 0},
                 {"gen:uniform,rows=30k,nnz=90k", 1},
                 {"gen:banded,rows=20k,band=4,density=0.5", 1}};

    (void)state;
    for (size_t i = 0; i < sizeof input / sizeof input[0]; i++) {
        sp_waco_sites sites;
        spry_matrix *A;

        check_ok(spry_matrix_read(&A, input[i].spec));
        check_ok(sp_waco_sites_new(&sites, A));
        if (input[i].shrinks)
            assert_in_range(sites.at[0]->n, SP_WACO_SITES / 4, SP_WACO_SITES);
        else
            assert_int_equal(sites.at[0]->n, A->nnz);
        sp_waco_sites_free(&sites);
        spry_matrix_free(A);
    }
    assert_int_equal(sp_alloc_live(), 0);
}

/* ---- over machines ---- */

enum { MATRICES = 12, NESTS = 8 };

typedef struct {
    spry_machine m;
    spry_matrix *A[MATRICES];
    spry_problem *p[MATRICES];
    sp_subject subject[MATRICES];
    sp_example row[MATRICES * NESTS];
    int64_t start[MATRICES + 1], group[MATRICES];
    sp_examples e;
} machine;

/* Nests whose time grows with how the rows are split. */
static void open_machine(machine *w)
{
    memset(w, 0, sizeof *w);
    check_ok(spry_machine_detect(&w->m));
    for (int k = 0; k < MATRICES; k++) {
        spry_schedule nest[NESTS];
        spry_space space;
        char spec[64];

        snprintf(spec, sizeof spec, "gen:uniform,rows=%d,nnz=%d", 40 + k,
                 160 + 10 * k);
        check_ok(spry_matrix_read(&w->A[k], spec));
        check_ok(spry_problem_spmv(&w->p[k], w->A[k], SPRY_F32));
        check_ok(sp_subject_of(&w->subject[k], sp_sparse_of(w->p[k]), &w->m));
        space = spry_space_of(w->p[k], 2);
        spry_space_sample(nest, NESTS, &space, SPRY_SAMPLE_WACO, (uint64_t)k);
        w->group[k] = k;
        w->start[k + 1] = (int64_t)(k + 1) * NESTS;
        for (int i = 0; i < NESTS; i++) {
            double log_seconds = -9 + 0.5 * nest[i].super.split[0] + 0.01 * i;

            w->row[k * NESTS + i] = (sp_example){
                k, nest[i], log_seconds, -9 - log_seconds, 0.01, 0};
        }
    }
    w->e = (sp_examples){MATRICES, MATRICES * (int64_t)NESTS, w->subject,
                         w->row, w->start};
}

/* It learns over machines, and a network of another kind is refused. */
static void learns_over_machines(void **state)
{
    static machine w;
    sp_fitting l = {.train = &w.e, .seed = 1, .threads = 1, .rounds = 1};
    sp_meta how = SP_META_DEFAULTS;
    sp_meta_task task;
    sp_dataset t;
    sp_cost *c, *other;
    double gain;

    (void)state;
    open_machine(&w);
    check_ok(sp_dataset_new(&t, &w.e, 1));
    task = (sp_meta_task){&t, w.group};
    check_ok(sp_cost_fit(&c, sp_cost_kind_find("waconet"), SPRY_SPMV, &l));
    how.kind = SP_META_FOMAML;
    how.steps = 1;
    how.outer_rate = 3e-3;
    how.rounds = 20;
    check_ok(sp_meta_learn_waco(c, &task, 1, &how, &gain));
    assert_true(gain > 0);
    check_ok(sp_cost_fit(&other, sp_cost_kind_find("analytic"), SPRY_SPMV, &l));
    assert_int_equal(sp_meta_learn_waco(other, &task, 1, &how, &gain),
                     SPRY_USAGE);
    sp_cost_free(other);
    sp_cost_free(c);
    sp_dataset_free(&t);
    for (int k = 0; k < MATRICES; k++) {
        spry_problem_free(w.p[k]);
        spry_matrix_free(w.A[k]);
    }
    assert_int_equal(sp_alloc_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_published_size),
        cmocka_unit_test(patterns_shrink_to_the_limit),
        cmocka_unit_test(learns_over_machines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
