/* fuzz_store.c - a store from any bytes: a database that is damaged, another's
 * or hostile. It lies where memory is the disk, if there is such a place. */
#include "arena.h"
#include "files.h"
#include "fuzz.h"

#include "spry/records.h"

/* What SQLite leaves beside a store that is damaged. */
static void remove_others(const char *path)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    char name[512];

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%.480s%s", path, endings[i]);
        unlink(name);
    }
}

/* Texts that are handed out can be read to their end. */
static int look(const spry_record *r, void *payload)
{
    *(size_t *)payload += strlen(r->problem) + strlen(r->schedule) +
                          strlen(r->machine) + strlen(r->probe);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_file file;
    static int begun;
    spry_records *db = NULL;
    const char *path;
    size_t letters = 0;
    int64_t bad = 0;
    spry_status s;

    if (!begun++)
        arena_use();
    path = fuzz_put(&file, "fuzz.db", data, size);
    remove_others(path);
    s = spry_records_open(&db, path);
    if (s != SPRY_OK && (db || !*spry_message()))
        abort();
    if (s == SPRY_OK) {
        s = spry_records_each(db, "", NULL, look, &letters);
        if (s == SPRY_OK)
            s = spry_records_check(db, &bad);
        if (s != SPRY_OK && !*spry_message())
            abort();
    }
    spry_records_close(db);
    if (sp_alloc_live() || !arena_is_empty())
        abort();
    return 0;
}
