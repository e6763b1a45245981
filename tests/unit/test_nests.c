/* test_nests.c - WACO's nests searched: by any score, by a factored one. */
#include "check.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "model/cost.h"
#include "schedule/schedule.h"
#include "search/search.h"

enum { MOST = 20 };

static const char path[] = "test_nests.graph";

/* ---- a score that is easy to know ---- */

/* Some point is best, and the further away the worse. */
static double cost_of(const spry_schedule *x)
{
    double sum = 1 + fabs(log2(1 + x->chunk) - 4);

    for (int i = 0; i < SPRY_INDICES; i++)
        sum += fabs(x->super.split[i] - 2.0 * (i % 2));
    for (int q = 0; q < x->super.loops; q++)
        sum += 0.1 * q * x->super.order[q];
    return sum - 0.3 * __builtin_popcount(x->super.dense);
}

static void score(double *out, const spry_schedule *x, int n, void *payload)
{
    *(long *)payload += n;
    for (int i = 0; i < n; i++)
        out[i] = 10 + cost_of(&x[i]);
}

/* ---- a model that is easy to know ---- */

enum { WIDTH = 4 };

static int toy_width(const sp_cost *c)
{
    (void)c;
    return WIDTH;
}

static spry_status toy_halves(float *out, const sp_cost *c,
                              const spry_schedule *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++, out += WIDTH) {
        out[0] = (float)cost_of(&x[i]);
        out[1] = (float)x[i].super.split[0];
        out[2] = (float)x[i].super.dense / 16;
        out[3] = c->inner ? 1 : 0;
    }
    return SPRY_OK;
}

static void toy_join(float *out, const sp_view *v, const float *half,
                     int64_t count)
{
    (void)v;
    for (int64_t i = 0; i < count; i++)
        out[i] = half[WIDTH * i];
}

static const sp_cost_kind toy = {
    .name = "toy", .width = toy_width, .halves = toy_halves, .join = toy_join};

/* ---- the world ---- */

typedef struct {
    spry_matrix *A;
    spry_problem *p;
    spry_machine m;
    sp_space s;
    long scored;
    int64_t asked;
} world;

static void open_world(world *w, const char *spec, spry_op op)
{
    memset(w, 0, sizeof *w);
    check_ok(spry_matrix_generate(&w->A, spec, 1));
    if (op == SPRY_SPMV)
        check_ok(spry_problem_spmv(&w->p, w->A, SPRY_F32));
    else if (op == SPRY_SPMM)
        check_ok(spry_problem_spmm(&w->p, w->A, 32, SPRY_F32));
    else
        check_ok(spry_problem_sddmm(&w->p, w->A, 32, SPRY_F32));
    w->m = (spry_machine){.threads = 2, .line = 64, .isa = SPRY_PORTABLE};
    w->s = (sp_space){.p = sp_sparse_of(w->p),
                      .m = &w->m,
                      .score = score,
                      .payload = &w->scored,
                      .seed = 7,
                      .compile = 1,
                      .domain = SP_NESTS,
                      .space = {.op = op, .splits = {3, 3}, .threads = 2},
                      .asked = &w->asked};
}

static void close_world(world *w)
{
    spry_problem_free(w->p);
    spry_matrix_free(w->A);
}

static void check_list(const world *w, const sp_candidate *c, int count)
{
    spry_storage k = {.size = sizeof k};

    assert_in_range(count, 1, MOST);
    for (int i = 0; i < count; i++) {
        assert_int_equal(c[i].x.format, SPRY_SUPER);
        check_ok(spry_schedule_legal(&c[i].x, w->p, &w->m));
        check_ok(spry_space_storage(&k, &c[i].x, w->p));
        assert_true(i == 0 || c[i - 1].predicted <= c[i].predicted);
        for (int j = 0; j < i; j++)
            assert_false(sp_schedule_equal(&c[i].x, &c[j].x));
    }
}

/* ---- tests ---- */

