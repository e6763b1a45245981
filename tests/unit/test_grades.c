/* test_grades.c - every number of a table, against one computed by hand. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "train/internal.h"

/* Times of two problems in milliseconds, and what a model said of them. */
enum { FIRST = 5, SECOND = 6, ROWS = FIRST + SECOND };
static const double ms[ROWS] = {1, 2, 4, 8, 16, 3, 3, 6, 12, 24, 48};
static const double said[ROWS] = {2, 1, 3, 5, 4, 9, 4, 3, 2, 1, 1};

typedef struct {
    sp_subject subject[2];
    sp_example row[ROWS];
    int64_t start[3];
    sp_examples e;
} fixture;

/* The baseline takes 4 ms on both; row 2 of each is WACO's fixed CSR, once
 * alone and once on two threads. */
static int setup(void **state)
{
    static fixture f;

    memset(&f, 0, sizeof f);
    f.start[1] = FIRST;
    f.start[2] = ROWS;
    f.e = (sp_examples){2, ROWS, f.subject, f.row, f.start};
    for (int i = 0; i < ROWS; i++) {
        sp_example *r = &f.row[i];

        r->subject = i >= FIRST;
        r->x = spry_schedule_baseline(1);
        r->x.tile = 1 + i;
        r->log_seconds = log(ms[i] * 1e-3);
        r->log_speedup = log(4 / ms[i]);
    }
    check_ok(spry_schedule_parse_for(&f.row[2].x, "fixed-csr", SPRY_SPMM));
    check_ok(spry_schedule_parse_for(&f.row[FIRST + 2].x, "fixed-csr threads=2",
                                     SPRY_SPMM));
    *state = &f;
    return 0;
}

static spry_grades grade(const sp_examples *e, const double *score,
                         int absolute)
{
    sp_grading *g;
    spry_grades out;

    check_ok(sp_grading_new(&g, SPRY_SPMM));
    check_ok(sp_grading_add(g, e, score, 1));
    check_ok(sp_grading_end(&out, g, "it", absolute));
    sp_grading_free(g);
    return out;
}

static void near(double value, double should)
{
    if (!(fabs(value - should) <= 1e-9 * (1 + fabs(should))))
        fail_msg("%.12g, should be %.12g", value, should);
}

static void numbers_are_those_computed_by_hand(void **state)
{
    const fixture *f = *state;
    spry_grades g = grade(&f->e, said, 0);

    assert_int_equal(g.problems, 2);
    /* First problem: of ten pairs (0,1) and (3,4) are the wrong way round.
     * Second: of fifteen the two fastest are as fast and the two slowest said
     * to be: half each; all others are wrong. */
    near(g.pairwise, (8.0 / 10 + 1.0 / 15) / 2);
    /* It chooses 2 where 1 is best; and 48, the slower of two equals, of 3. */
    near(g.top1, (1.0 / 2 + 3.0 / 48) / 2);
    /* The best of five: the first knows only five; the second leaves out 9. */
    near(g.top5, (1.0 + 1.0) / 2);
    near(g.regret1, sqrt(2 * 16.0) - 1);
    near(g.regret5, 0);
    near(g.regret20, 0);
    near(g.speedup1, sqrt(4.0 / 2 * (4.0 / 48)));
    near(g.speedup20, sqrt(4.0 / 1 * (4.0 / 3)));
    near(g.csr1, sqrt(4.0 / 2 * (6.0 / 48)));
    near(g.csr20, sqrt(4.0 / 1 * (6.0 / 3)));
    near(g.slower, 0.5);
    /* Ranks 1 0 2 4 3 of 0 1 2 3 4: 1 - 6 * 4 / (5 * 24) = 0.8. Ranks of the
     * second: times 0.5 0.5 2 3 4 5, scores 5 4 3 2 0.5 0.5. */
    near(g.spearman, (0.8 + (-2 * 2.5 - 2 * 1.5 - 0.5 * 0.5 - 0.5 * 0.5 -
                             1.5 * 2 - 2.5 * 2) /
                                17.0) /
                         2);
    assert_true(isnan(g.rmse));
}

static void errors_of_log_time(void **state)
{
    const fixture *f = *state;
    double score[ROWS];

    for (int i = 0; i < ROWS; i++)
        score[i] = f->row[i].log_seconds + (i < FIRST ? 0.3 : -0.4);
    near(grade(&f->e, score, 1).rmse, sqrt((0.09 + 0.16) / 2));
}

static void intervals_hold_the_mean(void **state)
{
    const fixture *f = *state;
    spry_grades g = grade(&f->e, said, 0);

    /* of two problems either may be drawn twice */
    near(g.pairwise_low, 1.0 / 15);
    near(g.pairwise_high, 0.8);
    near(g.top1_low, 3.0 / 48);
    near(g.top1_high, 0.5);
}

/* What cannot be told apart is half right, and choosing among equals earns
 * the worst of them. */
static void ties_earn_nothing(void **state)
{
    static const double same[ROWS];
    const fixture *f = *state;
    spry_grades g = grade(&f->e, same, 0);

    near(g.pairwise, 0.5);
    near(g.spearman, 0);
    near(g.top1, (1.0 / 16 + 3.0 / 48) / 2);
}

static void what_has_no_score_comes_last(void **state)
{
    const fixture *f = *state;
    double score[ROWS];

    for (int i = 0; i < ROWS; i++)
        score[i] = i % FIRST == 0 ? (double)NAN : said[i];
    near(grade(&f->e, score, 0).top1, (1.0 / 2 + 3.0 / 24) / 2);
}

static void rows_without_a_time_do_not_count(void **state)
{
    fixture *f = *state;
    spry_grades g;

    f->row[ROWS - 1].log_seconds = (double)NAN;
    g = grade(&f->e, said, 0);
    near(g.top1, (1.0 / 2 + 3.0 / 24) / 2);
    f->row[0].log_seconds = (double)NAN; /* four are too few */
    assert_int_equal(grade(&f->e, said, 0).problems, 1);
}

#define WITH(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(numbers_are_those_computed_by_hand),
        WITH(errors_of_log_time),
        WITH(intervals_hold_the_mean),
        WITH(ties_earn_nothing),
        WITH(what_has_no_score_comes_last),
        WITH(rows_without_a_time_do_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
