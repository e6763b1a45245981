/* test_move.c - tensors that are laid out anew. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "dense/move.h"

static int64_t one_to(sp_rng *r, int64_t most)
{
    return 1 + (int64_t)sp_rng_below(r, (uint64_t)most);
}

/* A tensor of three sizes turned into any order, in shares, element by element
 * of 4 or 8 bytes. */
static void moves(void **state)
{
    sp_rng r = sp_rng_seed(15);

    (void)state;
    for (int i = 0; i < 60; i++) {
        int64_t n[3] = {one_to(&r, 5), one_to(&r, 7), one_to(&r, 1300)};
        int at[3] = {0, 1, 2}, shares = (int)one_to(&r, 3);
        int size = sp_rng_below(&r, 2) ? 4 : 8;
        int64_t all = n[0] * n[1] * n[2], step[3] = {n[1] * n[2], n[2], 1};
        char *from = malloc((size_t)(all * size));
        char *to = calloc((size_t)all, (size_t)size);
        sp_move z = {.dims = 3, .size = (size_t)size};

        for (int64_t k = 0; k < all * size; k++)
            from[k] = (char)sp_rng_below(&r, 256);
        for (int k = 2; k > 0; k--) {
            int other = (int)sp_rng_below(&r, (uint64_t)k + 1), kept = at[k];

            at[k] = at[other];
            at[other] = kept;
        }
        for (int k = 2, out = 1; k >= 0; out *= (int)n[at[k--]]) {
            z.count[k] = n[at[k]];
            z.from[k] = step[at[k]];
            z.to[k] = out;
        }
        for (int k = 0; k < shares; k++)
            sp_move_part(&z, to, from, k, shares);
        for (int64_t a = 0; a < z.count[0]; a++)
            for (int64_t b = 0; b < z.count[1]; b++)
                for (int64_t c = 0; c < z.count[2]; c++)
                    assert_memory_equal(
                        to + (a * z.to[0] + b * z.to[1] + c * z.to[2]) * size,
                        from + (a * z.from[0] + b * z.from[1] + c * z.from[2]) *
                                   size,
                        (size_t)size);
        free(from);
        free(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
