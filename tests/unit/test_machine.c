/* test_machine.c - detection, limits, text; the probe only for its promises
 * that hold at any speed. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "check.h"
#include "folder.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "machine/internal.h"
#include "machine/isa.h"
#include "machine/machine.h"
#include "spry/machine.h"

static const char card[] = "# a machine that never was\n"
                           "name Test CPU 9000\n"
                           "cores 8\n"
                           "threads 6\n"
                           "isa avx512\n"
                           "cache_bytes 32768 1048576 0\n"
                           "colour green\n"
                           "\n"
                           "probed 1\n"
                           "at 1 2 4 6\n"
                           "read 1e10 2e10 3e10 4e10\n"
                           "triad 1e9 2e9 3e9 5e9\r\n"
                           "fma_f32 1.28e11\n"
                           "fma_f64 6.4e10\n"
                           "noise 0.02\n";

/* ---- what the system says ---- */

static void detection_is_complete_and_repeats(void **state)
{
    spry_machine m, again;

    (void)state;
    check_ok(spry_machine_detect(&m));
    assert_true(m.name[0]);
    assert_int_equal(strlen(m.fingerprint), 16);
    assert_true(m.threads >= 1 && m.cores >= 1 && m.sockets >= 1);
    assert_true(m.cache[0].bytes >= 4096 && m.cache[0].shared_by >= 1);
    assert_true(m.line >= 16 && m.memory > 1 << 20);
    assert_false(m.probed);
    check_ok(spry_machine_detect(&again));
    assert_memory_equal(&m, &again, sizeof m);
}

static void affinity_limits_the_threads(void **state)
{
    cpu_set_t all, one;
    spry_machine m;
    int cpu = 0;

    (void)state;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        skip_because("the affinity cannot be asked for");
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    check_ok(spry_machine_detect(&m));
    sched_setaffinity(0, sizeof all, &all);
    assert_int_equal(m.threads, 1);
}

/* ---- names, limits ---- */

static void instruction_sets_have_names(void **state)
{
    spry_isa isa;

    (void)state;
    for (int i = SPRY_PORTABLE; i < sp_isa_count; i++) {
        check_ok(spry_isa_parse(&isa, spry_isa_name((spry_isa)i)));
        assert_int_equal(isa, i);
    }
    assert_int_equal(spry_isa_parse(&isa, "avx9"), SPRY_USAGE);
    assert_int_equal(spry_isa_bytes(SPRY_AVX2), 32);
}

static void limits_shrink_and_rename(void **state)
{
    spry_machine m;
    char before[17];

    (void)state;
    check_ok(spry_machine_parse(&m, card, "card"));
    memcpy(before, m.fingerprint, sizeof before);
    check_ok(spry_machine_limit(&m, 0, SPRY_AVX512));
    assert_string_equal(m.fingerprint, before);
    check_ok(spry_machine_limit(&m, 5, SPRY_AVX2));
    assert_string_not_equal(m.fingerprint, before);
    assert_int_equal(m.threads, 5);
    assert_int_equal(m.points, 4);
    assert_int_equal(m.at[3], 5);
    assert_true(m.read[3] > 3.49e10 && m.read[3] < 3.51e10);
    assert_true(m.fma_f32 > 6.3e10 && m.fma_f32 < 6.5e10);
    check_ok(spry_machine_limit(&m, 2, SPRY_PORTABLE));
    assert_int_equal(m.points, 2);
}

static void limits_refuse_more_than_there_is(void **state)
{
    spry_machine m, before;

    (void)state;
    check_ok(spry_machine_parse(&m, card, "card"));
    check_ok(spry_machine_limit(&m, 4, SPRY_SSE2));
    before = m;
    assert_int_equal(spry_machine_limit(&m, 5, SPRY_SSE2), SPRY_USAGE);
    assert_int_equal(spry_machine_limit(&m, -1, SPRY_SSE2), SPRY_USAGE);
    assert_int_equal(spry_machine_limit(&m, 0, SPRY_AVX2), SPRY_USAGE);
    assert_int_equal(spry_machine_limit(&m, 0, SPRY_NEON), SPRY_USAGE);
    assert_memory_equal(&m, &before, sizeof m);
}

static void noise_has_grades(void **state)
{
    spry_machine m = {0};
    static const double noise[] = {0.005, 0.02, 0.05, 0.5};

    (void)state;
    assert_int_equal(spry_machine_grade(&m), '?');
    m.probed = 1;
    for (int i = 0; i < 4; i++) {
        m.noise = noise[i];
        assert_int_equal(spry_machine_grade(&m), 'A' + i);
    }
}

/* ---- text ---- */

