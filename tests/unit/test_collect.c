/* test_collect.c - trials to learn from: kept, resumed, shared out. */
#include "records_fixture.h"

#include "family/family.h"
#include "spry.h"

typedef struct {
    spry_matrix *A;
    spry_problem *p;
    spry_collect_options opt;
} fixture;

static int setup(void **state)
{
    static fixture f;

    check_ok(spry_matrix_generate(&f.A, "uniform,rows=300,nnz=2000", 3));
    check_ok(spry_problem_spmm(&f.p, f.A, 8, SPRY_F32));
    f.opt = (spry_collect_options)SPRY_COLLECT_DEFAULTS;
    f.opt.schedules = 12;
    f.opt.draw = SPRY_DRAW_FAMILIES;
    *state = &f;
    return make_dir(state);
}

static int teardown(void **state)
{
    fixture *f = *state;

    spry_problem_free(f->p);
    spry_matrix_free(f->A);
    return remove_dir(state);
}

static int trials(const spry_collected *c)
{
    int sum = 0;

    for (int i = 0; i < 8; i++)
        sum += c->verdict[i];
    return sum;
}

/* Of doubtful ratios, which a busy machine makes, nothing is known. */
static int kept(const spry_collected *c)
{
    return trials(c) - c->verdict[SPRY_VERDICT_DOUBTFUL];
}

static spry_collected run(const fixture *f, spry_records *db)
{
    spry_collected c = {.size = sizeof c};

    check_ok(spry_collect(&c, db, f->p, "gen:uniform,rows=300,nnz=2000#3", NULL,
                          &f->opt));
    return c;
}

/* ---- what is kept ---- */

typedef struct {
    int rows, labelled;
} seen;

static int look(const spry_record *r, void *payload)
{
    seen *s = payload;
    int timed =
        r->verdict == SPRY_VERDICT_OK || r->verdict == SPRY_VERDICT_SLOW;

    s->rows++;
    s->labelled += timed;
    if (timed) {
        assert_true(r->seconds > 0 && r->samples > 0);
        assert_true(r->low <= r->speedup && r->speedup <= r->high);
    }
    return 0;
}

static int look_origin(const spry_origin *o, void *payload)
{
    const fixture *f = payload;

    assert_string_equal(o->problem, spry_problem_key(f->p));
    assert_string_equal(o->source, "gen:uniform,rows=300,nnz=2000#3");
    assert_string_equal(o->group, "gen:uniform");
    assert_string_equal(o->op, "spmm");
    assert_string_equal(o->type, "f32");
    assert_int_equal(o->n, 8);
    assert_int_equal(o->rows, 300);
    assert_int_equal(o->cols, 300);
    assert_int_equal(o->nnz, 2000);
    return 0;
}

static void every_trial_is_a_record(void **state)
{
    fixture *f = *state;
    spry_records *db = open_store("a.db");
    spry_collected c = run(f, db);
    seen s = {0};

    assert_int_equal(c.known, 0);
    assert_true(c.planned >= 12 && c.planned <= 14);
    assert_int_equal(trials(&c), c.planned);
    check_ok(spry_records_each(db, spry_problem_key(f->p), NULL, look, &s));
    assert_int_equal(s.rows, kept(&c));
    assert_int_equal(s.labelled,
                     c.verdict[SPRY_VERDICT_OK] + c.verdict[SPRY_VERDICT_SLOW]);
    assert_true(s.labelled > s.rows / 2);
    check_ok(spry_records_each_origin(db, look_origin, f));
    spry_records_close(db);
}

static void nests_are_collected_when_there_is_a_compiler(void **state)
{
    fixture *f = *state;
    spry_records *db = open_store("a.db");
    spry_collected c = {.size = sizeof c};

    f->opt.draw = SPRY_DRAW_SUPER;
    c = run(f, db);
    assert_int_equal(trials(&c), c.planned);
    assert_int_equal(c.verdict[SPRY_VERDICT_WRONG], 0);
    if (spry_jit_available() == SPRY_OK)
        assert_true(c.planned > 4);
    spry_records_close(db);
}

