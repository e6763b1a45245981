/* read.c - from a path to a matrix. */
#include "spry/matrix.h"

#include <string.h>
#include <strings.h>

#include "matrix/internal.h"

/* The formats, most telling first. A file is offered by content to those
 * that can recognise it, then by the ending of its name. */
static const struct reader {
    const char *endings; /* each between blanks */
    int (*sniff)(const sp_text *t);
    spry_status (*parse)(spry_matrix **out, const sp_text *t);
} readers[] = {
    {" .mtx .mm ", sp_market_sniff, sp_market_parse},
    {" .npz ", sp_npz_sniff, sp_npz_parse},
    {" .rb .hb .rsa .rua .rra .rza .psa .pua .pra .pza .isa .iua .ira .iza ",
     sp_boeing_sniff, sp_boeing_parse},
    {" .csr ", NULL, sp_waco_parse},
    {" .smtx ", NULL, sp_smtx_parse},
    {" .tsv .txt .el .edges ", NULL, sp_edges_parse},
};

enum { READERS = sizeof readers / sizeof *readers };

/* The last ending of the name, without .gz, between blanks: " .mtx ". */
static void ending_of(char out[16], const char *name)
{
    size_t n = strlen(name);
    const char *dot;

    if (n > 3 && !strcasecmp(name + n - 3, ".gz"))
        n -= 3;
    for (dot = name + n; dot > name && *dot != '.' && *dot != '/';)
        dot--;
    n -= (size_t)(dot - name);
    if (*dot != '.' || n > 13)
        n = 0;
    snprintf(out, 16, " %.*s ", (int)n, dot);
    for (char *p = out; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p | 0x20);
}

static const struct reader *reader_for(const sp_text *t)
{
    char ending[16];

    for (int i = 0; i < READERS; i++)
        if (readers[i].sniff && readers[i].sniff(t))
            return &readers[i];
    ending_of(ending, t->name);
    for (int i = 0; ending[2] && i < READERS; i++)
        if (strstr(readers[i].endings, ending))
            return &readers[i];
    return NULL;
}

spry_status sp_matrix_parse(spry_matrix **out, const char *data, size_t len,
                            const char *name)
{
    sp_text t = {name, data, data + len};
    const struct reader *r = reader_for(&t);

    *out = NULL;
    if (!len)
        return sp_fail(SPRY_INPUT, "%s: is empty", name);
    if (!r)
        return sp_fail(SPRY_INPUT,
                       "%s: neither its content nor its name tells a format "
                       "that spry reads",
                       name);
    return r->parse(out, &t);
}

spry_status spry_matrix_read(spry_matrix **out, const char *path)
{
    SP_NEED_NEW(out, path);

    sp_file f;
    spry_status s;

    if (!strncmp(path, "gen:", 4))
        return spry_matrix_generate(out, path + 4, 1);
    s = sp_file_read(&f, path, SIZE_MAX);
    if (s != SPRY_OK)
        return s;
    s = sp_matrix_parse(out, f.data, f.len, path);
    sp_file_free(&f);
    return s;
}
