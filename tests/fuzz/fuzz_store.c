/* fuzz_store.c - a store from any bytes: a database that is damaged, another's
 * or hostile. It lies where memory is the disk, if there is such a place. */
#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

#include "spry/records.h"

static char path[64];

static void remove_file(void)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char name[96];

    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static int put_file(const uint8_t *data, size_t size)
{
    FILE *f;
    int good;

    if (!*path) {
        snprintf(path, sizeof path, "%s/spry-fuzz-%ld.db",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 (long)getpid());
        atexit(remove_file);
    }
    remove_file();
    f = fopen(path, "wb");
    good = f && fwrite(data, 1, size, f) == size;
    if (f)
        good &= fclose(f) == 0;
    return good;
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
    spry_records *db = NULL;
    size_t letters = 0;
    int64_t bad = 0;
    spry_status s;

    if (!put_file(data, size))
        abort();
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
    if (sp_alloc_live())
        abort();
    return 0;
}
