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
    int looked;         /* at it */
    hashed_file *file;  /* [count] */
    int count, room;
    char own[SP_JOB_FOLDER]; /* for what was fetched; "": not yet */
    char fetched[300];       /* the last of it */
};

void sp_content_hash(char out[SPRY_FLEET_HASH], const void *data, size_t n)
{
    uint8_t digest[SP_SHA256];

    sp_sha256(digest, data, n);
    memcpy(out, "sha256:", 7);
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

    files->looked = 1;
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

typedef struct {
    sp_matrix_files *files;
    const char *hash;
    int found;
} fetcher;

static spry_status keep_fetched(const sp_cell *cell, int count, void *payload)
{
    fetcher *k = payload;
    char hash[SPRY_FLEET_HASH];
    const char *ending;
    sp_matrix_files *files = k->files;
    spry_status s = SPRY_OK;

    if (count < 2 || cell[0].type != SP_CELL_TEXT ||
        cell[1].type != SP_CELL_BYTES)
        return SPRY_OK;
    ending = ending_of(cell[0].data);
    sp_content_hash(hash, cell[1].data, cell[1].length);
    if (!ending || strcmp(ending, cell[0].data) != 0 ||
        strcmp(hash, k->hash) != 0)
        return sp_fail(SPRY_INPUT, "the server's %s is not what it should be",
                       k->hash);
    if (!*files->own)
        s = sp_job_folder_make(files->own);
    if (s != SPRY_OK)
        return s;
    if (*files->fetched)
        unlink(files->fetched);
    snprintf(files->fetched, sizeof files->fetched, "%s/matrix%s", files->own,
             ending);
    k->found = 1;
    return sp_file_write(files->fetched, cell[1].data, cell[1].length);
}

/* ---- the door ---- */

spry_status sp_matrix_files_open(sp_matrix_files **out, const char *folder)
{
    *out = sp_alloc(1, sizeof **out);
    if (!*out)
        return sp_fail_memory(sizeof **out);
    (*out)->folder = folder;
    return folder ? sp_need_folder(folder) : SPRY_OK;
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
                                 sp_postgres *c, const char *hash)
{
    fetcher k = {files, hash, 0};
    sp_cell arg = sp_cell_text(hash);
    spry_status s = files->looked ? SPRY_OK : look(files);

    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < files->count; i++)
        if (strcmp(files->file[i].hash, hash) == 0) {
            snprintf(path, 4096, "%s", files->file[i].path);
            return SPRY_OK;
        }
    s = sp_postgres_ask(c, "SELECT ending, bytes FROM spry.fetch($1)", &arg, 1,
                        keep_fetched, &k, NULL);
    if (s == SPRY_OK && !k.found)
        s = sp_fail(SPRY_INPUT,
                    "the matrix %s is neither here nor in the store", hash);
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
