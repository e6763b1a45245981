/* test_import.c - records of others: their words, their machines, our store. */
#include "records_fixture.h"

#include "spry.h"

static void put(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

/* The record whose schedule begins so; its texts are copied. */
typedef struct {
    const char *wanted;
    int found;
    char schedule[512], problem[256], machine[32];
    double seconds;
    spry_verdict verdict;
} finder;

static int find_one(const spry_record *r, void *payload)
{
    finder *f = payload;

    if (strncmp(r->schedule, f->wanted, strlen(f->wanted)) != 0)
        return 0;
    f->found++;
    snprintf(f->schedule, sizeof f->schedule, "%s", r->schedule);
    snprintf(f->problem, sizeof f->problem, "%s", r->problem);
    snprintf(f->machine, sizeof f->machine, "%s", r->machine);
    f->seconds = r->seconds;
    f->verdict = r->verdict;
    return 0;
}

static finder found(spry_records *db, const char *schedule)
{
    finder f = {.wanted = schedule};

    check_ok(spry_records_each(db, NULL, NULL, find_one, &f));
    assert_int_equal(f.found, 1);
    return f;
}

static spry_machine machine_of(spry_records *db, const finder *f)
{
    spry_machine m;
    int known;

    check_ok(spry_records_get_machine(db, &m, &known, f->machine));
    assert_true(known);
    return m;
}

/* ---- WACO ---- */

static void waco_lines_become_records(void **state)
{
    spry_records *db = open_store("a.db");
    spry_imported in = {.size = sizeof in};
    spry_machine m;
    finder f;

    (void)state;
    put("SpMV__Trec6_16x16_9.txt", "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 = 5.655\n"
                                   "this is none\n"
                                   "4 1 i1 i0 k1 k0 1 0 0 0 i1 48 8 = 0.25\n");
    check_ok(spry_import(&in, db, in_dir("SpMV__Trec6_16x16_9.txt"),
                         SPRY_IMPORT_WACO, NULL));
    assert_int_equal(in.added, 2);
    assert_int_equal(in.ours, 2);
    f = found(db, "super k=64 loops=k1ik0 dense=k0 parallel=i threads=48");
    assert_string_equal(f.problem, "spmv-1-f32-named-Trec6_16x16_9");
    assert_true(f.seconds > 5.6549e-3 && f.seconds < 5.6551e-3);
    m = machine_of(db, &f);
    assert_int_equal(m.threads, 48);
    assert_non_null(strstr(m.name, "E5-2680 v3"));
    spry_records_close(db);
}

/* A line with so many blanks in front of it, and one behind it. */
static spry_status import_behind(spry_imported *in, spry_records *db,
                                 size_t blanks)
{
    static const char line[] = "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 = 5.655\n"
                               "4 1 i1 i0 k1 k0 1 0 0 0 i1 48 8 = 0.25";
    char *text = malloc(blanks + sizeof line);

    assert_non_null(text);
    memset(text, ' ', blanks);
    memcpy(text + blanks, line, sizeof line);
    put("SpMV__long.txt", text);
    free(text);
    return spry_import(in, db, in_dir("SpMV__long.txt"), SPRY_IMPORT_WACO,
                       NULL);
}

static void lines_may_be_long(void **state)
{
    spry_imported in = {.size = sizeof in};
    spry_records *db;

    (void)state;
    for (size_t blanks = 970; blanks < 990; blanks++) {
        check_ok(spry_records_open(&db, ":memory:"));
        check_ok(import_behind(&in, db, blanks));
        assert_int_equal(in.added, 2);
        spry_records_close(db);
    }
    check_ok(spry_records_open(&db, ":memory:"));
    check_ok(import_behind(&in, db, (1 << 20) - 100));
    assert_int_equal(in.added, 2);
    assert_int_equal(import_behind(&in, db, 1 << 20), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "a line of more than"));
    spry_records_close(db);
}

static void again_nothing_is_new(void **state)
{
    spry_records *db = open_store("a.db");
    spry_imported in = {.size = sizeof in};

    (void)state;
    put("SpMM__x.txt", "1 1 8 i1 i0 k1 k0 j1 j0 1 0 0 0 i1 48 8 = 0.25\n");
    for (int64_t new = 1; new >= 0; new --) {
        check_ok(spry_import(&in, db, in_dir("SpMM__x.txt"), SPRY_IMPORT_WACO,
                             NULL));
        assert_int_equal(in.added, new);
    }
    spry_records_close(db);
}

