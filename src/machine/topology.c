/* topology.c - sockets, cores and caches: from hwloc, else from /sys. */
#define _GNU_SOURCE /* sched_getcpu */
#include "machine/internal.h"

#include <ctype.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hwloc ---- */

static const hwloc_obj_type_t cache_types[SPRY_CACHES] = {
    HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};

/* A level's cache above a CPU that we may use, not above any CPU: cores of
 * one machine may differ. */
static hwloc_obj_t cache_above_us(hwloc_topology_t t, hwloc_obj_type_t type)
{
    hwloc_bitmap_t us = hwloc_bitmap_alloc();
    hwloc_obj_t found = NULL;

    if (us && hwloc_get_cpubind(t, us, HWLOC_CPUBIND_PROCESS) == 0)
        found = hwloc_get_next_obj_covering_cpuset_by_type(t, us, type, NULL);
    hwloc_bitmap_free(us);
    return found ? found : hwloc_get_obj_by_type(t, type, 0);
}

static void take_caches(spry_machine *m, hwloc_topology_t t)
{
    for (int level = 0; level < SPRY_CACHES; level++) {
        hwloc_obj_t c = cache_above_us(t, cache_types[level]);

        if (!c)
            continue;
        m->cache[level].bytes = (int64_t)c->attr->cache.size;
        m->cache[level].shared_by = hwloc_get_nbobjs_inside_cpuset_by_type(
            t, c->cpuset, HWLOC_OBJ_CORE);
        if (level == 0)
            m->line = (int)c->attr->cache.linesize;
    }
}

static void take_counts(spry_machine *m, hwloc_topology_t t)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, 0);
    const char *name =
        package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;

    m->sockets = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE);
    m->cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
    if (name)
        snprintf(m->name, sizeof m->name, "%s", name);
}

int sp_topology_hwloc(spry_machine *m)
{
    hwloc_topology_t t;
    int ok;

    if (hwloc_topology_init(&t) != 0)
        return 0;
    hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    /* Asking each CPU in turn by cpuid takes most of the time, and the
     * system has told the same already. */
    (void)hwloc_topology_set_components(
        t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    ok = hwloc_topology_load(t) == 0;
    if (ok) {
        take_counts(m, t);
        take_caches(m, t);
    }
    hwloc_topology_destroy(t);
    return ok && m->cores > 0 && m->cache[0].bytes > 0;
}

/* ---- /sys and /proc ---- */

/* How many CPUs a list such as "0-3,8" names. */
static int count_list(const char *text)
{
    int count = 0;

    while (isdigit((unsigned char)*text)) {
        char *end;
        long first = strtol(text, &end, 10), last = first;

        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (last < first)
            return count;
        count += (int)(last - first) + 1;
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* "48K" in bytes. */
static int64_t size_of(const char *text)
{
    char *end;
    long long n = strtoll(text, &end, 10);

    return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : n;
}

/* How many CPUs `file` of directory `dir` lists; at least 1. */
static int listed_in(const char *root, const char *dir, const char *file)
{
    char path[160], line[256];
    int n;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    n = sp_read_line(line, sizeof line, root, path) ? count_list(line) : 1;
    return n > 0 ? n : 1;
}

/* One directory of /sys/devices/system/cpu/cpu0/cache. */
static void take_index(spry_machine *m, const char *root, const char *dir,
                       int threads_per_core)
{
    char path[160], level[16], type[32], text[32];
    int n;

    snprintf(path, sizeof path, "%s/level", dir);
    if (!sp_read_line(level, sizeof level, root, path))
        return;
    snprintf(path, sizeof path, "%s/type", dir);
    sp_read_line(type, sizeof type, root, path);
    n = atoi(level) - 1;
    if (n < 0 || n >= SPRY_CACHES || strcmp(type, "Instruction") == 0)
        return;
    snprintf(path, sizeof path, "%s/size", dir);
    sp_read_line(text, sizeof text, root, path);
    m->cache[n].bytes = size_of(text);
    m->cache[n].shared_by =
        listed_in(root, dir, "shared_cpu_list") / threads_per_core;
    if (m->cache[n].shared_by < 1)
        m->cache[n].shared_by = 1;
    snprintf(path, sizeof path, "%s/coherency_line_size", dir);
    if (n == 0 && sp_read_line(text, sizeof text, root, path))
        m->line = atoi(text);
}

/* "model name : AMD EPYC" of /proc/cpuinfo. */
static void take_name(spry_machine *m, const char *root)
{
    char path[4096], line[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    f = fopen(path, "re");
    if (!f)
        return;
    while (!m->name[0] && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');

        if (!colon || strncmp(line, "model name", 10) != 0)
            continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(m->name, sizeof m->name, "%.90s",
                 colon + 1 + strspn(colon + 1, " \t"));
    }
    fclose(f);
}

void sp_topology_sysfs(spry_machine *m, const char *root)
{
    static const char cpus[] = "/sys/devices/system/cpu";
    char dir[96];
    int cpu = sched_getcpu(), per_core, per_socket, all;

    snprintf(dir, sizeof dir, "%s/cpu%d/topology", cpus, cpu < 0 ? 0 : cpu);
    per_core = listed_in(root, dir, "thread_siblings_list");
    per_socket = listed_in(root, dir, "core_siblings_list");
    all = listed_in(root, cpus, "online");
    m->cores = all / per_core > 0 ? all / per_core : 1;
    m->sockets = all / per_socket > 0 ? all / per_socket : 1;
    for (int i = 0; i < 8; i++) {
        snprintf(dir, sizeof dir, "%s/cpu%d/cache/index%d", cpus,
                 cpu < 0 ? 0 : cpu, i);
        take_index(m, root, dir, per_core);
    }
    if (!m->name[0])
        take_name(m, root);
}
