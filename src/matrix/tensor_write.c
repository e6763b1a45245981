/* tensor_write.c - from a tensor to FROSTT's text, with a header. */
#include "spry/tensor.h"

#include <string.h>
#include <strings.h>

#include "matrix/internal.h"

static void add_entries(sp_text_out *p, const spry_tensor *t)
{
    const spry_matrix *m = t->unfolded;

    for (int64_t i = 0; i < m->rows && !sp_text_out_failed(p); i++)
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            sp_text_out_int(p, i + 1, ' ');
            sp_text_out_int(p, sp_col(m, e) / t->dim[2] + 1, ' ');
            sp_text_out_int(p, sp_col(m, e) % t->dim[2] + 1, ' ');
            sp_text_out_real(p, sp_val(m, e), m->type, '\n');
        }
}

static spry_status write_text(const spry_tensor *t, sp_writer *w, int packed)
{
    sp_text_out *p;
    spry_status s = sp_text_out_open(&p, w, packed);

    if (s != SPRY_OK)
        return s;
    sp_text_out_line(p, "# extended FROSTT format\n3 %lld\n%lld %lld %lld\n",
                     (long long)t->unfolded->nnz, (long long)t->dim[0],
                     (long long)t->dim[1], (long long)t->dim[2]);
    add_entries(p, t);
    return sp_text_out_close(p);
}

static int ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);

    return n > k && !strcasecmp(path + n - k, ending);
}

spry_status spry_tensor_write(const spry_tensor *t, const char *path)
{
    SP_NEED(t, path);

    int packed = ends_in(path, ".tns.gz");
    sp_writer w;
    spry_status s, closed;

    if (!packed && !ends_in(path, ".tns"))
        return sp_fail(SPRY_USAGE, "%s: the name must end in .tns or .tns.gz",
                       path);
    s = sp_writer_open(&w, path);
    if (s != SPRY_OK)
        return s;
    s = write_text(t, &w, packed);
    closed = sp_writer_close(&w, s == SPRY_OK);
    return s == SPRY_OK ? closed : s;
}