/* Of a matrix at hand the problem is the one that a tune would have. */
static void a_matrix_at_hand_gives_the_key(void **state)
{
    spry_import_options o = SPRY_IMPORT_DEFAULTS;
    spry_records *db = open_store("a.db");
    spry_matrix *A;
    spry_problem *p;
    spry_imported in = {.size = sizeof in};
    finder f;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform,rows=50,nnz=200", 1));
    check_ok(spry_matrix_write(A, in_dir("x.mtx")));
    check_ok(spry_problem_spmm(&p, A, 256, SPRY_F32));
    put("SpMM__x.txt", "1 1 8 i1 i0 k1 k0 j1 j0 1 0 0 0 i1 48 8 = 0.25\n");
    o.matrices = dir;
    check_ok(spry_import(&in, db, in_dir("SpMM__x.txt"), SPRY_IMPORT_WACO, &o));
    f = found(db, "super");
    assert_string_equal(f.problem, spry_problem_key(p));
    spry_problem_free(p);
    spry_matrix_free(A);
    spry_records_close(db);
}

/* ---- AutoSparse ---- */

#define SPLITS "2 i 2 i0 1024 i1 128 j 2 j0 1024 j1 8 "

static void autosparse_is_put_into_our_words_where_there_are_any(void **state)
{
    spry_records *db = open_store("a.db");
    float token[32][SPRY_TOKEN];
    spry_imported in = {.size = sizeof in};
    finder f;
    int n;

    (void)state;
    put("epyc7543__spmv.tsv",
        "matrix\tconfig\ttime_ms_median\tn_meas\n"
        /* a nest of ours */
        "cfd1\t" SPLITS "1 A 4 i0 i1 j0 j1 A 4 i0 0 i1 0 j0 1 j1 1 0 "
        "4 i0 i1 j0 j1 i0 None None 0 T 64\t6.0\t1\n"
        /* one block of rows, and blocks of one column: levels of size 1 are
         * levels, and not ours */
        "cfd1\t2 i 2 i0 1 i1 131072 j 2 j0 8192 j1 1 1 A 4 i0 i1 j0 j1 "
        "A 4 i0 1 i1 0 j0 1 j1 1 0 4 i0 i1 j0 j1 None None None 0 T 1\t7\t1\n"
        /* another kind of level, unrolled, another order: not ours */
        "cfd1\t" SPLITS "1 A 4 i0 i1 j0 j1 A 4 i0 0 i1 0 j0 1 j1 2 0 "
        "4 i0 i1 j0 j1 i0 None None 0 T 1\t8\t1\n"
        "cfd1\t" SPLITS "1 A 4 i0 i1 j0 j1 A 4 i0 0 i1 0 j0 1 j1 1 0 "
        "4 i0 i1 j0 j1 i0 None j1 8 T 2\t9\t1\n"
        "cfd1\t" SPLITS "1 A 4 i0 j0 i1 j1 A 4 i0 0 i1 0 j0 1 j1 1 0 "
        "4 i0 i1 j0 j1 i0 None None 0 T 4\t10\t1\n");
    check_ok(spry_import(&in, db, in_dir("epyc7543__spmv.tsv"),
                         SPRY_IMPORT_AUTOSPARSE, NULL));
    assert_int_equal(in.added, 5);
    assert_int_equal(in.ours, 1);
    assert_int_equal(in.bad, 0);
    f = found(db, "super i=128");
    assert_string_equal(f.schedule, "super i=128 k=8 loops=i1i0k1k0 dense=i1i0 "
                                    "parallel=i1 threads=128 chunk=64");
    assert_int_equal(machine_of(db, &f).cores, 64);
    found(db, "autosparse 2 i 2 i0 1 i1 131072 j 2 j0 8192 j1 1");
    f = found(db, "autosparse " SPLITS "1 A 4 i0 j0 i1 j1");
    n = spry_config_tokens(token[0], 32, f.schedule);
    assert_int_equal(n, 4 + 4 + 4 + 3);
    assert_true(token[1][3] == 7 && token[1][2] == 1); /* i1 is 128 */
    assert_true(token[5][0] == SPRY_TOKEN_LEVEL && token[5][1] == 1);
    assert_int_equal(spry_config_tokens(token[0], 32, "csr"), 0);
    assert_int_equal(spry_config_tokens(token[0], 2, f.schedule), 2);
    spry_records_close(db);
}

