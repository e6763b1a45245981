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
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(base64_is_as_everywhere),
        cmocka_unit_test_setup_teardown(short_memory_leaves_no_page, make_dir,
                                        remove_dir),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
