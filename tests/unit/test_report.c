/* test_report.c - pages: whole, small, the same twice, and inert whatever the
 * names in a store are. */
#include "records_fixture.h"

#include "report/html.h"
#include "report/report.h"
#include "spry.h"

static const char *const schedules[] = {
    "csr", "csr threads=2", "csr tile=4 index=16 stream=1 threads=2 chunk=512",
    "bcsr r=4 c=8 tile=2 threads=2", "sell slice=4 sigma=4096 threads=2"};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

/* n trials, ten thousand at most, of ten problems. */
static void add_trials(spry_records *db, int n)
{
    check_ok(spry_records_batch(db));
    for (int i = 0; i < n; i++) {
        char problem[64], schedule[96];
        spry_record r = make_record(i, problem);

        snprintf(problem, sizeof problem, "spmm-32-f32-%032d", i % 10);
        snprintf(schedule, sizeof schedule, "%s prefetch=%d",
                 schedules[i % SCHEDULES], i / 50);
        r.schedule = schedule;
        r.verdict = SPRY_VERDICT_OK;
        r.speedup = 1 + i % 7 / 3.0;
        r.high = 4;
        check_ok(spry_records_add(db, &r));
    }
    check_ok(spry_records_commit(db));
}

static sp_file page_of(spry_records *db, const char *name)
{
    sp_file f;

    check_ok(spry_report_store(in_dir(name), db, NULL));
    check_ok(sp_file_read(&f, in_dir(name), (size_t)1 << 30));
    return f;
}

static int times(const char *text, const char *word)
{
    int n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

static void a_page_is_small_and_the_same_twice(void **state)
{
    static const struct {
        int trials;
        size_t most;
    } sizes[] = {{100, 150000}, {10000, 1000000}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        spry_records *db = open_store(i ? "b.db" : "a.db");
        sp_file one, two;

        add_trials(db, sizes[i].trials);
        one = page_of(db, "one.html");
        two = page_of(db, "two.html");
        assert_true(one.len <= sizes[i].most);
        assert_int_equal(one.len, two.len);
        assert_memory_equal(one.data, two.data, one.len);
        assert_int_equal(times(one.data, "<svg"), times(one.data, "</svg>"));
        assert_true(times(one.data, "<svg") >= 6);
        sp_file_free(&one);
        sp_file_free(&two);
        spry_records_close(db);
    }
}

static void nothing_recorded_is_said(void **state)
{
    spry_records *db = open_store("empty.db");

    (void)state;
    assert_int_equal(spry_report_store(in_dir("x.html"), db, NULL), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "nothing is recorded"));
    assert_int_not_equal(access(in_dir("x.html"), F_OK), 0);
    spry_records_close(db);
}

/* A name may contain anything but must not become markup. */
static void hostile_names_are_inert(void **state)
{
    static const char *const names[] = {
        "<script>alert(1)</script>",
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "]]><svg onload=alert(1)>",
        "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "</title><script>alert(1)</script>",
        "</style><script>alert(1)</script>",
        "</desc></svg><script>alert(1)</script>",
        "javascript:alert(1)",
        "\\u003cscript\\u003e",
        "&lt;script&gt;&#60;b",
        "<iframe srcdoc='<script>x</script>'>",
        "<base href=//example.invalid>",
        "<meta http-equiv=refresh content=0>",
        "<link rel=stylesheet href=//example.invalid>",
        "a\tb\nc",
        "\xe2\x80\xae right to left",
        "<svg><style>*{x:url(//example.invalid)}",
        "{{constructor.constructor('x')()}}"};
    spry_records *db = open_store("hostile.db");
    sp_file page;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char problem[64];
        spry_record r = make_record((int)i, problem);
        spry_origin o = {.problem = names[i],
                         .source = names[i],
                         .group = names[i],
                         .op = names[i],
                         .type = names[i],
                         .n = 1,
                         .rows = 2,
                         .cols = 2,
                         .nnz = 1};
        spry_answer a = make_answer(0, 2, 1);

        r.problem = r.about = r.schedule = r.compiler = names[i];
        r.verdict = SPRY_VERDICT_OK;
        a.problem = a.baseline = a.schedule = names[i];
        a.machine = r.machine;
        check_ok(spry_records_add(db, &r));
        check_ok(spry_records_put_origin(db, &o));
        check_ok(spry_records_answer(db, &a));
    }
    page = page_of(db, "hostile.html");
    assert_int_equal(times(page.data, "<script"), 2); /* data and our own */
    assert_int_equal(times(page.data, "</script"), 2);
    assert_int_equal(times(page.data, "<style"), 1);
    assert_int_equal(times(page.data, "<title>"),
                     1 + times(page.data, "<path class=base tabindex=0") +
                         times(page.data, "<path class=best tabindex=0"));
    assert_int_equal(times(page.data, "<iframe"), 0);
    assert_int_equal(times(page.data, "<base"), 0);
    assert_int_equal(times(page.data, "<link"), 0);
    assert_int_equal(times(page.data, "<!--"), 0);
    assert_int_equal(times(page.data, "<img"), 0);
    /* Each answer is its own baseline. */
    assert_int_equal(times(page.data, "<td>proven<"), 0);
    assert_true(times(page.data, "<td>the plain loop stays<") > 1);
    sp_file_free(&page);
    spry_records_close(db);
}