static void damaged_lines_are_named(void **state)
{
    spry_records *db = open_store("a.db");
    spry_imported in = {.size = sizeof in};

    (void)state;
    put("epyc7543__spmm.tsv",
        "matrix\tconfig\ttime_ms_median\tn_meas\n"
        "cfd1\t" SPLITS "1 A 4 i0 i1 j0 j1 A 4 i0 0 i1 0 j0 1\t6.0\t1\n"
        "cfd1\tno\tsix\t1\n"
        "cfd1\n");
    assert_int_equal(spry_import(&in, db, in_dir("epyc7543__spmm.tsv"),
                                 SPRY_IMPORT_AUTOSPARSE, NULL),
                     SPRY_INPUT);
    assert_int_equal(in.bad, 3);
    assert_int_equal(in.added, 0);
    assert_non_null(strstr(in.why, "epyc7543__spmm.tsv:2: "));
    put("epyc7543__spmm.tsv", "all of this\nis wrong\n");
    assert_int_equal(spry_import(&in, db, in_dir("epyc7543__spmm.tsv"),
                                 SPRY_IMPORT_AUTOSPARSE, NULL),
                     SPRY_INPUT);
    assert_non_null(strstr(spry_message(), ":1: "));
    put("mine__spmm.tsv", "x\n");
    assert_int_equal(spry_import(&in, db, in_dir("mine__spmm.tsv"),
                                 SPRY_IMPORT_AUTOSPARSE, NULL),
                     SPRY_USAGE);
    assert_int_equal(
        spry_import(&in, db, in_dir("none.tsv"), SPRY_IMPORT_AUTOSPARSE, NULL),
        SPRY_INPUT);
    spry_records_close(db);
}

/* ---- Ansor ---- */

#define TASK                                                              \
    "{\"i\":[[\"[\\\"sparse_dense_pure\\\", 256, 640, 320, [10, 16, 4], " \
    "[10], [41], \\\"float32\\\"]\", \"llvm\", [6, 64]], [[], "           \
    "[[\"SP\", 4, 0, 256, [16, 4], 1]]]], "

static void ansor_lines_become_records(void **state)
{
    spry_records *db = open_store("a.db");
    spry_imported in = {.size = sizeof in};
    finder f;

    (void)state;
    put("toplevel__cfd1_sparse_dense.json", TASK
        "\"r\": [[0.5, 0.25], 0, 1, 1700000000], \"v\": \"v0.6\"}\n"
        "# a comment\n" TASK
        "\"r\": [[1e10], 7, 1, 1700000001], \"v\": \"v0.6\"}\n"
        "{\"i\": 3}\nnot json\n"
        "{\"i\": [[\"[7]\", \"llvm\", [6]], [[], []]], \"r\": [[1], 0, 1, 2]}\n");
    check_ok(spry_import(&in, db, dir, SPRY_IMPORT_ANSOR, NULL));
    assert_int_equal(in.added, 2);
    assert_int_equal(in.bad, 3);
    assert_non_null(strstr(in.why, ".json:4: "));
    f = (finder){.wanted = "ansor bsr=16x4 [[\"SP\",4,0,256,[16,4],1]]"};
    check_ok(spry_records_each(db, NULL, NULL, find_one, &f));
    assert_int_equal(f.found, 2);
    assert_int_equal(f.verdict, SPRY_VERDICT_TIMEOUT);
    assert_string_equal(f.problem, "spmm-256-f32-named-cfd1");
    assert_int_equal(machine_of(db, &f).cores, 6);
    spry_records_close(db);
}

static int see_origin(const spry_origin *o, void *payload)
{
    ++*(int *)payload;
    assert_string_equal(o->group, "cfd1");
    assert_string_equal(o->source, "");
    assert_int_equal(o->n, 256);
    assert_int_equal(o->rows, 640);
    assert_int_equal(o->nnz, 640);
    return 0;
}

static void origins_tell_the_shape(void **state)
{
    spry_records *db = open_store("a.db");
    spry_imported in = {.size = sizeof in};
    int origins = 0;

    (void)state;
    put("toplevel__cfd1_sparse_dense.json",
        TASK "\"r\": [[0.5], 0, 1, 1700000000], \"v\": \"v0.6\"}\n");
    check_ok(spry_import(&in, db, dir, SPRY_IMPORT_ANSOR, NULL));
    check_ok(spry_records_each_origin(db, see_origin, &origins));
    assert_int_equal(origins, 1);
    spry_records_close(db);
}

