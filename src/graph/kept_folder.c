/* kept_folder.c - the folder of packed weights: whose it is, how much is in
 * it, what has to go. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/private.h"
#include "graph/kept.h"

enum { LEFTOVER_SECONDS = 3600, PATH = 4096 };

static const double USUAL_LIMIT = 2e9;

/* What the user said about it: NULL, nothing. *bytes is what holds then. */
static const char *limit_said(double *bytes, int *understood)
{
    const char *said = getenv("SPRY_WEIGHTS");

    *bytes = USUAL_LIMIT;
    *understood = 1;
    if (!said || !*said)
        return NULL;
    *understood = sp_parse_count(said, bytes) && *bytes >= 0;
    if (!*understood)
        *bytes = USUAL_LIMIT;
    return said;
}

int64_t sp_kept_limit(void)
{
    double bytes;
    int understood;

    (void)limit_said(&bytes, &understood);
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

void sp_kept_note_limit(spry_executor *e)
{
    size_t at = strlen(e->note);
    double bytes;
    int understood;
    const char *said = limit_said(&bytes, &understood);

    if (!understood)
        snprintf(e->note + at, sizeof e->note - at,
                 "%sSPRY_WEIGHTS is a number of bytes, as 500M or 2G or 0, "
                 "not '%.40s': %.0fG it is",
                 at ? "; " : "", said, bytes / 1e9);
}

int sp_kept_folder(int make)
{
    char parent[PATH - 8], path[PATH];
    const char *why;

    if (!sp_user_dir(parent, sizeof parent, "cache"))
        return -1;
    snprintf(path, sizeof path, "%s/w", parent);
    if (make && sp_make_dirs(path, 0700) != SPRY_OK) {
        sp_message_clear();
        return -1;
    }
    return sp_private_open(path, &why);
}

/* ---- what is there ---- */

typedef struct {
    char name[SP_KEPT_NAME];
    struct timespec used;
    int64_t bytes;
} kept_file;

typedef struct {
    kept_file *file;
    int count, room;
    int64_t bytes;
} kept_files;

static int is_name(const char *name)
{
    return strlen(name) == SP_KEPT_NAME - 1 &&
           strspn(name, "0123456789abcdef") == SP_KEPT_NAME - 1;
}

static void list_file(kept_files *all, const char *name, const struct stat *st)
{
    if (all->count == all->room) {
        int room = all->room ? 2 * all->room : 16;
        kept_file *more = sp_grow(all->file, all->count, room, sizeof *more);

        if (!more)
            return;
        all->file = more;
        all->room = room;
    }
    all->file[all->count] =
        (kept_file){.used = st->st_mtim, .bytes = st->st_size};
    memcpy(all->file[all->count++].name, name, SP_KEPT_NAME);
    all->bytes += st->st_size;
}

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const kept_file *)a)->used;
    const struct timespec *y = &((const kept_file *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* The longest unused first. */
static kept_files list_files(int folder, int tidies)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    kept_files all = {0};
    const struct dirent *e;

    if (!d && fd >= 0)
        close(fd);
    while (d && (e = readdir(d))) {
        struct stat st;

        if (fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (is_name(e->d_name))
            list_file(&all, e->d_name, &st);
        else if (tidies && strncmp(e->d_name, "new.", 4) == 0 &&
                 st.st_mtim.tv_sec < time(NULL) - LEFTOVER_SECONDS)
            (void)unlinkat(folder, e->d_name, 0);
    }
    if (d)
        closedir(d);
    if (all.count)
        qsort(all.file, (size_t)all.count, sizeof *all.file, by_age);
    return all;
}

void sp_kept_trim(int folder, int64_t keep, spry_graph_kept *removed)
{
    kept_files all = list_files(folder, 1);

    *removed = (spry_graph_kept){0};
    for (int i = 0; i < all.count && all.bytes > keep; i++)
        if (unlinkat(folder, all.file[i].name, 0) == 0) {
            all.bytes -= all.file[i].bytes;
            removed->bytes += all.file[i].bytes;
            removed->count++;
        }
    sp_free(all.file);
}

/* ---- the public door ---- */

spry_status spry_graph_kept_of(spry_graph_kept *out)
{
    SP_NEED(out);
    SP_ROOM(out);

    int folder = sp_kept_folder(0);
    kept_files all = {0};
    spry_graph_kept whole = {0};

    if (folder >= 0) {
        all = list_files(folder, 0);
        close(folder);
    }
    whole.count = all.count;
    whole.bytes = all.bytes;
    SP_GIVE(out, &whole);
    sp_free(all.file);
    return SPRY_OK;
}

spry_status spry_graph_kept_trim(spry_graph_kept *removed, int64_t keep)
{
    spry_graph_kept whole = {0};
    int folder;

    SP_REFUSE(keep < 0, "cannot keep %lld bytes", (long long)keep);
    if (removed)
        SP_ROOM(removed);
    folder = sp_kept_folder(0);
    if (folder >= 0) {
        sp_kept_trim(folder, keep, &whole);
        close(folder);
    }
    if (removed)
        SP_GIVE(removed, &whole);
    return SPRY_OK;
}
