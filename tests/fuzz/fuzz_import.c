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

static char dir[256];

static void remove_dir(void)
{
    rmdir(dir);
}

/* Without it nothing would be tested: that is a failure. */
static void make_dir(void)
{
    const char *tmp = getenv("TMPDIR");

    if (*dir)
        return;
    snprintf(dir, sizeof dir, "%.200s/spry-fuzz-XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spry_imported in = {0};
    spry_records *db = NULL;
    char path[320];
    int k = 0;

    if (size == 0)
        return 0;
    make_dir();
    while (kinds[k].first && kinds[k].first != (char)data[0])
        k++;
    snprintf(path, sizeof path, "%s/%s", dir, kinds[k].name);
    if (write_file(path, data + 1, size - 1) &&
        spry_records_open(&db, ":memory:") == SPRY_OK)
        check(spry_import(&in, db, path, kinds[k].format, NULL), &in);
    spry_records_close(db);
    unlink(path);
    if (sp_alloc_live())
        abort();
    return 0;
}
