/* test_nn_waconet.c - the network of WACO (Won, Mendis and Amarasinghe, ASPLOS
 * 2023) put together from this room's layers: as many numbers as published,
 * and it learns an order. */
#include "nn_gradient.h"

#include <string.h>

#include "base/base.h"

enum { CONVS = 14, CHANNELS = 32, WIDTH = 32, TABLES = 9, SCHEDULES = 8 };

/* What differs between the three operations: the categories of each part of
 * a schedule (0: no such part), and the size of its permutation. */
typedef struct {
    int64_t categories[TABLES];
    int64_t permutation;
    int64_t numbers; /* published */
} operation;

static const operation spmv = {{17, 17, 2, 2, 2, 2, 9}, 16, 371777};
static const operation spmm = {{17, 17, 8, 2, 2, 2, 2, 9}, 36, 376769};
static const operation sddmm = {{17, 17, 8, 2, 2, 2, 2, 6, 6}, 36, 380961};

typedef struct {
    sp_nn *n;
    sp_conv conv[CONVS];
    sp_dense scalar[2], matrix[2], permutation, schedule[2], head[3];
    sp_tensor *table[TABLES];
    int tables;
} waconet;

static void open_net(waconet *w, const operation *op, uint64_t seed)
{
    char name[32];

    check_ok(sp_nn_new(&w->n, seed));
    for (int i = 0; i < CONVS; i++) {
        snprintf(name, sizeof name, "conv%d", i);
        w->conv[i] = sp_conv_make(w->n, name, i ? 3 : 5, i ? 2 : 1,
                                  i ? CHANNELS : 1, CHANNELS);
    }
    w->scalar[0] = sp_dense_make(w->n, "scalar0", 3, 64, 1);
    w->scalar[1] = sp_dense_make(w->n, "scalar1", 64, 32, 1);
    w->matrix[0] =
        sp_dense_make(w->n, "matrix0", CONVS * CHANNELS + 32, 256, 1);
    w->matrix[1] = sp_dense_make(w->n, "matrix1", 256, 128, 1);
    for (w->tables = 0; w->tables < TABLES && op->categories[w->tables];
         w->tables++) {
        snprintf(name, sizeof name, "table%d", w->tables);
        w->table[w->tables] =
            sp_embedding_make(w->n, name, op->categories[w->tables], WIDTH);
    }
    w->permutation =
        sp_dense_make(w->n, "permutation", op->permutation, WIDTH, 1);
    w->schedule[0] =
        sp_dense_make(w->n, "schedule0", (w->tables + 1) * WIDTH, 128, 1);
    w->schedule[1] = sp_dense_make(w->n, "schedule1", 128, 128, 1);
    w->head[0] = sp_dense_make(w->n, "head0", 256, 128, 1);
    w->head[1] = sp_dense_make(w->n, "head1", 128, 64, 1);
    w->head[2] = sp_dense_make(w->n, "head2", 64, 1, 1);
    check_ok(sp_nn_status(w->n));
}

static void test_counts(void **state)
{
    const operation *const all[] = {&spmv, &spmm, &sddmm};

    (void)state;
    for (int i = 0; i < 3; i++) {
        waconet w;

        open_net(&w, all[i], 1);
        assert_int_equal(sp_nn_count(w.n), all[i]->numbers);
        sp_nn_free(w.n);
    }
}

/* ---- one matrix and eight schedules ---- */

typedef struct {
    sp_sites *sites[CONVS]; /* of the input of each convolution, then ... */
    sp_sites *last;         /* ... of the last output */
    int32_t part[TABLES][SCHEDULES];
    float permutation[SCHEDULES * 16];
    float seconds[SCHEDULES];
} sample;

static void open_sample(sample *s)
{
    int32_t row[200], col[200];
    sp_rng r = sp_rng_seed(4);

    for (int i = 0; i < 200; i++) {
        row[i] = i * 3;
        col[i] = (int32_t)sp_rng_below(&r, 600);
    }
    check_ok(sp_sites_new(&s->sites[0], 200, row, col));
    check_ok(sp_sites_shrink(&s->sites[1], s->sites[0], 1));
    for (int i = 2; i < CONVS; i++)
        check_ok(sp_sites_shrink(&s->sites[i], s->sites[i - 1], 2));
    check_ok(sp_sites_shrink(&s->last, s->sites[CONVS - 1], 2));
    for (int k = 0; k < SCHEDULES; k++) {
        for (int i = 0; i < TABLES; i++)
            s->part[i][k] = (int32_t)sp_rng_below(&r, 2);
        for (int i = 0; i < 16; i++)
            s->permutation[16 * k + i] = sp_rng_below(&r, 4) == 0;
        s->seconds[k] = (float)(1 + sp_rng_below(&r, 1000));
    }
}