static void processor_time_is_of_one_thread(void **state)
{
    fixture *f = *state;
    spry_records *db = open_store("a.db");
    spry_machine m = make_machine();
    spry_collected c = {.size = sizeof c};

    f->opt.machine = &m;
    f->opt.processor_time = 1;
    if (m.threads > 1)
        assert_int_equal(spry_collect(&c, db, f->p, "", NULL, &f->opt),
                         SPRY_USAGE);
    check_ok(spry_machine_limit(&m, 1, m.isa));
    c = run(f, db);
    assert_true(c.verdict[SPRY_VERDICT_OK] + c.verdict[SPRY_VERDICT_SLOW] +
                    c.verdict[SPRY_VERDICT_DOUBTFUL] >
                c.planned / 2);
    spry_records_close(db);
}

/* ---- again ---- */

static void what_is_known_is_not_measured_again(void **state)
{
    fixture *f = *state;
    spry_records *db = open_store("a.db");
    spry_collected first = run(f, db), again = run(f, db);
    int64_t before = count(db);
    int missing = 12 - kept(&first); /* more than none on a busy machine */

    assert_int_equal(again.known, kept(&first));
    if (missing <= 0)
        assert_int_equal(trials(&again), 0);
    else /* and plain ways, for others to be compared with */
        assert_in_range(trials(&again), missing, missing + SP_BASELINES);
    f->opt.schedules = 20;
    again = run(f, db);
    assert_true(again.planned >= 20 - first.planned);
    assert_true(count(db) > before);
    spry_records_close(db);
}

static int stop_soon(const spry_collected *now, void *payload)
{
    (void)payload;
    return trials(now) > 2;
}

static void a_stop_loses_nothing(void **state)
{
    fixture *f = *state;
    spry_records *db = open_store("a.db");
    spry_collected c = {.size = sizeof c};
    int64_t rows;

    f->opt.schedules = 60;
    f->opt.progress = stop_soon;
    c = run(f, db);
    rows = count(db);
    assert_true(c.stopped);
    assert_true(trials(&c) > 2 && trials(&c) < 60);
    assert_int_equal(rows, kept(&c));
    f->opt.progress = NULL;
    c = run(f, db);
    assert_int_equal(c.known, rows);
    assert_true(count(db) + c.verdict[SPRY_VERDICT_DOUBTFUL] >= 60);
    spry_records_close(db);
}

/* ---- together ---- */

static void what_another_has_claimed_is_left_to_it(void **state)
{
    fixture *f = *state;
    spry_records *db = open_store("a.db");
    spry_collected c = {.size = sizeof c};

    run(f, db);
    run_sql("a.db", "UPDATE claim SET owner = 'elsewhere 1',"
                    " until = 1e12");
    f->opt.schedules = 30;
    c = run(f, db);
    assert_true(c.busy);
    assert_int_equal(trials(&c), 0);
    run_sql("a.db", "UPDATE claim SET until = 1");
    c = run(f, db);
    assert_false(c.busy);
    assert_true(trials(&c) > 0);
    spry_records_close(db);
}

static void a_dead_owner_has_nothing(void **state)
{
    spry_records *db = open_store("a.db");
    int got;

    (void)state;
    check_ok(spry_records_claim(db, "w", 100, &got));
    assert_true(got);
    /* no process has this number: Linux ends at 2^22 */
    run_sql("a.db", "UPDATE claim SET owner = substr(owner, 1,"
                    " instr(owner, ' ')) || '99999999'");
    check_ok(spry_records_claim(db, "w", 100, &got));
    assert_true(got);
    spry_records_close(db);
}

/* ---- stores of version 1 ---- */

static void age(const char *name)
{
    run_sql(name, "DROP TABLE problem; DROP TABLE claim; DROP TABLE probe;"
                  "ALTER TABLE record DROP COLUMN probe;"
                  "ALTER TABLE answer DROP COLUMN kernel;"
                  "PRAGMA user_version = 1");
}

static void an_older_store_is_brought_up_to_date(void **state)
{
    fixture *f = *state;
    spry_records *db = open_store("a.db");
    spry_collected c = {.size = sizeof c};
    int64_t bad;

    fill_all(db);
    spry_records_close(db);
    age("a.db");
    db = open_store("a.db");
    assert_int_equal(count(db), 12);
    c = run(f, db);
    assert_true(trials(&c) >= 12);
    assert_int_equal(count(db), 12 + kept(&c));
    check_ok(spry_records_check(db, &bad));
    spry_records_close(db);
}

static void an_older_store_can_be_merged(void **state)
{
    spry_records *db = open_store("old.db");
    int64_t added;

    (void)state;
    fill_all(db);
    spry_records_close(db);
    age("old.db");
    db = open_store("a.db");
    check_ok(spry_records_merge(db, in_dir("old.db"), &added));
    assert_int_equal(count(db), 12);
    spry_records_close(db);
}

