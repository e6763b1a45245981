/* test_topology.c - cores, caches and limits, as a made-up /proc and /sys tell
 * them. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "check.h"
#include "folder.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "machine/internal.h"
#include "machine/machine.h"

/* A directory with a made-up /proc and /sys. */
static char root[TEST_FOLDER];

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
    (void)state;
    return make_folder(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    return remove_folder(root) ? 0 : -1;
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

/* Counted CPU by CPU or asked for: the same, if all of them are ours. */
static void hwloc_says_the_same(void **state)
{
    spry_machine a = {0}, b = {0};
    cpu_set_t ours;

    (void)state;
    if (sched_getaffinity(0, sizeof ours, &ours) != 0 ||
        CPU_COUNT(&ours) != sysconf(_SC_NPROCESSORS_CONF))
        skip_because("some CPUs of this machine are not ours");
    if (!sp_topology_sysfs(&a, "") || !sp_topology_hwloc(&b))
        skip_because("only one of /sys and hwloc has an answer here");
    assert_int_equal(a.sockets, b.sockets);
    assert_int_equal(a.cores, b.cores);
    assert_int_equal(a.cache[0].bytes, b.cache[0].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
