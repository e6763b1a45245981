/* matrices.c - matrices that are named by the hash of their file's bytes.
 *
 * A name that only its contents can have needs no trust: whatever the folder
 * or the server hands out is hashed before it is read. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/internal.h"

enum { LARGEST = 1 << 28 };

typedef struct {
    char hash[SPRY_FLEET_HASH];
    char *path;
} hashed_file;

struct sp_matrix_files {
    const char *folder; /* NULL: none */
    hashed_file *file;  /* [count] */
    int count, room;
    char own[SP_JOB_FOLDER]; /* for what was fetched; "": not yet */
    char fetched[300];       /* the last of it, and what it is */
    char fetched_hash[SPRY_FLEET_HASH];
};

void sp_content_hash(char out[SPRY_FLEET_HASH], const void *data, size_t n)
{
    uint8_t digest[SP_SHA256];

    sp_sha256(digest, data, n);
    snprintf(out, SPRY_FLEET_HASH, "sha256:");
    sp_hex(out + 7, digest, sizeof digest);
}

/* Bytes as they lie there: compressed ones stay so. */
static spry_status read_bytes(sp_buf *out, const char *path)
{
    char piece[1 << 14];
    struct stat st;
    size_t n;
    FILE *f = fopen(path, "rb");

    if (!f || fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode)) {
        if (f)
            fclose(f);
        return sp_fail(SPRY_INPUT, "%s: there is no such file", path);
    }
    while ((n = fread(piece, 1, sizeof piece, f)) > 0 && !out->failed &&
           out->len <= LARGEST)
        sp_buf_bytes(out, piece, n);
    fclose(f);
    if (out->failed)
        return sp_fail_memory(out->cap);
    if (out->len > LARGEST || out->len == 0)
        return sp_fail(SPRY_INPUT, "%s: empty, or larger than 256 MB", path);
    return SPRY_OK;
}

/* ---- endings ---- */

static const char *const endings[] = {".mtx.gz", ".mtx", ".npz", ".csr",
                                      ".smtx",   ".tsv", ".rb"};
enum { ENDINGS = sizeof endings / sizeof *endings };

/* The ending that tells how to read a file; NULL: none of ours. */
static const char *ending_of(const char *name)
{
    size_t n = strlen(name);

    for (int i = 0; i < ENDINGS; i++) {
        size_t k = strlen(endings[i]);

        if (n >= k && strcmp(name + n - k, endings[i]) == 0)
            return endings[i];
    }
    return NULL;
}

/* ---- the folder ---- */

static spry_status add_file(sp_matrix_files *files, const char *path)
{
    sp_buf bytes = {0};
    hashed_file *more;
    spry_status s;

    if (files->count == files->room) {
        more = sp_grow(files->file, files->count, 2 * files->room + 16,
                       sizeof *more);
        if (!more)
            return sp_fail_memory(sizeof *more);
        files->file = more;
        files->room = 2 * files->room + 16;
    }
    s = read_bytes(&bytes, path);
    if (s == SPRY_OK) {
        hashed_file *x = &files->file[files->count];

        sp_content_hash(x->hash, bytes.data, bytes.len);
        x->path = sp_strdup(path);
        files->count += x->path != NULL;
    }
    sp_buf_free(&bytes);
    return s == SPRY_INPUT ? SPRY_OK : s; /* not one of ours */
}

/* Every matrix in the folder, once. */
static spry_status look(sp_matrix_files *files)
{
    DIR *folder = files->folder ? opendir(files->folder) : NULL;
    const struct dirent *e;
    char path[4096];
    spry_status s = SPRY_OK;

    while (s == SPRY_OK && folder && (e = readdir(folder)))
        if (ending_of(e->d_name) &&
            snprintf(path, sizeof path, "%s/%s", files->folder, e->d_name) <
                (int)sizeof path)
            s = add_file(files, path);
    if (folder)
        closedir(folder);
    return s;
}

/* ---- the server ---- */

/* A file that comes in pieces. */
typedef struct {
    sp_buf bytes;
    int64_t size;
    char ending[16];
} arrival;

static spry_status take_piece(const sp_cell *cell, int count, void *payload)
{
    arrival *a = payload;

    if (count < 3 || cell[0].type != SP_CELL_TEXT ||
        cell[2].type != SP_CELL_BYTES)
        return SPRY_OK;
    a->size = cell[1].integer;
    snprintf(a->ending, sizeof a->ending, "%s", cell[0].data);
    sp_buf_bytes(&a->bytes, cell[2].data, cell[2].length);
    return a->bytes.failed ? sp_fail_memory(a->bytes.cap) : SPRY_OK;
}

