/* test_cost.c - cost models learn a rule they were not told, are kept as they
 * are, and come back from no other bytes. */
#include "check.h"
#include "cost_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/cost.h"
#include "model/guess.h"
#include "model/trees.h"
#include "spry/model.h"
#include "spry/space.h"

static const char path[] = "test_cost.spry";

/* ---- how well a model does ---- */

/* Share of pairs in the right order, of rows that have a finite score. */
static double accuracy(const sp_examples *e, const double *score)
{
    double right = 0, all = 0;

    for (int64_t s = 0; s < e->subjects; s++)
        for (int64_t i = e->start[s]; i < e->start[s + 1]; i++)
            for (int64_t j = i + 1; j < e->start[s + 1]; j++) {
                double d = e->row[i].log_seconds - e->row[j].log_seconds;

                if (!isfinite(score[i]) || !isfinite(score[j]) ||
                    !(fabs(d) > 0.02))
                    continue;
                right += (score[i] > score[j]) == (d > 0);
                all++;
            }
    return all > 0 ? right / all : 0;
}

static void score_all(double *score, const sp_cost *c, const sp_examples *e)
{
    for (int64_t s = 0; s < e->subjects; s++) {
        sp_view *v;

        check_ok(sp_cost_look(&v, c, &e->subject[s]));
        for (int64_t i = e->start[s]; i < e->start[s + 1]; i++)
            check_ok(sp_view_score(&score[i], v, &e->row[i].x, 1));
        sp_view_free(v);
    }
}

static void join_all(double *score, const sp_cost *c, const sp_examples *e)
{
    for (int64_t s = 0; s < e->subjects; s++) {
        int width = sp_cost_width(c);
        float *half = sp_alloc(EACH * width, sizeof *half), out[EACH];
        spry_schedule x[EACH];
        sp_view *v;

        for (int i = 0; i < EACH; i++)
            x[i] = e->row[e->start[s] + i].x;
        check_ok(sp_cost_halves(half, c, x, EACH));
        check_ok(sp_cost_look(&v, c, &e->subject[s]));
        sp_view_join(out, v, half, EACH);
        for (int i = 0; i < EACH; i++)
            score[e->start[s] + i] = (double)out[i];
        sp_view_free(v);
        sp_free(half);
    }
}

static int laps(const sp_lap *lap, void *payload)
{
    int *count = payload;

    if (lap->round == 0) /* only asks whether to go on */
        return 0;
    assert_int_equal(lap->round, *count + 1);
    assert_true(isfinite(lap->loss));
    return ++*count >= 1000;
}

static sp_cost *learn(const world *w, const char *kind, spry_op op, int rounds)
{
    int count = 0;
    sp_fitting l = {.train = &w->train,
                    .test = &w->test,
                    .seed = 7,
                    .threads = 1,
                    .rounds = rounds,
                    .note = laps,
                    .payload = &count};
    sp_cost *c;

    check_ok(sp_cost_fit(&c, sp_cost_kind_find(kind), op, &l));
    return c;
}

/* The file brings the same scores, bit for bit, and its card. */
static void check_kept(const sp_cost *c, const sp_examples *e,
                       const double *score)
{
    double *again = sp_alloc(e->rows, sizeof *again);
    sp_cost *d;

    check_ok(sp_cost_save(c, "{\"data\":\"a test\"}", path));
    check_ok(sp_cost_load(&d, path));
    assert_ptr_equal(d->kind, c->kind);
    assert_non_null(strstr(sp_nn_card(d->nn), "a test"));
    score_all(again, d, e);
    assert_memory_equal(score, again, (size_t)e->rows * sizeof *again);
    sp_cost_free(d);
    sp_free(again);
    unlink(path);
}

/* A score is the mean of the opinions, and who is chosen unmeasured promises
 * more than the plain loop. */
