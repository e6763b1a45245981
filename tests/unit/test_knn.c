/* test_knn.c - the graph finds what looking at everything finds. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "knn/knn.h"

enum { COUNT = 3000, DIM = 8, MOST = 10 };

static const char path[] = "test_knn.graph";

/* Points in clusters, as embeddings are. */
static void draw(float *x, int64_t count, int dim, uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);

    for (int64_t i = 0; i < count; i++)
        for (int d = 0; d < dim; d++)
            x[i * dim + d] =
                (float)((double)(i % 7 * (d % 3)) + sp_rng_normal(&r));
}

static sp_knn *build(float *x, int64_t count, int dim, uint64_t seed)
{
    sp_knn_options o = {16, 64, 1};
    sp_knn *g;

    draw(x, count, dim, 5);
    o.seed = seed;
    check_ok(sp_knn_build(&g, x, count, dim, &o));
    return g;
}

static double distance(const float *a, const float *b, int dim)
{
    double sum = 0;

    for (int d = 0; d < dim; d++)
        sum += (double)(a[d] - b[d]) * (double)(a[d] - b[d]);
    return sum;
}

/* How many of the found are among the true nearest. */
static int hits(const sp_knn_found *found, int n, const float *x,
                const float *q)
{
    int hit = 0;

    for (int i = 0; i < n; i++) {
        double mine = distance(x + (int64_t)found[i].item * DIM, q, DIM);
        int nearer = 0;

        for (int k = 0; k < COUNT; k++)
            nearer += distance(x + (int64_t)k * DIM, q, DIM) < mine;
        hit += nearer < MOST;
    }
    return hit;
}

typedef struct {
    const sp_knn *g;
    const float *query;
} target;

static void distances(double *out, const int32_t *item, int n, void *payload)
{
    const target *t = payload;

    for (int i = 0; i < n; i++)
        out[i] =
            distance(sp_knn_vector(t->g, item[i]), t->query, sp_knn_dim(t->g));
}

static spry_status nearest(sp_knn_found *out, int *count, const sp_knn *g,
                           int ef, const float *query, int64_t *asked)
{
    target t = {g, query};

    return sp_knn_walk(out, count, MOST, g, ef, distances, &t, asked);
}

static void test_recall(void **state)
{
    static float x[COUNT * DIM], query[50 * DIM];
    sp_knn *g = build(x, COUNT, DIM, 1);
    sp_knn_found found[MOST];
    int64_t asked, all = 0;
    int count, hit = 0;

    (void)state;
    draw(query, 50, DIM, 99);
    for (int i = 0; i < 50; i++) {
        check_ok(nearest(found, &count, g, 50, query + i * DIM, &asked));
        assert_int_equal(count, MOST);
        for (int k = 1; k < count; k++)
            assert_true(found[k - 1].score <= found[k].score);
        hit += hits(found, count, x, query + i * DIM);
        all += asked;
    }
    assert_true(hit > 475);            /* of 500 */
    assert_true(all / 50 < COUNT / 3); /* without looking at all */
    sp_knn_free(g);
}

/* ---- walking by another score ---- */

typedef struct {
    const float *x;
    long asked;
} hills;

/* Smooth, not a distance, negative in places, with several valleys. */
static double height(const float *v)
{
    double sum = -3;

    for (int d = 0; d < DIM; d++)
        sum += 0.1 * (double)v[d] * (double)v[d] + cos((double)v[d] / 2 + d);
    return sum;
}

static void heights(double *out, const int32_t *item, int n, void *payload)
{
    hills *h = payload;

    h->asked += n;
    for (int i = 0; i < n; i++)
        out[i] = height(h->x + (int64_t)item[i] * DIM);
}

static void test_score(void **state)
{
    static float x[COUNT * DIM];
    sp_knn *g = build(x, COUNT, DIM, 1);
    hills h = {x, 0};
    sp_knn_found found[MOST];
    int64_t asked, before = 0;
    int count, better = 0;

    (void)state;
    for (int ef = MOST; ef <= 160; ef *= 2) { /* more ef, more looked at */
        h.asked = 0;
        check_ok(sp_knn_walk(found, &count, MOST, g, ef, heights, &h, &asked));
        assert_int_equal(asked, h.asked);
        assert_true(asked >= before);
        before = asked;
    }
    assert_int_equal(count, MOST);
    for (int i = 0; i < COUNT; i++)
        better += height(x + (int64_t)i * DIM) < found[0].score;
    assert_true(better < 3); /* of 3000 */
    assert_true(asked < COUNT / 2);
    sp_knn_free(g);
}

static void no_number(double *out, const int32_t *item, int n, void *payload)
{
    (void)item;
    (void)payload;
    for (int i = 0; i < n; i++)
        out[i] = (double)NAN;
}

static void test_odd(void **state)
{
    static float same[200 * 2], x[5] = {1, 2, 3, 4, 5};
    sp_knn_options o = {16, 64, 1};
    sp_knn_found found[MOST];
    sp_knn *g;
    int64_t asked;
    int count;

    (void)state;
    check_ok(sp_knn_build(&g, x, 1, 1, &o)); /* alone */
    check_ok(nearest(found, &count, g, 1, x, &asked));
    assert_int_equal(count, 1);
    sp_knn_free(g);
    check_ok(sp_knn_build(&g, same, 200, 2, &o)); /* all alike */
    check_ok(nearest(found, &count, g, 20, same, &asked));
    assert_int_equal(count, MOST);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(found[i].item, found[k].item);
    check_ok(sp_knn_walk(found, &count, 1, g, 1, no_number, NULL, &asked));
    assert_true(found[0].score == HUGE_VAL);
    sp_knn_free(g);
    x[3] = NAN;
    assert_int_equal(sp_knn_build(&g, x, 5, 1, &o), SPRY_USAGE);
    assert_null(g);
    assert_int_equal(sp_knn_build(&g, x, 0, 1, &o), SPRY_USAGE);
    o.ef = 2;
    assert_int_equal(sp_knn_build(&g, x, 3, 1, &o), SPRY_USAGE);
}