static void close_sample(sample *s)
{
    for (int i = 0; i < CONVS; i++)
        sp_sites_free(s->sites[i]);
    sp_sites_free(s->last);
}

static sp_tensor *two_layers(sp_tape *t, const sp_dense d[2], sp_tensor *x)
{
    return sp_nn_dense(t, &d[1], sp_nn_relu(t, sp_nn_dense(t, &d[0], x)));
}

/* [1, 128] */
static sp_tensor *embed_matrix(sp_tape *t, const waconet *w, const sample *s)
{
    static const float scalars[] = {0.5f, -0.3f, 1};
    sp_tensor *pooled[CONVS + 1], *x;

    x = sp_nn_input(t, SP_SHAPE(s->sites[0]->n, 1), NULL);
    for (int64_t i = 0; i < s->sites[0]->n; i++)
        x->value[i] = 1;
    for (int i = 0; i < CONVS; i++) {
        const sp_sites *to = i + 1 < CONVS ? s->sites[i + 1] : s->last;

        x = sp_nn_relu(t, sp_nn_conv(t, &w->conv[i], x, s->sites[i], to));
        pooled[i] = sp_nn_average(t, x);
    }
    x = sp_nn_input(t, SP_SHAPE(1, 3), scalars);
    pooled[CONVS] = two_layers(t, w->scalar, x);
    return two_layers(t, w->matrix, sp_nn_join(t, pooled, CONVS + 1));
}

/* [SCHEDULES, 128] */
static sp_tensor *embed_schedules(sp_tape *t, const waconet *w, const sample *s)
{
    sp_tensor *part[TABLES + 1], *p;

    for (int i = 0; i < w->tables; i++)
        part[i] = sp_nn_rows(t, w->table[i], s->part[i], SCHEDULES);
    p = sp_nn_input(t, SP_SHAPE(SCHEDULES, 16), s->permutation);
    part[w->tables] = sp_nn_dense(t, &w->permutation, p);
    return two_layers(t, w->schedule, sp_nn_join(t, part, w->tables + 1));
}

static sp_tensor *scores(sp_tape *t, const waconet *w, const sample *s)
{
    static const int32_t first[SCHEDULES] = {0};
    sp_tensor *both[2], *h;

    both[0] = sp_nn_rows(t, embed_matrix(t, w, s), first, SCHEDULES);
    both[1] = embed_schedules(t, w, s);
    h = two_layers(t, w->head, sp_nn_join(t, both, 2));
    return sp_nn_dense(t, &w->head[2], sp_nn_relu(t, h));
}

static float train_step(sp_tape *t, const waconet *w, const sample *s)
{
    const sp_adam adam = SP_ADAM_DEFAULTS;
    const sp_hinge hinge = {.margin = 1};
    sp_tensor *loss;

    sp_tape_begin(t, 1);
    loss = sp_loss_hinge(t, scores(t, w, s), s->seconds, &hinge);
    check_ok(sp_tape_backward(t, loss));
    sp_nn_adam(w->n, &adam, 1);
    return loss->value[0];
}

/* The loss after 40 steps; *bits of all weights. */
static float train(uint64_t *bits, int threads)
{
    sp_hash h = sp_hash_begin();
    sp_tensor *x;
    sp_tape *t;
    waconet w;
    sample s;
    float loss = 0;

    open_net(&w, &spmv, 7);
    open_sample(&s);
    check_ok(sp_tape_new(&t, threads));
    for (int i = 0; i < 40; i++)
        loss = train_step(t, &w, &s);
    for (int i = 0; (x = sp_nn_at(w.n, i, NULL)); i++)
        sp_hash_add(&h, x->value, (size_t)x->size * sizeof(float));
    *bits = h.a;
    sp_tape_free(t);
    close_sample(&s);
    sp_nn_free(w.n);
    return loss;
}

static void test_learns_an_order(void **state)
{
    uint64_t bits, again;

    (void)state;
    assert_true(train(&bits, 1) < 0.05f);
    assert_true(train(&again, 1) < 0.05f);
    assert_true(bits == again);
    train(&bits, 2);
    train(&again, 2);
    assert_true(bits == again);
    assert_int_equal(sp_alloc_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_learns_an_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
