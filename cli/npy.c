/* npy.c - NumPy's .npy files, into dense arrays and back.
 *
 * Strict: versions 1 to 3, little-endian f4 and f8, at most two dimensions,
 * and a file exactly as long as its header says. Columns-first files are
 * turned to rows first while reading. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 6, HEADER_LIMIT = 65536, ALIGN = 64 };
static const char magic[] = "\x93NUMPY";

typedef struct {
    dense shape; /* data NULL */
    int columns_first;
} header;

static spry_status bad(const char *path, const char *why)
{
    return say_fail(SPRY_INPUT, "%s: %s", path, why);
}

/* ---- the header: a Python dictionary of three known keys ---- */

/* Where the value of 'key' begins, or NULL. */
static const char *value_of(const char *text, const char *key)
{
    char quoted[32];
    const char *at;

    snprintf(quoted, sizeof quoted, "'%s':", key);
    at = strstr(text, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    while (*at == ' ')
        at++;
    return at;
}

/* "(3, 4)", "(3,)" or "()"; 0 when it is none of these. */
static int parse_shape(dense *d, const char *at)
{
    if (*at++ != '(')
        return 0;
    d->dims = 0;
    d->shape[0] = d->shape[1] = 1;
    while (*at != ')') {
        char *end;

        if (d->dims == 2 || !isdigit((unsigned char)*at))
            return 0;
        errno = 0;
        d->shape[d->dims++] = strtoll(at, &end, 10);
        if (errno)
            return 0;
        at = end + (*end == ',');
        at += *at == ' ';
        if (*at != ')' && *end != ',')
            return 0;
    }
    return 1;
}

static spry_status parse_header(header *h, const char *text, const char *path)
{
    const char *descr = value_of(text, "descr");
    const char *order = value_of(text, "fortran_order");
    const char *shape = value_of(text, "shape");

    if (!descr || !order || !shape)
        return bad(path, "the .npy header is damaged");
    if (strncmp(descr, "'<f4'", 5) == 0)
        h->shape.type = SPRY_F32;
    else if (strncmp(descr, "'<f8'", 5) == 0)
        h->shape.type = SPRY_F64;
    else
        return bad(path, "only arrays of little-endian f4 and f8 are read");
    if (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0)
        return bad(path, "the .npy header is damaged");
    h->columns_first = *order == 'T';
    if (!parse_shape(&h->shape, shape))
        return bad(path, "only arrays of one or two dimensions are read");
    return SPRY_OK;
}

static spry_status read_header(header *h, FILE *f, const char *path)
{
    unsigned char start[MAGIC + 6] = {0};
    char *text;
    size_t len, lead;
    spry_status s;

    if (fread(start, 1, MAGIC + 4, f) != MAGIC + 4 ||
        memcmp(start, magic, MAGIC) != 0)
        return bad(path, "not a .npy file");
    lead = start[6] == 1 ? 2 : 4;
    if (start[6] < 1 || start[6] > 3 ||
        (lead == 4 && fread(start + MAGIC + 4, 1, 2, f) != 2))
        return bad(path, "a .npy version that is not known");
    len = start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 |
          (size_t)start[11] << 24;
    if (len > HEADER_LIMIT)
        return bad(path, "the .npy header is too long");
    text = calloc(1, len + 1);
    if (!text)
        return say_fail(SPRY_SYSTEM, "not enough memory for %s", path);
    s = fread(text, 1, len, f) == len && strlen(text) == len
            ? parse_header(h, text, path)
            : bad(path, "the .npy header ends early");
    free(text);
    return s;
}

/* ---- the numbers ---- */

/* Elements, or -1 when their bytes are not exactly what is left of f. */
static int64_t elements(const header *h, FILE *f)
{
    const dense *d = &h->shape;
    int64_t count, bytes;
    struct stat st;

    if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode) ||
        __builtin_mul_overflow(d->shape[0], d->shape[1], &count) ||
        __builtin_mul_overflow(count, (int64_t)d->type, &bytes) ||
        bytes != (int64_t)st.st_size - (int64_t)ftell(f))
        return -1;
    return count;
}

/* Columns first becomes rows first. */
static void turn(char *to, const char *from, const dense *d)
{
    size_t size = (size_t)d->type;

    for (int64_t i = 0; i < d->shape[0]; i++)
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
    if (fread(out->data, (size_t)out->type, (size_t)count, f) != (size_t)count)
        return bad(path, "the file cannot be read to its end");
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

/* Version 1.0: the header is padded so that the numbers start aligned. */
static int put_array(FILE *f, const dense *d)
{
    char text[128], shape[64];
    int64_t count = d->shape[0] * d->shape[1];
    int len;

    if (d->dims == 2)
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)d->shape[0],
                 (long long)d->shape[1]);
    else
        snprintf(shape, sizeof shape, "(%lld,)", (long long)count);
    len = snprintf(text, sizeof text,
                   "{'descr': '<f%d', 'fortran_order': False, 'shape': %s, }",
                   (int)d->type, shape);
    while ((MAGIC + 4 + len + 1) % ALIGN)
        text[len++] = ' ';
    text[len++] = '\n';
    fwrite(magic, 1, MAGIC, f);
    putc(1, f);
    putc(0, f);
    putc(len & 255, f);
    putc(len >> 8, f);
    fwrite(text, 1, (size_t)len, f);
    fwrite(d->data, (size_t)d->type, (size_t)count, f);
    return fflush(f) == 0 && !ferror(f);
}

static spry_status cannot(const char *path)
{
    return say_fail(SPRY_SYSTEM, "cannot write %s: %s", path, strerror(errno));
}

/* Into a temporary beside it, then renamed: whole or not at all. */
static spry_status write_whole(const dense *d, const char *path)
{
    char temp[4096];
    mode_t mask = umask(0);
    FILE *f;
    int fd, good;

    umask(mask);
    if (snprintf(temp, sizeof temp, "%s.XXXXXX", path) >= (int)sizeof temp)
        return say_fail(SPRY_USAGE, "the name %s is too long", path);
    fd = mkstemp(temp);
    if (fd < 0)
        return cannot(path);
    f = fdopen(fd, "wb");
    good = f && put_array(f, d) && fchmod(fd, 0666 & ~mask) == 0;
    if (f)
        good = fclose(f) == 0 && good;
    else
        close(fd);
    if (good && rename(temp, path) == 0)
        return SPRY_OK;
    unlink(temp);
    return cannot(path);
}

spry_status npy_write(const dense *d, const char *path)
{
    struct stat st;
    FILE *f;
    int good;

    if (strcmp(path, "-") == 0)
        return put_array(stdout, d) || errno == EPIPE ? SPRY_OK : cannot(path);
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
        return write_whole(d, path);
    f = fopen(path, "wb"); /* a pipe or a device takes no rename */
    good = f && put_array(f, d);
    if (f)
        good = fclose(f) == 0 && good;
    return good ? SPRY_OK : cannot(path);
}
