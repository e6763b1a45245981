/* test_pruned.c - operators whose weights are mostly zeros: all ways that
 * leave zeros out against the reference, and networks of them. */
#include "check.h"
#include "graph_operands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dense/check.h"
#include "graph/executor.h"
#include "machine/isa.h"

static int64_t one_to(sp_rng *r, int64_t most)
{
    return 1 + (int64_t)sp_rng_below(r, (uint64_t)most);
}

static void random_image(spry_operator *op, sp_rng *r)
{
    op->n = one_to(r, 2);
    op->h = one_to(r, 17);
    op->w = one_to(r, 17);
    op->c = one_to(r, 40);
    op->k = one_to(r, 150);
    op->r = one_to(r, 4);
    op->s = one_to(r, 4);
    op->stride_h = one_to(r, 3);
    op->stride_w = one_to(r, 3);
    op->dilate_h = one_to(r, 2);
    op->dilate_w = one_to(r, 2);
    op->pad_top = (int64_t)sp_rng_below(r, 3);
    op->pad_left = (int64_t)sp_rng_below(r, 3);
    op->pad_bottom = (int64_t)sp_rng_below(r, 3);
    op->pad_right = (int64_t)sp_rng_below(r, 3);
}

static spry_operator random_operator(sp_rng *r, int product)
{
    static const float share[] = {0.3f, 0.5f, 0.75f, 0.9f, 0.95f, 0.99f, 1};
    spry_operator op, whole;

    do {
        spry_operator_init(&op, product ? SPRY_MATMUL : SPRY_CONV2D);
        if (product) {
            op.batch = one_to(r, 3);
            op.m = one_to(r, 40);
            op.n = one_to(r, 140);
            op.k = one_to(r, 90);
            op.shared_b = 1;
            op.transposed = (int)sp_rng_below(r, 2);
        } else
            random_image(&op, r);
        op.sparsity = share[sp_rng_below(r, 7)];
        op.with_bias = (int)sp_rng_below(r, 2);
        op.add = (spry_add)sp_rng_below(r, 3);
        op.act = (spry_act)sp_rng_below(r, SPRY_ACT_EXP);
        op.alpha = 0.25f;
        op.beta = 0.75f;
        if (sp_rng_below(r, 3) == 0) {
            op.pitch_in = (product ? op.k : op.c) + one_to(r, 9);
            op.pitch_out = (product ? op.n : op.k) + one_to(r, 9);
        }
        whole = op;
    } while (sp_operator_settle(&whole) != SPRY_OK);
    return op;
}

static sp_dense_way random_way(sp_rng *r)
{
    sp_dense_way x = {.algorithm = SP_PRUNED};

    x.mr = (int)one_to(r, SP_PRUNED_MR);
    x.v = (int)one_to(r, x.mr == 1 ? SP_PRUNED_V : 6);
    x.block = sp_rng_below(r, 3) ? one_to(r, 100) : 0;
    x.threads = (int)one_to(r, 3);
    x.channels = (int)sp_rng_below(r, 2);
    return x;
}

/* Exact on integers, within the bound on reals, nothing else written. */
static void try_operator(const spry_operator *op, sp_rng *r, int ways)
{
    sp_dense_oracle *o;
    spry_problem *problem;
    spry_machine m;

    check_ok(spry_machine_detect(&m));
    m.threads = 3;
    check_ok(spry_problem_dense(&problem, op));
    check_ok(sp_dense_oracle_make(&o, sp_dense_of(problem), 5, 0));
    for (int isa = 0; isa < sp_isa_count; isa++) {
        m.isa = (spry_isa)isa;
        for (int i = 0; i < ways && sp_isa_runs_here(m.isa) &&
                        sp_dense_loops_of(m.isa).pruned;
             i++) {
            sp_dense_way x = random_way(r);
            sp_dense_plan *plan;

            check_ok(sp_dense_plan_make(&plan, sp_dense_of(problem), &x, &m));
            if (sp_dense_oracle_check(o, plan) != SPRY_OK)
                fail_msg("%s, %s: %s", problem->key, spry_isa_name(m.isa),
                         spry_message());
            spry_plan_free(&plan->head);
        }
    }
    sp_dense_oracle_free(o);
    spry_problem_free(problem);
}

static void random_convolutions(void **state)
{
    sp_rng r = sp_rng_seed(31);

    (void)state;
    for (int i = 0; i < 80; i++) {
        spry_operator op = random_operator(&r, 0);

        try_operator(&op, &r, 3);
    }
}

static void random_products(void **state)
{
    sp_rng r = sp_rng_seed(32);

    (void)state;
    for (int i = 0; i < 50; i++) {
        spry_operator op = random_operator(&r, 1);

        try_operator(&op, &r, 3);
    }
}

