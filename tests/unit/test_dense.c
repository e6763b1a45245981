/* Dense operators: their text, what is refused, plans against the reference on
 * hand-made and random shapes, on every instruction set. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "dense/check.h"
#include "machine/isa.h"

static void text_round_trip(void **state)
{
    static const char *const texts[] = {
        "conv2d,h=56,w=56,c=64,k=64,r=3,pad=1",
        ("conv2d,n=2,h=9,w=7,c=6,k=4,s=3,stride=2x1,pad=0x1x1x2,"
         "dilate=1x2,groups=2,bias=1,add=before,act=clip,beta=6"),
        "conv2d,h=5,w=5,c=8,k=8,r=3,groups=8,act=hswish",
        "conv2d,h=5,w=5,c=8,k=8,act=clip,alpha=-0.25,beta=inf",
        "conv2d,h=5,w=5,c=8,k=8,act=clip,alpha=-inf,beta=6",
        "matmul,m=8,n=16,k=4,act=clip,alpha=-inf,beta=inf",
        "matmul,m=8,n=16,k=4,act=clip,alpha=-3.40282e+38,beta=0.3",
        "matmul,m=8,n=16,k=4,act=hsigmoid,alpha=0,beta=0.5",
        "matmul,batch=12,m=128,n=128,k=64,b=given,transposed=1",
        "matmul,m=8,n=16,k=4,bias=1,act=gelu,pitch=32",
        "pool,h=8,w=8,c=3,r=3,stride=2,pad=1,by=max",
        "softmax,m=4,n=128,scale=0.125",
        "layernorm,m=4,n=128,add=before,eps=1e-12",
        "reduce,m=3,n=10,by=mean",
        "elementwise,batch=2,m=3,n=5,steps=mul:image+add:0.5+relu",
        "elementwise,m=3,n=5,steps=add:-inf+mul:1e+06+min:inf+add:1e-09"};
    char back[SPRY_OPERATOR_TEXT], twice[SPRY_OPERATOR_TEXT];
    spry_operator op, again;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_ok(spry_operator_parse(&op, texts[i]));
        spry_operator_text(back, sizeof back, &op);
        assert_string_equal(back, texts[i]);
        check_ok(spry_operator_parse(&again, back));
        spry_operator_text(twice, sizeof twice, &again);
        assert_string_equal(back, twice);
    }
}

static void refuses(void **state)
{
    static const char *const texts[] = {
        "",
        "conv3d",
        "conv2d,h",
        "conv2d,h=0",
        "conv2d,h=-1",
        "conv2d,h=3,w=3,r=5",
        "conv2d,c=4,k=6,groups=3",
        "conv2d,h=1e9,w=1e9",
        "conv2d,act=softmax",
        "conv2d,act=exp",
        "conv2d,pad=1x2x3",
        "conv2d,stride=0",
        "conv2d,act=clip,alpha=2,beta=1",
        "conv2d,act=clip,alpha=inf,beta=-inf",
        "conv2d,act=clip,alpha=0,beta=nan",
        "conv2d,act=clip,alpha=0,beta=1e39",
        "conv2d,sparsity=inf",
        "elementwise,steps=mul:1e+",
        "conv2d,h=4,w=4,c=8,k=8,pitch=4",
        "matmul,m=4,n=4,k=4,pitchb=2",
        "pool,by=median",
        "pool,h=4,w=4,r=2,pad=2",
        "elementwise,steps=",
        "elementwise,steps=mul",
        "elementwise,steps=relu+relu+relu+relu+relu+relu+relu",
        "softmax,act=relu",
    };
    spry_operator op;
    spry_problem *p;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (spry_operator_parse(&op, texts[i]) != SPRY_USAGE)
            fail_msg("%s was not refused", texts[i]);
    assert_int_equal(spry_operator_parse(NULL, "conv2d"), SPRY_USAGE);
    assert_int_equal(spry_operator_parse(&op, NULL), SPRY_USAGE);
    assert_int_equal(spry_problem_dense(NULL, &op), SPRY_USAGE);
    assert_int_equal(spry_problem_dense(&p, NULL), SPRY_USAGE);
    memset(&op, 0, sizeof op);
    assert_int_equal(spry_problem_dense(&p, &op), SPRY_USAGE);
    spry_operator_init(&op, SPRY_ELEMENTWISE);
    assert_int_equal(spry_problem_dense(&p, &op), SPRY_USAGE);
}

/* 1 x 3 x 3 times a filter of ones: counted by hand. */
static void known_convolution(void **state)
{
    const float in[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const float weights[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, bias[1] = {-20};
    const float want[9] = {0, 1, 0, 7, 25, 13, 4, 19, 8};
    float out[9], ref[9];
    spry_tensors t = {.in = in, .out = out};
    spry_operator op;
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(
        spry_operator_parse(&op, "conv2d,h=3,w=3,r=3,pad=1,bias=1,act=relu"));
    op.weights = weights;
    op.bias = bias;
    check_ok(spry_problem_dense(&p, &op));
    check_ok(spry_dense_plan(&plan, p, NULL, NULL));
    check_ok(spry_dense_run(plan, &t));
    t.out = ref;
    check_ok(spry_dense_reference(p, &t));
    for (int i = 0; i < 9; i++) {
        assert_true(out[i] == want[i]);
        assert_true(ref[i] == want[i]);
    }
    t.in = NULL;
    assert_int_equal(spry_dense_run(plan, &t), SPRY_USAGE);
    spry_plan_free(plan);
    spry_problem_free(p);
}

/* ---- all ways on random shapes ---- */

static int64_t one_to(sp_rng *r, int64_t most)
{
    return 1 + (int64_t)sp_rng_below(r, (uint64_t)most);
}

static void random_epilogue(spry_operator *op, sp_rng *r)
{
    op->with_bias = (int)sp_rng_below(r, 2);
    op->add = (spry_add)sp_rng_below(r, 3);
    op->act = (spry_act)sp_rng_below(r, SPRY_ACT_EXP);
    op->alpha = 0.25f;
    op->beta = 0.75f;
}

static void random_image(spry_operator *op, sp_rng *r)
{
    op->n = one_to(r, 2);
    op->h = one_to(r, 19);
    op->w = one_to(r, 19);
    op->r = one_to(r, sp_rng_below(r, 2) ? 3 : 7);
    op->s = sp_rng_below(r, 2) ? op->r : one_to(r, 7);
    op->stride_h = one_to(r, sp_rng_below(r, 2) ? 2 : 5);
    op->stride_w = sp_rng_below(r, 2) ? op->stride_h : one_to(r, 3);
    op->dilate_h = one_to(r, sp_rng_below(r, 3) ? 1 : 3);
    op->dilate_w = one_to(r, sp_rng_below(r, 3) ? 1 : 3);
    op->pad_top = (int64_t)sp_rng_below(r, 4);
    op->pad_left = (int64_t)sp_rng_below(r, 4);
    op->pad_bottom = (int64_t)sp_rng_below(r, 4);
    op->pad_right = (int64_t)sp_rng_below(r, 4);
}

static void random_channels(spry_operator *op, sp_rng *r)
{
    switch (sp_rng_below(r, 4)) {
    case 0: /* depthwise */ op->c = op->k = op->groups = one_to(r, 70); break;
    case 1: /* groups */
        op->groups = one_to(r, 4);
        op->c = op->groups * one_to(r, 9);
        op->k = op->groups * one_to(r, 20);
        break;
    default: op->c = one_to(r, 40); op->k = one_to(r, 70);
    }
}

static spry_operator random_convolution(sp_rng *r)
{
    spry_operator op;

    for (;;) {
        spry_operator whole;

        spry_operator_init(&op, SPRY_CONV2D);
        random_image(&op, r);
        random_channels(&op, r);
        random_epilogue(&op, r);
        if (sp_rng_below(r, 4) == 0) {
            op.pitch_in = op.c + one_to(r, 9);
            op.pitch_out = op.k + one_to(r, 9);
        }
        if (sp_rng_below(r, 3) == 0) { /* what networks are made of */
            op.r = op.s = sp_rng_below(r, 2) ? 3 : 1;
            op.stride_h = op.stride_w = op.dilate_h = op.dilate_w = 1;
        }
        whole = op;
        if (sp_operator_settle(&whole) == SPRY_OK)
            return op;
    }
}

static spry_operator random_product(sp_rng *r)
{
    spry_operator op;

    spry_operator_init(&op, SPRY_MATMUL);
    op.batch = one_to(r, 3);
    op.m = one_to(r, 30);
    op.n = one_to(r, 70);
    op.k = one_to(r, 70);
    op.given = (int)sp_rng_below(r, 2);
    op.shared_b = (int)sp_rng_below(r, 2);
    op.transposed = (int)sp_rng_below(r, 2);
    random_epilogue(&op, r);
    if (sp_rng_below(r, 3) == 0) {
        op.pitch_in = op.k + one_to(r, 9);
        op.pitch_out = op.n + one_to(r, 9);
    }
    return op;
}

static void try_way(const sp_dense_problem *p, const sp_dense_oracle *o,
                    const sp_dense_way *x, const spry_machine *m)
{
    sp_dense_plan *plan;

    check_ok(sp_dense_plan_make(&plan, p, x, m));
    if (sp_dense_oracle_check(o, plan) != SPRY_OK)
        fail_msg("%s, %s: %s", p->head.key, spry_isa_name(m->isa),
                 spry_message());
    spry_plan_free(&plan->head);
}

/* At most `most` ways of one operator, drawn from all, on each set that this
 * CPU has. */
static void try_operator(const spry_operator *op, sp_rng *r, int most)
{
    spry_problem *problem;
    const sp_dense_problem *p;
    sp_dense_oracle *o;
    spry_machine here, m;

    check_ok(spry_machine_detect(&here));
    here.threads = 3;
    check_ok(spry_problem_dense(&problem, op));
    p = sp_dense_of(problem);
    check_ok(sp_dense_oracle_make(&o, p, 5, 0));
    for (int isa = 0; isa < sp_isa_count; isa++) {
        sp_dense_way *list;
        int count;

        m = here;
        m.isa = (spry_isa)isa;
        if (!sp_isa_runs_here(m.isa) || !sp_dense_loops_of(m.isa).plain)
            continue;
        check_ok(sp_dense_ways(&list, &count, p, &m));
        assert_true(count > 0);
        for (int i = 0; i < most && i < count; i++)
            try_way(
                p, o,
                &list[count <= most ? i
                                    : (int)sp_rng_below(r, (uint64_t)count)],
                &m);
        sp_free(list);
    }
    sp_dense_oracle_free(o);
    spry_problem_free(problem);
}

static int rounds(int usual)
{
    const char *text = getenv("SPRY_DENSE_SHAPES");

    return text ? atoi(text) : usual;
}

static void random_convolutions(void **state)
{
    sp_rng r = sp_rng_seed(11);

    (void)state;
    for (int i = 0; i < rounds(60); i++) {
        spry_operator op = random_convolution(&r);

        try_operator(&op, &r, 3);
    }
}

static void random_products(void **state)
{
    sp_rng r = sp_rng_seed(12);

    (void)state;
    for (int i = 0; i < rounds(60) / 2; i++) {
        spry_operator op = random_product(&r);

        try_operator(&op, &r, 3);
    }
}

/* Every tile, also where it reaches over an edge further than half a filter,
 * with blocks that the space leaves out. */
static void depthwise_tiles(void **state)
{
    sp_rng r = sp_rng_seed(14);
    int tried = 0;

    (void)state;
    for (int i = 0; i < rounds(60); i++) {
        spry_operator op;
        spry_problem *problem;
        sp_dense_oracle *o;
        spry_machine m;

        check_ok(spry_machine_detect(&m));
        m.threads = 3;
        spry_operator_init(&op, SPRY_CONV2D);
        random_image(&op, &r);
        random_epilogue(&op, &r);
        op.c = op.k = op.groups = one_to(&r, 150);
        op.w += 12;
        op.r = op.s = sp_rng_below(&r, 2) ? 3 : 5;
        op.h += op.r * op.dilate_h;
        op.stride_w = one_to(&r, 2);
        op.dilate_w = 1;
        if (sp_rng_below(&r, 3) == 0)
            op.pitch_in = op.c + one_to(&r, 9);
        check_ok(spry_problem_dense(&problem, &op));
        check_ok(sp_dense_oracle_make(&o, sp_dense_of(problem), 5, 0));
        for (int isa = 0; isa < sp_isa_count; isa++) {
            sp_dense_way x = {.algorithm = SP_DW,
                              .mr = (int)one_to(&r, SP_DEPTHWISE_MR),
                              .v = 1,
                              .block = 16 * (int64_t)sp_rng_below(&r, 5),
                              .channels = (int)sp_rng_below(&r, 2),
                              .threads = (int)one_to(&r, 3)};

            m.isa = (spry_isa)isa;
            if (!sp_isa_runs_here(m.isa) ||
                sp_dense_way_illegal(sp_dense_of(problem), &x, &m))
                continue;
            try_way(sp_dense_of(problem), o, &x, &m);
            tried++;
        }
        sp_dense_oracle_free(o);
        spry_problem_free(problem);
    }
    assert_true(tried >= rounds(60) / 2);
}

static void named_operators(void **state)
{
    static const char *const texts[] = {
        "conv2d,h=30,w=31,c=3,k=20,r=7,stride=2,pad=3,bias=1,act=relu",
        "conv2d,h=14,w=14,c=40,k=72,r=3,pad=1,bias=1,add=before,act=relu",
        "conv2d,h=1,w=1,c=130,k=35",
        "conv2d,h=8,w=8,c=24,k=24,r=5,pad=2,groups=24,act=hswish,bias=1",
        "matmul,m=1,n=100,k=300,bias=1,act=relu",
        "pool,h=13,w=12,c=37,r=3,stride=2,pad=1,by=max",
        "pool,n=2,h=13,w=12,c=37,r=3,pad=1,by=mean",
        "pool,n=2,h=13,w=12,c=37,r=3,pad=1,by=mean,countpad=1",
        "pool,h=7,w=7,c=100,r=7,by=mean",
        "pool,h=7,w=7,c=100,r=2,by=sum,dilate=2,pitch=120,pitchout=104",
        "softmax,batch=3,m=5,n=1",
        "softmax,batch=3,m=5,n=77,scale=0.125,add=row",
        "softmax,m=5,n=64,scale=3,add=before",
        "layernorm,m=9,n=130,eps=1e-12,add=before",
        "layernorm,m=9,n=1",
        "reduce,m=9,n=77,by=mean",
        "reduce,m=9,n=5,by=max,pitch=7",
        "reduce,m=9,n=177,by=sum",
        "elementwise,batch=2,m=3,n=29,steps=mul:image+add:same+relu",
        "elementwise,batch=2,m=3,n=29,steps=sub:row+div:column+gelu",
        "elementwise,m=7,n=64,steps=hsigmoid+mul:2+max:row+min:0.5",
        "elementwise,m=7,n=64,steps=sqrt+exp+tanh+sigmoid+silu+hswish"};
    sp_rng r = sp_rng_seed(13);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        spry_operator op;

        check_ok(spry_operator_parse(&op, texts[i]));
        try_operator(&op, &r, 10);
    }
}

/* A check that cannot fail is none. */
static void wrong_is_noticed(void **state)
{
    sp_dense_way x = {.algorithm = SP_PLAIN, .mr = 1, .v = 1, .threads = 1};
    spry_problem *problem;
    sp_dense_oracle *o;
    sp_dense_plan *plan;
    spry_machine m;
    spry_operator op;

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_operator_parse(&op, "conv2d,h=9,w=9,c=8,k=8,r=3,pad=1"));
    check_ok(spry_problem_dense(&problem, &op));
    check_ok(sp_dense_oracle_make(&o, sp_dense_of(problem), 5, 0));
    check_ok(sp_dense_plan_make(&plan, sp_dense_of(problem), &x, &m));
    check_ok(sp_dense_oracle_check(o, plan));
    plan->packed[17] += 0.01f;
    assert_int_equal(sp_dense_oracle_check(o, plan), SPRY_WRONG);
    spry_plan_free(&plan->head);
    sp_dense_oracle_free(o);
    spry_problem_free(problem);
}

