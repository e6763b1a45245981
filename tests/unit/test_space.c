/* test_space.c - the space of SuperSchedules: words, numbers, storage. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "schedule/super.h"
#include "spry.h"

/* ---- text ---- */

static void nests_go_round(void **state)
{
    static const char *const texts[] = {
        "super loops=ik dense=i",
        "super loops=ikj dense=i parallel=i threads=2 chunk=32",
        "super i=4 k=8 j=32 loops=i1k1j1i0k0j0 dense=i1i0k0 parallel=i1 "
        "threads=2",
        "super j=128 i=65536 loops=j1i1j0i0k parallel=j0 index=64 threads=3 "
        "chunk=1",
        "super l=2 i=2 k=2 j=2 loops=l1i1k1j1l0i0k0j0 dense=l1k0",
    };
    char buf[SPRY_SCHEDULE_TEXT];
    spry_schedule x;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_ok(spry_schedule_parse(&x, texts[i]));
        assert_string_equal(spry_schedule_text(buf, &x), texts[i]);
    }
}

/* What an index that is not split would have inside is left out. */
static void aliases_become_one(void **state)
{
    spry_schedule a, b;

    (void)state;
    check_ok(spry_schedule_parse(
        &a, "super i=1 k=4 loops=i1k1i0k0 dense=i1i0k0 parallel=i1 threads=2"));
    check_ok(spry_schedule_parse(
        &b, "super loops=ik1k0 k=4 parallel=i dense=k0i threads=2"));
    assert_true(sp_schedule_equal(&a, &b));
}

static void bad_nests_are_refused(void **state)
{
    static const char *const words[] = {
        "super i=3 loops=ik",  "super loops=ixk", "super loops=",
        "super i=0 loops=ik",  "super dense=x",   "super parallel=ik",
        "super parallel=none",
    };
    static const char *const nests[] = {
        "super",
        "super loops=i",
        "super loops=ikk",
        "super loops=ikj",
        "super i=4 loops=i0i1k",
        "super i=4 loops=ik",
        "super loops=ik dense=j",
        "super loops=ik parallel=i",
        "super loops=ik threads=2",
        "super loops=ik parallel=j threads=2",
        "super loops=ik index=16",
        "super loops=ik tile=4",
        "csr parallel=i threads=2",
    };
    spry_machine m = {.threads = 2, .isa = SPRY_PORTABLE};
    spry_matrix *A;
    spry_problem *p;
    spry_schedule x;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform rows=9 cols=8 nnz=20", 1));
    check_ok(spry_problem_spmv(&p, A, SPRY_F32));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_int_equal(spry_schedule_parse(&x, words[i]), SPRY_USAGE);
    for (size_t i = 0; i < sizeof nests / sizeof nests[0]; i++)
        if (spry_schedule_parse(&x, nests[i]) == SPRY_OK)
            assert_int_equal(spry_schedule_legal(&x, p, &m), SPRY_USAGE);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void fixed_csr_is_one_point(void **state)
{
    static const char *const wanted[SPRY_OPS] = {
        "super loops=ik dense=i parallel=i threads=2 chunk=128",
        "super loops=ikj dense=i parallel=i threads=2 chunk=32",
        "super loops=ijk dense=i parallel=i threads=2 chunk=32",
        "super loops=iklj dense=i parallel=i threads=2 chunk=32",
    };
    char buf[SPRY_SCHEDULE_TEXT];
    spry_schedule x;

    (void)state;
    for (int op = 0; op < SPRY_OPS; op++) {
        check_ok(
            spry_schedule_parse_for(&x, "fixed-csr threads=2", (spry_op)op));
        assert_string_equal(spry_schedule_text(buf, &x), wanted[op]);
    }
    check_ok(spry_schedule_parse_for(&x, "fixed-csr", SPRY_SPMV));
    assert_string_equal(spry_schedule_text(buf, &x), "super loops=ik dense=i");
    assert_int_equal(spry_schedule_parse(&x, "fixed-csr"), SPRY_USAGE);
}

/* ---- the space ---- */

static int count_one(const spry_schedule *x, void *payload)
{
    (void)x;
    ++*(int64_t *)payload;
    return 0;
}

static void waco_has_so_many_points(void **state)
{
    static const struct {
        spry_op op;
        int splits;
        int64_t points;
    } cases[] = {
        {SPRY_SPMM, 6, 457236}, /* 611712 lines */
        {SPRY_SPMM, 17, 4452084},
        {SPRY_SPMV, 6, (25 * 6 * 16 + 2 * 5 * 3 * 8 + 2 * 4) * 9},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int n = cases[i].splits;
        spry_space s = {cases[i].op, {n, n, n}, 2};
        int64_t walked = 0;

        assert_int_equal(spry_space_count(&s), cases[i].points);
        spry_space_each(&s, count_one, &walked);
        assert_int_equal(walked, cases[i].points);
    }
}

typedef struct {
    spry_schedule *x;
    int64_t count;
    spry_op op;
} collection;

static int collect(const spry_schedule *x, void *payload)
{
    collection *c = payload;

    assert_null(sp_super_fault(x, c->op));
    c->x[c->count++] = *x;
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(spry_schedule));
}