/* Channels in several chunks, columns in several blocks. */
static void large_operators(void **state)
{
    static const char *const texts[] = {
        "conv2d,h=5,w=5,c=70,k=700,r=3,pad=1,sparsity=0.9,bias=1,act=relu",
        "conv2d,h=9,w=8,c=300,k=40,sparsity=0.95,add=before,act=relu",
        "conv2d,h=1,w=1,c=600,k=1100,sparsity=0.8",
        "matmul,m=1,n=1000,k=512,sparsity=0.9,bias=1",
        "matmul,m=1,n=130,k=90,sparsity=0.7,bias=1,add=after,act=gelu",
        "conv2d,h=3,w=3,c=20,k=130,r=3,sparsity=0.6,add=before"};
    sp_rng r = sp_rng_seed(33);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        spry_operator op;

        check_ok(spry_operator_parse(&op, texts[i]));
        try_operator(&op, &r, 4);
    }
}

/* ---- what a problem says of its zeros ---- */

static int lists_sparse(const spry_problem *p)
{
    sp_dense_way *list;
    spry_machine m;
    int count, found = 0;

    check_ok(spry_machine_detect(&m));
    check_ok(sp_dense_ways(&list, &count, sp_dense_of(p), &m));
    for (int i = 0; i < count; i++)
        found += list[i].algorithm == SP_PRUNED;
    sp_free(list);
    return found > 0;
}

static void zeros_are_counted(void **state)
{
    float weights[200];
    spry_operator op;
    spry_problem *p;

    (void)state;
    spry_operator_init(&op, SPRY_CONV2D);
    op.c = 10;
    op.k = 20;
    op.weights = weights;
    for (int zeros = 0; zeros <= 200; zeros += 10) {
        double share = zeros / 200.0;

        for (int i = 0; i < 200; i++)
            weights[i] = i < zeros ? 0 : 1;
        check_ok(spry_problem_dense(&p, &op));
        assert_true(fabs((double)spry_problem_operator(p)->sparsity -
                         (share < 0.3 ? 0 : share)) < 1e-6);
        assert_int_equal(lists_sparse(p), share >= 0.3);
        assert_int_equal(strstr(spry_problem_key(p), "sparsity") != NULL,
                         share >= 0.3);
        spry_problem_free(p);
    }
    op.sparsity = 1.5f;
    assert_int_equal(spry_problem_dense(&p, &op), SPRY_USAGE);
    op.sparsity = NAN;
    assert_int_equal(spry_problem_dense(&p, &op), SPRY_USAGE);
    assert_int_equal(spry_operator_parse(&op, "pool,sparsity=0.5"), SPRY_USAGE);
    assert_int_equal(spry_operator_parse(&op, "conv2d,sparsity=2"), SPRY_USAGE);
    check_ok(spry_operator_parse(&op, "matmul,m=4,n=50,k=50,sparsity=0.93"));
    check_ok(spry_problem_dense(&p, &op));
    assert_true(fabs((double)spry_problem_operator(p)->sparsity - 0.93) < 0.02);
    spry_problem_free(p);
}

static void refuses(void **state)
{
    static const char *const bad[][2] = {
        {"conv2d,h=4,w=4,c=8,k=8,r=3,groups=2", "sparse tile=1x2"},
        {"matmul,m=4,n=4,k=4,b=given", "sparse tile=1x2"},
        {"matmul,batch=2,m=4,n=4,k=4", "sparse tile=1x2"},
        {"pool,h=4,w=4,c=8", "sparse tile=1x2"},
        {"conv2d,c=8,k=8", "sparse tile=1x9"},
        {"conv2d,c=8,k=8", "sparse tile=3x1"},
        {"conv2d,c=8,k=8", "sparse tile=0x1"},
        {"conv2d,c=8,k=8", "sparse tile=1x1 block=-1"}};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        spry_plan *plan = NULL;
        spry_operator op;
        spry_problem *p;

        check_ok(spry_operator_parse(&op, bad[i][0]));
        check_ok(spry_problem_dense(&p, &op));
        if (spry_dense_plan(&plan, p, bad[i][1], NULL) != SPRY_USAGE)
            fail_msg("%s: %s was not refused", bad[i][0], bad[i][1]);
        assert_null(plan);
        spry_problem_free(p);
    }
}

/* ---- neighbours ---- */

/* The first sparse way of so many vectors that cuts columns into blocks; 0:
 * there is none. */
static int find_blocked(sp_dense_way *out, const sp_dense_problem *p,
                        const spry_machine *m, int v)
{
    sp_dense_way *list;
    int count, found = 0;

    check_ok(sp_dense_ways(&list, &count, p, m));
    for (int i = 0; i < count && !found; i++) {
        found = list[i].algorithm == SP_PRUNED && list[i].v == v &&
                list[i].block > 0;
        *out = list[i];
    }
    sp_free(list);
    return found;
}

