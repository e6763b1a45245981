/* test_inference.c - networks through the one tuner: ways are right, faults
 * are seen, what was found is proven and remembered. */
#include "check.h"
#include "folder.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form/internal.h"
#include "inference/internal.h"
#include "spry/tune.h"
#include "tune/heat.h"

static const char *const ways[] = {
    "plain threads=2",
    "passes=all plain threads=1",
    "passes=rest rows tile=8 threads=2",
    "passes=all rows tile=16 threads=2",
    "passes=factor,merge gather threads=1",
    "passes=merge,dead edges order=blocked threads=2",
};
enum { WAYS = sizeof ways / sizeof *ways };

static spry_network *read_net(const char *path)
{
    spry_network *n;

    check_ok(spry_network_read(&n, path, NULL));
    return n;
}

static void ways_have_a_text(void **state)
{
    static const char *const bad[] = {"passes=magic rows", "passes=all",
                                      "passes=all magic", "rows order=ego",
                                      "gather rest=1"};
    char text[SP_WAY_TEXT];
    sp_way w;

    (void)state;
    for (int i = 0; i < WAYS; i++) {
        check_ok(sp_way_parse(&w, ways[i]));
        assert_string_equal(sp_way_text(text, &w), ways[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sp_way_parse(&w, bad[i]), SPRY_USAGE);
    check_ok(sp_way_parse(&w, "rows rest=1"));
    assert_string_equal(sp_way_text(text, &w), "passes=rest rows");
}

/* ---- running ---- */

/* Inputs of which some are answered with zeros, some come to their limits. */
static void check_way(const spry_problem *p, const spry_matrix *rows,
                      const double *right, const char *text)
{
    const spry_network *n = spry_problem_net(p);
    int64_t batch = spry_problem_batch(p), count = batch * n->outputs;
    float *x = sp_alloc(batch * n->inputs, sizeof *x);
    float *y = sp_alloc(count, sizeof *y);
    uint8_t *any = sp_alloc(batch, sizeof *any);
    spry_plan *plan;

    check_ok(spry_plan_from(&plan, p, text, NULL));
    assert_string_equal(spry_plan_text(plan), text);
    assert_true(spry_plan_bytes(plan) > 0 && spry_plan_builtin(plan));
    assert_null(spry_plan_schedule(plan));
    check_ok(spry_inputs_dense(x, rows, 0, batch, n->inputs));
    check_ok(spry_run(plan, x, y));
    for (int64_t i = 0; i < count; i++)
        assert_true(fabs((double)y[i] - right[i]) <= 1e-4 * (1 + right[i]));
    check_ok(spry_run_categories(plan, any, rows, 0, batch));
    for (int64_t b = 0; b < batch; b++)
        assert_int_equal(any[b], right[b * n->outputs] > 0);
    check_ok(spry_plan_check(plan, 7));
    spry_plan_free(plan);
    sp_free(x);
    sp_free(y);
    sp_free(any);
}

static void ways_are_right(void **state)
{
    enum { BATCH = 300 };
    spry_network *n = read_net("gen:radix,depth=30");
    spry_problem *p;
    spry_matrix *few, *rows;
    double *right = sp_alloc(BATCH * n->outputs, sizeof *right);
    float *x = sp_alloc(BATCH * n->inputs, sizeof *x);
    int active = 0;

    (void)state;
    check_ok(spry_inputs_strokes(&few, 77, 1024, 3));
    check_ok(spry_inputs_repeat(&rows, few, BATCH));
    check_ok(spry_inputs_dense(x, rows, 0, BATCH, n->inputs));
    check_ok(spry_network_reference(right, n, x, BATCH));
    for (int b = 0; b < BATCH; b++)
        active += right[b * n->outputs] > 31;
    assert_in_range(active, 1, BATCH - 1);
    check_ok(spry_problem_network(&p, n, BATCH));
    for (int i = 0; i < WAYS; i++)
        check_way(p, rows, right, ways[i]);
    spry_problem_free(p);
    sp_free(right);
    sp_free(x);
    spry_matrix_free(few);
    spry_matrix_free(rows);
    spry_network_free(n);
}

/* Any network, any batch, every form: the check itself finds no fault. */
static void every_network_passes_its_check(void **state)
{
    static const char *const nets[] = {
        "gen:skip,width=20,depth=6,degree=5",
        "gen:random,width=7,density=0",
        "gen:pruned,widths=5x4,sparsity=0,activation=sigmoid",
        "gen:pruned,widths=30x40x20,sparsity=0.5,activation=tanh",
        "gen:mixed,radices=3x4,copies=4",
        "gen:random,width=60,depth=40,density=0.1"};
    static const char *const forms[] = {
        "plain",       "edges order=source",     "gather threads=3",
        "rows tile=8", "rows tile=64 threads=3", "passes=all rows tile=16"};
    static const int64_t batches[] = {1, 70, 500};

    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            spry_network *n = read_net(nets[i]);
            spry_problem *p;

            check_ok(spry_problem_network(&p, n, batches[b]));
            for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
                spry_plan *plan;

                check_ok(spry_plan_from(&plan, p, forms[f], NULL));
                check_ok(spry_plan_check(plan, 1 + b));
                spry_plan_free(plan);
            }
            spry_problem_free(p);
            spry_network_free(n);
        }
}