static void every_point_once(void **state)
{
    spry_space s = {.op = SPRY_SDDMM, .splits = {2, 2}, .threads = 2};
    sp_nests *n;

    (void)state;
    check_ok(sp_nests_make(&n, &s));
    assert_int_equal(sp_nests_count(n), spry_space_count(&s));
    for (int64_t i = 1; i < sp_nests_count(n); i += 7) {
        spry_schedule x = sp_nests_at(n, i), y = sp_nests_at(n, i - 1);

        assert_false(sp_schedule_equal(&x, &y));
    }
    sp_nests_free(n);
}

/* On a matrix so empty that dense levels cannot be stored, though the score
 * likes them best. */
static void strategies_keep_their_promise(void **state)
{
    static const char *const spec[] = {"rmat scale=9 degree=8",
                                       "hypersparse rows=200k nnz=2000"};

    (void)state;
    for (int t = 0; t < 6; t++) {
        world w;

        open_world(&w, spec[t / 3], (spry_op)(t % 3));
        for (int i = 0; i < sp_strategy_count; i++) {
            sp_candidate first[MOST], again[MOST];
            int count, same;

            check_ok(sp_strategies[i].find(first, &count, MOST, &w.s));
            check_list(&w, first, count);
            assert_int_equal(w.scored, w.asked);
            check_ok(sp_strategies[i].find(again, &same, MOST, &w.s));
            assert_int_equal(count, same);
            for (int j = 0; j < count; j++)
                assert_true(sp_schedule_equal(&first[j].x, &again[j].x));
        }
        close_world(&w);
    }
}

/* The best that can be stored, by looking at each. */
static double best_of_all(const world *w)
{
    sp_nests *n;
    double best = HUGE_VAL;

    check_ok(sp_nests_make(&n, &w->s.space));
    for (int64_t i = 0; i < sp_nests_count(n); i++) {
        spry_schedule x = sp_nests_at(n, i);
        spry_storage k = {.size = sizeof k};

        if (cost_of(&x) < best && spry_space_storage(&k, &x, w->p) == SPRY_OK)
            best = cost_of(&x);
    }
    sp_nests_free(n);
    return best;
}

static void exhaustive_finds_the_best(void **state)
{
    sp_cost model = {.kind = &toy, .op = SPRY_SPMM};
    sp_view view = {.cost = &model};
    sp_candidate c[MOST], d[MOST];
    sp_nests *n;
    int count, others;
    world w;

    (void)state;
    open_world(&w, "hypersparse rows=200k nnz=2000", SPRY_SPMM);
    check_ok(sp_strategy_find("exhaustive")->find(c, &count, MOST, &w.s));
    assert_int_equal(count, MOST);
    assert_true(c[0].predicted == 10 + best_of_all(&w));

    check_ok(sp_nests_make(&n, &w.s.space)); /* the same through halves */
    check_ok(sp_nests_embed(n, &model));
    w.s.nests = n;
    w.s.view = &view;
    w.scored = w.asked = 0;
    check_ok(sp_strategy_find("exhaustive")->find(d, &others, MOST, &w.s));
    assert_int_equal(count, others);
    for (int i = 0; i < count; i++)
        assert_true(c[i].predicted == d[i].predicted);
    assert_true(w.scored < w.asked / 2); /* only the best were scored well */
    assert_true(w.asked >= sp_nests_count(n));
    sp_nests_free(n);
    close_world(&w);
}

static void graph_asks_less(void **state)
{
    sp_cost model = {.kind = &toy, .op = SPRY_SPMM};
    sp_cost other = {.kind = &toy, .op = SPRY_SPMM, .inner = &model};
    sp_view view = {.cost = &model};
    sp_candidate all[MOST], c[MOST];
    sp_nests *n, *read;
    int64_t asked;
    int count;
    world w;

    (void)state;
    open_world(&w, "rmat scale=9 degree=8", SPRY_SPMM);
    check_ok(sp_nests_make(&n, &w.s.space));
    assert_int_equal(sp_nests_link(n, 8, 16, 1), SPRY_USAGE);
    check_ok(sp_nests_embed(n, &model));
    assert_int_equal(sp_nests_save(n, path), SPRY_USAGE);
    check_ok(sp_nests_link(n, 8, 32, 1));
    w.s.nests = n;
    w.s.view = &view;
    w.s.ef = 100;
    check_ok(sp_strategy_find("exhaustive")->find(all, &count, MOST, &w.s));
    w.asked = 0;
    check_ok(sp_strategy_find("graph")->find(c, &count, MOST, &w.s));
    check_list(&w, c, count);
    assert_true(c[0].predicted < 1.05 * all[0].predicted);
    asked = w.asked;
    assert_true(asked < sp_nests_count(n) / 8);

    check_ok(sp_nests_save(n, path)); /* read back, it asks the same */
    check_ok(sp_nests_make(&read, &w.s.space));
    assert_int_equal(sp_nests_load(read, &other, path), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "another model"));
    check_ok(sp_nests_load(read, &model, path));
    w.s.nests = read;
    w.asked = 0;
    check_ok(sp_strategy_find("graph")->find(all, &count, MOST, &w.s));
    assert_int_equal(w.asked, asked);
    assert_true(sp_schedule_equal(&all[0].x, &c[0].x));
    unlink(path);
    sp_nests_free(read);
    sp_nests_free(n);
    close_world(&w);
}

