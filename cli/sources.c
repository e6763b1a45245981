/* sources.c - files, folders, recipes and suites, as one list of matrices. */
#define _DEFAULT_SOURCE /* realpath */
#include "sources.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

void sources_free(sources *l)
{
    for (int i = 0; i < l->count; i++)
        free(l->name[i]);
    free(l->name);
    *l = (sources){0};
}

void source_name(char out[SOURCE_NAME], const char *path)
{
    char *whole;

    if (strncmp(path, "gen:", 4) == 0) {
        snprintf(out, SOURCE_NAME, strchr(path, '#') ? "%s" : "%s#%llu", path,
                 (unsigned long long)cli.seed);
        return;
    }
    if (strncmp(path, "op:", 3) == 0) {
        snprintf(out, SOURCE_NAME, "%s", path);
        return;
    }
    whole = realpath(path, NULL);
    snprintf(out, SOURCE_NAME, "%s", whole ? whole : path);
    free(whole);
}

static spry_status add(sources *l, const char *path)
{
    char whole[SOURCE_NAME], **more;

    source_name(whole, path);
    more = realloc(l->name, ((size_t)l->count + 1) * sizeof *more);
    if (more) {
        l->name = more;
        more[l->count] = malloc(strlen(whole) + 1);
    }
    if (!more || !more[l->count])
        return say_fail(SPRY_SYSTEM, "not enough memory for the list");
    memcpy(more[l->count++], whole, strlen(whole) + 1);
    return SPRY_OK;
}

static int is_matrix(const char *name)
{
    static const char *const endings[] = {".mtx", ".csr", ".npz", ".smtx",
                                          ".tsv", ".rb",  ".tns"};
    size_t n = strlen(name);

    if (n > 3 && strcasecmp(name + n - 3, ".gz") == 0)
        n -= 3;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t k = strlen(endings[i]);

        if (n > k && strncasecmp(name + n - k, endings[i], k) == 0)
            return 1;
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All matrices that lie in the folder itself, by name. */
static spry_status add_folder(sources *l, const char *path)
{
    DIR *folder = opendir(path);
    int before = l->count;
    char file[PATH_MAX];
    const struct dirent *e;
    spry_status s = SPRY_OK;

    if (!folder)
        return say_fail(SPRY_INPUT, "%s: cannot be opened", path);
    while (s == SPRY_OK && (e = readdir(folder)))
        if (is_matrix(e->d_name) && snprintf(file, sizeof file, "%s/%s", path,
                                             e->d_name) < (int)sizeof file)
            s = add(l, file);
    closedir(folder);
    if (s == SPRY_OK && l->count == before)
        return say_fail(SPRY_INPUT, "%s: no matrix lies there", path);
    if (s == SPRY_OK)
        qsort(l->name + before, (size_t)(l->count - before), sizeof *l->name,
              by_name);
    return s;
}

spry_status sources_add(sources *l, const char *path)
{
    struct stat st;

    if (strncmp(path, "gen:", 4) == 0 || strncmp(path, "op:", 3) == 0)
        return add(l, path);
    if (stat(path, &st) != 0)
        return say_fail(SPRY_INPUT, "%s: there is no such file", path);
    return S_ISDIR(st.st_mode) ? add_folder(l, path) : add(l, path);
}

spry_status sources_add_suite(sources *l, const char *suite)
{
    const char *spec;
    spry_status s = SPRY_OK;

    if (!spry_suite(suite, 0))
        return say_fail(SPRY_USAGE,
                        "there is no suite '%s'; it is small, default "
                        "or operators",
                        suite);
    for (int i = 0; s == SPRY_OK && (spec = spry_suite(suite, i)); i++)
        s = add(l, spec);
    return s;
}
