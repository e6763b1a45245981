/* test_go.c - the order of vertices that GO makes, step by step. */
#include "check.h"

#include <string.h>

#include "base/base.h"
#include "order/replay.h"

static int has_edge(const spry_matrix *m, int32_t from, int32_t to)
{
    for (int64_t k = m->start[from]; k < m->start[from + 1]; k++)
        if ((m->index == SPRY_I32 ? ((const int32_t *)m->col)[k]
                                  : ((const int64_t *)m->col)[k]) == to)
            return 1;
    return 0;
}

/* Edges between a and b, and in-neighbours of both. */
static int kinship(const spry_matrix *m, int32_t a, int32_t b)
{
    int sum = has_edge(m, a, b) + has_edge(m, b, a);

    for (int32_t u = 0; u < m->rows; u++)
        sum += has_edge(m, u, a) && has_edge(m, u, b);
    return sum;
}

static int key_of(const spry_matrix *m, const int32_t *vertex, int64_t placed,
                  int64_t window, int32_t v)
{
    int sum = 0;

    for (int64_t i = placed > window ? placed - window : 0; i < placed; i++)
        sum += kinship(m, vertex[i], v);
    return sum;
}

static void check_greedy(const spry_matrix *m, int64_t window)
{
    int32_t vertex[64];
    int placed[64] = {0};

    check_ok(spry_vertices_order(vertex, m, window));
    for (int64_t i = 0; i < m->rows; i++) {
        int best = 0;

        assert_in_range(vertex[i], 0, m->rows - 1);
        assert_false(placed[vertex[i]]);
        for (int32_t v = 0; v < m->rows; v++) {
            int key = placed[v] ? 0 : key_of(m, vertex, i, window, v);

            best = key > best ? key : best;
        }
        assert_int_equal(key_of(m, vertex, i, window, vertex[i]), best);
        placed[vertex[i]] = 1;
    }
}

static void go_takes_the_largest_key(void **state)
{
    enum { N = 40, EDGES = 120 };
    int64_t row[EDGES], col[EDGES];
    float val[EDGES];
    uint8_t seen[N][N];

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        sp_rng r = sp_rng_seed(seed);
        spry_matrix *m;

        memset(seen, 0, sizeof seen);
        for (int k = 0; k < EDGES; k++) {
            do {
                row[k] = (int64_t)sp_rng_below(&r, N);
                col[k] = (int64_t)sp_rng_below(&r, N);
            } while (seen[row[k]][col[k]]++);
            val[k] = 1;
        }
        check_ok(spry_matrix_triples(&m, N, N, EDGES, row, col, val, SPRY_F32));
        for (int64_t window = 1; window < 60; window = 3 * window + 2)
            check_greedy(m, window);
        spry_matrix_free(m);
    }
}

static void go_wants_a_square(void **state)
{
    static const int64_t row[] = {0}, col[] = {2};
    static const float val[] = {1};
    spry_matrix *m;
    int32_t vertex[4];

    (void)state;
    check_ok(spry_matrix_triples(&m, 2, 3, 1, row, col, val, SPRY_F32));
    assert_int_equal(spry_vertices_order(vertex, m, 5), SPRY_USAGE);
    spry_matrix_free(m);
    check_ok(spry_matrix_triples(&m, 3, 3, 1, row, col, val, SPRY_F32));
    assert_int_equal(spry_vertices_order(vertex, m, 0), SPRY_USAGE);
    check_ok(spry_vertices_order(vertex, m, 5));
    assert_int_equal(vertex[0], 2); /* of most in-neighbours */
    assert_int_equal(vertex[1], 0);
    assert_int_equal(vertex[2], 1);
    spry_matrix_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(go_takes_the_largest_key),
        cmocka_unit_test(go_wants_a_square),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
