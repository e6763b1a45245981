/* net_open.c - words of the command line into networks and inputs. */
#include "net.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static int depth, activation = -1, rows_are_outputs, seeded_weights;
static double limit = -1; /* not said */
static const char *bias;
const opt net_reading[] = {
    {"depth", OPT_INTEGER, &depth, "N", "only the first N layers"},
    {"activation", OPT_WORD, &activation, "linear|relu|clamp|tanh|sigmoid",
     "of matrices as layers (relu)"},
    {"limit", OPT_COUNT, &limit, "X", "where clamp ends (32)"},
    {"bias", OPT_TEXT, &bias, "X", "of matrices as layers (0)"},
    {"rows-are-outputs", OPT_FLAG, &rows_are_outputs, NULL,
     "a matrix holds a row for each output"},
    {"seeded-weights", OPT_FLAG, &seeded_weights, NULL,
     "draw weights where a file holds only a pattern; else they are 1"},
    {0}};

static const char *order = "destination";
static int memory = 128;
const opt net_ordering[] = {
    {"order", OPT_TEXT, &order, "NAME",
     "destination, source, blocked, ego... (destination)"},
    {"memory", OPT_INTEGER, &memory, "N", "neurons to order for (128)"},
    {0}};

static int window = 5, block;
static double seconds = 10, moves = -1; /* not said */
static const char *model;
const opt net_shaping[] = {
    {"window", OPT_INTEGER, &window, "N",
     "edges that ego, neurons that go looks back to (5)"},
    {"block", OPT_INTEGER, &block, "N",
     "outputs at a time, of blocked (memory / 2 or fewer)"},
    {"seconds", OPT_SECONDS, &seconds, "T", "time for anneal (10)"},
    {"moves", OPT_COUNT, &moves, "N",
     "moves for anneal, however long they take"},
    {"model", OPT_TEXT, &model, "FILE",
     "what eon learned (the model that comes with spry)"},
    {0}};

static spry_status read_bias(float *out)
{
    char *end;

    *out = 0;
    if (!bias)
        return SPRY_OK;
    *out = strtof(bias, &end);
    if (*end || end == bias || !isfinite(*out))
        return say_fail(SPRY_USAGE, "--bias takes a number, not '%s'", bias);
    return SPRY_OK;
}

/* An option of layers that are files, if one was said. */
static const char *said_of_files(void)
{
    return activation >= 0    ? "activation"
           : limit >= 0       ? "limit"
           : bias             ? "bias"
           : rows_are_outputs ? "rows-are-outputs"
           : seeded_weights   ? "seeded-weights"
                              : NULL;
}

/* What says all of this itself would ignore it. */
static spry_status check_said(const char *path)
{
    const char *said = said_of_files();

    if (said && strncmp(path, "gen:", 4) == 0)
        return say_fail(SPRY_USAGE,
                        "--%s is of layers that are files; what a recipe takes "
                        "instead, spry net generate --list shows",
                        said);
    if (said && ends_in(path, ".spnet"))
        return say_fail(SPRY_USAGE,
                        "--%s is of layers that are files; %s has its own",
                        said, path);
    if (limit >= 0 && activation != SPRY_CLAMP)
        return say_fail(SPRY_USAGE, "--limit is of --activation clamp");
    return SPRY_OK;
}

/* Loops that no plan knows of run on as many as --threads says, too. */
static spry_status use_threads(void)
{
    static int used;
    spry_machine m;
    spry_status s;

    if (cli.threads < 1 || used)
        return SPRY_OK;
    s = open_machine(&m, 0); /* which must have them */
    used = s == SPRY_OK;
    if (used)
        omp_set_num_threads(cli.threads);
    return s;
}

spry_status net_read_options(spry_network_options *out, const char *path)
{
    enum { USUAL_LIMIT = 32 };
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_status s = read_bias(&o.bias);

    if (s == SPRY_OK)
        s = check_said(path);
    if (s == SPRY_OK)
        s = use_threads();
    if (s != SPRY_OK)
        return s;
    o.seed = cli.seed;
    o.depth = depth;
    if (activation >= 0)
        o.activation.curve = (spry_curve)activation;
    if (activation == SPRY_CLAMP)
        o.activation.limit = (float)(limit >= 0 ? limit : USUAL_LIMIT);
    o.rows_are_outputs = rows_are_outputs;
    o.seeded_weights = seeded_weights;
    *out = o;
    return SPRY_OK;
}

const char *net_order_name(void)
{
    return order;
}

static spry_status check_moves(void)
{
    if (moves >= 0 && moves < 1)
        return say_fail(SPRY_USAGE, "--moves takes 1 or more");
    return SPRY_OK;
}

spry_status net_check_order(void)
{
    int i = 0;

    while (spry_order_name(i) && strcmp(spry_order_name(i), order) != 0)
        i++;
    if (!spry_order_name(i))
        return say_fail(SPRY_USAGE,
                        "no edge order '%s'; spry net order --list shows them",
                        order);
    if (memory < 3)
        return say_fail(SPRY_USAGE, "--memory takes 3 or more");
    return check_moves();
}

