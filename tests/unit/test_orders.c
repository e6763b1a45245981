/* test_orders.c - EGO against the queue of edges it stands for, GO against
 * its keys counted anew, annealing against what it began with. */
#include "check.h"

#include <string.h>

#include "base/base.h"
#include "eon/eon.h"
#include "order/replay.h"

static const char *const nets[] = {
    "gen:random,width=9,depth=4,density=0.4",
    "gen:random,width=16,depth=3,density=0.15",
    "gen:random,width=6,depth=2,density=1",
    "gen:random,width=5,density=0",
    "gen:skip,width=10,depth=5,degree=3",
    "gen:skip,width=4,depth=9,degree=4",
    "gen:mixed,radices=2x3x2,copies=2",
    "gen:pruned,widths=20x10x15x5,sparsity=0.7",
    "gen:smallworld,width=14,degree=4,rewire=0.3",
};
enum { NETS = sizeof nets / sizeof *nets };

static spry_network *read_net(const char *path, uint64_t seed)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_network *n;

    o.seed = seed;
    check_ok(spry_network_read(&n, path, &o));
    return n;
}

static int64_t total_io(const spry_network *n, const int32_t *edge,
                        int64_t memory)
{
    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;
    spry_io io = {.size = sizeof io};

    o.memory = memory;
    check_ok(spry_simulate(&io, n, edge, &o));
    return io.reads + io.writes;
}

/* ---- EGO ---- */

/* Algorithm 3 as it is written: a key for every edge. */
typedef struct {
    int64_t edges;
    int32_t *from, *to; /* [edges] */
    int *k1, *k2, *queued;
    int *rank; /* [neurons] when it became ready */
} naive;

/* The three sets of edge e, those in the queue. */
static void add_to_kin(const naive *q, int32_t e, int by)
{
    for (int64_t k = 0; k < q->edges; k++)
        if (q->queued[k])
            q->k2[k] +=
                by * ((q->from[k] == q->from[e]) + (q->to[k] == q->to[e]) +
                      (q->from[k] == q->to[e]));
}

static int comes_first(const naive *q, int64_t x, int64_t y)
{
    if (q->k1[x] != q->k1[y])
        return q->k1[x] > q->k1[y];
    if (q->k2[x] != q->k2[y])
        return q->k2[x] > q->k2[y];
    if (q->rank[q->from[x]] != q->rank[q->from[y]])
        return q->rank[q->from[x]] < q->rank[q->from[y]];
    return x < y;
}

static int32_t pop(const naive *q)
{
    int64_t best = -1;

    for (int64_t k = 0; k < q->edges; k++)
        if (q->queued[k] && (best < 0 || comes_first(q, k, best)))
            best = k;
    q->queued[best] = 0;
    return (int32_t)best;
}

static void fill_naive(naive *q, const spry_network *n, int *ready)
{
    for (int32_t v = 0; v < n->neurons; v++) {
        if (n->start[v] == n->start[v + 1])
            q->rank[v] = (*ready)++;
        for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
            int32_t u = n->source[k];

            q->from[k] = u;
            q->to[k] = v;
            q->queued[k] = 1;
            q->k1[k] = -(int)(n->start[u + 1] - n->start[u]);
        }
    }
}

static void order_naively(int32_t *edge, const spry_network *n, int64_t window)
{
    int64_t m = n->edges;
    int ready = 0;
    naive q = {m,
               sp_alloc(m, sizeof *q.from),
               sp_alloc(m, sizeof *q.to),
               sp_alloc(m, sizeof *q.k1),
               sp_alloc(m, sizeof *q.k2),
               sp_alloc(m, sizeof *q.queued),
               sp_alloc(n->neurons, sizeof *q.rank)};

    fill_naive(&q, n, &ready);
    for (int64_t i = 0; i < m; i++) {
        int32_t e = pop(&q);
        int done = 0;

        assert_int_equal(q.k1[e], 0);
        edge[i] = e;
        for (int64_t k = 0; k < m; k++)
            if (q.from[k] == q.to[e])
                done = ++q.k1[k] == 0;
        if (done)
            q.rank[q.to[e]] = ready++;
        add_to_kin(&q, e, 1);
        if (i >= window)
            add_to_kin(&q, edge[i - window], -1);
    }
    sp_free(q.from);
    sp_free(q.to);
    sp_free(q.k1);
    sp_free(q.k2);
    sp_free(q.queued);
    sp_free(q.rank);
}

