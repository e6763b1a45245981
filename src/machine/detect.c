/* detect.c - the running system -> a machine, nothing measured. */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT_S */
#include "spry/machine.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/base.h"
#include "machine/internal.h"
#include "machine/isa.h"

/* How many CPUs the scheduler may put us on. The mask of a large machine is
 * larger than cpu_set_t: grow it until the kernel is content. */
static int cpus_by_affinity(void)
{
    for (int most = 1024; most <= 1 << 20; most *= 4) {
        cpu_set_t *set = CPU_ALLOC(most);
        size_t bytes = CPU_ALLOC_SIZE(most);
        int n = 0;

        if (set && sched_getaffinity(0, bytes, set) == 0)
            n = CPU_COUNT_S(bytes, set);
        if (set)
            CPU_FREE(set);
        if (n > 0)
            return n;
    }
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Whole CPUs only: with 1.5 of them a second thread would be stopped in the
 * middle of half of its work. */
static int usable_threads(const sp_cgroup *g)
{
    int n = cpus_by_affinity();

    if (g->cpus > 0 && (int)g->cpus < n)
        n = (int)g->cpus;
    return n > 0 ? n : 1;
}

static int64_t usable_memory(const sp_cgroup *g)
{
    int64_t n = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

    return g->memory > 0 && g->memory < n ? g->memory : n;
}

/* One line of printable text with single spaces, whatever the CPU says. */
static void tidy_name(char *name)
{
    char *to = name;

    for (const char *from = name; *from; from++)
        if (isgraph((unsigned char)*from))
            *to++ = *from;
        else if (to > name && to[-1] != ' ')
            *to++ = ' ';
    while (to > name && to[-1] == ' ')
        to--;
    *to = 0;
}

/* What every user divides by must not be zero. */
static void fill_gaps(spry_machine *m)
{
    struct utsname u;

    tidy_name(m->name);
    if (!m->name[0] && uname(&u) == 0)
        snprintf(m->name, sizeof m->name, "%.60s CPU", u.machine);
    if (m->sockets < 1)
        m->sockets = 1;
    if (m->cores < 1)
        m->cores = m->threads;
    if (m->line < 16)
        m->line = 64;
    if (m->cache[0].bytes < 1)
        m->cache[0].bytes = 32 << 10;
    for (int i = 0; i < SPRY_CACHES; i++)
        if (m->cache[i].bytes > 0 && m->cache[i].shared_by < 1)
            m->cache[i].shared_by = 1;
}

spry_status spry_machine_detect(spry_machine *out)
{
    SP_NEED(out);

    sp_cgroup g = sp_cgroup_read("");

    memset(out, 0, sizeof *out);
    if (!sp_topology_sysfs(out, ""))
        (void)sp_topology_hwloc(out);
    out->isa = sp_isa_here();
    out->threads = usable_threads(&g);
    out->memory = usable_memory(&g);
    fill_gaps(out);
    sp_fingerprint(out);
    return SPRY_OK;
}
