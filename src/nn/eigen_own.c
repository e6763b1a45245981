/* eigen_own.c - orthogonal iteration: multiply a block of vectors, turn them
 * within their span to where A is diagonal (Jacobi), make them orthogonal,
 * again. Some more vectors than asked for make it converge sooner. */
#include <math.h>
#include <string.h>

#include "nn/eigen.h"

enum { SPARE = 12, MOST_ROUNDS = 2000, SWEEPS = 60 };
static const double STILL = 1e-11;

typedef struct {
    int64_t n, k;         /* length, vectors */
    double *q, *z;        /* [k][n] */
    double *h, *u, *spot; /* [k][k], [k][k], [k] */
} block;

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_to(double *a, double factor, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        a[i] += factor * b[i];
}

/* v, made orthogonal to the first j of x, twice over: what is left of its
 * length. */
static double subtract(const block *b, double *v, const double *x, int64_t j)
{
    for (int twice = 0; twice < 2; twice++)
        for (int64_t i = 0; i < j; i++)
            add_to(v, -dot(v, x + i * b->n, b->n), x + i * b->n, b->n);
    return sqrt(dot(v, v, b->n));
}

/* Gram and Schmidt. What vanishes is drawn anew. */
static void make_orthogonal(const block *b, double *x, sp_rng *chance)
{
    for (int64_t j = 0; j < b->k; j++) {
        double *v = x + j * b->n, before = sqrt(dot(v, v, b->n));
        double length = subtract(b, v, x, j);

        while (!(length > 1e-12 * before)) {
            for (int64_t i = 0; i < b->n; i++)
                v[i] = sp_rng_normal(chance);
            before = sqrt(dot(v, v, b->n));
            length = subtract(b, v, x, j);
        }
        for (int64_t i = 0; i < b->n; i++)
            v[i] /= length;
    }
}

/* One rotation of rows and columns p and q of h that makes h[p][q] zero. */
static void rotate(block *b, int64_t p, int64_t q)
{
    double *h = b->h, *u = b->u;
    int64_t k = b->k;
    double apq = h[p * k + q], t, c, s;
    double theta = (h[q * k + q] - h[p * k + p]) / (2 * apq);

    t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    c = 1 / sqrt(t * t + 1);
    s = t * c;
    for (int64_t i = 0; i < k; i++) {
        double x = h[i * k + p], y = h[i * k + q];

        h[i * k + p] = c * x - s * y;
        h[i * k + q] = s * x + c * y;
    }
    for (int64_t i = 0; i < k; i++) {
        double x = h[p * k + i], y = h[q * k + i];

        h[p * k + i] = c * x - s * y;
        h[q * k + i] = s * x + c * y;
    }
    for (int64_t i = 0; i < k; i++) {
        double x = u[i * k + p], y = u[i * k + q];

        u[i * k + p] = c * x - s * y;
        u[i * k + q] = s * x + c * y;
    }
}

/* h = u diag u', by Jacobi's rotations. */
static void make_diagonal(block *b)
{
    int64_t k = b->k;

    memset(b->u, 0, (size_t)(k * k) * sizeof *b->u);
    for (int64_t i = 0; i < k; i++)
        b->u[i * k + i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0, on = 0;

        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < k; j++)
                *(i == j ? &on : &off) += b->h[i * k + j] * b->h[i * k + j];
        if (off <= 1e-28 * on)
            return;
        for (int64_t p = 0; p < k; p++)
            for (int64_t q = p + 1; q < k; q++)
                if (fabs(b->h[p * k + q]) > 0)
                    rotate(b, p, q);
    }
}

/* The i-th largest on the diagonal: its place. */
static int64_t place_of(const block *b, int64_t rank)
{
    for (int64_t i = 0; i < b->k; i++) {
        int64_t larger = 0;

        for (int64_t j = 0; j < b->k; j++) {
            double x = b->h[j * b->k + j], y = b->h[i * b->k + i];

            larger += x > y || (!(x < y) && j < i);
        }
        if (larger == rank)
            return i;
    }
    return 0;
}

/* q = A q turned to be diagonal; how far its values moved, in relation. */
static double round_once(block *b, const sp_symmetric *a, sp_rng *chance)
{
    double moved = 0, largest = 0;

    for (int64_t i = 0; i < b->k; i++)
        a->multiply(b->z + i * b->n, b->q + i * b->n, a->payload);
    for (int64_t i = 0; i < b->k; i++)
        for (int64_t j = 0; j < b->k; j++)
            b->h[i * b->k + j] = dot(b->q + i * b->n, b->z + j * b->n, b->n);
    for (int64_t i = 0; i < b->k; i++)
        for (int64_t j = 0; j < i; j++)
            b->h[i * b->k + j] = b->h[j * b->k + i];
    make_diagonal(b);
    memset(b->q, 0, (size_t)(b->k * b->n) * sizeof *b->q);
    for (int64_t i = 0; i < b->k; i++) {
        int64_t at = place_of(b, i);
        double value = b->h[at * b->k + at];

        for (int64_t j = 0; j < b->k; j++)
            add_to(b->q + i * b->n, b->u[j * b->k + at], b->z + j * b->n, b->n);
        /* q is A x now; how far from value x, is how far from done. */
        moved = fmax(moved, i < b->k - SPARE ? fabs(value - b->spot[i]) : 0);
        largest = fmax(largest, fabs(value));
        b->spot[i] = value;
    }
    make_orthogonal(b, b->q, chance);
    return largest > 0 ? moved / largest : 0;
}

static void run(block *b, const sp_symmetric *a)
{
    sp_rng chance = sp_rng_seed(a->seed);
    int still = 0;

    for (int64_t i = 0; i < b->k * b->n; i++)
        b->q[i] = sp_rng_normal(&chance);
    make_orthogonal(b, b->q, &chance);
    /* Values settle twice as fast as vectors: wait for a while longer. */
    for (int r = 0; r < MOST_ROUNDS && still < 20; r++)
        still = round_once(b, a, &chance) < STILL ? still + 1 : 0;
}

void sp_eigen_fix_sign(double *x, int64_t n)
{
    int64_t at = 0;

    for (int64_t i = 1; i < n; i++)
        if (fabs(x[i]) > fabs(x[at]) * (1 + 1e-9))
            at = i;
    if (x[at] < 0)
        for (int64_t i = 0; i < n; i++)
            x[i] = -x[i];
}

spry_status sp_eigen_own(double *value, double *vector, int64_t k,
                         const sp_symmetric *a)
{
    block b = {.n = a->n, .k = k + SPARE < a->n ? k + SPARE : a->n};
    spry_status s = SPRY_OK;

    b.q = sp_alloc(b.k * b.n, sizeof *b.q);
    b.z = sp_alloc(b.k * b.n, sizeof *b.z);
    b.h = sp_alloc(b.k * b.k, sizeof *b.h);
    b.u = sp_alloc(b.k * b.k, sizeof *b.u);
    b.spot = sp_alloc(b.k, sizeof *b.spot);
    if (b.q && b.z && b.h && b.u && b.spot) {
        run(&b, a);
        memcpy(value, b.spot, (size_t)k * sizeof *value);
        memcpy(vector, b.q, (size_t)(k * b.n) * sizeof *vector);
        for (int64_t i = 0; i < k; i++)
            sp_eigen_fix_sign(vector + i * b.n, b.n);
    } else {
        s = sp_fail_memory((size_t)(b.k * b.n) * 2 * sizeof *b.q);
    }
    sp_free(b.q);
    sp_free(b.z);
    sp_free(b.h);
    sp_free(b.u);
    sp_free(b.spot);
    return s;
}