static void families_and_nests_side_by_side(void **state)
{
    sp_candidate c[MOST];
    int count, nests;
    world w;

    (void)state;
    open_world(&w, "rmat scale=9 degree=8", SPRY_SPMM);
    w.s.domain = SP_BOTH;
    for (int i = 0; i < sp_strategy_count; i++) {
        check_ok(sp_strategies[i].find(c, &count, MOST, &w.s));
        nests = 0;
        for (int k = 0; k < count; k++)
            nests += c[k].x.format == SPRY_SUPER;
        if (sp_strategies[i].find == sp_strategies[0].find)
            assert_in_range(nests, 1, MOST - 1);
    }
    w.s.domain = SP_FAMILIES;
    for (int i = 0; i < sp_strategy_count; i++) {
        check_ok(sp_strategies[i].find(c, &count, MOST, &w.s));
        for (int k = 0; k < count; k++)
            assert_int_not_equal(c[k].x.format, SPRY_SUPER);
    }
    w.s.domain = SP_NESTS;
    w.s.compile = 0; /* none is built in */
    for (int i = 0; i < sp_strategy_count; i++) {
        check_ok(sp_strategies[i].find(c, &count, MOST, &w.s));
        assert_int_equal(count, 0);
    }
    close_world(&w);
}

static void refused_memory_is_reported(void **state)
{
    sp_cost model = {.kind = &toy, .op = SPRY_SPMV};
    sp_cost wrong = {.kind = &toy, .op = SPRY_SPMM};
    sp_view view = {.cost = &model};
    sp_candidate c[MOST];
    sp_nests *n;
    int64_t live;
    int count;
    world w;

    (void)state;
    open_world(&w, "uniform rows=50 nnz=400", SPRY_SPMV);
    live = sp_alloc_live();
    for (int k = 1; k <= 2; k++) {
        sp_alloc_refuse(k, 0);
        assert_int_equal(sp_nests_make(&n, &w.s.space), SPRY_SYSTEM);
        sp_alloc_refuse(0, 0);
        assert_null(n);
    }
    check_ok(sp_nests_make(&n, &w.s.space));
    assert_int_equal(sp_nests_embed(n, &wrong), SPRY_USAGE);
    check_ok(sp_nests_embed(n, &model));
    check_ok(sp_nests_link(n, 4, 8, 1));
    w.s.nests = n;
    w.s.view = &view;
    for (int i = 0; i < sp_strategy_count; i++)
        for (int k = 1, failed = 1; failed && k < 400; k++) {
            int64_t before = sp_alloc_live();

            sp_alloc_refuse(k, 1);
            failed = sp_strategies[i].find(c, &count, MOST, &w.s) != SPRY_OK;
            sp_alloc_refuse(0, 0);
            assert_in_range(sp_alloc_live() - before, 0, 1); /* blocks */
        }
    sp_nests_free(n);
    close_world(&w);
    assert_true(sp_alloc_live() < live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_once),
        cmocka_unit_test(strategies_keep_their_promise),
        cmocka_unit_test(exhaustive_finds_the_best),
        cmocka_unit_test(graph_asks_less),
        cmocka_unit_test(families_and_nests_side_by_side),
        cmocka_unit_test(refused_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
