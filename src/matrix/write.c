/* write.c - from a matrix to a file, whole or not at all. */
#include "spry/matrix.h"

#include <string.h>
#include <strings.h>

#include "matrix/internal.h"

static const struct writer {
    const char *ending;
    int packed; /* through gzip */
    spry_status (*write)(const spry_matrix *m, sp_writer *w, int packed);
} writers[] = {
    {".mtx", 0, sp_market_write},
    {".mtx.gz", 1, sp_market_write},
    {".csr", 0, sp_waco_write},
    {".npz", 0, sp_npz_write},
};

static const struct writer *writer_for(const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        size_t k = strlen(writers[i].ending);

        if (n > k && !strcasecmp(path + n - k, writers[i].ending))
            return &writers[i];
    }
    return NULL;
}

spry_status spry_matrix_write(const spry_matrix *m, const char *path)
{
    SP_NEED(m, path);

    const struct writer *as = writer_for(path);
    sp_writer w;
    spry_status s, closed;

    if (!as)
        return sp_fail(SPRY_USAGE,
                       "%s: the name must end in .mtx, .mtx.gz, .csr or .npz",
                       path);
    s = sp_writer_open(&w, path);
    if (s != SPRY_OK)
        return s;
    s = as->write(m, &w, as->packed);
    closed = sp_writer_close(&w, s == SPRY_OK);
    return s == SPRY_OK ? closed : s;
}