/* Blocks become shorter as tiles become wider, and still the tuner finds the
 * wider tile beside the narrower one. */
static void other_tiles_are_neighbours(void **state)
{
    enum { MOST = 32, V = 4 };
    sp_proposal around[MOST], leader = {.threads = 1};
    sp_proposals l = {around, 0, MOST};
    sp_history none = {.likes = 0};
    sp_adviser *adviser;
    sp_dense_way from, x;
    spry_operator op;
    spry_machine m;
    spry_problem *p;
    int others = 0;

    (void)state;
    check_ok(
        spry_operator_parse(&op, "conv2d,h=14,w=14,c=4096,k=32,sparsity=0.8"));
    check_ok(spry_problem_dense(&p, &op));
    check_ok(spry_machine_detect(&m));
    check_ok(spry_machine_limit(&m, 1, m.isa));
    if (!find_blocked(&from, sp_dense_of(p), &m, V)) {
        spry_problem_free(p);
        skip_because("no loops over sparse weights here");
    }
    sp_dense_way_text(leader.text, &from);
    check_ok(sp_family_dense.consult(
        &adviser, &(sp_inquiry){.p = p, .m = &m, .history = &none}));
    check_ok(sp_family_dense.around(adviser, &l, &leader, 1));
    for (int i = 0; i < l.count; i++) {
        check_ok(sp_dense_way_parse(&x, around[i].text));
        others += x.algorithm == SP_PRUNED && x.v != V && x.block > 0 &&
                  x.block != from.block;
    }
    assert_true(others > 0);
    sp_family_dense.dismiss(adviser);
    spry_problem_free(p);
}

/* ---- networks ---- */

static void check_network(const char *source, int threads)
{
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;
    spry_graph *g = open_graph(source);
    graph_operands a = make_operands(g, 3), b = make_operands(g, 3);
    int sparse = 0;
    spry_executor *e;

    o.threads = threads;
    o.store = ":memory:";
    check_ok(spry_executor_make(&e, g, &o));
    for (int i = 0; i < spry_executor_stages(e); i++) { /* wherever it can */
        const sp_ready_stage *x = &e->stage[i];

        if (x->density > 0.5 ||
            sp_executor_bind(e, i,
                             i % 2 ? "sparse tile=1x3 block=50"
                                   : "sparse tile=2x4") != SPRY_OK)
            continue;
        sparse++;
    }
    assert_true(sparse > 4);
    check_ok(sp_executor_room(e));
    run_reference(g, &a);
    check_ok(spry_executor_run(e, (const void *const *)b.in, b.out));
    for (int64_t i = 0; i < a.to[0].count; i++) {
        double x = (double)((float *)a.out[0])[i];
        double y = (double)((float *)b.out[0])[i];

        if (!(fabs(x - y) <= 1e-4 * (1 + fabs(x))))
            fail_msg("%s: %g, not %g", source, y, x);
    }
    spry_executor_free(e);
    spry_graph_free(g);
    free_operands(&a);
    free_operands(&b);
}

static void networks(void **state)
{
    (void)state;
    check_network("net:resnet50,size=75,sparsity=0.9", 2);
    check_network("net:mobilenetv3,size=75,sparsity=0.8", 1);
    check_network("net:bert,layers=1,tokens=19,sparsity=0.9", 2);
}

static void layers(void **state)
{
    spry_graph *g = open_graph("net:resnet50,size=75,sparsity=0.9");
    spry_graph_layer x = {.size = sizeof x};
    int count = spry_graph_layers(g);
    int64_t weights = 0;

    (void)state;
    assert_int_equal(count, 54);
    for (int i = 0; i < count; i++) {
        double share;

        check_ok(spry_graph_layer_of(g, i, &x));
        share = (double)x.zeros / (double)x.weights;
        weights += x.weights;
        assert_true(i == 0 ? x.zeros == 0 : fabs(share - 0.9) < 0.02);
        assert_true(x.macs > 0);
        assert_string_equal(x.op, i < 53 ? "Conv" : "Gemm");
    }
    assert_int_equal(weights, 23454912 + 2048000);
    assert_int_equal(spry_graph_layer_of(g, count, &x), SPRY_USAGE);
    assert_int_equal(spry_graph_layer_of(g, -1, &x), SPRY_USAGE);
    assert_int_equal(spry_graph_layer_of(NULL, 0, &x), SPRY_USAGE);
    assert_int_equal(spry_graph_layer_of(g, 0, NULL), SPRY_USAGE);
    assert_int_equal(spry_graph_layers(NULL), 0);
    spry_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_convolutions),
        cmocka_unit_test(random_products),
        cmocka_unit_test(large_operators),
        cmocka_unit_test(zeros_are_counted),
        cmocka_unit_test(refuses),
        cmocka_unit_test(other_tiles_are_neighbours),
        cmocka_unit_test(networks),
        cmocka_unit_test(layers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
