/* machines.c - the machines of published records, as their makers and
 * vendors describe them. Nothing about them was measured here. */
#include "import/internal.h"

static const struct {
    const char *word; /* in a file's name */
    const char *text; /* docs/formats.md */
} machines[] = {
    {"epyc7543", "name AMD EPYC 7543\nsockets 2\ncores 64\nthreads 128\n"
                 "line 64\nisa avx2\ncache_bytes 32768 524288 33554432\n"
                 "cache_shared_by 1 1 4\nprobed 0\n"},
    {"e5_2620v4", "name Intel Xeon E5-2620 v4\nsockets 2\ncores 16\n"
                  "threads 32\nline 64\nisa avx2\n"
                  "cache_bytes 32768 262144 20971520\n"
                  "cache_shared_by 1 1 8\nprobed 0\n"},
    {"8272cl", "name Intel Xeon Platinum 8272CL\nsockets 2\ncores 52\n"
               "threads 104\nline 64\nisa avx512\n"
               "cache_bytes 32768 1048576 37486592\n"
               "cache_shared_by 1 1 26\nprobed 0\n"},
    {"e5_2680v3", "name Intel Xeon E5-2680 v3\nsockets 2\ncores 24\n"
                  "threads 48\nline 64\nisa avx2\n"
                  "cache_bytes 32768 262144 31457280\n"
                  "cache_shared_by 1 1 12\nprobed 0\n"},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

/* Short words for the same, tried after the others. */
static const struct {
    const char *word;
    int machine;
} nicknames[] = {{"epyc", 0}, {"xeon", 1}};

spry_status sp_import_machine(spry_machine *out, const char *text, int cores)
{
    char unknown[256];

    for (int i = 0; i < MACHINES; i++)
        if (sp_import_says(text, machines[i].word))
            return spry_machine_parse(out, machines[i].text, "machines.c");
    for (size_t i = 0; i < sizeof nicknames / sizeof nicknames[0]; i++)
        if (sp_import_says(text, nicknames[i].word))
            return spry_machine_parse(out, machines[nicknames[i].machine].text,
                                      "machines.c");
    if (cores < 1)
        return sp_fail(SPRY_USAGE,
                       "%s: its name does not say which machine it is of; "
                       "--machine does",
                       text);
    snprintf(
        unknown, sizeof unknown,
        "name unknown, %d cores\nsockets 1\ncores %d\nthreads %d\nline 64\n"
        "isa avx2\ncache_bytes 32768 262144 0\ncache_shared_by 1 1 1\n"
        "probed 0\n",
        cores, cores, cores);
    return spry_machine_parse(out, unknown, "machines.c");
}
