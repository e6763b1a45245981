/* prove.c - promises of docs/reliability.md that are kept inside the library:
 * each is tried hard to be broken. tools/prove.sh has those that need a shell.
 *
 *   bench-prove [part]...   all of them, if none is named */
#define _DEFAULT_SOURCE /* setenv */
#include "prove/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "contest/folder.h"

static const struct {
    const char *name;
    void (*prove)(const char *folder);
} parts[] = {
    {"writers", prove_writers},
    {"cold", prove_cold},
    {"hostile", prove_hostile},
    {"attacks", prove_attacks},
    {"inert", prove_inert},
    {"memory", prove_memory},
    {"frozen", prove_frozen},
    {"overhead", prove_overhead},
    {"coverage", prove_coverage},
    {"slower", prove_slower},
    {"slower-loaded", prove_slower_loaded},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static int is_named(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

int main(int argc, char **argv)
{
    char folder[BENCH_FOLDER];

    if (argc > 1 && strcmp(argv[1], "fresh") == 0)
        return prove_fresh(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "fresh-frozen") == 0)
        return prove_fresh_frozen(argc - 1, argv + 1);
    if (!bench_folder(folder))
        return 1;
    setenv("SPRY_HOME", folder, 1);
    setenv("SPRY_LOCK", "", 1);
    setenv("SPRY_SITE_STORE", "", 1);
    for (int i = 0; i < PARTS; i++)
        if (is_named(parts[i].name, argc, argv)) {
            double begun = sp_seconds();

            parts[i].prove(folder);
            printf("(%s: %.1f s)\n", parts[i].name, sp_seconds() - begun);
            fflush(stdout);
        }
    bench_folder_remove(folder);
    return 0;
}
