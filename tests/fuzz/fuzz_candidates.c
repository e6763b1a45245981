/* fuzz_candidates.c - WACO's lists of schedules and what its runs print, from
 * any bytes. The first byte chooses the operation, and threads. */
#include "files.h"
#include "fuzz.h"

#include "spry/space.h"

/* Entries stand in the order of their lines. */
static void check_list(const spry_waco_list *list)
{
    int line = 0;

    for (int64_t i = 0; i < list->count; i++) {
        if (list->entry[i].line <= line)
            abort();
        line = list->entry[i].line;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_file file;
    spry_waco_list *list = NULL;
    const char *path;

    if (size == 0)
        return 0;
    path = fuzz_put(&file, "list.txt", data + 1, size - 1);
    if (spry_waco_read(&list, path, (spry_op)(data[0] % SPRY_OPS),
                       data[0] & 128 ? 4 : 0) == SPRY_OK)
        check_list(list);
    else if (list || !*spry_message())
        abort();
    spry_waco_free(list);
    if (sp_alloc_live())
        abort();
    return 0;
}