/* ---- checking ---- */

/* Integers through integers: nothing may be off; reals: something may. */
static void bounds_are_zero_where_sums_are_exact(void **state)
{
    int64_t first[] = {2, 4}, start[] = {0, 0, 0, 2, 4};
    int32_t source[] = {0, 1, 0, 1}, output[] = {2, 3};
    float whole[] = {2, -3, 0.5F, 1}, real[] = {0.1F, 0.3F, 0.7F, 0.9F};
    float bias[] = {0, 0, 1, 0.25F}, x[] = {3, 5};
    spry_activation relu = {SPRY_RELU, 0};
    spry_network parts = {.neurons = 4,
                          .inputs = 2,
                          .outputs = 2,
                          .layers = 1,
                          .edges = 4,
                          .first = first,
                          .start = start,
                          .source = source,
                          .weight = whole,
                          .bias = bias,
                          .activation = &relu,
                          .output = output};
    double right[2], bound[2];
    spry_network *n;

    (void)state;
    check_ok(spry_network_make(&n, &parts));
    check_ok(sp_inference_answers(right, bound, n, x, 1));
    assert_true(right[0] == 0 && right[1] == 6.75);
    assert_true(bound[0] == 0 && bound[1] == 0);
    spry_network_free(n);
    parts.weight = real;
    check_ok(spry_network_make(&n, &parts));
    check_ok(sp_inference_answers(right, bound, n, x, 1));
    assert_true(bound[0] > 0 && bound[0] < 1e-3);
    spry_network_free(n);
}

/* Kernels that do something wrong at one place only: behind the first tile,
 * in one lane, in one layer. */
static sp_net_kernels broken;
static const sp_net_kernels *whole;
static int calls;

static void last_lane_off(float *value, const sp_rows_layer *l, int tile,
                          uint32_t *alive)
{
    whole->rows(value, l, tile, alive);
    value[l->to * tile + tile - 1] += 1;
}

static void third_call_off(float *value, const sp_rows_layer *l, int tile,
                           uint32_t *alive)
{
    whole->rows(value, l, tile, alive);
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 97 == 3)
        value[l->to * tile] += 0.01F;
}

static void short_turn(float *to, const float *x, int64_t width, int tile,
                       int count)
{
    whole->turn(to, x, width, tile, count > 1 ? count - 1 : count);
}

static void crash(float *value, const sp_rows_layer *l, int tile,
                  uint32_t *alive)
{
    (void)value;
    (void)l;
    (void)tile;
    (void)alive;
    raise(SIGSEGV);
}

static void faults_are_seen(void **state)
{
    static void (*const rows[])(float *, const sp_rows_layer *, int,
                                uint32_t *) = {last_lane_off, third_call_off};
    spry_network *n = read_net("gen:random,width=64,depth=3,density=0.3");
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_problem_network(&p, n, 500));
    whole = sp_net_kernels_here();
    for (int i = 0; i < 3; i++) {
        broken = *whole;
        if (i < 2)
            broken.rows = rows[i];
        else
            broken.turn = short_turn;
        sp_net_kernels_force(&broken);
        check_ok(spry_plan_from(&plan, p, "rows tile=32 threads=2", NULL));
        sp_net_kernels_force(NULL);
        assert_int_equal(spry_plan_check(plan, 1), SPRY_WRONG);
        spry_plan_free(plan);
    }
    spry_problem_free(p);
    spry_network_free(n);
}

/* ---- tuning ---- */

static spry_plan *tune(const spry_problem *p, const char *store,
                       spry_effort effort)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan;

    o.seconds = 0;
    o.store = store;
    o.effort = effort;
    check_ok(spry_tune(&plan, p, &o));
    return plan;
}

typedef struct {
    int records, samples, ok;
} kept;

