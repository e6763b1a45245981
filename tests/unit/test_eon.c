/* test_eon.c - EON: the game is the simulator's, policies learn, models are
 * kept, the one that is shipped orders everything. */
#include "nn_gradient.h"

#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "eon/internal.h"

static const char *const nets[] = {
    "gen:random,width=9,depth=4,density=0.4",
    "gen:random,width=16,depth=3,density=0.15",
    "gen:random,width=6,depth=2,density=1",
    "gen:skip,width=10,depth=5,degree=3",
    "gen:mixed,radices=2x3x2,copies=2",
    "gen:pruned,widths=20x10x15x5,sparsity=0.7",
    "gen:smallworld,width=14,degree=4,rewire=0.3",
};
enum { NETS = sizeof nets / sizeof *nets };

static spry_network *read_net(const char *path)
{
    spry_network *n;

    check_ok(spry_network_read(&n, path, NULL));
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

/* ---- the game ---- */

static void play_at_random(const spry_network *n, int64_t memory)
{
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    sp_rng chance = sp_rng_seed((uint64_t)memory);
    sp_episode e;

    check_ok(sp_episode_open(&e, n, memory));
    for (int twice = 0; twice < 2; twice++) { /* a game can be played again */
        int64_t sum = 0;

        sp_episode_begin(&e);
        while (e.count > 0) {
            int64_t i = (int64_t)sp_rng_below(&chance, (uint64_t)e.count);
            int32_t k = e.frontier[i];

            edge[e.steps] = k;
            sum += sp_episode_step(&e, i);
        }
        assert_int_equal(sum, e.io);
        assert_int_equal(e.steps, n->edges);
        check_ok(spry_order_check(edge, n));
        assert_int_equal(sum, total_io(n, edge, memory));
    }
    sp_episode_close(&e);
    sp_free(edge);
}

static void rewards_are_the_simulators(void **state)
{
    (void)state;
    for (int i = 0; i < NETS; i++) {
        spry_network *n = read_net(nets[i]);

        for (int64_t memory = 3; memory < 40; memory += 6)
            play_at_random(n, memory);
        spry_network_free(n);
    }
}

static void moves_count_as_the_simulator(void **state)
{
    sp_scorer c;
    sp_nn *weights;

    (void)state;
    check_ok(sp_nn_new(&weights, 1));
    check_ok(sp_scorer_make(&c, weights));
    for (int i = 0; i < NETS; i++) {
        spry_network *n = read_net(nets[i]);

        for (int64_t memory = 3; memory < 40; memory += 6) {
            sp_eon_task t;
            int64_t io;

            check_ok(sp_eon_task_open(&t, n, memory));
            io = sp_eon_task_order(&t, &c);
            assert_int_equal(io, sp_eon_task_order(&t, &c));
            check_ok(spry_order_check(t.edge, n));
            assert_int_equal(io, total_io(n, t.edge, memory));
            sp_eon_task_close(&t);
        }
        spry_network_free(n);
    }
    sp_scorer_free(&c);
    assert_int_equal(sp_alloc_live(), 0);
}

/* ---- the policy ---- */

typedef struct {
    sp_policy policy;
    sp_vertex_view view;
    sp_states states;
    int what; /* 0: logits, 1: value */
} seen;

static sp_tensor *look(sp_tape *t, void *arg)
{
    seen *s = arg;
    sp_tensor *value;
    sp_tensor *logits =
        sp_policy_run(t, &s->policy, sp_policy_embed(t, &s->policy, &s->view),
                      &s->states, &value);

    return s->what ? value : logits;
}

/* Two states of different sizes; what is padding must not matter. Logits with
 * one embedding, the value with the other: between them they meet it all. */
static void slopes_of_the_policy(void **state)
{
    int32_t source[] = {0, 1, 2, 0, 3, 9}, target[] = {9, 9, 10, 10, 9, 9};
    int32_t cached[] = {0, 9, 2, 7};
    uint8_t may[] = {1, 1, 1, 1, 1, 0}, holds[] = {1, 1, 1, 0};
    spry_network *n = read_net("gen:random,width=6,depth=2,density=0.5");

    (void)state;
    for (int i = 0; i < unless_slow(2, 1); i++) {
        seen s = {.states = {2, 3, 2, source, target, cached, may, holds}};
        gradient g;

        gradient_open(&g, 1);
        g.step = 0x1p-9; /* relu and max have kinks */
        g.tolerance = 2e-2;
        s.what = i;
        check_ok(sp_policy_make(&s.policy, g.n, (spry_embedding)i));
        check_ok(sp_vertex_view_open(&s.view, n, (spry_embedding)i));
        sp_tape_begin(g.t, 0);
        if (i == 0) {
            float before = look(g.t, &s)->value[4];

            source[5] = 1;
            cached[3] = 4;
            sp_tape_begin(g.t, 0);
            assert_true(fabsf(look(g.t, &s)->value[4] - before) < 1e-7f);
        }
        gradient_check(&g, look, &s);
        sp_vertex_view_close(&s.view);
        sp_tape_free(g.t);
        sp_policy_free(&s.policy);
    }
    spry_network_free(n);
    assert_int_equal(sp_alloc_live(), 0);
}

/* ---- learning ---- */

typedef struct {
    int count;
    spry_eon_progress first, last;
    double early, late; /* rewards, means of five pairs */
} told;

static int listen(const spry_eon_progress *now, void *payload)
{
    told *t = payload;

    if (t->count == 0)
        t->first = *now;
    if (t->count >= 1 && t->count <= 5)
        t->early += now->reward / 5;
    t->late = t->count == 1 ? now->reward : 0.8 * t->late + 0.2 * now->reward;
    t->last = *now;
    t->count++;
    return 0;
}

static void learn(told *t, spry_eon form, spry_embedding embedding,
                  const char *net, int64_t episodes)
{
    spry_eon_options o = SPRY_EON_DEFAULTS;
    spry_network *n = read_net(net);
    const spry_network *const all[] = {n};
    int64_t memory[] = {5, 9};

    *t = (told){0};
    o.form = form;
    o.embedding = embedding;
    o.memory = memory;
    o.memories = form == SPRY_EON_MOVES ? 2 : 1;
    o.episodes = episodes;
    o.seed = 3;
    o.progress = listen;
    o.payload = t;
    check_ok(spry_eon_train("test_eon.nn", all, 1, &o));
    spry_network_free(n);
}

static void evolution_improves_moves(void **state)
{
    told t, again;

    (void)state;
    learn(&t, SPRY_EON_MOVES, 0, "gen:random,width=24,depth=2,density=0.2",
          2000);
    assert_true(t.last.best < t.first.share);
    assert_true(t.last.episodes >= 2000);
    learn(&again, SPRY_EON_MOVES, 0, "gen:random,width=24,depth=2,density=0.2",
          2000);
    assert_true(fabs(again.last.best - t.last.best) < 1e-12);
}

static void ppo_improves_on_the_untrained(void **state)
{
    (void)state;
    for (int e = 0; e < unless_slow(2, 1); e++) {
        told t;

        learn(&t, SPRY_EON_ATTENTION, (spry_embedding)e,
              "gen:random,width=7,depth=2,density=0.4", 160);
        assert_true(t.late > t.early);
        assert_true(t.last.best <= t.first.share);
    }
}

static int stop_at_once(const spry_eon_progress *now, void *payload)
{
    (void)now;
    (void)payload;
    return 1;
}

/* Stopped early, there is a model all the same; and it can go on. */
static void what_is_stopped_is_kept(void **state)
{
    spry_eon_options o = SPRY_EON_DEFAULTS;
    spry_order_options oo = SPRY_ORDER_DEFAULTS;
    spry_network *n = read_net(nets[1]);
    const spry_network *const all[] = {n};
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);

    (void)state;
    o.progress = stop_at_once;
    oo.model = "test_eon.nn";
    oo.memory = 6;
    for (int form = 0; form < 2; form++) {
        o.form = (spry_eon)form;
        o.model = NULL;
        check_ok(spry_eon_train(oo.model, all, 1, &o));
        o.model = oo.model;
        check_ok(spry_eon_train(oo.model, all, 1, &o));
        check_ok(spry_order_make(edge, n, "eon", &oo));
        o.form = (spry_eon)!form;
        assert_int_equal(spry_eon_train(oo.model, all, 1, &o), SPRY_USAGE);
    }
    sp_free(edge);
    spry_network_free(n);
}