spry_status net_make_order(int32_t **out, const spry_network *n,
                           const char *name, int64_t room)
{
    spry_order_options o = SPRY_ORDER_DEFAULTS;
    char what[64];
    spry_status s = check_moves();

    *out = NULL;
    if (s != SPRY_OK)
        return s;
    o.window = window;
    o.memory = room > 0 ? room : memory;
    o.block = block;
    o.seed = cli.seed;
    o.seconds = seconds;
    o.moves = moves > 0 ? (int64_t)moves : 0;
    o.model = model;
    snprintf(what, sizeof what, "order %s", name);
    o.progress = progress_share;
    o.payload = what;
    *out = malloc((size_t)n->edges * sizeof **out + 1);
    if (!*out)
        return say_fail(SPRY_SYSTEM, "not enough memory for an order");
    s = spry_order_make(*out, n, name, &o);
    progress_clear();
    if (s == SPRY_OK)
        return SPRY_OK;
    free(*out);
    *out = NULL;
    return say_status(s);
}

spry_status net_open(spry_network **out, const char *path)
{
    spry_network_options o;
    spry_status s = net_read_options(&o, path);

    *out = NULL;
    return s == SPRY_OK ? say_status(spry_network_read(out, path, &o)) : s;
}

spry_status net_open_layers(spry_layers **out, const char *path)
{
    spry_network_options o;
    spry_status s = net_read_options(&o, path);

    *out = NULL;
    return s == SPRY_OK ? say_status(spry_layers_open(out, path, &o)) : s;
}

/* ---- inputs ---- */

/* A dense array as sparse rows: a batch, or one input when it is a vector. */
static spry_status rows_of_array(spry_matrix **out, const dense *d)
{
    int64_t rows = d->dims == 2 ? d->shape[0] : 1;
    int64_t cols = d->dims == 2 ? d->shape[1] : d->shape[0], nnz = 0;
    const float *x = d->data;
    size_t count = (size_t)(rows * cols) + 1;
    int64_t *row = malloc(count * sizeof *row);
    int64_t *col = malloc(count * sizeof *col);
    float *val = malloc(count * sizeof *val);
    spry_status s = SPRY_SYSTEM;

    for (int64_t i = 0; row && col && val && i < rows * cols; i++)
        if (!(x[i] == 0)) {
            row[nnz] = i / cols;
            col[nnz] = i % cols;
            val[nnz++] = x[i];
        }
    if (row && col && val)
        s = spry_matrix_triples(out, rows, cols, nnz, row, col, val, SPRY_F32);
    free(row);
    free(col);
    free(val);
    return s;
}

static spry_status read_array(spry_matrix **out, const char *path)
{
    dense d = {0};
    spry_status s = npy_read(&d, path);

    if (s == SPRY_OK)
        s = dense_convert(&d, SPRY_F32);
    if (s == SPRY_OK)
        s = say_status(rows_of_array(out, &d));
    free(d.data);
    return s;
}

static int is_array(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".npy") == 0;
}

static spry_status enlarge_rows(net_batch *b, int64_t width)
{
    spry_matrix *large = NULL;
    spry_status s = say_status(spry_inputs_enlarge(&large, b->rows, width));

    if (s != SPRY_OK)
        return s;
    spry_matrix_free(b->rows);
    b->rows = large;
    return SPRY_OK;
}

static int holds_not_finite(const spry_matrix *m)
{
    const float *narrow = m->val;
    const double *wide = m->val;

    for (int64_t k = 0; k < m->nnz; k++)
        if (!(m->type == SPRY_F32 ? isfinite(narrow[k]) : isfinite(wide[k])))
            return 1;
    return 0;
}

spry_status net_batch_open(net_batch *out, const char *path, int64_t width,
                           int64_t count, int enlarge)
{
    spry_status s;

    *out = (net_batch){0};
    if (!path)
        s = say_status(spry_inputs_strokes(&out->rows, count > 0 ? count : 64,
                                           width, cli.seed));
    else if (is_array(path))
        s = read_array(&out->rows, path);
    else
        s = open_matrix(&out->rows, path);
    if (s == SPRY_OK && enlarge)
        s = enlarge_rows(out, width);
    if (s == SPRY_OK && out->rows->rows < 1)
        s = say_fail(SPRY_INPUT, "%s: holds no inputs", path);
    if (s != SPRY_OK) {
        net_batch_close(out);
        return s;
    }
    out->count = count > 0 ? count : out->rows->rows;
    out->not_finite = holds_not_finite(out->rows);
    return SPRY_OK;
}

void net_batch_close(net_batch *b)
{
    spry_matrix_free(b->rows);
    *b = (net_batch){0};
}

spry_status net_batch_load(float *x, const net_batch *b, int64_t first,
                           int64_t count, int64_t width)
{
    int64_t rows = b->rows->rows;
    spry_status s = SPRY_OK;

    while (s == SPRY_OK && count > 0) {
        int64_t from = first % rows;
        int64_t part = rows - from < count ? rows - from : count;

        s = say_status(spry_inputs_dense(x, b->rows, from, part, width));
        x += part * width;
        first += part;
        count -= part;
    }
    return s;
}