static int count_record(const spry_record *r, void *payload)
{
    kept *k = payload;

    k->records++;
    k->ok += r->verdict == SPRY_VERDICT_OK;
    k->samples += r->samples;
    return 0;
}

static void answers_are_remembered(void **state)
{
    char dir[TEST_FOLDER], store[TEST_FOLDER + 32], command[TEST_FOLDER + 16];
    spry_network *n = read_net("gen:mixed");
    spry_problem *p, *other;
    spry_plan *first, *again, *guess, *unasked;
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_records *db;
    const spry_tuning *t;
    kept k = {0};

    (void)state;
    assert_non_null(make_folder(dir));
    snprintf(store, sizeof store, "%s/records.db", dir);
    check_ok(spry_problem_network(&p, n, 5));
    check_ok(spry_problem_network(&other, n, 6));
    first = tune(p, store, SPRY_MEASURE);
    t = spry_plan_tuning(first);
    assert_true(t->trials > 0 && t->verified && !t->looked_up);
    assert_string_equal(t->model, "analytic");
    assert_true(!t->changed || t->low > 1.02);
    check_ok(spry_records_open(&db, store));
    check_ok(spry_records_each(db, "net-", NULL, count_record, &k));
    spry_records_close(db);
    assert_true(k.ok > 0 && k.samples >= k.ok);
    again = tune(p, store, SPRY_MEASURE);
    assert_true(spry_plan_tuning(again)->looked_up);
    assert_string_equal(spry_plan_text(first), spry_plan_text(again));
    guess = tune(other, store, SPRY_PREDICT); /* another batch: not known */
    assert_true(!spry_plan_tuning(guess)->looked_up);
    /* What makes no sense makes none when the answer is known, either. */
    o.search = "graph";
    o.store = store;
    assert_int_equal(spry_tune(&unasked, p, &o), SPRY_USAGE);
    assert_null(unasked);
    spry_plan_free(first);
    spry_plan_free(again);
    spry_plan_free(guess);
    spry_problem_free(p);
    spry_problem_free(other);
    spry_network_free(n);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* What a way does to its process is its verdict, and the tune goes on. */
static void crashes_stay_in_their_child(void **state)
{
    spry_network *n = read_net("gen:random,width=64,depth=3,density=0.3");
    spry_problem *p;
    spry_plan *plan;
    const spry_tuning *t;
    int crashed = 0, other = 0;

    (void)state;
    check_ok(spry_problem_network(&p, n, 100));
    check_ok(spry_problem_set_passes(p, "none"));
    whole = sp_net_kernels_here();
    broken = *whole;
    broken.rows = crash;
    sp_net_kernels_force(&broken);
    plan = tune(p, ":memory:", SPRY_MEASURE);
    sp_net_kernels_force(NULL);
    t = spry_plan_tuning(plan);
    for (int i = 0; i < t->trials; i++) {
        int rows = strncmp(t->trial[i].schedule, "rows", 4) == 0;

        crashed += rows && t->trial[i].verdict == SPRY_VERDICT_CRASH;
        other += !rows && t->trial[i].verdict == SPRY_VERDICT_OK;
    }
    assert_true(crashed > 0 && other > 0);
    assert_true(strncmp(t->best, "rows", 4) != 0);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_network_free(n);
}

/* A batch that takes long is raced in part; seconds are those of all. */
static void long_batches_are_raced_in_part(void **state)
{
    spry_network *n = read_net("gen:random,width=256,depth=20,density=0.5");
    spry_problem *p;
    const sp_family *family;
    void *oracle;

    (void)state;
    check_ok(spry_problem_network(&p, n, 1000000));
    assert_in_range(spry_problem_raced(p), 256, 10000);
    family = sp_family_of(p);
    check_ok(family->ask(&oracle, p, 1, SP_TO_RUN));
    assert_true(
        fabs(sp_family_whole(family, oracle) * (double)spry_problem_raced(p) -
             1e6) < 1);
    family->forget(oracle);
    spry_problem_free(p);
    spry_network_free(n);
}

static void predictions_ask_the_machine(void **state)
{
    spry_network *n = read_net("gen:random,width=1024,depth=4");
    spry_machine m, wide;
    spry_prediction a = {.size = sizeof a}, b = {.size = sizeof b};
    spry_problem *p;

    (void)state;
    check_ok(spry_problem_network(&p, n, 64));
    check_ok(spry_machine_detect(&m));
    m.fma_f32 = 96e9;
    wide = m;
    wide.fma_f32 *= 2;
    check_ok(spry_explain(&a, p, "rows tile=32 threads=1", &m));
    check_ok(spry_explain(&b, p, "rows tile=32 threads=1", &wide));
    assert_true(b.compute < 0.6 * a.compute && b.seconds < a.seconds);
    check_ok(spry_explain(&b, p, "gather threads=1", &m));
    assert_true(a.seconds < b.seconds); /* many inputs: side by side */
    assert_int_equal(spry_explain(&b, p, "sorcery", &m), SPRY_USAGE);
    spry_problem_free(p);
    spry_network_free(n);
}

/* ---- misuse ---- */

static void bad_arguments_are_refused(void **state)
{
    spry_network *n = read_net("gen:random,width=7,density=1");
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_problem *p, *matrix;
    spry_matrix *A;
    spry_plan *plan, *sparse;
    float x[7] = {0}, y[7];
    uint8_t any[1];

    (void)state;
    assert_int_equal(spry_problem_network(&p, NULL, 1), SPRY_USAGE);
    assert_int_equal(spry_problem_network(NULL, n, 1), SPRY_USAGE);
    assert_int_equal(spry_problem_network(&p, n, 0), SPRY_USAGE);
    check_ok(spry_problem_network(&p, n, 1));
    assert_int_equal(spry_problem_set_passes(p, "magic"), SPRY_USAGE);
    assert_int_equal(spry_plan_from(&plan, p, "csr", NULL), SPRY_USAGE);
    assert_int_equal(spry_plan_ordered(&plan, p, NULL), SPRY_USAGE);
    o.search = "graph";
    o.store = ":memory:";
    assert_int_equal(spry_tune(&plan, p, &o), SPRY_USAGE);
    check_ok(spry_plan_from(&plan, p, "rows", NULL));
    assert_int_equal(spry_run_scaled(plan, 2, x, NULL, 0, y), SPRY_USAGE);
    assert_int_equal(spry_run_inputs(plan, NULL, y, 1), SPRY_USAGE);
    assert_int_equal(spry_run_inputs(plan, x, y, -1), SPRY_USAGE);
    assert_int_equal(spry_run_categories(plan, NULL, NULL, 0, 1), SPRY_USAGE);
    check_ok(spry_matrix_generate(&A, "banded rows=9 band=1", 1));
    check_ok(spry_problem_spmv(&matrix, A, SPRY_F32));
    check_ok(spry_plan_from(&sparse, matrix, "csr", NULL));
    assert_int_equal(spry_run_inputs(sparse, x, y, 1), SPRY_USAGE);
    assert_int_equal(spry_run_categories(sparse, any, A, 0, 1), SPRY_USAGE);
    assert_int_equal(spry_problem_set_inputs(matrix, x), SPRY_USAGE);
    assert_null(spry_problem_net(matrix));
    assert_int_equal(spry_plan_edges(sparse), 0);
    spry_plan_free(sparse);
    spry_plan_free(plan);
    spry_problem_free(matrix);
    spry_matrix_free(A);
    spry_problem_free(p);
    spry_network_free(n);
}

static void short_memory_is_survived(void **state)
{
    spry_network *n = read_net("gen:mixed,radices=3x4,copies=4");
    int64_t before = sp_alloc_live();

    (void)state;
    for (int64_t k = 1;; k++) {
        float x[3 * 48] = {0}, y[3 * 48];
        spry_problem *p = NULL;
        spry_plan *plan = NULL;
        spry_status s;

        sp_alloc_refuse(k, 0);
        s = spry_problem_network(&p, n, 3);
        if (s == SPRY_OK)
            s = spry_plan_from(&plan, p, "passes=all plain threads=1", NULL);
        if (s == SPRY_OK)
            s = spry_run(plan, x, y);
        if (s == SPRY_OK)
            s = spry_plan_check(plan, 1);
        sp_alloc_refuse(0, 0);
        spry_plan_free(plan);
        spry_problem_free(p);
        assert_int_equal(sp_alloc_live(), before);
        if (s == SPRY_OK)
            break;
        assert_int_equal(s, SPRY_SYSTEM);
    }
    spry_network_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_have_a_text),
        cmocka_unit_test(ways_are_right),
        cmocka_unit_test(every_network_passes_its_check),
        cmocka_unit_test(bounds_are_zero_where_sums_are_exact),
        cmocka_unit_test(faults_are_seen),
        cmocka_unit_test(answers_are_remembered),
        cmocka_unit_test(crashes_stay_in_their_child),
        cmocka_unit_test(long_batches_are_raced_in_part),
        cmocka_unit_test(predictions_ask_the_machine),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