static void ego_is_the_queue(void **state)
{
    static const int64_t windows[] = {1, 2, 5, 17, 64, 100000};
    spry_order_options o = SPRY_ORDER_DEFAULTS;

    (void)state;
    for (int i = 0; i < NETS; i++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            spry_network *n = read_net(nets[i], seed);
            int32_t *fast = sp_alloc(n->edges, sizeof *fast);
            int32_t *slow = sp_alloc(n->edges, sizeof *slow);

            for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
                o.window = windows[w];
                check_ok(spry_order_make(fast, n, "ego", &o));
                order_naively(slow, n, windows[w]);
                assert_memory_equal(fast, slow,
                                    (size_t)n->edges * sizeof *fast);
            }
            sp_free(fast);
            sp_free(slow);
            spry_network_free(n);
        }
}

/* ---- annealing ---- */

static void swap_places(int32_t *edge, int64_t i, int64_t j)
{
    int32_t k = edge[i];

    edge[i] = edge[j];
    edge[j] = k;
}

/* Change an order at random, keep half of the changes: the I/O that was
 * followed is the I/O of the order. */
static void follow(const spry_network *n, int64_t memory)
{
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    sp_rng c = sp_rng_seed((uint64_t)memory);
    sp_replay r;
    sp_fanout f;

    check_ok(sp_fanout_make(&f, n));
    check_ok(spry_order_make(edge, n, "source", NULL));
    check_ok(sp_replay_open(&r, n, f.target, edge, memory));
    assert_int_equal(r.total, total_io(n, edge, memory));
    for (int i = 0; i < 300; i++) {
        int64_t x = (int64_t)sp_rng_below(&c, (uint64_t)n->edges - 1);
        int64_t y = x + 1 + (int64_t)sp_rng_below(&c, 20), more;

        y = y < n->edges ? y : n->edges - 1;
        swap_places(edge, x, y);
        more = sp_replay_try(&r, x, y + 1, i % 3 ? INT64_MAX - 1 : 0);
        if (more == INT64_MAX || spry_order_check(edge, n) != SPRY_OK ||
            sp_rng_below(&c, 2)) {
            swap_places(edge, x, y);
            sp_replay_forget(&r, x, y + 1);
        } else {
            int64_t before = r.total;

            sp_replay_keep(&r);
            assert_int_equal(r.total, before + more);
        }
        assert_int_equal(r.total, total_io(n, edge, memory));
    }
    sp_replay_close(&r);
    sp_fanout_free(&f);
    sp_free(edge);
}

static void replays_follow_changes(void **state)
{
    static const char *const recipe[] = {
        "gen:random,width=40,depth=3,density=0.15",
        "gen:skip,width=30,depth=5,degree=6",
        "gen:mixed,radices=2x3x2,copies=3",
    };

    (void)state;
    for (size_t i = 0; i < sizeof recipe / sizeof *recipe; i++)
        for (int64_t memory = 3; memory < 200; memory *= 3) {
            spry_network *n = read_net(recipe[i], 2);

            follow(n, memory);
            spry_network_free(n);
        }
}

static void annealing_improves_on_blocked(void **state)
{
    spry_order_options o = SPRY_ORDER_DEFAULTS;

    (void)state;
    o.memory = 32;
    o.moves = 20000;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        spry_network *n =
            read_net("gen:random,width=100,depth=4,density=0.1", seed);
        int32_t *edge = sp_alloc(n->edges, sizeof *edge);
        int64_t blocked;

        check_ok(spry_order_make(edge, n, "blocked", &o));
        blocked = total_io(n, edge, o.memory);
        check_ok(spry_order_make(edge, n, "anneal", &o));
        assert_true(total_io(n, edge, o.memory) * 100 < blocked * 98);
        sp_free(edge);
        spry_network_free(n);
    }
}

/* ---- all of them ---- */

static void orders_are_valid(void **state)
{
    spry_order_options o = SPRY_ORDER_DEFAULTS;

    (void)state;
    o.moves = 300;
    for (int i = 0; i < NETS; i++)
        for (int k = 0; spry_order_name(k); k++) {
            spry_network *n = read_net(nets[i], 3);
            int32_t *edge = sp_alloc(n->edges, sizeof *edge);
            int32_t *again = sp_alloc(n->edges, sizeof *again);

            o.memory = 3 + i;
            check_ok(spry_order_make(edge, n, spry_order_name(k), &o));
            check_ok(spry_order_check(edge, n));
            check_ok(spry_order_make(again, n, spry_order_name(k), &o));
            assert_memory_equal(edge, again, (size_t)n->edges * sizeof *edge);
            sp_free(edge);
            sp_free(again);
            spry_network_free(n);
        }
}