static void text_goes_round(void **state)
{
    spry_machine m, back;
    char *text, folder[TEST_FOLDER], path[TEST_FOLDER + 16];

    (void)state;
    check_ok(spry_machine_parse(&m, card, "card"));
    assert_string_equal(m.name, "Test CPU 9000");
    assert_int_equal(m.points, 4);
    assert_int_equal(spry_machine_grade(&m), 'B');
    m.latency[3] = 0.1 + 0.2e-7; /* needs all 17 digits */
    check_ok(spry_machine_text(&text, &m));
    check_ok(spry_machine_parse(&back, text, "again"));
    free(text);
    assert_memory_equal(&m, &back, sizeof m);
    assert_non_null(make_folder(folder));
    snprintf(path, sizeof path, "%s/card.txt", folder);
    check_ok(spry_machine_write(&m, path));
    check_ok(spry_machine_read(&back, path));
    assert_memory_equal(&m, &back, sizeof m);
    assert_int_equal(spry_machine_read(&back, "/nowhere/at/all"), SPRY_INPUT);
    assert_true(remove_folder(folder));
}

static void json_has_every_fact(void **state)
{
    spry_machine m;
    sp_json_doc doc;
    const sp_json_value *caches;
    char *text;

    (void)state;
    check_ok(spry_machine_parse(&m, card, "card"));
    check_ok(spry_machine_json(&text, &m));
    check_ok(sp_json_parse(&doc, text, strlen(text)));
    assert_string_equal(sp_json_get_text(&doc, doc.value, "isa", ""), "avx512");
    assert_string_equal(sp_json_get_text(&doc, doc.value, "grade", ""), "B");
    assert_true(sp_json_get_number(&doc, doc.value, "threads", 0) > 5.9);
    caches = sp_json_get(&doc, doc.value, "cache_bytes");
    assert_non_null(caches);
    assert_int_equal(caches->count, SPRY_CACHES);
    sp_json_free(&doc);
    free(text);
}

static void bad_text_names_its_line(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "x: 'cores' is missing"},
        {"cores 1\ncores 1\n", "x:2: 'cores' is there twice"},
        {"\nthreads two\n", "x:2: bad value for 'threads'"},
        {"threads 0\n", "x:1: bad value for 'threads'"},
        {"threads -1\n", "x:1: bad value for 'threads'"},
        {"threads 1 2\n", "x:1: bad value for 'threads'"},
        {"threads\n", "x:1: bad value for 'threads'"},
        {"threads 99999999999999999999\n", "x:1: bad value for 'threads'"},
        {"noise nan\n", "x:1: bad value for 'noise'"},
        {"noise 1e999\n", "x:1: bad value for 'noise'"},
        {"noise 1x\n", "x:1: bad value for 'noise'"},
        {"isa mmx\n", "x:1: bad value for 'isa'"},
        {"name\n", "x:1: bad value for 'name'"},
        {"cache_bytes 1 2\n", "x:1: bad value for 'cache_bytes'"},
        {"cores 1\nthreads 2\nisa sse2\ncache_bytes 1 2 3\nat 1 2\nread 1 2\n",
         "x: 'triad' needs as many values as 'at'"},
        {"cores 1\nthreads 2\nisa sse2\ncache_bytes 1 2 3\nat 2 1\nread 1 2\n"
         "triad 1 2\n",
         "x: 'at' must rise"},
        {"cores 1\nthreads 2\nisa sse2\ncache_bytes 1 2 3\nat 1 3\nread 1 2\n"
         "triad 1 2\n",
         "x: 'at' goes beyond 'threads'"},
        {"cores 1\nthreads 2\nisa sse2\ncache_bytes 1 2 3\nat 1 2\nread 1 2\n"
         "triad 1 2\nlines 7\n",
         "x: 'lines' needs as many values as 'at'"},
    };
    spry_machine m;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(spry_machine_parse(&m, bad[i].text, "x"), SPRY_INPUT);
        assert_string_equal(spry_message(), bad[i].says);
        assert_int_equal(m.threads, 0);
    }
}

/* Cards of before say nothing of it; of those that do, it counts. */
static void measured_caches_stand_beside_reported_ones(void **state)
{
    char text[1024];
    spry_machine m;

    (void)state;
    check_ok(spry_machine_parse(&m, card, "card"));
    assert_int_equal(spry_machine_cache(&m, 0), 32768);
    assert_int_equal(spry_machine_cache(&m, 1), 1048576);
    snprintf(text, sizeof text, "%scache_measured 32768 262144 0\n%s", card,
             "lines 1e7 2e7 3e7 4e7\nlines_small 1e7 1e7 1e7 1e7\n");
    check_ok(spry_machine_parse(&m, text, "text"));
    assert_int_equal(m.cache[1].bytes, 1048576);
    assert_int_equal(spry_machine_cache(&m, 1), 262144);
    assert_int_equal(spry_machine_cache(&m, 2), 0);
    assert_int_equal(spry_machine_cache(&m, SPRY_CACHES), 0);
    check_ok(spry_machine_limit(&m, 3, SPRY_AVX2));
    assert_int_equal(m.points, 3);
    assert_true(fabs(m.lines[2] / 2.5e7 - 1) < 1e-12);
}

