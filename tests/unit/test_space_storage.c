/* test_space_storage.c - what a SuperSchedule stores. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "pack/pack.h"
#include "schedule/super.h"
#include "spry.h"

static void storage_is_counted_by_hand(void **state)
{
    /* x . . .     the entries of a 3 x 4 matrix
       . . x x
       . . . .  */
    int64_t row[] = {0, 1, 1}, col[] = {0, 2, 3};
    static const struct {
        const char *text;
        int64_t pos, crd, values; /* sums over levels */
    } cases[] = {
        {"super loops=ik dense=i", 4, 3, 3},
        {"super loops=ik", 2 + 3, 2 + 3, 3},
        {"super loops=ik dense=ik", 0, 0, 12},
        {"super loops=ki dense=i", 2, 3, 9},
        {"super i=2 k=2 loops=i1k1i0k0 dense=i0k0", 2 + 2, 1 + 2, 8},
        {"super i=2 k=2 loops=i1k1i0k0 dense=i1i0k0", 3, 2, 8},
        {"super i=64 loops=i1ki0 dense=i1i0", 2, 3, 9},
    };
    spry_matrix *A;
    spry_problem *p;

    (void)state;
    check_ok(spry_matrix_triples(&A, 3, 4, 3, row, col, NULL, SPRY_F64));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t pos = 0, crd = 0;
        spry_schedule x;
        spry_storage k = {.size = sizeof k};

        check_ok(spry_schedule_parse(&x, cases[i].text));
        check_ok(spry_space_storage(&k, &x, p));
        for (int l = 0; l < k.levels; l++) {
            pos += k.pos[l];
            crd += k.crd[l];
        }
        assert_int_equal(pos, cases[i].pos);
        assert_int_equal(crd, cases[i].crd);
        assert_int_equal(k.values, cases[i].values);
        assert_true(k.bytes == (double)(4 * (pos + crd) + 8 * k.values));
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Counted from blocks, or from entries sorted as the levels ask. */
static void storage_needs_no_sorting(void **state)
{
    static const char *const specs[] = {
        "uniform rows=300 cols=700 nnz=2000",
        "rmat scale=9 degree=8",
        "stencil5 nx=20",
    };
    spry_schedule x[200];
    int compared = 0;

    (void)state;
    for (int g = 0; g < 6; g++) {
        spry_space space;
        spry_matrix *A;
        spry_problem *p;

        check_ok(spry_matrix_generate(&A, specs[g / 2], 1));
        if (g % 2)
            check_ok(spry_problem_spmm(&p, A, 16, SPRY_F32));
        else
            check_ok(spry_problem_sddmm(&p, A, 16, SPRY_F32));
        space = spry_space_of(p, 2);
        spry_space_sample(x, 200, &space, SPRY_SAMPLE_ALL, 3);
        for (int i = 0; i < 200; i++) {
            sp_super_storage k;
            sp_beginnings b;
            sp_level_sizes z;
            sp_keyed *entry;

            if (sp_super_store(&k, &x[i], sp_sparse_of(p)) != SPRY_OK)
                continue;
            check_ok(sp_levels_sort(&entry, &k.levels, &x[i].super,
                                    sp_sparse_of(p)));
            b = sp_levels_begin(&k.levels, entry, A->nnz);
            z = sp_levels_count(&k.levels, &b, A->nnz);
            assert_memory_equal(&z, &k.sizes, sizeof z);
            sp_free(entry);
            compared++;
        }
        spry_problem_free(p);
        spry_matrix_free(A);
    }
    assert_true(compared > 600);
}

static void too_much_storage_is_refused(void **state)
{
    spry_matrix *A;
    spry_problem *p;
    spry_schedule x;
    spry_storage k = {.size = sizeof k};
    spry_plan *plan;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform rows=2M cols=2M nnz=10000", 1));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    check_ok(spry_schedule_parse(&x, "super loops=ik dense=ik"));
    assert_int_equal(spry_space_storage(&k, &x, p), SPRY_USAGE);
    assert_non_null(strstr(spry_message(), "20 times"));
    assert_int_equal(spry_plan_make(&plan, p, &x, NULL), SPRY_USAGE);
    check_ok(spry_schedule_parse(&x, "super loops=ik dense=i"));
    assert_int_equal(spry_space_storage(&k, &x, p), SPRY_USAGE);
    check_ok(spry_schedule_parse(&x, "super loops=ik"));
    check_ok(spry_space_storage(&k, &x, p));
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Refuse the n-th allocation until packing does without a refusal. */
static void packing_survives_refusals(void **state)
{
    spry_matrix *A;
    spry_problem *p;
    spry_schedule x;
    sp_packed *k = NULL;
    int64_t before, n = 0;
    spry_status s;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform rows=90 cols=80 nnz=500", 1));
    check_ok(spry_problem_sddmm(&p, A, 8, SPRY_F32));
    check_ok(spry_schedule_parse(&x, "super j=4 loops=j1ij0k dense=j0"));
    before = sp_alloc_live();
    do {
        sp_alloc_refuse(++n, 0);
        s = sp_pack(&k, sp_sparse_of(p), &x, 4, 2);
        sp_alloc_refuse(0, 0);
        assert_int_equal(s == SPRY_OK, k != NULL);
        if (s != SPRY_OK)
            assert_int_equal(sp_alloc_live(), before);
    } while (s == SPRY_SYSTEM);
    check_ok(s);
    assert_true(n > 5);
    sp_packed_free(k);
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_is_counted_by_hand),
        cmocka_unit_test(storage_needs_no_sorting),
        cmocka_unit_test(too_much_storage_is_refused),
        cmocka_unit_test(packing_survives_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
