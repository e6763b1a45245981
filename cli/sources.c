/* sources.c - files, folders, recipes and suites, as one list of matrices. */
#define _XOPEN_SOURCE 700 /* realpath */
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

/* Takes the text over. */
static spry_status add(sources *l, char *name)
{
    char **more =
        name ? realloc(l->name, ((size_t)l->count + 1) * sizeof *more) : NULL;

    if (!more) {
        free(name);
        return say_fail(SPRY_SYSTEM, "not enough memory for the list");
    }
    l->name = more;
    l->name[l->count++] = name;
    return SPRY_OK;
}

/* With its seed, so that it is the same matrix for whoever reads the store. */
static spry_status add_recipe(sources *l, const char *text)
{
    size_t size = strlen(text) + 32;
    char *name = malloc(size);

    if (name && strchr(text, '#'))
        snprintf(name, size, "%s", text);
    else if (name)
        snprintf(name, size, "%s#%llu", text, (unsigned long long)cli.seed);
    return add(l, name);
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

static spry_status add_file(sources *l, const char *path)
{
    char *whole = realpath(path, NULL);

    if (!whole)
        return say_fail(SPRY_INPUT, "%s: there is no such file", path);
    return add(l, whole);
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
            s = add_file(l, file);
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

    if (strncmp(path, "gen:", 4) == 0)
        return add_recipe(l, path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return add_folder(l, path);
    return add_file(l, path);
}

spry_status sources_add_suite(sources *l, const char *suite)
{
    const char *spec;
    spry_status s = SPRY_OK;

    if (!spry_suite(suite, 0))
        return say_fail(SPRY_USAGE,
                        "there is no suite '%s'; it is small or "
                        "default",
                        suite);
    for (int i = 0; s == SPRY_OK && (spec = spry_suite(suite, i)); i++)
        s = add_recipe(l, spec);
    return s;
}
