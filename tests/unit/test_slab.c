/* test_slab.c - arrays side by side, apart from each other, freed at once. */
#include "check.h"

#include <string.h>

#include "base/base.h"
#include "base/slab.h"

/* Small ones, ones larger than a block, and none at all. */
static void apart(void **state)
{
    static const int64_t size[] = {1, 64, 65, 4 << 20, 5 << 20, 9 << 20, 0, 7};
    enum { COUNT = sizeof size / sizeof *size };
    int64_t live = sp_alloc_live();
    sp_slab *s = sp_slab_open();
    unsigned char *at[COUNT];

    (void)state;
    assert_non_null(s);
    for (int i = 0; i < COUNT; i++) {
        at[i] = sp_slab_get(s, size[i], 1);
        assert_non_null(at[i]);
        assert_int_equal((uintptr_t)at[i] % 64, 0);
        memset(at[i], i + 1, (size_t)size[i]);
    }
    for (int i = 0; i < COUNT; i++)
        for (int64_t k = 0; k<size[i]; k += size[i]> 100 ? 4096 : 1)
            assert_int_equal(at[i][k], i + 1);
    sp_slab_free(s);
    assert_int_equal(sp_alloc_live(), live);
}

static void refused(void **state)
{
    sp_slab *s = sp_slab_open();

    (void)state;
    assert_null(sp_slab_get(s, -1, 4));
    assert_null(sp_slab_get(s, INT64_MAX, 8));
    sp_alloc_refuse(1, 1);
    assert_null(sp_slab_get(s, 16, 4));
    sp_alloc_refuse(0, 0);
    assert_non_null(sp_slab_get(s, 16, 4));
    sp_slab_free(s);
    sp_slab_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(apart),
                                       cmocka_unit_test(refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
