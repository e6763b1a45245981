/* fuzz_lines.c - exported records, lines of JSON, from any bytes. One store
 * takes them all, and is made anew before it is large. */
#include "fuzz.h"

#include "records/records.h"

enum { OFTEN = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spry_records *db;
    static int used;
    char *copy = malloc(size + 1);
    sp_file f = {copy, size};
    int64_t added = 0, bad = 0, live;
    spry_status s;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    copy[size] = 0;
    if (used++ % OFTEN == 0) {
        spry_records_close(db);
        if (sp_alloc_live() || spry_records_open(&db, ":memory:") != SPRY_OK)
            abort();
    }
    live = sp_alloc_live();
    s = sp_lines_import(db, &f, "fuzz.jsonl", &added, &bad);
    if ((s != SPRY_OK && s != SPRY_INPUT) || added < 0 || bad < 0 ||
        (bad > 0 && !*spry_message()))
        abort();
    /* a store keeps room for samples: no more of it than there are bytes */
    if (sp_alloc_live() > live + 4)
        abort();
    free(copy);
    return 0;
}
