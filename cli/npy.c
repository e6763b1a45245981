/* npy.c - NumPy's .npy files, into dense arrays and back.
 *
 * Strict: versions 1 to 3, little-endian f4 and f8, at most two dimensions,
 * and a file exactly as long as its header says. Columns-first files are
 * turned to rows first while reading. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/npy.h"

typedef struct {
    dense shape; /* data NULL */
    int columns_first;
} header;

static spry_status bad(const char *path, const char *why)
{
    return say_fail(SPRY_INPUT, "%s: %s", path, why);
}

/* ---- the header ---- */

static spry_status take_header(header *h, const char *data, const char *path)
{
    sp_npy a;

    if (!sp_npy_parse(&a, data))
        return bad(path, "the .npy header is damaged");
    if (a.kind != 'f' || (a.size != 4 && a.size != 8) || a.swap)
        return bad(path, "only arrays of little-endian f4 and f8 are read");
    if (a.dims > 2)
        return bad(path, "only arrays of one or two dimensions are read");
    h->shape = (dense){
        .dims = a.dims,
        .shape = {a.dims > 0 ? a.shape[0] : 1, a.dims > 1 ? a.shape[1] : 1},
        .type = a.size == 4 ? SPRY_F32 : SPRY_F64};
    h->columns_first = a.columns_first;
    return SPRY_OK;
}

static spry_status read_header(header *h, FILE *f, const char *path)
{
    char begin[SP_NPY_BEGIN], *data;
    size_t length;
    spry_status s;

    if (fread(begin, 1, sizeof begin, f) != sizeof begin ||
        memcmp(begin, "\x93NUMPY", 6) != 0)
        return bad(path, "not a .npy file");
    length = sp_npy_length(begin);
    if (length < sizeof begin)
        return bad(path, "a .npy header that is not known or too long");
    data = calloc(1, length + 1);
    if (!data)
        return say_fail(SPRY_SYSTEM, "not enough memory for %s", path);
    memcpy(data, begin, sizeof begin);
    length -= sizeof begin;
    s = fread(data + sizeof begin, 1, length, f) == length
            ? take_header(h, data, path)
            : bad(path, "the .npy header ends early");
    free(data);
    return s;
}

/* ---- the numbers ---- */

/* Elements, or -1 when their bytes are not exactly what is left of f; of a
 * pipe nobody knows before it is read. */
static int64_t elements(const header *h, FILE *f)
{
    const dense *d = &h->shape;
    int64_t count, bytes;
    struct stat st;

    if (fstat(fileno(f), &st) != 0 ||
        __builtin_mul_overflow(d->shape[0], d->shape[1], &count) ||
        __builtin_mul_overflow(count, (int64_t)d->type, &bytes) ||
        (S_ISREG(st.st_mode) &&
         bytes != (int64_t)st.st_size - (int64_t)ftell(f)))
        return -1;
    return count;
}

/* Columns first becomes rows first. */
static void turn(char *to, const char *from, const dense *d)
{
    size_t size = (size_t)d->type;
    int64_t rows = d->shape[1] ? d->shape[0] : 0; /* empty ones may be many */

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < d->shape[1]; j++)
            memcpy(to + (size_t)(i * d->shape[1] + j) * size,
                   from + (size_t)(j * d->shape[0] + i) * size, size);
}

static spry_status turn_rows_first(dense *d, const char *path)
{
    size_t bytes = (size_t)(d->shape[0] * d->shape[1]) * (size_t)d->type;
    char *turned = malloc(bytes + 1);

    if (!turned)
        return say_fail(SPRY_SYSTEM, "not enough memory for %s", path);
    turn(turned, d->data, d);
    free(d->data);
    d->data = turned;
    return SPRY_OK;
}

static spry_status read_data(dense *out, const header *h, FILE *f,
                             const char *path)
{
    int64_t count = elements(h, f);

    if (count < 0)
        return bad(path, "the file is not as long as its header says");
    *out = h->shape;
    out->data = malloc((size_t)count * (size_t)out->type + 1);
    if (!out->data)
        return say_fail(SPRY_SYSTEM, "not enough memory for %s", path);
    if (fread(out->data, (size_t)out->type, (size_t)count, f) !=
            (size_t)count ||
        fgetc(f) != EOF)
        return bad(path, "the file is not as long as its header says");
    return h->columns_first && out->dims == 2 ? turn_rows_first(out, path)
                                              : SPRY_OK;
}

spry_status npy_read(dense *out, const char *path)
{
    FILE *f = fopen(path, "rb");
    header h = {0};
    spry_status s;

    memset(out, 0, sizeof *out);
    if (!f)
        return bad(path, strerror(errno));
    s = read_header(&h, f, path);
    if (s == SPRY_OK)
        s = read_data(out, &h, f, path);
    fclose(f);
    if (s != SPRY_OK) {
        free(out->data);
        out->data = NULL;
    }
    return s;
}

spry_status dense_convert(dense *d, spry_type type)
{
    int64_t count = d->shape[0] * d->shape[1];
    void *to;

    if (d->type == type)
        return SPRY_OK;
    to = malloc((size_t)count * (size_t)type + 1);
    if (!to)
        return say_fail(SPRY_SYSTEM, "not enough memory for %s numbers",
                        say_count((double)count));
    for (int64_t i = 0; i < count; i++)
        if (type == SPRY_F64)
            ((double *)to)[i] = (double)((float *)d->data)[i];
        else
            ((float *)to)[i] = (float)((double *)d->data)[i];
    free(d->data);
    d->data = to;
    d->type = type;
    return SPRY_OK;
}

/* ---- writing ---- */

spry_status npy_write_shaped(const char *type, const void *data, int dims,
                             const int64_t *shape, const char *path)
{
    size_t bytes = (size_t)(type[2] - '0');
    char head[SP_NPY_HEAD];

    for (int i = 0; i < dims; i++)
        bytes *= (size_t)shape[i];
    if (strcmp(path, "-") != 0)
        return say_status(sp_npy_save(path, type, dims, shape, data, bytes));
    sp_npy_write(head, type, dims, shape);
    fwrite(head, 1, sizeof head, stdout);
    fwrite(data, 1, bytes, stdout);
    if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE)
        return SPRY_OK;
    return say_fail(SPRY_SYSTEM, "cannot write %s: %s", path, strerror(errno));
}

spry_status npy_write(const dense *d, const char *path)
{
    const char *type = d->type == SPRY_F32 ? "<f4" : "<f8";
    int64_t count = d->shape[0] * d->shape[1];

    return d->dims == 2 ? npy_write_shaped(type, d->data, 2, d->shape, path)
                        : npy_write_shaped(type, d->data, 1, &count, path);
}
