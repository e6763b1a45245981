/* topology.c - sockets, cores and caches: from /sys, else from hwloc.
 *
 * hwloc loads its plug-ins first, and with them the libraries of OpenCL, X11
 * and XML: 8 ms where reading the same files takes a third of one. So it is
 * asked where /sys has no answer. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "machine/internal.h"

#include <ctype.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- /sys and /proc ---- */

#define CPUS "/sys/devices/system/cpu"

enum { MOST = 1 << 14 }; /* CPUs */

/* Where the files are, and which CPUs are the first of their core. */
typedef struct {
    const char *root;
    char is_core[MOST];
} system_files;

/* The first CPU of a list such as "0-3,8", -1: there is none; of all of them
 * how many are marked, if marks are given. */
static int read_list(const char *text, const char *mark, int *marked)
{
    int begin = -1;

    while (isdigit((unsigned char)*text)) {
        char *end;
        long first = strtol(text, &end, 10), last = first;

        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (first < 0 || last < first || last >= MOST)
            return -1;
        begin = begin < 0 ? (int)first : begin;
        for (long i = first; mark && i <= last; i++)
            *marked += mark[i] != 0;
        text = *end == ',' ? end + 1 : end;
    }
    return begin;
}

/* A line of a CPU's folder. */
static int read_of(char *out, size_t size, const system_files *f, int cpu,
                   const char *name)
{
    char path[160];

    snprintf(path, sizeof path, CPUS "/cpu%d/%s", cpu, name);
    return sp_read_line(out, size, f->root, path);
}

/* Is the CPU the first that its own list has? */
static int leads(const system_files *f, int cpu, const char *name)
{
    char line[4096];

    return read_of(line, sizeof line, f, cpu, name) &&
           read_list(line, NULL, NULL) == cpu;
}

/* A core, and a socket, is counted with the first of its CPUs: there may be
 * cores of two CPUs beside cores of one. */
static void count_cores(spry_machine *m, system_files *f)
{
    char line[4096];
    const char *at = line;

    if (!sp_read_line(line, sizeof line, f->root, CPUS "/online"))
        return;
    while (isdigit((unsigned char)*at)) {
        char *end;
        long first = strtol(at, &end, 10), last = first;

        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long i = first; i <= last && i >= 0 && i < MOST; i++) {
            f->is_core[i] =
                (char)leads(f, (int)i, "topology/thread_siblings_list");
            m->cores += f->is_core[i];
            if (f->is_core[i])
                m->sockets += leads(f, (int)i, "topology/core_siblings_list");
        }
        at = *end == ',' ? end + 1 : end;
    }
}

/* "48K" in bytes. */
static int64_t size_of(const char *text)
{
    char *end;
    long long n = strtoll(text, &end, 10);

    return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : n;
}

/* One folder of a CPU's caches. */
static void take_index(spry_machine *m, const system_files *f, int cpu,
                       int index)
{
    char name[64], text[4096], type[32];
    int n;

#define READ(to, file)                                          \
    (snprintf(name, sizeof name, "cache/index%d/" file, index), \
     read_of(to, sizeof to, f, cpu, name))
    if (!READ(text, "level"))
        return;
    n = atoi(text) - 1;
    (void)READ(type, "type");
    if (n < 0 || n >= SPRY_CACHES || strcmp(type, "Instruction") == 0)
        return;
    if (READ(text, "size"))
        m->cache[n].bytes = size_of(text);
    m->cache[n].shared_by = 0;
    if (READ(text, "shared_cpu_list"))
        (void)read_list(text, f->is_core, &m->cache[n].shared_by);
    if (n == 0 && READ(text, "coherency_line_size"))
        m->line = atoi(text);
#undef READ
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

/* The first CPU that we may use. */
static int first_cpu(void)
{
    cpu_set_t *set = CPU_ALLOC(MOST);
    size_t bytes = CPU_ALLOC_SIZE(MOST);
    int cpu = 0;

    if (set && sched_getaffinity(0, bytes, set) == 0)
        while (cpu < MOST - 1 && !CPU_ISSET_S(cpu, bytes, set))
            cpu++;
    if (set)
        CPU_FREE(set);
    return cpu < MOST - 1 ? cpu : 0;
}

int sp_topology_sysfs(spry_machine *m, const char *root)
{
    system_files f = {.root = root};
    int cpu = first_cpu();

    count_cores(m, &f);
    for (int i = 0; i < 8; i++)
        take_index(m, &f, cpu, i);
    if (!m->name[0])
        take_name(m, root);
    return m->cores > 0 && m->sockets > 0 && m->cache[0].bytes > 0;
}

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
    ok = hwloc_topology_load(t) == 0;
    if (ok) {
        take_counts(m, t);
        take_caches(m, t);
    }
    hwloc_topology_destroy(t);
    return ok && m->cores > 0 && m->cache[0].bytes > 0;
}