/* ---- the probe ---- */

static void lanes_agree_with_arithmetic(void **state)
{
    enum { N = 1024 };
    double *x = sp_alloc(4 * N, sizeof *x), sink = 0;
    spry_isa here = sp_isa_here();

    (void)state;
    for (int i = 0; i < 4 * N; i++)
        x[i] = i;
    for (int i = SPRY_PORTABLE; i <= (int)here; i++) {
        const sp_lanes *l = sp_lanes_of((spry_isa)i);

        assert_true(l->sum(x, N) == N * (N - 1) / 2.0);
        l->triad(x + 3 * N, x + N, x + 2 * N, 2, N);
        for (int k = 0; k < N; k++)
            assert_true(x[3 * N + k] == N + k + 2.0 * (2 * N + k));
        assert_true(l->fma_f32(10, &sink) >= 10 * 12 * 2 * 4);
        assert_true(l->fma_f64(10, &sink) >= 10 * 12 * 2 * 2);
    }
    sp_free(x);
}

static void probe_fills_everything_and_keeps_the_name(void **state)
{
    spry_machine m, before;
    int64_t live = sp_alloc_live();

    (void)state;
    check_ok(spry_machine_detect(&before));
    m = before;
    check_ok(spry_machine_probe(&m));
    assert_string_equal(m.fingerprint, before.fingerprint);
    assert_true(m.probed && m.points >= 1);
    assert_int_equal(m.at[m.points - 1], m.threads);
    for (int i = 0; i < m.points; i++)
        assert_true(m.read[i] > 0 && m.triad[i] > 0);
    assert_true(m.cache_read[0] > 0 && m.latency[0] > 0);
    assert_true(m.latency[SPRY_CACHES] > m.latency[0]);
    assert_true(m.latency_small > m.latency[0]);
    for (int i = 0; i < m.points; i++)
        assert_true(m.lines[i] > 0 && m.lines_small[i] > 0);
    assert_true(m.measured[0] > 0);
    for (int i = 0; i < SPRY_CACHES; i++)
        assert_true(m.measured[i] <= m.cache[i].bytes);
    assert_true(m.gather > 0 && m.fma_f32 > 0 && m.fma_f64 > 0);
    assert_true(m.fork > 0 && m.noise >= 0);
    assert_int_equal(sp_alloc_live(), live);
}

static void probe_refuses_what_is_not_here(void **state)
{
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    m.threads = 1 << 19;
    assert_int_equal(spry_machine_probe(&m), SPRY_USAGE);
    check_ok(spry_machine_detect(&m));
    sp_alloc_refuse(1, 0);
    assert_int_equal(spry_machine_probe(&m), SPRY_SYSTEM);
    assert_false(m.probed);
}

static void a_second_probe_only_improves(void **state)
{
    spry_machine a = {.probed = 1, .points = 1, .at = {1}, .read = {10}}, b = a;

    (void)state;
    a.measured[2] = 1 << 20;
    b.measured[2] = 2 << 20;
    a.latency[0] = 3;
    b.latency[0] = 2;
    b.fork = 5;
    a.fma_f32 = 7;
    b.read[0] = 8;
    a.noise = 0.5;
    sp_machine_merge(&a, &b);
    assert_true(a.latency[0] == 2 && a.fork == 5 && a.fma_f32 == 7);
    assert_true(a.read[0] == 10 && a.noise == 0.5);
    assert_int_equal(a.measured[2], 2 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detection_is_complete_and_repeats),
        cmocka_unit_test(measured_caches_stand_beside_reported_ones),
        cmocka_unit_test(affinity_limits_the_threads),
        cmocka_unit_test(instruction_sets_have_names),
        cmocka_unit_test(limits_shrink_and_rename),
        cmocka_unit_test(limits_refuse_more_than_there_is),
        cmocka_unit_test(noise_has_grades),
        cmocka_unit_test(text_goes_round),
        cmocka_unit_test(json_has_every_fact),
        cmocka_unit_test(bad_text_names_its_line),
        cmocka_unit_test(lanes_agree_with_arithmetic),
        cmocka_unit_test(probe_fills_everything_and_keeps_the_name),
        cmocka_unit_test(probe_refuses_what_is_not_here),
        cmocka_unit_test(a_second_probe_only_improves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
