/* test_search.c - what strategies promise, on scores that tests make up. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "schedule/schedule.h"
#include "search/search.h"
#include "spry/model.h"

enum { MOST = 20 };

typedef struct {
    spry_matrix *A;
    spry_problem *p;
    spry_machine m;
    sp_space s;
    long asked;
} world;

static void by_model(double *out, const spry_schedule *x, int n, void *payload)
{
    world *w = payload;
    spry_prediction prediction = {.size = sizeof prediction};

    w->asked += n;
    for (int i = 0; i < n; i++)
        out[i] = spry_predict(&prediction, w->p, &x[i], &w->m) == SPRY_OK
                     ? prediction.seconds
                     : HUGE_VAL;
}

/* csr is best by far, the others are unavailable or slow. */
static void only_csr(double *out, const spry_schedule *x, int n, void *payload)
{
    (void)payload;
    for (int i = 0; i < n; i++)
        out[i] = x[i].format == SPRY_CSR    ? 1 + 0.001 * x[i].prefetch
                 : x[i].format == SPRY_SELL ? 2
                                            : HUGE_VAL;
}

static void open_world(world *w, const char *spec, spry_op op)
{
    memset(w, 0, sizeof *w);
    check_ok(spry_matrix_generate(&w->A, spec, 1));
    if (op == SPRY_SPMV)
        check_ok(spry_problem_spmv(&w->p, w->A, SPRY_F32));
    else if (op == SPRY_SPMM)
        check_ok(spry_problem_spmm(&w->p, w->A, 32, SPRY_F32));
    else
        check_ok(spry_problem_sddmm(&w->p, w->A, 32, SPRY_F64));
    w->m = (spry_machine){.threads = 2, .line = 64, .isa = SPRY_PORTABLE};
    w->s = (sp_space){.p = sp_sparse_of(w->p),
                      .m = &w->m,
                      .score = by_model,
                      .payload = w,
                      .seed = 7};
}

static void close_world(world *w)
{
    spry_problem_free(w->p);
    spry_matrix_free(w->A);
}

static void check_list(const world *w, const sp_candidate *c, int count)
{
    assert_in_range(count, 1, MOST);
    for (int i = 0; i < count; i++) {
        check_ok(spry_schedule_legal(&c[i].x, w->p, &w->m));
        assert_true(isfinite(c[i].predicted));
        assert_true(i == 0 || c[i - 1].predicted <= c[i].predicted);
        for (int j = 0; j < i; j++)
            assert_false(sp_schedule_equal(&c[i].x, &c[j].x));
    }
}

static void strategies_keep_their_promise(void **state)
{
    (void)state;
    for (int op = SPRY_SPMV; op <= SPRY_SDDMM; op++) {
        world w;

        open_world(&w, "rmat scale=10 degree=8", (spry_op)op);
        for (int i = 0; i < sp_strategy_count; i++) {
            sp_candidate first[MOST], again[MOST];
            int count, same;

            check_ok(sp_strategies[i].find(first, &count, MOST, &w.s));
            check_list(&w, first, count);
            for (int j = 0; j < count; j++)
                assert_int_equal(first[j].x.fixed, 0);
            check_ok(sp_strategies[i].find(again, &same, MOST, &w.s));
            assert_int_equal(count, same);
            for (int j = 0; j < count; j++)
                assert_true(sp_schedule_equal(&first[j].x, &again[j].x));
        }
        close_world(&w);
    }
}

/* What predict relies on: nearly the best, for a small part of the asking. */
static void descent_finds_nearly_the_best(void **state)
{
    static const char *const spec[] = {
        "rmat scale=12 degree=8", "uniform rows=20k nnz=200k",
        "stencil5 nx=120", "blocks rows=4k r=4 c=4 nnz=60k"};

    (void)state;
    for (int i = 0; i < 4 * 3; i++) {
        world w;
        sp_candidate best, near;
        int64_t all;
        int count;

        open_world(&w, spec[i / 3], (spry_op)(SPRY_SPMV + i % 3));
        check_ok(sp_strategy_find("exhaustive")->find(&best, &count, 1, &w.s));
        all = w.asked;
        w.asked = 0;
        check_ok(sp_strategy_find("descent")->find(&near, &count, 1, &w.s));
        if (near.predicted > 1.003 * best.predicted)
            fail_msg("%s, operation %d: %.4f of the best", spec[i / 3], i % 3,
                     near.predicted / best.predicted);
        assert_true(3 * w.asked < all);
        close_world(&w);
    }
}

static void exhaustive_finds_the_best_of_all(void **state)
{
    world w;
    sp_candidate best[MOST], other[MOST];
    int count, others;

    (void)state;
    open_world(&w, "rmat scale=10 degree=8", SPRY_SPMM);
    check_ok(sp_strategy_find("exhaustive")->find(best, &count, MOST, &w.s));
    assert_true(w.asked < 200000);
    for (int i = 0; i < sp_strategy_count; i++) {
        check_ok(sp_strategies[i].find(other, &others, MOST, &w.s));
        assert_true(best[0].predicted <= other[0].predicted);
    }
    close_world(&w);
}

static void plausible_formats_get_a_place(void **state)
{
    world w;
    sp_candidate c[MOST];
    int count, seen[2][2] = {{0}};

    (void)state;
    open_world(&w, "uniform rows=500 nnz=4k", SPRY_SPMV);
    w.s.score = only_csr;
    check_ok(sp_strategy_find("exhaustive")->find(c, &count, 6, &w.s));
    assert_int_equal(count, 6);
    for (int i = 0; i < count; i++) {
        assert_true(c[i].x.format == SPRY_CSR || c[i].x.format == SPRY_SELL);
        seen[c[i].x.format == SPRY_SELL][c[i].x.threads > 1]++;
    }
    assert_true(seen[0][0] && seen[0][1] && seen[1][0] && seen[1][1]);
    close_world(&w);
}

