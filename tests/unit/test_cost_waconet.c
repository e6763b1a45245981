/* test_cost_waconet.c - WACO's network has the published size, and sees large
 * patterns from afar. */
#include "check.h"

#include "model/cost.h"
#include "model/waconet.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_published_size),
        cmocka_unit_test(patterns_shrink_to_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
