/* cgroup.c - /proc/self/cgroup -> how many CPUs and bytes we may use.
 *
 * A process sits in one group per hierarchy; a limit of any group above its
 * own binds it too. So each hierarchy is walked from our group to its mount
 * point and the tightest limit is kept. */
#include "machine/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 4096 };

int sp_read_line(char *out, size_t size, const char *root, const char *path)
{
    char whole[2 * PATH];
    FILE *f;
    int ok;

    out[0] = 0;
    snprintf(whole, sizeof whole, "%s%s", root, path);
    f = fopen(whole, "re");
    if (!f)
        return 0;
    ok = fgets(out, (int)size, f) != NULL;
    fclose(f);
    out[strcspn(out, "\n")] = 0;
    return ok;
}

static void tighten_cpus(sp_cgroup *g, double quota, double period)
{
    if (quota > 0 && period > 0 && (g->cpus <= 0 || quota / period < g->cpus))
        g->cpus = quota / period;
}

/* Version 1 writes "no limit" as a number near 2^63. */
static void tighten_memory(sp_cgroup *g, const char *text)
{
    long long bytes = strtoll(text, NULL, 10); /* "max" reads as 0 */

    if (bytes > 0 && bytes < 1LL << 60 && (!g->memory || bytes < g->memory))
        g->memory = bytes;
}

/* One group, either version: read whichever of its files exist. */
static void read_group(sp_cgroup *g, const char *root, const char *dir)
{
    char path[PATH + 64], line[128], period[128];
    long long quota = 0, per = 0;

    snprintf(path, sizeof path, "%s/cpu.max", dir);
    if (sp_read_line(line, sizeof line, root, path) &&
        sscanf(line, "%lld %lld", &quota, &per) == 2)
        tighten_cpus(g, (double)quota, (double)per);
    snprintf(path, sizeof path, "%s/memory.max", dir);
    if (sp_read_line(line, sizeof line, root, path))
        tighten_memory(g, line);

    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
    if (sp_read_line(line, sizeof line, root, path)) {
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
        if (sp_read_line(period, sizeof period, root, path))
            tighten_cpus(g, (double)atoll(line), (double)atoll(period));
    }
    snprintf(path, sizeof path, "%s/memory.limit_in_bytes", dir);
    if (sp_read_line(line, sizeof line, root, path))
        tighten_memory(g, line);
}

/* From mount/below up to mount itself. */
static void walk_up(sp_cgroup *g, const char *root, const char *mount,
                    const char *below)
{
    char dir[PATH];
    size_t stop = strlen(mount);
    int n = snprintf(dir, sizeof dir, "%s%s", mount, below);

    if (n < 0 || (size_t)n >= sizeof dir)
        return;
    for (;;) {
        char *cut;

        read_group(g, root, dir);
        cut = strrchr(dir, '/');
        if (!cut || (size_t)(cut - dir) < stop)
            return;
        *cut = 0;
    }
}

/* Is `word` one of the comma-separated words of list? */
static int lists(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
            return 1;
    return 0;
}

/* Our group in the hierarchy with these mount options: version 2 is the
 * line "0::/path", version 1 "4:memory:/path". */
static int group_path(char *out, size_t size, const char *root, int version,
                      const char *options)
{
    char name[PATH + 16], line[PATH];
    FILE *f;
    int found = 0;

    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    f = fopen(name, "re");
    if (!f)
        return 0;
    while (!found && fgets(line, sizeof line, f)) {
        char *list = strchr(line, ':'),
             *path = list ? strchr(list + 1, ':') : 0;
        char *first;

        if (!path)
            continue;
        *path++ = 0;
        list++;
        path[strcspn(path, "\n")] = 0;
        first = strtok(list, ",");
        found = version == 2 ? !first : first && lists(options, first);
        if (found)
            snprintf(out, size, "%s", path);
    }
    fclose(f);
    return found;
}

/* One line of mountinfo: "31 23 0:28 <top> <mount> ... - <type> <dev>
 * <options>". Inside a container <top> is the container's own group. */
static void read_mount(sp_cgroup *g, const char *root, char *line)
{
    char top[PATH], mount[PATH], type[32], options[256], path[PATH];
    const char *dash = strstr(line, " - "), *below = path;
    size_t n;

    if (!dash || sscanf(line, "%*s %*s %*s %4095s %4095s", top, mount) != 2 ||
        sscanf(dash + 3, "%31s %*s %255s", type, options) != 2 ||
        strncmp(type, "cgroup", 6) != 0 ||
        !group_path(path, sizeof path, root, type[6] == '2' ? 2 : 1, options))
        return;
    n = strcmp(top, "/") == 0 ? 0 : strlen(top);
    if (strncmp(path, top, n) == 0 && (path[n] == '/' || path[n] == 0))
        below = path + n;
    if (strcmp(below, "/") == 0 || strstr(below, ".."))
        below = "";
    walk_up(g, root, mount, below);
}

sp_cgroup sp_cgroup_read(const char *root)
{
    char name[PATH + 32], line[3 * PATH];
    sp_cgroup g = {0};
    FILE *f;

    snprintf(name, sizeof name, "%s/proc/self/mountinfo", root);
    f = fopen(name, "re");
    if (!f)
        return g;
    while (fgets(line, sizeof line, f))
        read_mount(&g, root, line);
    fclose(f);
    return g;
}