/* Sorted, so that others can be looked for in it; no two are equal. */
static collection all_points(spry_op op, int splits)
{
    spry_space s = {op, {splits, splits, splits}, 2};
    collection c = {.op = op};

    c.x = malloc((size_t)spry_space_count(&s) * sizeof *c.x);
    spry_space_each(&s, collect, &c);
    assert_int_equal(c.count, spry_space_count(&s));
    qsort(c.x, (size_t)c.count, sizeof *c.x, by_bytes);
    for (int64_t i = 1; i < c.count; i++)
        assert_true(by_bytes(&c.x[i - 1], &c.x[i]) < 0);
    return c;
}

/* The only points that WACO draws outside of its own space. */
static int has_narrow_blocks_amid(const spry_schedule *x, spry_op op)
{
    const sp_operation *d = sp_operation_of(op);
    int last = x->super.loops - 1;

    return d->dense >= 0 && x->super.split[d->dense] < 3 &&
           (sp_loop_index(x->super.order[last]) != d->dense ||
            (x->super.split[d->dense] &&
             sp_loop_index(x->super.order[last - 1]) != d->dense));
}

/* What WACO draws is in its space, and not all of it the same. */
static void samples_lie_in_the_space(void **state)
{
    (void)state;
    for (int op = 0; op < SPRY_OPS; op++) {
        collection c = all_points((spry_op)op, op == SPRY_MTTKRP ? 2 : 3);
        spry_space s = {(spry_op)op, {3, 3, 3}, 2};
        spry_schedule x[1000];
        int different = 0;

        if (op == SPRY_MTTKRP)
            s.splits[0] = s.splits[1] = s.splits[2] = 2;
        spry_space_sample(x, 1000, &s, SPRY_SAMPLE_WACO, 3);
        for (int i = 0; i < 1000; i++) {
            different += by_bytes(&x[i], &x[0]) != 0;
            assert_true(
                has_narrow_blocks_amid(&x[i], (spry_op)op) ||
                bsearch(&x[i], c.x, (size_t)c.count, sizeof *c.x, by_bytes));
        }
        assert_true(different > 900);
        free(c.x);
    }
}

/* Chi-squared over the points of a small space: every one is as likely. */
static void all_nests_are_as_likely(void **state)
{
    enum { DRAWS = 60000, POINTS = 512 };
    static spry_schedule x[DRAWS];
    spry_space s = {SPRY_SPMV, {2, 2}, 1};
    double counts = 0, chi = 0;
    int64_t same = 1;

    (void)state;
    spry_space_sample(x, DRAWS, &s, SPRY_SAMPLE_ALL, 5);
    qsort(x, DRAWS, sizeof *x, by_bytes);
    /* both split 6 * 16, one split 2 * 3 * 8, none 2 * 4 */
    for (int i = 1; i <= DRAWS; i++) {
        if (i < DRAWS && by_bytes(&x[i], &x[i - 1]) == 0) {
            same++;
            continue;
        }
        double expected = DRAWS / 152.0, off = (double)same - expected;

        assert_null(sp_super_fault(&x[i - 1], SPRY_SPMV));
        chi += off * off / expected;
        counts++;
        same = 1;
    }
    assert_true(counts == 152);
    assert_true(chi < 220); /* 151 degrees of freedom, p about 1e-4 */
}

/* ---- WACO's words ---- */