/* What every activation makes of NaN is NaN, whoever computes it. */
static void nan_passes(void **state)
{
    static const char *const acts[] = {"relu",
                                       "clip,beta=6",
                                       "leaky,alpha=0.1",
                                       "hsigmoid,alpha=0.2,beta=0.5",
                                       "hswish",
                                       "sigmoid",
                                       "silu",
                                       "tanh",
                                       "gelu"};
    static const char *const shapes[] = {
        "conv2d,h=4,w=4,c=24,k=24,r=3,pad=1,groups=24",
        "conv2d,h=4,w=4,c=24,k=24"};
    enum { PIXELS = 16, CHANNELS = 24, COUNT = PIXELS * CHANNELS };
    float in[COUNT], out[COUNT];
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)NAN;
    for (int a = 0; a < 2 * 9; a++) {
        char text[128];
        spry_operator op;
        spry_problem *p;
        sp_dense_way *list;
        int count;

        snprintf(text, sizeof text, "%s,act=%s", shapes[a % 2], acts[a / 2]);
        check_ok(spry_operator_parse(&op, text));
        check_ok(spry_problem_dense(&p, &op));
        check_ok(sp_dense_ways(&list, &count, sp_dense_of(p), &m));
        for (int i = 0; i < count; i++) {
            spry_tensors t = {.in = in, .out = out};
            sp_dense_plan *plan;

            check_ok(sp_dense_plan_make(&plan, sp_dense_of(p), &list[i], &m));
            check_ok(spry_dense_run(&plan->head, &t));
            for (int k = 0; k < COUNT; k++)
                if (!isnan(out[k]))
                    fail_msg("%s, %s: %g", text, plan->head.text,
                             (double)out[k]);
            spry_plan_free(&plan->head);
        }
        sp_free(list);
        spry_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_round_trip),
        cmocka_unit_test(refuses),
        cmocka_unit_test(known_convolution),
        cmocka_unit_test(wrong_is_noticed),
        cmocka_unit_test(nan_passes),
        cmocka_unit_test(named_operators),
        cmocka_unit_test(depthwise_tiles),
        cmocka_unit_test(random_products),
        cmocka_unit_test(random_convolutions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