/* ---- files ---- */

static void refuse_model(const char *path, const char *words)
{
    spry_network *n = read_net(nets[0]);
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    spry_order_options o = SPRY_ORDER_DEFAULTS;

    o.model = path;
    assert_int_equal(spry_order_make(edge, n, "eon", &o), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), path));
    assert_non_null(strstr(spry_message(), words));
    sp_free(edge);
    spry_network_free(n);
}

static void save_other(const char *card, int64_t width)
{
    sp_nn *n;

    check_ok(sp_nn_new(&n, 1));
    sp_dense_make(n, "source.linear", width, 1, 0);
    check_ok(sp_nn_save(n, card, "other.nn"));
    sp_nn_free(n);
}

static void bad_models_are_refused(void **state)
{
    const char *moves = "{\"format\":\"spry.eon/1\",\"form\":\"moves\"}";
    sp_file f;

    (void)state;
    refuse_model("nowhere.nn", "");
    check_ok(sp_file_write("bad.nn", "not a model", 11));
    refuse_model("bad.nn", "is not a model");
    save_other("{}", SP_FEATURES);
    refuse_model("other.nn", "no model that orders edges");
    save_other("{\"format\":\"spry.eon/1\",\"form\":\"magic\"}", SP_FEATURES);
    refuse_model("other.nn", "no model that orders edges");
    save_other(moves, SP_FEATURES); /* most of it is missing */
    refuse_model("other.nn", "");
    save_other(moves, SP_FEATURES + 1);
    refuse_model("other.nn", "source.linear");
    check_ok(sp_file_read(&f, "other.nn", 1 << 20));
    f.data[f.len / 2] ^= 1;
    check_ok(sp_file_write("bad.nn", f.data, f.len));
    refuse_model("bad.nn", "");
    sp_file_free(&f);
    unlink("bad.nn");
    unlink("other.nn");
}