/* ---- what is had again ---- */

static const char recipe[] = "gen:banded,rows=300,band=4#1";

/* A card whose roofs lie apart. */
static spry_machine probed_machine(void)
{
    spry_machine m = make_machine();
    char *text;

    m.probed = 1;
    m.threads = m.points = m.at[0] = 1;
    m.read[0] = m.triad[0] = 1e10;
    m.fma_f32 = 1e11;
    m.fma_f64 = 5e10;
    m.noise = 0.005;
    for (int i = 0; i < SPRY_CACHES; i++) {
        m.cache[i] = (spry_cache){32768 << 4 * i, 1};
        m.measured[i] = m.cache[i].bytes;
        m.cache_read[i] = 1.6e11 / (1 << 2 * i);
    }
    check_ok(spry_machine_text(&text, &m));
    check_ok(spry_machine_parse(&m, text, "a card")); /* finds its print */
    free(text);
    return m;
}

/* Three schedules of y = A x; where A came from is told by `source`. */
static void add_product(spry_records *db, const char *source)
{
    spry_machine m = probed_machine();
    spry_origin o = {.source = source,
                     .group = "g",
                     .op = "spmv",
                     .type = "f64",
                     .n = 1,
                     .rows = 300,
                     .cols = 300};
    spry_matrix *A;
    spry_problem *p;

    check_ok(spry_matrix_read(&A, recipe));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    o.problem = spry_problem_key(p);
    o.nnz = A->nnz;
    for (int i = 0; i < 3; i++) {
        char problem[64];
        spry_record r = make_record(i, problem);

        r.problem = o.problem;
        r.schedule = schedules[i];
        r.machine = m.fingerprint;
        r.verdict = SPRY_VERDICT_OK;
        r.seconds = 1e-6 * (i + 1);
        r.bytes = 1e4;
        check_ok(spry_records_add(db, &r));
    }
    check_ok(spry_records_put_origin(db, &o));
    spry_problem_free(p);
    spry_matrix_free(A);
}

static int says(spry_records *db, const char *words)
{
    sp_file page = page_of(db, "page.html");
    int said = times(page.data, words) > 0;

    sp_file_free(&page);
    return said;
}

static void a_store_is_predicted(void **state)
{
    spry_records *db = open_store("a.db");
    spry_machine m = probed_machine();

    (void)state;
    check_ok(spry_records_put_machine(db, &m));
    add_product(db, recipe);
    assert_true(says(db, "predicted ms</text>"));
    assert_true(says(db, "asked for this page"));
    assert_true(says(db, "data:image/png"));
    assert_false(says(db, "Missing:"));
    spry_records_close(db);
}

static void what_was_predicted_of_operators_is_had_again(void **state)
{
    static const char *const ways[] = {"plain", "direct tile=4x2"};
    spry_records *db = open_store("a.db");
    spry_machine m = probed_machine();

    (void)state;
    check_ok(spry_records_put_machine(db, &m));
    for (int i = 0; i < 2; i++) {
        char problem[64];
        spry_record r = make_record(i, problem);

        r.problem = "matmul,m=8,n=64,k=32";
        r.schedule = ways[i];
        r.machine = m.fingerprint;
        r.verdict = SPRY_VERDICT_OK;
        check_ok(spry_records_add(db, &r));
    }
    assert_true(says(db, "predicted ms</text>"));
    assert_true(says(db, "GFLOP/s</text>"));
    assert_false(says(db, "Missing:"));
    spry_records_close(db);
}

