/* folder.c - made at the start, removed at the end. */
#define _XOPEN_SOURCE 700 /* mkdtemp, nftw */
#include "folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

char *bench_folder(char out[BENCH_FOLDER])
{
    const char *tmp = getenv("TMPDIR");

    snprintf(out, BENCH_FOLDER, "%.200s/spry-bench-XXXXXX",
             tmp && tmp[0] ? tmp : "/tmp");
    if (mkdtemp(out))
        return out;
    perror(out);
    return NULL;
}

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

void bench_folder_remove(const char *folder)
{
    if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS))
        perror(folder);
}
