/* test_nn_eigen.c - eigenvectors of graphs whose eigenvalues are known, by
 * ARPACK where there is one and by spry's own iteration. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "nn/eigen.h"

typedef spry_status finder(double *value, double *vector, int64_t k,
                           const sp_symmetric *a);
static finder *const finders[] = {sp_eigen_largest, sp_eigen_own};

/* Laplacian of the path 0 - 1 - ... - n-1: 2 - 2 cos(pi j / n). */
static void path(double *y, const double *x, void *payload)
{
    int64_t n = *(const int64_t *)payload;

    for (int64_t i = 0; i < n; i++)
        y[i] =
            (i > 0 ? x[i] - x[i - 1] : 0) + (i + 1 < n ? x[i] - x[i + 1] : 0);
}

/* Of the graph that joins all: n, n - 1 times, and 0. */
static void complete(double *y, const double *x, void *payload)
{
    int64_t n = *(const int64_t *)payload;
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    for (int64_t i = 0; i < n; i++)
        y[i] = (double)n * x[i] - sum;
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* A x = value x, and the vectors are orthogonal, of length 1, of one sign. */
static void check_pairs(const double *value, const double *vector, int64_t k,
                        const sp_symmetric *a)
{
    double *y = sp_alloc(a->n, sizeof *y);

    for (int64_t i = 0; i < k; i++) {
        const double *x = vector + i * a->n;
        double most = 0;

        a->multiply(y, x, a->payload);
        for (int64_t j = 0; j < a->n; j++) {
            assert_true(fabs(y[j] - value[i] * x[j]) <
                        1e-3 * (1 + fabs(value[i])));
            most = fabs(x[j]) > fabs(most) * (1 + 1e-9) ? x[j] : most;
        }
        assert_true(most > 0);
        for (int64_t j = 0; j <= i; j++)
            assert_true(fabs(dot(x, vector + j * a->n, a->n) - (i == j)) <
                        1e-6);
    }
    sp_free(y);
}

static void check_path(finder *find, int64_t n, int64_t k)
{
    const double pi = 3.141592653589793;
    double *value = sp_alloc(k, sizeof *value);
    double *vector = sp_alloc(k * n, sizeof *vector);
    sp_symmetric a = {n, path, &n, 3};

    check_ok(find(value, vector, k, &a));
    for (int64_t i = 0; i < k; i++)
        assert_true(fabs(value[i] - 2 +
                         2 * cos(pi * (double)(n - 1 - i) / (double)n)) < 1e-6);
    check_pairs(value, vector, k, &a);
    sp_free(value);
    sp_free(vector);
}

static void paths_have_their_values(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        check_path(finders[f], 60, 8);
        check_path(finders[f], 9, 9);
        check_path(finders[f], 1, 1);
    }
}

static void repeated_values_are_all_found(void **state)
{
    enum { N = 30, K = 6 };
    int64_t n = N;
    double value[K], vector[K * N];
    sp_symmetric a = {N, complete, &n, 5};

    (void)state;
    for (int f = 0; f < 2; f++) {
        check_ok(finders[f](value, vector, K, &a));
        for (int i = 0; i < K; i++)
            assert_true(fabs(value[i] - N) < 1e-6);
        check_pairs(value, vector, K, &a);
    }
    assert_int_equal(sp_eigen_largest(value, vector, 0, &a), SPRY_USAGE);
}

static void somebody_finds_them(void **state)
{
    (void)state;
    assert_true(strcmp(sp_eigen_by(), "ARPACK") == 0 ||
                strcmp(sp_eigen_by(), "own iteration") == 0);
}

static void short_memory_is_survived(void **state)
{
    enum { N = 40, K = 3 };
    int64_t n = N;
    double value[K], vector[K * N];
    sp_symmetric a = {N, path, &n, 3};

    (void)state;
    for (int f = 0; f < 2; f++)
        for (int64_t i = 1;; i++) {
            spry_status s;

            sp_alloc_refuse(i, 0);
            s = finders[f](value, vector, K, &a);
            sp_alloc_refuse(0, 0);
            assert_int_equal(sp_alloc_live(), 0);
            if (s == SPRY_OK)
                break;
            assert_int_equal(s, SPRY_SYSTEM);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_have_their_values),
        cmocka_unit_test(repeated_values_are_all_found),
        cmocka_unit_test(somebody_finds_them),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
