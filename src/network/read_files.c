/* read_files.c - a folder of matrix files, one for each layer, in the order
 * of the numbers in their names.
 *
 * Rows are inputs and columns outputs, or the other way round when the
 * options say so. Lists (.tsv, .txt, .el) do not say how large they are: the
 * first is as large as its largest index, the others begin where the layer
 * before ended.
 *
 * Vectors called bias1.npy, fc1.bias.npy..., also in the order of their
 * numbers, are the biases of the layers: all layers have one, or none. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/npy.h"
#include "network/read.h"

typedef struct {
    sp_folder folder; /* only the files that are layers */
    sp_folder biases; /* as many, or none */
    char path[SP_PATH];
} files;

static int is_list(const char *name)
{
    return sp_ends_in(name, ".tsv") || sp_ends_in(name, ".txt") ||
           sp_ends_in(name, ".el");
}

static int is_bias(const char *name)
{
    const char *at = name;

    while (*at && strncasecmp(at, "bias", 4) != 0)
        at++;
    return *at && sp_ends_in(name, ".npy");
}

static int is_layer(const char *name)
{
    static const char *const endings[] = {".mtx", ".npz", ".smtx", ".csr"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (sp_ends_in(name, endings[i]))
            return 1;
    return is_list(name);
}

static spry_status read_list(spry_matrix **out, const char *path,
                             int64_t inputs, int rows_are_outputs)
{
    sp_edge_list list = {.inputs = inputs,
                         .base = sp_ends_in(path, ".tsv"),
                         .rows_are_outputs = rows_are_outputs};
    sp_file f;
    spry_status s = sp_file_read(&f, path, SIZE_MAX);

    *out = NULL;
    if (s == SPRY_OK)
        s = sp_edge_list_parse(out, &(sp_text){path, f.data, f.data + f.len},
                               &list);
    sp_file_free(&f);
    return s;
}

/* Columns of a matrix take no memory; neurons do. No more of them than a text
 * of so many entries may name. */
static spry_status check_columns(const spry_matrix *m, const char *path)
{
    enum { ENTRY = 16 }; /* bytes */

    if (m->cols <= sp_most_rows_of(m->nnz * ENTRY))
        return SPRY_OK;
    return sp_fail(SPRY_INPUT,
                   "%s: %lld columns are too many neurons for %lld entries",
                   path, (long long)m->cols, (long long)m->nnz);
}

/* A matrix, rows outputs; `inputs` 0: not known yet. */
static spry_status read_matrix(spry_matrix **out, const char *path,
                               int64_t inputs, int rows_are_outputs)
{
    spry_matrix *m;
    spry_status s;

    if (is_list(path))
        return read_list(out, path, inputs, rows_are_outputs);
    s = spry_matrix_read(&m, path);
    if (s == SPRY_OK)
        s = check_columns(m, path);
    if (s == SPRY_OK && rows_are_outputs) {
        *out = m;
        return s;
    }
    if (s == SPRY_OK)
        s = spry_matrix_transpose(out, m);
    spry_matrix_free(m);
    return s;
}

static spry_status read_layer(spry_matrix **out, char path[SP_PATH],
                              const spry_layers *s, int64_t layer,
                              int64_t inputs)
{
    const files *f = s->state;
    spry_status status = sp_path_join(path, f->path, f->folder.name[layer]);

    *out = NULL;
    if (status != SPRY_OK)
        return status;
    return read_matrix(out, path, inputs, s->options.rows_are_outputs);
}

/* ---- biases ---- */

static spry_status take_biases(spry_layers *s, const sp_file *f,
                               const char *path)
{
    int64_t outputs = s->layer.outputs;
    sp_npy head;
    const char *at = sp_npy_open(&head, f->data, f->len);

    if (!at)
        return sp_fail(SPRY_INPUT, "%s: is no NumPy array", path);
    if (sp_npy_refused(&head))
        return sp_fail(SPRY_INPUT, "%s: %s", path, sp_npy_refused(&head));
    if (strchr("SU", head.kind) || head.count != outputs)
        return sp_fail(SPRY_INPUT,
                       "%s: is not %lld numbers, one for each output of "
                       "layer %lld",
                       path, (long long)outputs, (long long)s->at + 1);
    for (int64_t j = 0; j < outputs; j++) {
        s->bias[j] = (float)sp_npy_real(&head, at, j);
        if (!isfinite(s->bias[j]))
            return sp_fail(SPRY_INPUT, "%s: number %lld is not finite", path,
                           (long long)j + 1);
    }
    return SPRY_OK;
}

static spry_status read_biases(spry_layers *s)
{
    const files *f = s->state;
    char path[SP_PATH];
    sp_file file;
    spry_status status;

    if (f->biases.count == 0)
        return SPRY_OK;
    status = sp_path_join(path, f->path, f->biases.name[s->at]);
    if (status == SPRY_OK)
        status = sp_file_read(&file, path, SIZE_MAX);
    if (status != SPRY_OK)
        return status;
    status = take_biases(s, &file, path);
    sp_file_free(&file);
    return status;
}

/* ---- layers ---- */

static spry_status next(spry_layers *s)
{
    char path[SP_PATH];
    spry_matrix *m;
    spry_status status = read_layer(&m, path, s, s->at, s->layer.inputs);

    if (status == SPRY_OK)
        status = sp_layers_take(s, m, s->options.bias, path);
    if (status == SPRY_OK)
        status = read_biases(s);
    spry_matrix_free(m);
    return status;
}

static void close_files(void *state)
{
    files *f = state;

    if (f) {
        sp_folder_free(&f->folder);
        sp_folder_free(&f->biases);
    }
    sp_free(f);
}

static const sp_source files_source = {.next = next, .close = close_files};

/* Keep only the names that are wanted. */
static void keep(sp_folder *f, int (*is_wanted)(const char *name))
{
    int64_t kept = 0;

    for (int64_t i = 0; i < f->count; i++) {
        char *name = f->name[i];

        if (!is_wanted(name))
            continue;
        f->name[i] = f->name[kept];
        f->name[kept++] = name;
    }
    sp_folder_cut(f, kept);
}

static spry_status find_biases(const spry_layers *s)
{
    files *f = s->state;
    spry_status status = sp_folder_read(&f->biases, f->path);

    if (status != SPRY_OK)
        return status;
    keep(&f->biases, is_bias);
    if (f->biases.count == 0)
        return SPRY_OK;
    if (f->biases.count != f->folder.count)
        return sp_fail(SPRY_INPUT,
                       "%s: holds %lld layers but biases (%s...) of %lld",
                       f->path, (long long)f->folder.count, f->biases.name[0],
                       (long long)f->biases.count);
    if (s->options.bias != 0)
        return sp_fail(SPRY_USAGE,
                       "%s: holds biases of its own (%s...); a bias for all "
                       "neurons does not go with them",
                       f->path, f->biases.name[0]);
    return SPRY_OK;
}

/* How many inputs there are, only the first file tells. */
static spry_status find_inputs(spry_layers *s)
{
    char path[SP_PATH];
    spry_matrix *m;
    spry_status status = read_layer(&m, path, s, 0, 0);

    if (status == SPRY_OK && m->cols < 1)
        status = sp_fail(SPRY_INPUT, "%s: 0 x %lld makes no layer", path,
                         (long long)m->rows);
    if (status == SPRY_OK)
        s->inputs = m->cols;
    spry_matrix_free(m);
    return status;
}

spry_status sp_files_open(spry_layers *s, sp_folder *f, const char *path)
{
    files *state = s->state = sp_alloc(1, sizeof *state);
    spry_status status;

    s->source = &files_source;
    if (!state)
        return sp_fail_memory(sizeof *state);
    if (strlen(path) >= sizeof state->path)
        return sp_fail(SPRY_USAGE, "the path %.200s... is too long", path);
    strcpy(state->path, path);
    keep(f, is_layer);
    if (f->count == 0)
        return sp_fail(SPRY_INPUT,
                       "%s: holds neither challenge layers (n1024-l1.tsv) nor "
                       "matrix files",
                       path);
    state->folder = *f;
    *f = (sp_folder){0};
    s->depth = state->folder.count;
    status = find_biases(s);
    return status == SPRY_OK ? find_inputs(s) : status;
}
