/* fuzz_import.c - others' records from any bytes: WACO's when they begin with
 * w, AutoSparse's with a, Ginkgo's with g, Ansor's with anything else. */
#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

#include "spry/import.h"

/* Names that say operation, matrix and machine, as the files of others do. */
static const struct {
    char first;
    spry_import_format format;
    const char *name;
} kinds[] = {
    {'w', SPRY_IMPORT_WACO, "SpMM__x.txt"},
    {'a', SPRY_IMPORT_AUTOSPARSE, "epyc7543__spmv.tsv"},
    {'g', SPRY_IMPORT_GINKGO, "A100_cuda__x.tsv"},
    {0, SPRY_IMPORT_ANSOR, "epyc7543__x_sparse_dense.json"},
};

enum { OFTEN = 2000 };
static char dir[256];

static void remove_dir(void)
{
    rmdir(dir);
}

/* Where memory is the disk, if there is such a place. Without it nothing would
 * be tested: that is a failure. */
static void make_dir(void)
{
    const char *tmp = getenv("TMPDIR");

    if (*dir)
        return;
    snprintf(dir, sizeof dir, "%.200s/spry-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm"
             : tmp && *tmp                 ? tmp
                                           : "/tmp");
    if (!mkdtemp(dir)) {
        perror(dir);
        abort();
    }
    atexit(remove_dir);
}

static int write_file(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    int good = f && fwrite(data, 1, size, f) == size;

    if (f)
        good &= fclose(f) == 0;
    return good;
}

/* What was read adds up, and a failure has its sentence. */
static void check(spry_status s, const spry_imported *in)
{
    if (s != SPRY_OK && (s != SPRY_INPUT || !*spry_message()))
        abort();
    if (in->added > in->lines || in->ours > in->lines || in->bad > in->lines ||
        (in->bad > 0) != (*in->why != 0))
        abort();
}

/* One store takes them all, and is made anew before it is large. */
static spry_records *store(void)
{
    static spry_records *db;
    static int used;

    if (used++ % OFTEN == 0) {
        spry_records_close(db);
        if (sp_alloc_live() || spry_records_open(&db, ":memory:") != SPRY_OK)
            abort();
    }
    return db;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spry_imported in = {.size = sizeof in};
    spry_records *db;
    char path[320];
    int64_t live;
    int k = 0;

    if (size == 0)
        return 0;
    make_dir();
    db = store();
    live = sp_alloc_live();
    while (kinds[k].first && kinds[k].first != (char)data[0])
        k++;
    snprintf(path, sizeof path, "%s/%s", dir, kinds[k].name);
    if (write_file(path, data + 1, size - 1))
        check(spry_import(&in, db, path, kinds[k].format, NULL), &in);
    unlink(path);
    if (sp_alloc_live() > live + 4) /* a store keeps room for samples */
        abort();
    return 0;
}