/* ---- the shipped one ---- */

/* On nets that it has not seen: never worse than any order that is made at
 * once, better than blocked in the mean. */
static void shipped_model_beats_plain_orders(void **state)
{
    static const char *const unseen[] = {
        "gen:random,width=200,depth=3,density=0.07",
        "gen:smallworld,width=150,depth=3,degree=12",
        "gen:pruned,widths=150x100x40x10,sparsity=0.8",
        "gen:skip,width=60,depth=5,degree=9",
        "gen:mixed,radices=4x4x4,copies=4",
    };
    static const char *const plain[] = {"destination", "source", "clustered",
                                        "go",          "ego",    "blocked"};
    enum { PLAIN = sizeof plain / sizeof *plain };
    double sum = 0;

    (void)state;
    for (int i = 0; i < 5; i++) {
        spry_network *n = read_net(unseen[i]);

        for (int64_t memory = 12; memory < 100; memory *= 2) {
            int64_t eon, io = 0;

            check_ok(sp_order_io(&eon, n, "eon", memory));
            for (int k = 0; k < PLAIN; k++) {
                check_ok(sp_order_io(&io, n, plain[k], memory));
                assert_true(eon <= io);
            }
            sum += log((double)eon / (double)io);
        }
        spry_network_free(n);
    }
    assert_true(sum < 0);
}

static void edges_can_be_few_or_none(void **state)
{
    static const char *const small[] = {
        "gen:random,width=3,depth=1,density=0",
        "gen:random,width=1,depth=1,density=1",
        "gen:random,width=1,depth=9,density=1",
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        spry_network *n = read_net(small[i]);
        int32_t *edge = sp_alloc(n->edges, sizeof *edge);

        check_ok(spry_order_make(edge, n, "eon", NULL));
        sp_free(edge);
        spry_network_free(n);
    }
}

static void large_networks_are_not_for_attention(void **state)
{
    spry_network *n = read_net("gen:random,width=600,depth=1,density=0.5");
    const spry_network *const all[] = {n};
    spry_eon_options o = SPRY_EON_DEFAULTS;

    (void)state;
    o.form = SPRY_EON_ATTENTION;
    assert_int_equal(spry_eon_train("x.nn", all, 1, &o), SPRY_USAGE);
    o.form = SPRY_EON_MOVES;
    o.memory = (int64_t[]){2};
    o.memories = 1;
    assert_int_equal(spry_eon_train("x.nn", all, 1, &o), SPRY_USAGE);
    assert_int_equal(spry_eon_train("x.nn", all, 0, NULL), SPRY_USAGE);
    spry_network_free(n);
}

/* ---- memory ---- */

static void short_memory_is_survived(void **state)
{
    spry_network *n = read_net("gen:random,width=4,depth=2,density=0.5");
    const spry_network *const all[] = {n};
    int64_t before = sp_alloc_live();
    spry_eon_options o = SPRY_EON_DEFAULTS;

    (void)state;
    o.memory = (int64_t[]){4};
    o.memories = 1;
    o.episodes = 1;
    for (int kind = 0; kind < 3; kind++)
        for (int64_t i = 1;; i++) {
            spry_status s;

            o.form = kind > 0;
            o.embedding = kind > 1;
            sp_alloc_refuse(i, 0);
            s = spry_eon_train("test_eon.nn", all, 1, &o);
            sp_alloc_refuse(0, 0);
            assert_int_equal(sp_alloc_live(), before);
            if (s == SPRY_OK)
                break;
            assert_int_equal(s, SPRY_SYSTEM);
        }
    spry_network_free(n);
    unlink("test_eon.nn");
}

static void names_are_known(void **state)
{
    (void)state;
    assert_string_equal(spry_eon_name(SPRY_EON_ATTENTION), "attention");
    assert_null(spry_eon_name((spry_eon)2));
    assert_string_equal(spry_embedding_name(SPRY_SAGE), "sage");
    assert_null(spry_embedding_name((spry_embedding)-1));
    assert_non_null(spry_eigen());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewards_are_the_simulators),
        cmocka_unit_test(moves_count_as_the_simulator),
        cmocka_unit_test(slopes_of_the_policy),
        cmocka_unit_test(evolution_improves_moves),
        cmocka_unit_test(ppo_improves_on_the_untrained),
        cmocka_unit_test(what_is_stopped_is_kept),
        cmocka_unit_test(bad_models_are_refused),
        cmocka_unit_test(shipped_model_beats_plain_orders),
        cmocka_unit_test(edges_can_be_few_or_none),
        cmocka_unit_test(large_networks_are_not_for_attention),
        cmocka_unit_test(short_memory_is_survived),
        cmocka_unit_test(names_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