static int tick_origin(const spry_origin *o, void *payload)
{
    (void)o;
    ++*(int *)payload;
    return 0;
}

static void origins_travel_with_the_records(void **state)
{
    fixture *f = *state;
    spry_records *db = open_store("a.db"), *other = open_store("b.db");
    int64_t added, bad;
    int origins = 0;

    run(f, db);
    check_ok(spry_records_export(db, in_dir("a.jsonl")));
    check_ok(spry_records_import(other, in_dir("a.jsonl"), &added, &bad));
    assert_int_equal(bad, 0);
    check_ok(spry_records_each_origin(other, tick_origin, &origins));
    assert_int_equal(origins, 1);
    check_ok(spry_records_each_origin(other, look_origin, f));
    spry_records_close(db);
    spry_records_close(other);
}

/* ---- little memory ---- */

/* In a child a refusal is a verdict; before it, a sentence. */
static void memory_may_be_short(void **state)
{
    fixture *f = *state;
    spry_records *db;
    int64_t before;
    spry_status s = SPRY_SYSTEM;

    f->opt.schedules = 4;
    db = open_store("a.db"); /* the problem keeps what it was asked for */
    run(f, db);
    spry_records_close(db);
    before = sp_alloc_live();
    for (int64_t n = 1; s != SPRY_OK; n += 1 + n / 2) {
        spry_collected c = {.size = sizeof c};

        db = open_store("short.db");
        sp_alloc_refuse(n, 0);
        s = spry_collect(&c, db, f->p, "", NULL, &f->opt);
        sp_alloc_refuse(0, 0);
        spry_records_close(db);
        assert_true(s == SPRY_OK || s == SPRY_SYSTEM);
        assert_int_equal(sp_alloc_live(), before);
        assert_true(n < 100000);
    }
}

/* ---- names ---- */

static void groups_forget_sizes_and_seeds(void **state)
{
    static const struct {
        const char *source, *group;
    } cases[] = {
        {"/a/b/cant.mtx", "cant"},
        {"cant.mtx.gz", "cant"},
        {"x/Trec6_16x16_9.csr", "Trec6"},
        {"conf5_0-4x4-18.mtx", "conf5_0-4x4-18"},
        {"t2dal_a_8x4_3.csr", "t2dal_a"},
        {"_1x1_0.mtx", "_1x1_0"},
        {"gen:rmat,scale=9#7", "gen:rmat"},
        {"gen:rmat,scale=9,degree=4", "gen:rmat,degree=4"},
        {"gen:banded,rows=9,band=4,density=0.5#1",
         "gen:banded,band=4,density=0.5"},
        {"gen:stencil5", "gen:stencil5"},
        {"", "?"},
    };
    char text[SPRY_GROUP_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(spry_group_of(text, cases[i].source),
                            cases[i].group);
}

static void suites_name_matrices(void **state)
{
    spry_matrix *A, *B;
    char a[33], b[33];

    (void)state;
    assert_null(spry_suite("none", 0));
    assert_null(spry_suite("small", -1));
    check_ok(spry_matrix_read(&A, spry_suite("small", 0)));
    assert_true(A->nnz > 1000);
    check_ok(spry_matrix_generate(&B, spry_suite("small", 0) + 4, 99));
    spry_matrix_key(a, A);
    spry_matrix_key(b, B);
    assert_string_equal(a, b);
    spry_matrix_free(A);
    spry_matrix_free(B);
    assert_int_equal(spry_matrix_read(&A, "gen:uniform#x"), SPRY_USAGE);
    assert_int_equal(spry_matrix_read(&A, "gen:uniform#"), SPRY_USAGE);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(every_trial_is_a_record),
        WITH(nests_are_collected_when_there_is_a_compiler),
        WITH(processor_time_is_of_one_thread),
        WITH(what_is_known_is_not_measured_again),
        WITH(a_stop_loses_nothing),
        WITH(what_another_has_claimed_is_left_to_it),
        WITH(an_older_store_is_brought_up_to_date),
        WITH(origins_travel_with_the_records),
        WITH(memory_may_be_short),
        IN_DIR(a_dead_owner_has_nothing),
        IN_DIR(an_older_store_can_be_merged),
        cmocka_unit_test(groups_forget_sizes_and_seeds),
        cmocka_unit_test(suites_name_matrices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