/* Every repeat, error, hardware parameter and name comes out as it went in. */
static void ansor_lines_are_written_as_they_were_read(void **state)
{
    static const char lines[] =
        "{\"i\":[[\"[\\\"sparse_dense\\\", 256, 640, 320, [10, 16, 4]]\","
        "\"llvm -keys=cpu \",[6,64,64,0,0,0,0,0],\"\",1,[\"W_data\"]],"
        "[[],[[\"SP\",4,0,256,[16,4],1],[\"PR\",4,0,\"auto$16\"]]]],"
        "\"r\":[[0.5,0.25,0.125],0,1.8368,1700000000],\"v\":\"v0.5\"}\n"
        "{\"i\":[[\"[\\\"abc\\\", 1, 56, 56, 64, 3, 3, 64, 128, 1, 28, 28, "
        "128]\",\"llvm\",[6]],[[],[]]],"
        "\"r\":[[10000000000],6,15,1700000001],\"v\":\"v0.2\"}\n";
    spry_records *db = open_store("a.db");
    spry_imported in = {.size = sizeof in};
    int64_t written;
    char text[2048];
    FILE *f;

    (void)state;
    put("host__x_sparse_dense.json", lines);
    check_ok(spry_import(&in, db, dir, SPRY_IMPORT_ANSOR, NULL));
    assert_int_equal(in.added, 2);
    check_ok(spry_records_write(db, in_dir("out.json"), SPRY_IMPORT_ANSOR,
                                &written));
    assert_int_equal(written, 2);
    f = fopen(in_dir("out.json"), "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    assert_string_equal(text, lines);
    assert_int_equal(
        spry_records_write(db, in_dir("w"), SPRY_IMPORT_WACO, &written),
        SPRY_USAGE);
    assert_int_equal(
        spry_records_write(db, in_dir("o"), SPRY_IMPORT_GINKGO, NULL),
        SPRY_USAGE);
    assert_int_equal(spry_records_write(NULL, "o", SPRY_IMPORT_ANSOR, NULL),
                     SPRY_USAGE);
    put("host__y_sparse_dense.json", "{\"i\":[[\"[\\\"a\\\"]\",\"llvm\",[6]],"
                                     "[[],[]]],\"r\":[[1],0,1,2],"
                                     "\"v\":\"v0.9\"}\n");
    assert_int_equal(spry_import(&in, db, in_dir("host__y_sparse_dense.json"),
                                 SPRY_IMPORT_ANSOR, NULL),
                     SPRY_INPUT);
    assert_non_null(strstr(in.why, "v0.9"));
    spry_records_close(db);
}

static void waco_lines_are_written(void **state)
{
    static const char lines[] = "1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 = 5.655\n"
                                "4 1 i1 i0 k1 k0 1 0 0 0 i1 48 8 = 0.25\n";
    spry_records *db = open_store("a.db"), *again = open_store("b.db");
    spry_imported in = {.size = sizeof in};
    int64_t written;

    (void)state;
    put("SpMV__Trec6_16x16_9.txt", lines);
    check_ok(spry_import(&in, db, in_dir("SpMV__Trec6_16x16_9.txt"),
                         SPRY_IMPORT_WACO, NULL));
    check_ok(spry_records_write(db, in_dir("out"), SPRY_IMPORT_WACO, &written));
    assert_int_equal(written, 2);
    check_ok(spry_import(&in, again, in_dir("out"), SPRY_IMPORT_WACO, NULL));
    assert_int_equal(in.added, 2);
    assert_string_equal(found(again, "super k=64").problem,
                        "spmv-1-f32-named-Trec6_16x16_9");
    assert_true(found(again, "super k=64").seconds > 5.6549e-3);
    check_ok(spry_records_merge(db, in_dir("b.db"), &written));
    spry_records_close(again);
    spry_records_close(db);
}

/* ---- Ginkgo ---- */

static int see_properties(const spry_origin *o, void *payload)
{
    ++*(int *)payload;
    assert_string_equal(o->problem, "spmv-1-f64-named-ACUSIM/Pres");
    assert_string_equal(o->group, "Pres");
    assert_string_equal(o->source, "properties:posdef=1,row_min=18,"
                                   "row_skewness=-2.99");
    assert_int_equal(o->rows, 14822);
    assert_int_equal(o->nnz, 715804);
    return 0;
}

static void ginkgo_tables_become_records(void **state)
{
    spry_records *db = open_store("a.db");
    spry_imported in = {.size = sizeof in};
    int origins = 0;
    finder f;

    (void)state;
    put("matrices.tsv", "matrix\tid\trows\tcols\tnnz\tkind\tposdef\trow_min\t"
                        "row_skewness\n"
                        "ACUSIM/Pres\t1\t14822\t14822\t715804\tfluids\tTrue\t"
                        "18\t-2.99\n");
    put("A100_cuda__TOMS.tsv",
        "matrix\tformat\ttime_s\tstorage_bytes\trepetitions\tcompleted\n"
        "ACUSIM/Pres\tcsr\t9.74e-05\t8669420\t3596\t1\n"
        "ACUSIM/Pres\tell\t\t0\t\t0\n"
        "ACUSIM/Pres\tsellp\tsoon\t0\t\t1\n"
        "ACUSIM/Pres\t\t1\n");
    check_ok(spry_import(&in, db, dir, SPRY_IMPORT_GINKGO, NULL));
    assert_int_equal(in.files, 1);
    assert_int_equal(in.added, 2);
    assert_int_equal(in.bad, 2);
    assert_non_null(strstr(in.why, "A100_cuda__TOMS.tsv:4: "));
    f = found(db, "ginkgo csr");
    assert_true(f.seconds == 9.74e-05);
    assert_string_equal(machine_of(db, &f).name, "NVIDIA A100");
    assert_int_equal(found(db, "ginkgo ell").verdict, SPRY_VERDICT_CRASH);
    check_ok(spry_records_each_origin(db, see_properties, &origins));
    assert_int_equal(origins, 1);
    put("Mine_cuda__x.tsv", "A/b\tcsr\t1e-4\n");
    assert_int_equal(spry_import(&in, db, in_dir("Mine_cuda__x.tsv"),
                                 SPRY_IMPORT_GINKGO, NULL),
                     SPRY_USAGE);
    spry_records_close(db);
}

/* An epyc in a folder's name, or within a word, is no EPYC 7543. */
static void folders_name_no_machine(void **state)
{
    spry_records *db = open_store("a.db");
    spry_imported in = {.size = sizeof in};

    (void)state;
    put("epyc7742__spmv.tsv", "x\n");
    assert_int_equal(spry_import(&in, db, in_dir("epyc7742__spmv.tsv"),
                                 SPRY_IMPORT_AUTOSPARSE, NULL),
                     SPRY_USAGE);
    put("mine__epyc_spmv.tsv", "x\n");
    assert_int_equal(spry_import(&in, db, in_dir("mine__epyc_spmv.tsv"),
                                 SPRY_IMPORT_AUTOSPARSE, NULL),
                     SPRY_USAGE);
    spry_records_close(db);
}

/* ---- little memory ---- */

static void import_short(const char *name, spry_import_format format)
{
    int64_t before = sp_alloc_live();
    spry_status s = SPRY_SYSTEM;

    for (int n = 1; s != SPRY_OK; n++) {
        spry_records *db = open_store("a.db");
        spry_imported in = {.size = sizeof in};

        sp_alloc_refuse(n, 0);
        s = spry_import(&in, db, in_dir(name), format, NULL);
        sp_alloc_refuse(0, 0);
        spry_records_close(db);
        assert_true(s == SPRY_OK || s == SPRY_SYSTEM);
        assert_int_equal(sp_alloc_live(), before);
        assert_true(n < 1000);
    }
}

static void memory_may_be_short(void **state)
{
    (void)state;
    put("SpMM__x.txt", "1 1 8 i1 i0 k1 k0 j1 j0 1 0 0 0 i1 48 8 = 0.25\n");
    import_short("SpMM__x.txt", SPRY_IMPORT_WACO);
    put("xeon__cfd1_sparse_dense.json",
        TASK "\"r\": [[0.5], 0, 1, 1700000000], \"v\": \"v0.6\"}\n");
    import_short("xeon__cfd1_sparse_dense.json", SPRY_IMPORT_ANSOR);
    put("matrices.tsv", "matrix\trows\tq\nA/b\t5\t7\n");
    put("P100_cuda__m.tsv", "A/b\tcsr\t1e-4\n");
    import_short("P100_cuda__m.tsv", SPRY_IMPORT_GINKGO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(waco_lines_become_records),
        IN_DIR(lines_may_be_long),
        IN_DIR(again_nothing_is_new),
        IN_DIR(a_matrix_at_hand_gives_the_key),
        IN_DIR(autosparse_is_put_into_our_words_where_there_are_any),
        IN_DIR(damaged_lines_are_named),
        IN_DIR(ansor_lines_become_records),
        IN_DIR(origins_tell_the_shape),
        IN_DIR(ansor_lines_are_written_as_they_were_read),
        IN_DIR(waco_lines_are_written),
        IN_DIR(ginkgo_tables_become_records),
        IN_DIR(folders_name_no_machine),
        IN_DIR(memory_may_be_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
