/* fuzz_import.c - others' records from any bytes: WACO's when they begin with
 * w, AutoSparse's with a, Ginkgo's with g, what lies beside Ginkgo's with p,
 * Ansor's with anything else. */
#include "files.h"
#include "fuzz.h"
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
    {'p', SPRY_IMPORT_GINKGO, "A100_cuda__y.tsv"},
    {0, SPRY_IMPORT_ANSOR, "epyc7543__x_sparse_dense.json"},
};

enum { OFTEN = 2000 };

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

/* The file of kind k; the properties of its matrices, if it has any, lie in
 * the same folder. */
static const char *put_files(int k, const uint8_t *data, size_t size)
{
    static const char table[] = "A/b\tcsr\t1e-4\t8\nA/c\tell\t2e-4\t8\n";
    static fuzz_file file[sizeof kinds / sizeof kinds[0]], properties;

    if (kinds[k].first == 'p') {
        fuzz_put(&properties, "matrices.tsv", data, size);
        return fuzz_put(&file[k], kinds[k].name, (const uint8_t *)table,
                        sizeof table - 1);
    }
    if (kinds[k].first == 'g')
        fuzz_put(&properties, "matrices.tsv", data, 0);
    return fuzz_put(&file[k], kinds[k].name, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spry_imported in = {.size = sizeof in};
    spry_records *db;
    int64_t live;
    const char *path;
    int k = 0;

    if (size == 0)
        return 0;
    db = store();
    live = sp_alloc_live();
    while (kinds[k].first && kinds[k].first != (char)data[0])
        k++;
    path = put_files(k, data + 1, size - 1);
    check(spry_import(&in, db, path, kinds[k].format, NULL), &in);
    if (sp_alloc_live() > live + 4) /* a store keeps room for samples */
        abort();
    return 0;
}
