/* graph_files.c - inputs and outputs of operator graphs, from and to .npy. */
#include "graph_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/npy.h"

/* ---- reading ---- */

/* The number at p as element i of what v describes; 0: it is not whole
 * where it has to be. */
static int put_number(void *to, int64_t i, const spry_graph_value *v,
                      const char *p, const sp_npy *h)
{
    double x;

    if (v->whole && h->kind == 'i') { /* more digits than a double has */
        ((int64_t *)to)[i] = sp_npy_int(h, p, 0);
        return 1;
    }
    x = sp_npy_real(h, p, 0);
    if (!v->whole)
        ((float *)to)[i] = (float)x;
    else if (x >= (double)INT64_MIN && x < -(double)INT64_MIN)
        ((int64_t *)to)[i] = (int64_t)x;
    else
        return 0;
    return 1;
}

static int fits(const sp_npy *h, const spry_graph_value *v)
{
    int good = (h->kind == 'f' || h->kind == 'i') &&
               (h->size == 4 || h->size == 8) && !h->swap &&
               (!h->columns_first || h->dims < 2) && h->dims == v->dims;

    for (int i = 0; good && i < v->dims; i++)
        good = h->shape[i] == v->dim[i];
    return good;
}

static spry_status take_numbers(void *to, FILE *f, const sp_npy *h,
                                const spry_graph_value *v, const char *path)
{
    char item[8];

    for (int64_t i = 0; i < v->count; i++) {
        if (fread(item, 1, (size_t)h->size, f) != (size_t)h->size)
            return say_fail(SPRY_INPUT, "%s: the file ends early", path);
        if (!put_number(to, i, v, item, h))
            return say_fail(SPRY_INPUT,
                            "%s: number %lld is none that input %s can hold",
                            path, (long long)i + 1, v->name);
    }
    return fgetc(f) == EOF
               ? SPRY_OK
               : say_fail(SPRY_INPUT, "%s: the file is too long", path);
}

/* "1x3x224x224" */
static void say_shape(char out[160], const int64_t *dim, int dims)
{
    size_t n = 0;

    snprintf(out, 160, "a number");
    for (int i = 0; i < dims && n < 130; i++)
        n += (size_t)snprintf(out + n, 160 - n, "%s%lld", i ? "x" : "",
                              (long long)dim[i]);
}

static spry_status say_misfit(const char *path, const sp_npy *h,
                              const spry_graph_value *v)
{
    char has[160], takes[160];

    say_shape(has, h->shape, h->dims);
    say_shape(takes, v->dim, v->dims);
    return say_fail(SPRY_INPUT,
                    "%s: an array of %s; the input %s takes %s, real or whole "
                    "numbers in C order",
                    path, has, v->name, takes);
}

/* What stands before the numbers; 0: it is no .npy file. */
static int read_head(sp_npy *h, FILE *f)
{
    char begin[SP_NPY_BEGIN];
    char *data = NULL;
    size_t length = 0;
    int good;

    if (fread(begin, 1, sizeof begin, f) == sizeof begin &&
        memcmp(begin, "\x93NUMPY", 6) == 0)
        length = sp_npy_length(begin);
    data = calloc(1, length + sizeof begin + 1);
    if (data)
        memcpy(data, begin, sizeof begin);
    good = data && length >= sizeof begin &&
           fread(data + sizeof begin, 1, length - sizeof begin, f) ==
               length - sizeof begin &&
           sp_npy_parse(h, data);
    free(data);
    return good;
}

static spry_status read_array(void *to, const spry_graph_value *v,
                              const char *path)
{
    FILE *f = fopen(path, "rb");
    sp_npy h;
    spry_status s;

    if (!f)
        return say_fail(SPRY_INPUT, "%s: %s", path, strerror(errno));
    if (!read_head(&h, f))
        s = say_fail(SPRY_INPUT, "%s: not a .npy file", path);
    else if (!fits(&h, v))
        s = say_misfit(path, &h, v);
    else
        s = take_numbers(to, f, &h, v, path);
    fclose(f);
    return s;
}

/* ---- shapes before the graph is read ---- */

/* "2x3x5" up to a comma, which *at is left on; 0: that is no shape. */
static int parse_shape(spry_graph_value *out, const char **at)
{
    *out = (spry_graph_value){.size = sizeof *out};
    for (;;) {
        char *end;
        long long n = strtoll(*at, &end, 10);

        if (end == *at || n < 1 || n > INT32_MAX || **at < '0' || **at > '9' ||
            out->dims == SPRY_GRAPH_DIMS)
            return 0;
        out->dim[out->dims++] = n;
        *at = end;
        if (**at != 'x')
            return **at == ',' || **at == 0;
        ++*at;
    }
}

int graph_shapes_parse(spry_graph_value *out, const char *text)
{
    int count = 0;

    while (count < GRAPH_VALUES && parse_shape(&out[count], &text)) {
        count++;
        if (!*text++)
            return count;
    }
    return 0;
}