/* ---- files ---- */

static sp_file bytes_of(const sp_knn *g)
{
    sp_file f;

    check_ok(sp_knn_save(g, path));
    check_ok(sp_file_read(&f, path, 1 << 24));
    unlink(path);
    return f;
}

static void test_repeats(void **state)
{
    static float x[500 * DIM];
    sp_knn *a = build(x, 500, DIM, 1), *b = build(x, 500, DIM, 1), *c;
    sp_file fa = bytes_of(a), fb = bytes_of(b), fc;

    (void)state;
    assert_int_equal(fa.len, fb.len);
    assert_memory_equal(fa.data, fb.data, fa.len);
    check_ok(sp_knn_parse(&c, fa.data, fa.len, "a"));
    assert_int_equal(sp_knn_count(c), 500);
    assert_int_equal(sp_knn_dim(c), DIM);
    fc = bytes_of(c);
    assert_memory_equal(fa.data, fc.data, fa.len);
    sp_knn_free(c);
    c = build(x, 500, DIM, 2); /* another seed, another graph */
    sp_file_free(&fc);
    fc = bytes_of(c);
    assert_true(fc.len != fa.len || memcmp(fa.data, fc.data, fa.len) != 0);
    sp_knn_free(a);
    sp_knn_free(b);
    sp_knn_free(c);
    sp_file_free(&fa);
    sp_file_free(&fb);
    sp_file_free(&fc);
}

/* Changed bytes with a right checksum: what is inside is checked too. */
static spry_status with(const sp_file *f, size_t at, uint32_t value)
{
    char *copy = sp_alloc((int64_t)f->len, 1);
    sp_knn *g;
    spry_status s;

    memcpy(copy, f->data, f->len);
    memcpy(copy + at, &value, sizeof value);
    sp_sha256((uint8_t *)copy + f->len - SP_SHA256, copy, f->len - SP_SHA256);
    s = sp_knn_parse(&g, copy, f->len, "changed");
    if (s != SPRY_OK)
        assert_null(g);
    sp_knn_free(g);
    sp_free(copy);
    return s;
}

static void test_bad_files(void **state)
{
    static float x[100 * DIM];
    sp_knn *g = build(x, 100, DIM, 1), *none;
    sp_file f = bytes_of(g);
    size_t vectors = 56 + 104, bottom = vectors + sizeof x;

    (void)state;
    for (size_t len = 0; len < f.len; len += len < 200 ? 1 : 97) {
        assert_int_equal(sp_knn_parse(&none, f.data, len, "cut"), SPRY_INPUT);
        assert_null(none);
    }
    for (size_t at = 0; at < f.len; at += 13) {
        f.data[at] ^= 4;
        assert_int_equal(sp_knn_parse(&none, f.data, f.len, "flipped"),
                         SPRY_INPUT);
        f.data[at] ^= 4;
    }
    check_ok(with(&f, bottom, 1)); /* nothing wrong with this one */
    assert_int_equal(with(&f, 12, 2), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "changed: has version 2"));
    assert_int_equal(with(&f, 8, 0x04030201), SPRY_INPUT);
    assert_int_equal(with(&f, 48, 100), SPRY_INPUT);        /* entry */
    assert_int_equal(with(&f, 24, 0x7fffffff), SPRY_INPUT); /* count */
    assert_int_equal(with(&f, 56, 0x01010101), SPRY_INPUT); /* layers */
    assert_int_equal(with(&f, vectors, 0x7fc00000), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "not finite"));
    assert_int_equal(with(&f, bottom, 100), SPRY_INPUT);
    assert_int_equal(with(&f, bottom, 0xfffffff0), SPRY_INPUT);
    assert_int_equal(with(&f, bottom, 0xffffffff), SPRY_INPUT); /* a hole */
    assert_int_equal(sp_knn_load(&none, "nowhere.graph"), SPRY_INPUT);
    sp_file_free(&f);
    sp_knn_free(g);
}

static void test_no_memory(void **state)
{
    static float x[300 * DIM];
    sp_knn_options o = {16, 64, 1};
    sp_knn *g = build(x, 300, DIM, 1);
    sp_file f = bytes_of(g);
    sp_knn_found found[MOST];
    int64_t live = sp_alloc_live(), asked;
    sp_knn *other;
    int count, refused = 1;

    (void)state;
    for (int n = 1; refused; n++) {
        sp_alloc_refuse(n, 1);
        refused = sp_knn_build(&other, x, 300, DIM, &o) != SPRY_OK;
        sp_alloc_refuse(0, 0);
        sp_knn_free(other);
        assert_int_equal(sp_alloc_live(), live);
    }
    refused = 1;
    for (int n = 1; refused; n++) {
        sp_alloc_refuse(n, 1);
        refused = sp_knn_parse(&other, f.data, f.len, "f") != SPRY_OK;
        sp_alloc_refuse(0, 0);
        sp_knn_free(other);
    }
    refused = 1;
    for (int n = 1; refused; n++) {
        sp_alloc_refuse(n, 1);
        refused = nearest(found, &count, g, 20, x, &asked) != SPRY_OK;
        sp_alloc_refuse(0, 0);
    }
    assert_int_equal(sp_alloc_live(), live);
    sp_file_free(&f);
    sp_knn_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recall),    cmocka_unit_test(test_score),
        cmocka_unit_test(test_odd),       cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_bad_files), cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
