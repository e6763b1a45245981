/* test_machine.c - detection, limits, text; the probe only for its promises
 * that hold at any speed. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "check.h"

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

/* A directory with a made-up /proc and /sys. */
static char root[64];

static void put_file(const char *path, const char *text)
{
    char whole[512], *slash;
    FILE *f;

    snprintf(whole, sizeof whole, "%s%s", root, path);
    slash = strrchr(whole, '/');
    *slash = 0;
    check_ok(sp_make_dirs(whole, 0700));
    *slash = '/';
    f = fopen(whole, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_root(void **state)
{
    const char *tmp = getenv("TMPDIR");

    (void)state;
    snprintf(root, sizeof root, "%.40s/spry-XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void cgroup_two_takes_the_tightest_above(void **state)
{
    sp_cgroup g;

    (void)state;
    put_file("/proc/self/cgroup", "0::/a/b\n");
    put_file("/proc/self/mountinfo",
             "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
    put_file("/cg/a/b/cpu.max", "max 100000\n");
    put_file("/cg/a/cpu.max", "150000 100000\n");
    put_file("/cg/a/b/memory.max", "max\n");
    put_file("/cg/a/memory.max", "1073741824\n");
    g = sp_cgroup_read(root);
    assert_true(g.cpus > 1.49 && g.cpus < 1.51);
    assert_int_equal(g.memory, 1073741824);
}

static void cgroup_one_in_a_container(void **state)
{
    sp_cgroup g;

    (void)state;
    put_file("/proc/self/cgroup", "4:cpu,cpuacct:/docker/x\n"
                                  "3:memory:/docker/x/y\n0::/\n");
    put_file("/proc/self/mountinfo",
             "1 2 0:3 /docker/x /cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
             "1 2 0:4 /docker/x /mem rw - cgroup cgroup rw,memory\n");
    put_file("/cpu/cpu.cfs_quota_us", "300000\n");
    put_file("/cpu/cpu.cfs_period_us", "100000\n");
    put_file("/mem/memory.limit_in_bytes", "9223372036854771712\n");
    put_file("/mem/y/memory.limit_in_bytes", "5000000\n");
    g = sp_cgroup_read(root);
    assert_true(g.cpus > 2.99 && g.cpus < 3.01);
    assert_int_equal(g.memory, 5000000);
}

static void no_cgroup_is_no_limit(void **state)
{
    sp_cgroup g = sp_cgroup_read("/nowhere");

    (void)state;
    assert_true(g.cpus <= 0);
    assert_int_equal(g.memory, 0);
}

/* Line `text` of a CPU's file. */
static void put_of(int cpu, const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    put_file(path, text);
}

static void put_caches(int cpu, const char *small, const char *sharers)
{
    put_of(cpu, "cache/index0/level", "1\n");
    put_of(cpu, "cache/index0/type", "Data\n");
    put_of(cpu, "cache/index0/size", small);
    put_of(cpu, "cache/index0/shared_cpu_list", sharers);
    put_of(cpu, "cache/index0/coherency_line_size", "128\n");
    put_of(cpu, "cache/index1/level", "1\n");
    put_of(cpu, "cache/index1/type", "Instruction\n");
    put_of(cpu, "cache/index1/size", "32K\n");
    put_of(cpu, "cache/index2/level", "3\n");
    put_of(cpu, "cache/index2/type", "Unified\n");
    put_of(cpu, "cache/index2/size", "12M\n");
    put_of(cpu, "cache/index2/shared_cpu_list", "0-7\n");
}

static void sysfs_tells_enough(void **state)
{
    spry_machine m = {0};
    int count = (int)sysconf(_SC_NPROCESSORS_CONF);

    (void)state;
    put_file("/proc/cpuinfo", "processor : 0\nmodel name\t: Old CPU\n");
    put_file("/sys/devices/system/cpu/online", "0-7\n");
    for (int cpu = 0; cpu < 8 || cpu < count; cpu++) {
        char pair[16];

        snprintf(pair, sizeof pair, "%d,%d\n", cpu % 4, cpu % 4 + 4);
        put_of(cpu, "topology/thread_siblings_list", pair);
        put_of(cpu, "topology/core_siblings_list", "0-7\n");
        put_caches(cpu, "48K\n", pair);
    }
    assert_true(sp_topology_sysfs(&m, root));
    assert_string_equal(m.name, "Old CPU");
    assert_int_equal(m.cores, 4);
    assert_int_equal(m.sockets, 1);
    assert_int_equal(m.line, 128);
    assert_int_equal(m.cache[0].bytes, 48 << 10);
    assert_int_equal(m.cache[0].shared_by, 1);
    assert_int_equal(m.cache[1].bytes, 0);
    assert_int_equal(m.cache[2].bytes, 12 << 20);
    assert_int_equal(m.cache[2].shared_by, 4);
}

/* Two cores of two CPUs, four of one, in two sockets, one CPU switched off. */
static void cores_may_differ(void **state)
{
    static const char *const threads[] = {"0-1", "0-1", "2-3", "2-3",
                                          "4",   "5",   "6",   "7"};
    spry_machine m = {0};

    (void)state;
    put_file("/sys/devices/system/cpu/online", "0-5,7\n");
    for (int cpu = 0; cpu < 8; cpu++) {
        put_of(cpu, "topology/thread_siblings_list", threads[cpu]);
        put_of(cpu, "topology/core_siblings_list", cpu < 4 ? "0-3" : "4-5,7");
    }
    assert_false(sp_topology_sysfs(&m, root)); /* no word of caches */
    assert_int_equal(m.cores, 5);
    assert_int_equal(m.sockets, 2);
    put_file("/sys/devices/system/cpu/online", "0-99999999999,x\n");
    memset(&m, 0, sizeof m);
    assert_false(sp_topology_sysfs(&m, root));
}

/* A machine has one name, whoever describes it. */
static void hwloc_says_the_same(void **state)
{
    spry_machine a = {0}, b = {0};

    (void)state;
    if (!sp_topology_sysfs(&a, "") || !sp_topology_hwloc(&b)) {
        print_message("only one of /sys and hwloc has an answer here\n");
        return;
    }
    assert_string_equal(a.name, b.name);
    assert_int_equal(a.sockets, b.sockets);
    assert_int_equal(a.cores, b.cores);
    assert_int_equal(a.line, b.line);
    assert_memory_equal(a.cache, b.cache, sizeof a.cache);
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
    char *text, path[128];

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
    snprintf(path, sizeof path, "%s/card.txt", root);
    check_ok(spry_machine_write(&m, path));
    check_ok(spry_machine_read(&back, path));
    assert_memory_equal(&m, &back, sizeof m);
    assert_int_equal(spry_machine_read(&back, "/nowhere/at/all"), SPRY_INPUT);
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
        cmocka_unit_test_setup_teardown(cgroup_two_takes_the_tightest_above,
                                        make_root, remove_root),
        cmocka_unit_test_setup_teardown(cgroup_one_in_a_container, make_root,
                                        remove_root),
        cmocka_unit_test(no_cgroup_is_no_limit),
        cmocka_unit_test_setup_teardown(sysfs_tells_enough, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(cores_may_differ, make_root,
                                        remove_root),
        cmocka_unit_test(hwloc_says_the_same),
        cmocka_unit_test(instruction_sets_have_names),
        cmocka_unit_test(limits_shrink_and_rename),
        cmocka_unit_test(limits_refuse_more_than_there_is),
        cmocka_unit_test(noise_has_grades),
        cmocka_unit_test_setup_teardown(text_goes_round, make_root,
                                        remove_root),
        cmocka_unit_test(json_has_every_fact),
        cmocka_unit_test(bad_text_names_its_line),
        cmocka_unit_test(lanes_agree_with_arithmetic),
        cmocka_unit_test(probe_fills_everything_and_keeps_the_name),
        cmocka_unit_test(probe_refuses_what_is_not_here),
        cmocka_unit_test(a_second_probe_only_improves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