/* Outputs with the same inputs come one after the other. */
static void go_brings_twins_together(void **state)
{
    spry_network *n = read_net("gen:radix,depth=1", 1);
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    int64_t by_number, by_go;

    (void)state;
    check_ok(spry_order_make(edge, n, "destination", NULL));
    by_number = total_io(n, edge, 128);
    check_ok(spry_order_make(edge, n, "go", NULL));
    by_go = total_io(n, edge, 128);
    assert_true(by_go * 4 < by_number);
    sp_free(edge);
    spry_network_free(n);
}

static void blocked_beats_the_others(void **state)
{
    static const int64_t memories[] = {32, 64, 128};
    spry_order_options o = SPRY_ORDER_DEFAULTS;

    (void)state;
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        spry_network *n =
            read_net("gen:random,width=256,depth=4,density=0.1", 1 + i);
        int32_t *edge = sp_alloc(n->edges, sizeof *edge);
        int64_t blocked;

        o.memory = memories[i];
        check_ok(spry_order_make(edge, n, "blocked", &o));
        blocked = total_io(n, edge, memories[i]);
        check_ok(spry_order_make(edge, n, "destination", &o));
        assert_true(blocked < total_io(n, edge, memories[i]));
        check_ok(spry_order_make(edge, n, "ego", &o));
        assert_true(blocked < total_io(n, edge, memories[i]));
        sp_free(edge);
        spry_network_free(n);
    }
}

static int stop_at_once(int64_t done, int64_t of, void *payload)
{
    (void)done;
    assert_true(of > 0);
    ++*(int *)payload;
    return 1;
}

static void orders_stop_when_asked(void **state)
{
    spry_network *n = read_net("gen:random,width=50,depth=2,density=0.2", 1);
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    spry_order_options o = SPRY_ORDER_DEFAULTS;
    int called = 0;

    (void)state;
    o.progress = stop_at_once;
    o.payload = &called;
    assert_int_equal(spry_order_make(edge, n, "ego", &o), SPRY_STOPPED);
    assert_int_equal(spry_order_make(edge, n, "go", &o), SPRY_STOPPED);
    assert_int_equal(called, 2);
    o.seconds = 1000; /* what is better than before is kept */
    check_ok(spry_order_make(edge, n, "anneal", &o));
    assert_true(called > 2);
    o.progress = NULL;
    o.seconds = 0; /* no time at all: as it began */
    check_ok(spry_order_make(edge, n, "anneal", &o));
    sp_free(edge);
    spry_network_free(n);
}

static void bad_options_are_refused(void **state)
{
    spry_network *n = read_net(nets[0], 1);
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    spry_order_options o = SPRY_ORDER_DEFAULTS;

    (void)state;
    o.window = 0;
    assert_int_equal(spry_order_make(edge, n, "ego", &o), SPRY_USAGE);
    o.window = (int64_t)1 << 40;
    assert_int_equal(spry_order_make(edge, n, "ego", &o), SPRY_USAGE);
    o.window = 5;
    o.moves = -1;
    assert_int_equal(spry_order_make(edge, n, "ego", &o), SPRY_USAGE);
    sp_free(edge);
    spry_network_free(n);
}

/* ---- blocked ---- */

/* On random networks blocks move less than whole neurons and than EGO's
 * edges, also when memory is so small that half of it is too many. */
static void blocked_beats_destination_and_ego(void **state)
{
    static const char *const random[] = {
        "gen:random,width=512,depth=2,density=0.05",
        "gen:random,width=300,depth=2,density=0.1",
        "gen:random,width=150,depth=3,density=0.4",
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        spry_network *n = read_net(random[i], 5);

        for (int64_t memory = 16; memory <= 256; memory *= 2) {
            int64_t blocked, destination, ego;

            check_ok(sp_order_io(&blocked, n, "blocked", memory));
            check_ok(sp_order_io(&destination, n, "destination", memory));
            check_ok(sp_order_io(&ego, n, "ego", memory));
            /* where all sources fit, no order is better */
            assert_true(blocked < destination ||
                        (blocked == destination && memory > n->inputs));
            assert_true(blocked < ego);
        }
        spry_network_free(n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_beats_destination_and_ego),
        cmocka_unit_test(ego_is_the_queue),
        cmocka_unit_test(replays_follow_changes),
        cmocka_unit_test(annealing_improves_on_blocked),
        cmocka_unit_test(orders_are_valid),
        cmocka_unit_test(go_brings_twins_together),
        cmocka_unit_test(blocked_beats_the_others),
        cmocka_unit_test(orders_stop_when_asked),
        cmocka_unit_test(bad_options_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