static void check_opinions(const sp_cost *c, const sp_subject *s,
                           const sp_example *row, const double *score)
{
    double opinion[EACH][SP_OPINIONS], plain, chosen;
    spry_schedule x[EACH + 1];
    sp_guess g;
    int at;

    x[0] = spry_schedule_baseline(1);
    for (int i = 0; i < EACH; i++)
        x[i + 1] = row[i].x;
    check_ok(sp_guess_with(&g, s->p, s->m, c));
    check_ok(sp_view_opinions(opinion, g.view, x + 1, EACH));
    for (int i = 0; i < EACH; i++)
        if (isfinite(score[i]))
            assert_true(fabs((opinion[i][0] + opinion[i][1]) / 2 - score[i]) <
                        1e-5);
    at = sp_guess_choose(&g, x, EACH + 1, 1);
    assert_true(at >= 0 && at <= EACH);
    check_ok(sp_view_score(&plain, g.view, &x[0], 1));
    check_ok(sp_view_score(&chosen, g.view, &x[at], 1));
    assert_true(at == 0 || chosen < plain - log(1.1));
    sp_guess_close(&g);
}

/* Better than `least` on problems never seen, better than chance by far. */
static void check_kind(const char *kind, spry_op op, int rounds, double least)
{
    static world w;
    double score[HELD * EACH], right;
    sp_cost *c;

    open_world(&w, op);
    c = learn(&w, kind, op, rounds);
    score_all(score, c, &w.test);
    right = accuracy(&w.test, score);
    if (right < least)
        fail_msg("%s orders %.3f of the pairs", kind, right);
    check_kept(c, &w.test, score);
    check_opinions(c, &w.test.subject[0], w.test.row, score);
    if (sp_cost_width(c)) {
        join_all(score, c, &w.test);
        right = accuracy(&w.test, score);
        if (right < 0.7)
            fail_msg("%s in halves orders %.3f of the pairs", kind, right);
    }
    sp_cost_free(c);
    close_world(&w);
    assert_int_equal(sp_alloc_live(), 0);
}

/* What the trees below are compared with: the bound alone. */
static double bound_alone(void)
{
    static world w;
    double score[HELD * EACH], right;
    sp_cost *c;

    open_world(&w, SPRY_SPMM);
    c = learn(&w, "analytic", SPRY_SPMM, 0);
    score_all(score, c, &w.test);
    right = accuracy(&w.test, score);
    check_kept(c, &w.test, score);
    sp_cost_free(c);
    close_world(&w);
    return right;
}

static int no_trees(void)
{
    if (sp_boost_ready())
        return 0;
    print_message("XGBoost is not here; nothing is fitted\n");
    return 1;
}

static void test_spry(void **state)
{
    double bound = bound_alone();

    (void)state;
    assert_true(bound < 0.95);
    if (no_trees())
        skip_because("XGBoost is not there");
    check_kind("spry", SPRY_SPMM, 80, fmax(0.9, bound));
    if (unless_emulated(1, 0))
        check_kind("spry", SPRY_SPMV, 80, 0.88);
}

/* Root of the mean squared error of log seconds, over finite scores. */
static double error_of(const sp_examples *e, const double *score)
{
    double sum = 0, count = 0;

    for (int64_t i = 0; i < e->rows; i++)
        if (isfinite(score[i]) && isfinite(e->row[i].log_seconds)) {
            sum += pow(score[i] - e->row[i].log_seconds, 2);
            count++;
        }
    return sqrt(sum / count);
}

/* Scores are log seconds, even where the matrix is not at hand. */
static void test_seconds(void **state)
{
    static world w;
    double score[HELD * EACH];
    sp_cost *c;

    (void)state;
    if (no_trees())
        skip_because("XGBoost is not there");
    open_world(&w, SPRY_SPMM);
    for (int k = 0; k < SUBJECTS; k += 2) {
        sp_problem_shape task = w.subject[k].task;

        sp_subject_bare(&w.subject[k], &task, &w.m);
    }
    c = learn(&w, "spry", SPRY_SPMM, 80);
    score_all(score, c, &w.test);
    if (error_of(&w.test, score) > 1)
        fail_msg("log seconds are off by %.2f", error_of(&w.test, score));
    sp_cost_free(c);
    close_world(&w);
    assert_int_equal(sp_alloc_live(), 0);
}

static void test_gbdt(void **state)
{
    (void)state;
    if (no_trees())
        skip_because("XGBoost is not there");
    check_kind("gbdt", SPRY_SPMM, 60, 0.85);
    check_kind("gbdt-leaf", SPRY_SPMM, 60, 0.85);
}

