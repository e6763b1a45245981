/* fuzz_folder.c - folders of layers from any bytes: no crash, a network that
 * can be run, or a sentence. The first byte chooses the names of the files and
 * whether rows are outputs; "\n==\n" lies between one file and the next. */
#include "files.h"
#include "fuzz.h"

#include "spry/network.h"
#include "walk.h"

enum { FILES = 4 };
static const char *const folders[][FILES] = {
    {"n4-l1.tsv", "n4-l2.tsv"},
    {"n4-l1.tsv.gz"},
    {"l1.mtx", "l2.mtx"},
    {"l1.tsv", "l2.txt"},
    {"l1.npz"},
    {"fc1.mtx", "fc1.bias.npy"},
    {"l1.txt", "l2.el", "bias1.npy", "bias2.npy"},
    {"l1.smtx", "l2.csr"},
};
enum { FOLDERS = sizeof folders / sizeof folders[0] };

/* The next file of data[*n]; *data and *n are what is left. */
static size_t cut(const uint8_t **data, size_t *n)
{
    static const char mark[] = "\n==\n";
    size_t k = sizeof mark - 1;

    for (size_t i = 0; i + k <= *n; i++)
        if (memcmp(*data + i, mark, k) == 0) {
            *data += i + k;
            *n -= i + k;
            return i;
        }
    k = *n;
    *data += k;
    *n = 0;
    return k;
}

static void put_files(char path[512], int which, const uint8_t *data, size_t n)
{
    static fuzz_file file[FOLDERS][FILES];
    char name[64];

    snprintf(name, sizeof name, "%d", which);
    snprintf(path, 512, "%s/%s", fuzz_folder(), name);
    if (!*file[which][0].path)
        fuzz_make(name);
    for (int i = 0; i < FILES && folders[which][i]; i++) {
        const uint8_t *from = data;

        snprintf(name, sizeof name, "%d/%s", which, folders[which][i]);
        fuzz_put(&file[which][i], name, from, cut(&data, &n));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_network *n = NULL;
    char path[512];

    if (size == 0)
        return 0;
    put_files(path, data[0] % FOLDERS, data + 1, size - 1);
    o.rows_are_outputs = data[0] >= 128;
    if (spry_network_read(&n, path, &o) == SPRY_OK)
        fuzz_walk(n);
    else if (n || !*spry_message())
        abort();
    spry_network_free(n);
    if (sp_alloc_live())
        abort();
    return 0;
}