/* No shape where the file cannot be read twice. */
static void peek(spry_graph_value *out, const char *path)
{
    struct stat st;
    FILE *f =
        stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    sp_npy h;

    *out = (spry_graph_value){.size = sizeof *out};
    if (f && read_head(&h, f) && h.dims <= SPRY_GRAPH_DIMS) {
        out->dims = h.dims;
        for (int i = 0; i < h.dims; i++)
            out->dim[i] = h.shape[i];
    }
    if (f)
        fclose(f);
}

/* The file at the head of "a.npy,b.npy", which is cut off; NULL: none is left. */
static char *next_file(char **list)
{
    char *file = *list, *comma = file ? strchr(file, ',') : NULL;

    if (comma)
        *comma++ = 0;
    *list = comma;
    return file;
}

int graph_shapes_peek(spry_graph_value *out, const char *files)
{
    char *list = files ? strdup(files) : NULL, *at = list, *file;
    int count = 0;

    while (count < GRAPH_VALUES && (file = next_file(&at)))
        peek(&out[count++], file);
    free(list);
    return count;
}

/* ---- all of them ---- */

/* Small numbers from a multiplied counter: the same everywhere. */
static void fill(void *to, const spry_graph_value *v)
{
    uint64_t state = cli.seed + 1;

    for (int64_t i = 0; i < v->count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        if (v->whole)
            ((int64_t *)to)[i] = (int64_t)(state >> 63);
        else
            ((float *)to)[i] = (float)(state >> 40) / (float)(1 << 23) - 1.0f;
    }
}

static spry_status room(void **out, const spry_graph_value *v)
{
    *out = calloc((size_t)(v->count ? v->count : 1), 8);
    return *out ? SPRY_OK : say_fail(SPRY_SYSTEM, "not enough memory");
}

static spry_status fill_inputs(graph_arrays *a, const char *files)
{
    char *list = files ? strdup(files) : NULL, *at = list;
    spry_status s = SPRY_OK;

    if (files && !list)
        return say_fail(SPRY_SYSTEM, "not enough memory");
    for (int i = 0; s == SPRY_OK && i < a->inputs; i++) {
        s = room(&a->in[i], &a->from[i]);
        if (s == SPRY_OK && at)
            s = read_array(a->in[i], &a->from[i], next_file(&at));
        else if (s == SPRY_OK)
            fill(a->in[i], &a->from[i]);
    }
    free(list);
    return s;
}

/* Does the list name a file for every array, or for the first of them where
 * fewer will do? */
static spry_status count_files(const char *option, const char *files,
                               const char *what, int arrays, int fewer)
{
    int count = 1;

    for (const char *at = files; at && (at = strchr(at, ',')); at++)
        count++;
    if (!files || count == arrays || (fewer && count < arrays))
        return SPRY_OK;
    return say_fail(SPRY_USAGE, "--%s names %d files, but there are %d %s",
                    option, count, arrays, what);
}

spry_status graph_arrays_open(graph_arrays *a, const spry_graph *g,
                              const char *from, const char *to)
{
    spry_status s;

    memset(a, 0, sizeof *a);
    a->inputs = spry_graph_inputs(g);
    a->outputs = spry_graph_outputs(g);
    if (a->inputs > GRAPH_VALUES || a->outputs > GRAPH_VALUES) {
        a->inputs = a->outputs = 0;
        return say_fail(SPRY_USAGE, "more than %d inputs or outputs",
                        GRAPH_VALUES);
    }
    s = count_files("input", from, "inputs", a->inputs, 0);
    if (s == SPRY_OK)
        s = count_files("out", to, "outputs", a->outputs, 1);
    for (int i = 0; i < a->inputs; i++) {
        a->from[i].size = sizeof a->from[i];
        spry_graph_input(g, i, &a->from[i]);
    }
    for (int i = 0; s == SPRY_OK && i < a->outputs; i++) {
        a->to[i].size = sizeof a->to[i];
        spry_graph_output(g, i, &a->to[i]);
        s = room(&a->out[i], &a->to[i]);
    }
    return s == SPRY_OK ? fill_inputs(a, from) : s;
}

void graph_arrays_close(graph_arrays *a)
{
    for (int i = 0; i < GRAPH_VALUES; i++) {
        free(a->in[i]);
        free(a->out[i]);
    }
}

static spry_status write_array(const graph_arrays *a, int i, const char *path)
{
    const spry_graph_value *v = &a->to[i];
    int flat = v->count == 0 && v->dims > 2; /* sp_npy_write takes no others */

    return npy_write_shaped(v->whole ? "<i8" : "<f4", a->out[i],
                            flat ? 1 : v->dims, flat ? &v->count : v->dim,
                            path);
}

spry_status graph_arrays_write(const graph_arrays *a, const char *files)
{
    char *list = strdup(files), *at = list, *file;
    spry_status s = list ? SPRY_OK : say_fail(SPRY_SYSTEM, "not enough memory");

    for (int i = 0; s == SPRY_OK && (file = next_file(&at)); i++)
        s = write_array(a, i, file);
    free(list);
    return s;
}