/* All alike: only quotas tell them apart. */
static void alike(double *out, const spry_schedule *x, int n, void *payload)
{
    (void)x;
    (void)payload;
    while (n--)
        out[n] = 1;
}

static int no_tile_of_two(const spry_schedule *x, void *payload)
{
    (void)payload;
    return x->tile != 2;
}

static void no_choice_takes_all_places(void **state)
{
    world w;
    sp_candidate c[MOST];
    int count, ordered = 0, passes = 0, tiles = 0;

    (void)state;
    open_world(&w, "uniform rows=2k nnz=16k", SPRY_SPMM);
    w.s.score = alike;
    w.s.worth = no_tile_of_two;
    check_ok(sp_strategy_find("exhaustive")->find(c, &count, MOST, &w.s));
    assert_int_equal(count, MOST);
    for (int i = 0; i < count; i++) {
        ordered += c[i].x.order != SPRY_ORDER_NONE;
        passes += c[i].x.pass > 0;
        tiles += c[i].x.tile == 2;
    }
    assert_in_range(ordered, 0, 3);
    assert_in_range(passes, 1, MOST / 4 + 1);
    assert_int_equal(tiles, 0);
    close_world(&w);
}

static void nothing(double *out, const spry_schedule *x, int n, void *payload)
{
    (void)x;
    (void)payload;
    while (n--)
        out[n] = n % 2 ? HUGE_VAL : (double)NAN;
}

static void nothing_feasible_is_an_empty_list(void **state)
{
    world w;
    sp_candidate c[MOST];
    int count = 5;

    (void)state;
    open_world(&w, "uniform rows=50 nnz=400", SPRY_SPMV);
    w.s.score = nothing;
    for (int i = 0; i < sp_strategy_count; i++) {
        check_ok(sp_strategies[i].find(c, &count, MOST, &w.s));
        assert_int_equal(count, 0);
    }
    close_world(&w);
}

static void fixed_needs_a_compiler(void **state)
{
    world w;
    sp_candidate c[MOST];
    int count, fixed = 0;

    (void)state;
    open_world(&w, "uniform rows=500 nnz=4k", SPRY_SPMM);
    w.s.compile = 1;
    check_ok(sp_strategy_find("exhaustive")->find(c, &count, MOST, &w.s));
    for (int i = 0; i < count; i++)
        fixed += c[i].x.fixed;
    assert_true(fixed > 0);
    close_world(&w);
}

static void neighbours_are_new_and_one_step_away(void **state)
{
    world w;
    spry_schedule seed[2], known[3];
    sp_candidate c[MOST];
    int count;

    (void)state;
    open_world(&w, "uniform rows=500 nnz=4k", SPRY_SPMM);
    check_ok(spry_schedule_parse(&seed[0], "csr tile=4"));
    check_ok(spry_schedule_parse(&seed[1], "csr tile=4 prefetch=8"));
    memcpy(known, seed, sizeof seed);
    check_ok(spry_schedule_parse(&known[2], "csr tile=4 stream=1"));
    check_ok(sp_search_around(c, &count, MOST, &w.s, known, 3, seed, 2));
    check_list(&w, c, count);
    for (int i = 0; i < count; i++) {
        int apart[2] = {0, 0};

        for (int k = 0; k < 3; k++)
            assert_false(sp_schedule_equal(&c[i].x, &known[k]));
        for (int q = 0; q < sp_param_count; q++)
            for (int k = 0; k < 2; k++)
                apart[k] += sp_param_get(&c[i].x, &sp_params[q]) !=
                            sp_param_get(&seed[k], &sp_params[q]);
        assert_true(apart[0] == 1 || apart[1] == 1);
    }
    close_world(&w);
}

static void refused_memory_is_reported(void **state)
{
    world w;
    sp_candidate c[MOST];
    spry_schedule seed = spry_schedule_baseline(1);
    int count;
    int64_t live;

    (void)state;
    open_world(&w, "uniform rows=50 nnz=400", SPRY_SPMV);
    w.s.score = only_csr;
    live = sp_alloc_live();
    for (int i = 0; i < sp_strategy_count; i++)
        for (int n = 1; n <= 2; n++) {
            spry_status s;

            sp_alloc_refuse(n, 0);
            s = sp_strategies[i].find(c, &count, MOST, &w.s);
            sp_alloc_refuse(0, 0);
            assert_int_equal(s, SPRY_SYSTEM);
            assert_int_equal(count, 0);
            assert_int_equal(sp_alloc_live(), live);
        }
    sp_alloc_refuse(1, 0);
    assert_int_equal(sp_search_around(c, &count, MOST, &w.s, NULL, 0, &seed, 1),
                     SPRY_SYSTEM);
    sp_alloc_refuse(0, 0);
    assert_int_equal(sp_alloc_live(), live);
    close_world(&w);
}

static void names_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < sp_strategy_count; i++)
        assert_ptr_equal(sp_strategy_find(sp_strategies[i].name),
                         &sp_strategies[i]);
    assert_null(sp_strategy_find("luck"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strategies_keep_their_promise),
        cmocka_unit_test(descent_finds_nearly_the_best),
        cmocka_unit_test(exhaustive_finds_the_best_of_all),
        cmocka_unit_test(plausible_formats_get_a_place),
        cmocka_unit_test(no_choice_takes_all_places),
        cmocka_unit_test(nothing_feasible_is_an_empty_list),
        cmocka_unit_test(fixed_needs_a_compiler),
        cmocka_unit_test(neighbours_are_new_and_one_step_away),
        cmocka_unit_test(refused_memory_is_reported),
        cmocka_unit_test(names_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