static void what_cannot_be_predicted_is_said(void **state)
{
    static const struct {
        const char *source, *words;
    } cases[] = {
        {"", "does not tell where it came from"},
        {"gen:banded,rows=300,band=5#1", "is another one"},
        {"nosuch/matrix.mtx", "could not be read where it came from"},
    };
    spry_machine m = probed_machine();

    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[16];
        spry_records *db;

        snprintf(name, sizeof name, "%d.db", i);
        db = open_store(name);
        check_ok(spry_records_put_machine(db, &m));
        add_product(db, cases[i].source);
        assert_true(says(db, cases[i].words));
        assert_false(says(db, "predicted ms</text>"));
        spry_records_close(db);
    }
}

/* ---- the roofline ---- */

/* The peak is level, and seen. */
static void check_plateau(const char *page)
{
    static const char roof[] = "<path class=\"line roof\" d=\"M";
    const char *memory = strstr(page, roof), *peak;
    double x[2], y[2];

    assert_non_null(memory);
    peak = strstr(memory + 1, roof);
    assert_non_null(peak);
    assert_int_equal(sscanf(peak + strlen(roof), "%lf %lfL%lf %lf", &x[0],
                            &y[0], &x[1], &y[1]),
                     4);
    assert_true(x[1] - x[0] > 40);
    assert_true(y[0] == y[1]);
    /* Memory's roof ends under it, not at its end. */
    assert_int_equal(sscanf(memory + strlen(roof), "%lf %lfL%lf %lf", &x[0],
                            &y[0], &x[0], &y[0]),
                     4);
    assert_true(x[1] - x[0] > 20);
    assert_true(y[0] == y[1]);
}

static void every_level_of_memory_has_a_roof(void **state)
{
    static const char *const names[] = {"memory", "L3", "L2", "L1", "peak"};
    spry_records *db = open_store("a.db");
    spry_machine m = probed_machine();
    sp_file page;

    (void)state;
    m.cache_read[2] = 1.1e10; /* L3 is no faster than memory: no roof */
    check_ok(spry_records_put_machine(db, &m));
    add_product(db, recipe);
    page = page_of(db, "page.html");
    for (int i = 0; i < 5; i++) {
        char label[32];

        snprintf(label, sizeof label, "y=-4>%s</text>", names[i]);
        assert_int_equal(times(page.data, label), i != 1);
    }
    assert_non_null(
        strstr(page.data, "peak 50 GFLOP/s; GB/s: memory 10, L2 40, L1 160<"));
    check_plateau(page.data);
    sp_file_free(&page);
    spry_records_close(db);
}

static void a_missing_probe_is_said(void **state)
{
    spry_records *db = open_store("it's here.db");
    spry_machine m = probed_machine();
    char command[500];

    (void)state;
    add_product(db, recipe);
    snprintf(command, sizeof command,
             "<code>spry probe --store &#39;%s/it&#39;\\&#39;&#39;s here.db"
             "&#39;</code>",
             dir);
    assert_true(says(db, command));
    assert_true(says(db, "there is no probe of this machine"));
    assert_false(says(db, m.name));
    m.probed = 0;
    check_ok(spry_records_put_machine(db, &m));
    assert_true(says(db, "there is no probe of this machine"));
    assert_true(says(db, m.name));
    spry_records_close(db);
}

static void problems_without_a_section_are_counted(void **state)
{
    spry_records *db = open_store("a.db");

    (void)state;
    for (int i = 0; i < SP_REPORT_SHOWN; i++)
        add(db, i);
    assert_false(says(db, "others are in this table"));
    for (int i = 0; i < 2; i++)
        add(db, SP_REPORT_SHOWN + i);
    assert_true(says(db, "The 2 others are in this table"));
    spry_records_close(db);
}

/* ---- other libraries ---- */

#define PEERS "operation,library,times,low,high,problems,machine\n"

static spry_status peers_page(spry_records *db, const char *text)
{
    spry_report_options o = SPRY_REPORT_DEFAULTS;
    char path[400];

    write_bytes("peers.csv", text, strlen(text));
    snprintf(path, sizeof path, "%s", in_dir("peers.csv"));
    o.peers = path;
    return spry_report_store(in_dir("peers.html"), db, &o);
}