static void test_mlp(void **state)
{
    (void)state;
    check_kind("mlp", SPRY_SPMM, 30, 0.85);
}

/* ---- WACO's network ---- */

/* It has no words for families, and its halves are its head. */
static void test_waconet_learns(void **state)
{
    static world w;
    double score[HELD * EACH], joined[HELD * EACH], after;
    sp_cost *c;

    (void)state;
    open_world(&w, SPRY_SPMV);
    c = learn(&w, "waconet", SPRY_SPMV, 24);
    score_all(score, c, &w.test);
    check_kept(c, &w.test, score);
    join_all(joined, c, &w.test);
    for (int i = 0; i < HELD * EACH; i++) {
        const spry_schedule *x = &w.test.row[i].x;

        if (x->format != SPRY_SUPER)
            assert_true(isinf(score[i]));
        assert_true(isinf(score[i]) == isinf(joined[i]));
        if (isfinite(score[i]))
            assert_true(fabs(score[i] - joined[i]) < 1e-3);
    }
    after = accuracy(&w.test, score);
    if (after < 0.6)
        fail_msg("waconet orders %.3f of the pairs", after);
    sp_cost_free(c);
    close_world(&w);
    assert_int_equal(sp_alloc_live(), 0);
}

/* ---- what may go wrong ---- */

/* Every byte flipped, every length: refused with a sentence, or harmless. */
static void test_damage(void **state)
{
    static world w;
    sp_file f;
    sp_cost *c;

    (void)state;
    open_world(&w, SPRY_SPMM);
    c = learn(&w, "analytic", SPRY_SPMM, 0);
    check_ok(sp_cost_save(c, NULL, path));
    sp_cost_free(c);
    check_ok(sp_file_read(&f, path, 1 << 20));
    for (size_t i = 0; i < f.len; i++) {
        f.data[i] ^= 0x10;
        assert_int_equal(sp_cost_parse(&c, f.data, f.len, path), SPRY_INPUT);
        assert_null(c);
        f.data[i] ^= 0x10;
        assert_int_equal(sp_cost_parse(&c, f.data, i, path), SPRY_INPUT);
        assert_non_null(strstr(spry_message(), path));
    }
    sp_file_free(&f);
    unlink(path);
    close_world(&w);
    assert_int_equal(sp_alloc_live(), 0);
}

/* Reading, looking and scoring with memory refused once at every place. */
static spry_status use(const world *w)
{
    spry_schedule x = spry_schedule_baseline(1);
    sp_cost *c;
    sp_view *v = NULL;
    double score;
    spry_status s = sp_cost_load(&c, path);

    if (s == SPRY_OK)
        s = sp_cost_look(&v, c, &w->subject[0]);
    if (s == SPRY_OK)
        s = sp_view_score(&score, v, &x, 1);
    sp_view_free(v);
    sp_cost_free(c);
    return s;
}

static void refuse_all(const world *w, const char *kind, spry_op op)
{
    sp_cost *c = learn(w, kind, op, 2);
    spry_status s = SPRY_SYSTEM;
    int64_t before;

    check_ok(sp_cost_save(c, NULL, path));
    sp_cost_free(c);
    check_ok(use(w));
    before = sp_alloc_live();
    for (int64_t n = 1; s != SPRY_OK; n++) {
        sp_alloc_refuse(n, 0);
        s = use(w);
        sp_alloc_refuse(0, 0);
        assert_true(s == SPRY_OK || s == SPRY_SYSTEM);
        assert_int_equal(sp_alloc_live(), before);
    }
    unlink(path);
}

static void test_memory(void **state)
{
    static world w;

    (void)state;
    open_world(&w, SPRY_SPMV);
    refuse_all(&w, "mlp", SPRY_SPMV);
    refuse_all(&w, "waconet", SPRY_SPMV);
    if (!no_trees())
        refuse_all(&w, "spry", SPRY_SPMV);
    close_world(&w);
    assert_int_equal(sp_alloc_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spry),           cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_gbdt),           cmocka_unit_test(test_mlp),
        cmocka_unit_test(test_waconet_learns), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
