/* test_trees.c - rows side by side end in the leaves they end in alone. */
#include "check.h"

#include <math.h>

#include "base/base.h"
#include "model/trees.h"

enum { TREES = 40, ROWS = 21, KNOWN = 3 };

/* Leaves become splits until there are enough; values repeat, so that some
 * numbers are equal to the value of a split. */
static void grow(sp_node *node, int splits, int features, int left_too,
                 sp_rng *r)
{
    int count = 1;

    node[0].feature = -1;
    for (int k = 0; k < splits; k++) {
        int at;

        do
            at = (int)sp_rng_below(r, (uint64_t)count);
        while (node[at].feature >= 0);
        node[at] = (sp_node){(int32_t)sp_rng_below(r, (uint64_t)features),
                             (float)sp_rng_below(r, 5), count,
                             left_too ? (int32_t)sp_rng_below(r, 2) : 1};
        node[count++].feature = -1;
        node[count++].feature = -1;
    }
    for (int i = 0; i < count; i++)
        if (node[i].feature < 0)
            node[i].value = (float)sp_rng_below(r, 1000) / 8;
}

/* Trees of 1 to `most` leaves. */
static void make(sp_trees *t, int features, int most, int left_too, sp_rng *r)
{
    check_ok(sp_trees_new(t, features, TREES, (int64_t)TREES * 2 * most));
    for (int k = 0; k < TREES; k++) {
        int splits = (int)sp_rng_below(r, (uint64_t)most);

        grow(t->node + t->start[k], splits, features, left_too, r);
        t->start[k + 1] = t->start[k] + 2 * splits + 1;
    }
}

/* Rows that begin alike; some numbers are not known. */
static void draw_rows(float *row, int features, sp_rng *r)
{
    for (int i = 0; i < ROWS * features; i++)
        row[i] = i >= features && i % features < KNOWN ? row[i % features]
                 : sp_rng_below(r, 9) == 0             ? NAN
                                           : (float)sp_rng_below(r, 5);
}

/* Leaves are eighths, so sums are exact in any order. */
static void compare(const sp_trees *t, const float *row)
{
    double sum[ROWS] = {0}, offset = 0;
    sp_trees settled;

    check_ok(sp_trees_settle(&settled, &offset, t, row, KNOWN));
    assert_true(settled.trees <= t->trees);
    for (int rows = 0; rows <= ROWS; rows++) {
        for (int i = 0; i < ROWS; i++)
            sum[i] = offset;
        sp_trees_add(sum, &settled, row, rows);
        for (int i = 0; i < ROWS; i++)
            assert_true(
                sum[i] ==
                (i < rows ? sp_trees_sum(t, row + i * t->features) : offset));
    }
    sp_trees_free(&settled);
}

static void test_rows(void **state)
{
    static const struct {
        int features, most, left_too;
    } kinds[] = {{8, 12, 0},  {8, 32, 0},  {40, 33, 0},  {40, 64, 0},
                 {40, 64, 1}, {8, 100, 0}, {300, 20, 0}, {8, 1, 0}};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    static float row[ROWS * 300];
    sp_rng r = sp_rng_seed(3);

    (void)state;
    for (int k = 0; k < KINDS; k++) {
        sp_trees t;

        make(&t, kinds[k].features, kinds[k].most, kinds[k].left_too, &r);
        draw_rows(row, kinds[k].features, &r);
        compare(&t, row);
        sp_trees_free(&t);
    }
    assert_int_equal(sp_alloc_live(), 0);
}

static void test_memory(void **state)
{
    float row[ROWS * 8];
    sp_rng r = sp_rng_seed(4);
    spry_status s = SPRY_SYSTEM;
    sp_trees t, settled;
    double offset = 0;

    (void)state;
    make(&t, 8, 16, 0, &r);
    draw_rows(row, 8, &r);
    for (int64_t n = 1; s != SPRY_OK; n++) {
        int64_t before = sp_alloc_live();

        sp_alloc_refuse(n, 0);
        s = sp_trees_settle(&settled, &offset, &t, row, KNOWN);
        sp_alloc_refuse(0, 0);
        assert_true(s == SPRY_OK || s == SPRY_SYSTEM);
        if (s != SPRY_OK)
            assert_int_equal(sp_alloc_live(), before);
    }
    sp_trees_free(&settled);
    sp_trees_free(&t);
    assert_int_equal(sp_alloc_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