static void waco_lines_go_round(void **state)
{
    static const struct {
        spry_op op;
        const char *line, *text;
    } cases[] = {
        {SPRY_SPMV, "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 = 5.655",
         "super k=64 loops=k1ik0 dense=k0 parallel=i threads=48 chunk=2"},
        {SPRY_SPMM, "4 8 32 i1 k1 j1 i0 k0 j0 1 1 0 1 i1 48 32",
         "super i=4 k=8 j=32 loops=i1k1j1i0k0j0 dense=i1i0k0 parallel=i1 "
         "threads=48 chunk=32"},
        {SPRY_SDDMM, "1 1 1 i1 i0 j1 j0 k1 k0 1 0 0 0 i1 48 32",
         "super loops=ijk dense=i parallel=i threads=48 chunk=32"},
        {SPRY_MTTKRP, "2 1 4 8 i1 k1 k0 l1 j1 i0 l0 j0 1 0 0 0 0 1 i1 48 16",
         "super i=2 l=4 j=8 loops=i1kl1j1i0l0j0 dense=i1l0 parallel=i1 "
         "threads=48 chunk=16"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[SPRY_SCHEDULE_TEXT], back[SPRY_WACO_TEXT];
        spry_schedule x, y;
        double ms;

        check_ok(spry_waco_parse(&x, &ms, cases[i].line, cases[i].op, 0));
        assert_true(i == 0 ? ms == 5.655 : ms == -1);
        assert_string_equal(spry_schedule_text(text, &x), cases[i].text);
        check_ok(spry_waco_text(back, &x, cases[i].op));
        check_ok(spry_waco_parse(&y, &ms, back, cases[i].op, 0));
        assert_true(sp_schedule_equal(&x, &y));
    }
}

static void every_point_has_a_line(void **state)
{
    (void)state;
    for (int op = 0; op < SPRY_OPS; op++) {
        spry_space s = {(spry_op)op, {5, 5, 5}, 3};
        spry_schedule x[2000], y;
        char line[SPRY_WACO_TEXT];
        double ms;

        spry_space_sample(x, 2000, &s, SPRY_SAMPLE_ALL, 9);
        for (int i = 0; i < 2000; i++) {
            if (x[i].threads > 1 && x[i].chunk == 0)
                x[i].chunk = 1;
            check_ok(spry_waco_text(line, &x[i], (spry_op)op));
            check_ok(spry_waco_parse(&y, &ms, line, (spry_op)op, 0));
            assert_true(sp_schedule_equal(&x[i], &y));
        }
    }
}

static void bad_lines_are_named(void **state)
{
    static const char *const bad[] = {
        "",
        "1 64 k1 i1 i0 k0 0 0 0 1 i1 48",
        "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 7",
        "1 63 k1 i1 i0 k0 0 0 0 1 i1 48 2",
        "1 64 k1 i1 i0 j0 0 0 0 1 i1 48 2",
        "1 64 k1 i1 k1 k0 0 0 0 1 i1 48 2",
        "1 64 k0 i1 i0 k1 0 0 0 1 i1 48 2",
        "1 64 k1 i1 i0 k0 0 0 2 1 i1 48 2",
        "1 64 k1 i1 i0 k0 0 0 0 1 j1 48 2",
        "1 64 k1 i1 i0 k0 0 0 0 1 i1 0 2",
        "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 0",
        "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 =",
        "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 = fast",
        "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 = inf",
    };
    spry_schedule x;
    double ms;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(spry_waco_parse(&x, &ms, bad[i], SPRY_SPMV, 0),
                         SPRY_INPUT);
}

static void write_text(const char *path, const char *text)
{
    check_ok(sp_file_write(path, text, strlen(text)));
}

static void files_are_read_line_by_line(void **state)
{
    static const char *const path = "test_space.txt";
    spry_waco_list *list;

    (void)state;
    write_text(path, "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 = 5.655\n\n"
                     "2 1 i1 k1 i0 k0 1 0 0 1 i1 48 4 = 1.5");
    check_ok(spry_waco_read(&list, path, SPRY_SPMV, 2));
    assert_int_equal(list->count, 2);
    assert_int_equal(list->entry[1].line, 3);
    assert_int_equal(list->entry[1].schedule.threads, 2);
    assert_true(list->entry[1].ms == 1.5);
    spry_waco_free(list);
    write_text(path, "NUMROW : 9 / NUMCOL : 9 / NNZ : 9\nUse 4 Threads\n"
                     "Testing Candidate SuperSchedules... "
                     "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 = 5.655 ms\n\n"
                     "SuperSchedule found by WACO : 1 64\nWACO : 3 ms\n");
    check_ok(spry_waco_read(&list, path, SPRY_SPMV, 0));
    assert_int_equal(list->count, 1);
    assert_true(list->entry[0].ms == 5.655);
    spry_waco_free(list);
    write_text(path, "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2\n1 2 3\n");
    assert_int_equal(spry_waco_read(&list, path, SPRY_SPMV, 0), SPRY_INPUT);
    assert_null(list);
    assert_non_null(strstr(spry_message(), "test_space.txt:2:"));
    remove(path);
}

static void vectors_are_wacos(void **state)
{
    static const int lengths[SPRY_OPS] = {25, 46, 46, 77};
    float v[SPRY_WACO_VECTOR];
    spry_schedule x;
    double ms;

    (void)state;
    for (int op = 0; op < SPRY_OPS; op++) {
        check_ok(
            spry_schedule_parse_for(&x, "fixed-csr threads=2", (spry_op)op));
        assert_int_equal(spry_waco_vector(v, &x, (spry_op)op), lengths[op]);
    }
    check_ok(spry_waco_parse(&x, &ms, "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 8",
                             SPRY_SPMV, 0));
    spry_waco_vector(v, &x, SPRY_SPMV);
    assert_true(v[0] == 0 && v[1] == 6); /* splits */
    assert_true(v[2 + 4 * 0 + 1] == 1);  /* i1 is second, */
    assert_true(v[2 + 4 * 2 + 0] == 1);  /* k1 first, */
    assert_true(v[2 + 4 * 3 + 3] == 1);  /* k0 last */
    assert_true(v[18] == 0 && v[21] == 1 && v[24] == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nests_go_round),
        cmocka_unit_test(aliases_become_one),
        cmocka_unit_test(bad_nests_are_refused),
        cmocka_unit_test(fixed_csr_is_one_point),
        cmocka_unit_test(waco_has_so_many_points),
        cmocka_unit_test(samples_lie_in_the_space),
        cmocka_unit_test(all_nests_are_as_likely),
        cmocka_unit_test(waco_lines_go_round),
        cmocka_unit_test(every_point_has_a_line),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(files_are_read_line_by_line),
        cmocka_unit_test(vectors_are_wacos),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
