/* folder.c - the names in a folder, l2 before l10. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "network/read.h"

int sp_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int sp_ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);

    if (n > 3 && strcasecmp(name + n - 3, ".gz") == 0)
        n -= 3;
    return n > e && strncasecmp(name + n - e, ending, e) == 0;
}

spry_status sp_path_join(char out[SP_PATH], const char *folder,
                         const char *name)
{
    int n = snprintf(out, SP_PATH, "%s/%s", folder, name);

    if (n < 0 || n >= SP_PATH)
        return sp_fail(SPRY_USAGE, "the path %.200s... is too long", folder);
    return SPRY_OK;
}

/* Runs of digits compare as numbers, all else as characters. */
static int compare(const char *a, const char *b)
{
    while (*a && *b) {
        char *a_end, *b_end;
        unsigned long long x, y;

        if (!isdigit((unsigned char)*a) || !isdigit((unsigned char)*b)) {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
            continue;
        }
        x = strtoull(a, &a_end, 10);
        y = strtoull(b, &b_end, 10);
        if (x != y)
            return x < y ? -1 : 1;
        a = a_end;
        b = b_end;
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int compare_names(const void *a, const void *b)
{
    return compare(*(char *const *)a, *(char *const *)b);
}

static spry_status add_name(sp_folder *f, int64_t *room, const char *name)
{
    if (f->count == *room) {
        int64_t want = 2 * *room + 64;
        char **more = sp_grow(f->name, f->count, want, sizeof *more);

        if (!more)
            return sp_fail_memory((size_t)want * sizeof *more);
        f->name = more;
        *room = want;
    }
    f->name[f->count] = sp_strdup(name);
    if (!f->name[f->count])
        return sp_fail_memory(strlen(name));
    f->count++;
    return SPRY_OK;
}

spry_status sp_folder_read(sp_folder *out, const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *entry;
    int64_t room = 0;
    spry_status s = SPRY_OK;

    *out = (sp_folder){0};
    if (!d)
        return sp_fail_errno(SPRY_INPUT, "%s", path);
    while (s == SPRY_OK && (entry = readdir(d)))
        if (entry->d_name[0] != '.')
            s = add_name(out, &room, entry->d_name);
    closedir(d);
    if (s != SPRY_OK)
        sp_folder_free(out);
    else if (out->count > 0)
        qsort(out->name, (size_t)out->count, sizeof *out->name, compare_names);
    return s;
}

void sp_folder_cut(sp_folder *f, int64_t count)
{
    while (f->count > count)
        free(f->name[--f->count]);
}

void sp_folder_free(sp_folder *f)
{
    sp_folder_cut(f, 0);
    sp_free(f->name);
    *f = (sp_folder){0};
}