static void other_libraries_have_bars(void **state)
{
    spry_records *db = open_store("a.db");
    sp_file page;

    (void)state;
    add(db, 0);
    check_ok(peers_page(
        db, PEERS "spmv,plain,1.5,1.4,1.6,12,\"A \"\"CPU\"\", 2 threads\"\n"
                  "spmv,<b>,0.9,0.8,1.05,12,m\r\n"
                  "spmm-32,eigen,12.5,,,1,m\n"
                  "spmm-128,eigen,1.5,0.1,22,2,m\n"));
    check_ok(sp_file_read(&page, in_dir("peers.html"), 1 << 24));
    assert_non_null(strstr(page.data, "Beside other libraries"));
    assert_non_null(strstr(page.data, "A &quot;CPU&quot;, 2 threads"));
    assert_non_null(strstr(page.data, "&lt;b&gt;</text>"));
    assert_non_null(strstr(page.data, "<figcaption>spmm-32</figcaption>"));
    assert_int_equal(times(page.data, "<path class=peer d"), 3);
    assert_int_equal(times(page.data, "problems, "), 2); /* bounded ones */
    assert_int_equal(times(page.data, "<path class=cut d"), 1);
    assert_int_equal(times(page.data, "spry = 1</text>"), 3);
    sp_file_free(&page);
    check_ok(spry_report_store(in_dir("peers.html"), db, NULL));
    assert_false(says(db, "Beside other libraries"));
    spry_records_close(db);
}

static void damaged_peers_are_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "PEERS_CSV"},
        {"operation,library\n", "PEERS_CSV"},
        {PEERS "spmv,eigen,1.5,1.4,1.6,12\n", ":2:"},
        {PEERS "spmv,eigen,1.5,1.4,1.6,12,m,more\n", ":2:"},
        {PEERS "spmv,eigen,0,,,1,m\n", ":2:"},
        {PEERS "spmv,eigen,nan,,,1,m\n", ":2:"},
        {PEERS "spmv,eigen,1e999,,,1,m\n", ":2:"},
        {PEERS "spmv,eigen,-1,,,1,m\n", ":2:"},
        {PEERS "spmv,eigen,1,,,1,\"m\n", ":2:"},
        {PEERS "spmv,eigen,1,,,1,\"m\"m\n", ":2:"},
        {PEERS "spmv,eigen,2,,,1,m\n\n", ":3:"},
    };
    spry_records *db = open_store("a.db");

    (void)state;
    add(db, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(peers_page(db, cases[i].text), SPRY_INPUT);
        assert_non_null(strstr(spry_message(), cases[i].words));
        assert_int_not_equal(access(in_dir("peers.html"), F_OK), 0);
    }
    spry_records_close(db);
}

static void text_is_escaped(void **state)
{
    static const struct {
        const char *given, *written;
    } cases[] = {{"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
                 {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\x01\x7f", "\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xc3\xa9", "\xc3\xa9"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sp_buf b = {0};

        sp_html_text(&b, cases[i].given);
        assert_string_equal(b.data, cases[i].written);
        sp_buf_free(&b);
    }
}

static void base64_is_as_everywhere(void **state)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foobar", "Zm9vYmFy"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sp_buf b = {0};

        sp_html_base64(&b, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(b.data ? b.data : "", cases[i][1]);
        sp_buf_free(&b);
    }
}

/* Every refused allocation is a failure with a sentence, and leaves nothing. */
static void short_memory_leaves_no_page(void **state)
{
    spry_records *db = open_store("a.db");
    spry_status s = SPRY_SYSTEM;
    int64_t live;

    (void)state;
    add_trials(db, 40);
    check_ok(spry_report_store(in_dir("m.html"), db, NULL)); /* db keeps room */
    assert_int_equal(unlink(in_dir("m.html")), 0);
    live = sp_alloc_live();
    for (int64_t n = 1; s != SPRY_OK && n < 4000; n++) {
        sp_alloc_refuse(n, 1);
        s = spry_report_store(in_dir("m.html"), db, NULL);
        sp_alloc_refuse(0, 0);
        assert_int_equal(sp_alloc_live(), live);
        if (s != SPRY_OK)
            assert_int_not_equal(access(in_dir("m.html"), F_OK), 0);
    }
    check_ok(s);
    spry_records_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_is_small_and_the_same_twice,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(nothing_recorded_is_said, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(hostile_names_are_inert, make_dir,
                                        remove_dir),
        IN_DIR(a_store_is_predicted),
        IN_DIR(what_was_predicted_of_operators_is_had_again),
        IN_DIR(what_cannot_be_predicted_is_said),
        IN_DIR(every_level_of_memory_has_a_roof),
        IN_DIR(a_missing_probe_is_said),
        IN_DIR(problems_without_a_section_are_counted),
        IN_DIR(other_libraries_have_bars),
        IN_DIR(damaged_peers_are_refused),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(base64_is_as_everywhere),
        cmocka_unit_test_setup_teardown(short_memory_leaves_no_page, make_dir,
                                        remove_dir),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