/* Until all of it is here, or there is no more. */
static spry_status receive(arrival *a, sp_postgres *c, const char *hash,
                           int (*go_on)(void *payload), void *payload)
{
    size_t before;
    spry_status s;

    do {
        sp_cell arg[2] = {sp_cell_text(hash),
                          sp_cell_integer((int64_t)a->bytes.len)};

        before = a->bytes.len;
        s = sp_postgres_ask(
            c, "SELECT ending, size, bytes FROM spry.fetch($1, $2)", arg, 2,
            take_piece, a, NULL);
        if (s == SPRY_OK && !go_on(payload))
            s = SPRY_STOPPED;
    } while (s == SPRY_OK && a->bytes.len > before &&
             (int64_t)a->bytes.len < a->size && a->bytes.len <= LARGEST);
    return s;
}

/* Into a file of our own, in place of the one before. */
static spry_status keep_arrival(sp_matrix_files *files, const arrival *a,
                                const char *name)
{
    char hash[SPRY_FLEET_HASH];
    const char *ending = ending_of(a->ending);
    spry_status s = SPRY_OK;

    sp_content_hash(hash, a->bytes.data, a->bytes.len);
    if (!ending || strcmp(ending, a->ending) != 0 || strcmp(hash, name) != 0)
        return sp_fail(SPRY_INPUT, "the server's %s is not what it should be",
                       name);
    if (!*files->own)
        s = sp_job_folder_make(files->own);
    if (s != SPRY_OK)
        return s;
    if (*files->fetched)
        unlink(files->fetched);
    snprintf(files->fetched, sizeof files->fetched, "%s/matrix%s", files->own,
             ending);
    *files->fetched_hash = 0;
    s = sp_file_write(files->fetched, a->bytes.data, a->bytes.len);
    if (s == SPRY_OK)
        snprintf(files->fetched_hash, SPRY_FLEET_HASH, "%s", hash);
    return s;
}

static spry_status fetch(sp_matrix_files *files, sp_postgres *c,
                         const char *hash, int (*go_on)(void *payload),
                         void *payload)
{
    arrival a = {0};
    spry_status s = receive(&a, c, hash, go_on, payload);

    if (s == SPRY_OK && a.bytes.len == 0)
        s = sp_fail(SPRY_INPUT,
                    "the matrix %s is neither here nor in the store", hash);
    if (s == SPRY_OK)
        s = keep_arrival(files, &a, hash);
    sp_buf_free(&a.bytes);
    return s;
}

/* ---- the door ---- */

spry_status sp_matrix_files_open(sp_matrix_files **out, const char *folder)
{
    spry_status s;

    *out = sp_alloc(1, sizeof **out);
    if (!*out)
        return sp_fail_memory(sizeof **out);
    (*out)->folder = folder;
    s = folder ? sp_need_folder(folder) : SPRY_OK;
    return s == SPRY_OK ? look(*out) : s;
}

void sp_matrix_files_close(sp_matrix_files *files)
{
    if (!files)
        return;
    for (int i = 0; i < files->count; i++)
        free(files->file[i].path);
    sp_free(files->file);
    if (*files->fetched)
        unlink(files->fetched);
    if (*files->own)
        rmdir(files->own);
    sp_free(files);
}

spry_status sp_matrix_files_find(char path[4096], sp_matrix_files *files,
                                 sp_postgres *c, const char *hash,
                                 int (*go_on)(void *payload), void *payload)
{
    spry_status s = SPRY_OK;

    for (int i = 0; i < files->count; i++)
        if (strcmp(files->file[i].hash, hash) == 0) {
            snprintf(path, 4096, "%s", files->file[i].path);
            return SPRY_OK;
        }
    if (strcmp(files->fetched_hash, hash) != 0)
        s = fetch(files, c, hash, go_on, payload);
    if (s == SPRY_OK)
        snprintf(path, 4096, "%s", files->fetched);
    return s;
}

spry_status spry_fleet_offer(spry_fleet *f, const char *path,
                             char hash[SPRY_FLEET_HASH])
{
    SP_NEED(f, path, hash);

    const char *ending = ending_of(path), *slash = strrchr(path, '/');
    sp_buf bytes = {0};
    spry_matrix *A = NULL;
    spry_status s;

    *hash = 0;
    if (!ending)
        return sp_fail(SPRY_INPUT,
                       "%s: jobs take .mtx, .mtx.gz, .npz, .csr, "
                       ".smtx, .tsv and .rb",
                       path);
    s = spry_matrix_read(&A, path);
    spry_matrix_free(A);
    if (s == SPRY_OK)
        s = read_bytes(&bytes, path);
    if (s == SPRY_OK) {
        sp_cell arg[4];

        sp_content_hash(hash, bytes.data, bytes.len);
        arg[0] = sp_cell_text(hash);
        arg[1] = sp_cell_text(slash ? slash + 1 : path);
        arg[2] = sp_cell_text(ending);
        arg[3] = sp_cell_bytes(bytes.data, bytes.len);
        s = sp_postgres_ask(f->server,
                            "INSERT INTO spry.matrix(hash, name, ending, bytes)"
                            " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                            arg, 4, NULL, NULL, NULL);
    }
    sp_buf_free(&bytes);
    return s;
}
