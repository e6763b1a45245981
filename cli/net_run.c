/* net_run.c - the outputs of a network for a batch of inputs.
 *
 * Inputs go through in slices, so that memory does not grow with the batch;
 * with --stream the network does not have to fit either. */
#include "net.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum { MODE_EDGE, MODE_LAYERS, MODE_REFERENCE } run_mode;

static const char *input, *file, *expected;
static int mode = MODE_EDGE, stream, enlarge;
static double batch;
static const opt options[] = {
    {"input", OPT_TEXT, &input, "FILE",
     "images.tsv, any matrix or .npy: a row each; else pen strokes"},
    {"batch", OPT_COUNT, &batch, "N", "so many inputs, repeated if need be"},
    {"enlarge", OPT_FLAG, &enlarge, NULL,
     "repeat the pixels of smaller square images"},
    {"mode", OPT_WORD, &mode, "edge|layers|reference",
     "edges in --order, layer by layer, or plainly in double"},
    {"stream", OPT_FLAG, &stream, NULL, "hold one layer at a time"},
    {"out", OPT_TEXT, &file, "FILE.npy", "write the outputs; - for stdout"},
    {"expect", OPT_TEXT, &expected, "FILE",
     "the categories must be these, one to a line or the rows of an .mtx"},
    {0}};
static const opt_page page = {
    "net run",
    "NETWORK",
    "Compute the outputs of a network. Without --out, print the categories:\n"
    "the inputs, counted from 1, that any output is not 0 for.\n"
    "  spry net run gen:radix --input sparse-images-1024.tsv",
    {options, net_ordering, net_shaping, net_reading},
    1,
    1};

enum { SLICE_BYTES = 1 << 28, STREAM_EDGES = 1 << 28 };

/* A network ready to run, one way or another. */
typedef struct {
    spry_layers *layers;
    spry_network *net;
    spry_stream *edges;
    int64_t inputs, outputs, edge_count;
} runner;

/* What came out. */
typedef struct {
    int64_t *category; /* [categories] */
    int64_t categories;
    float *y; /* [batch][outputs], with --out only */
    double seconds;
} result;

/* ---- opening ---- */

static spry_status open_edges(runner *r)
{
    int32_t *edge;
    spry_status s = net_make_order(&edge, r->net, net_order_name(), 0);

    if (s == SPRY_OK)
        s = say_status(spry_stream_make(&r->edges, r->net, edge));
    free(edge);
    return s;
}

static spry_status open_whole(runner *r, const char *path)
{
    spry_status s = net_open(&r->net, path);

    if (s != SPRY_OK)
        return s;
    r->inputs = r->net->inputs;
    r->outputs = r->net->outputs;
    r->edge_count = r->net->edges;
    if (mode == MODE_LAYERS)
        return say_status(spry_layers_of(&r->layers, r->net));
    return mode == MODE_EDGE ? open_edges(r) : SPRY_OK;
}

/* Generated networks say how large they are before they exist. */
static int too_large(const char *path)
{
    spry_network_options o;
    spry_layers *layers = NULL;
    int large;

    if (strncmp(path, "gen:", 4) != 0 || net_read_options(&o) != SPRY_OK)
        return 0;
    large = spry_layers_open(&layers, path, &o) == SPRY_OK &&
            spry_layers_edges(layers) > STREAM_EDGES;
    spry_layers_close(layers);
    if (large)
        say_note("the network is large: it runs one layer at a time");
    return large;
}

static spry_status open_streamed(runner *r, const char *path)
{
    spry_status s = net_open_layers(&r->layers, path);

    mode = MODE_LAYERS;
    if (s != SPRY_OK)
        return s;
    r->inputs = spry_layers_inputs(r->layers);
    return say_status(spry_layers_outputs(&r->outputs, r->layers));
}

static spry_status open_runner(runner *r, const char *path)
{
    *r = (runner){0};
    if (stream && mode == MODE_REFERENCE)
        return say_fail(SPRY_USAGE, "the reference needs the whole network, "
                                    "without --stream");
    if (stream || (mode != MODE_REFERENCE && too_large(path)))
        return open_streamed(r, path);
    return open_whole(r, path);
}

static void close_runner(runner *r)
{
    spry_stream_free(r->edges);
    spry_layers_close(r->layers);
    spry_network_free(r->net);
}

/* ---- running ---- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static spry_status run_reference(const runner *r, float *y, const float *x,
                                 int64_t count)
{
    int64_t n = count * r->outputs;
    double *exact = malloc((size_t)n * sizeof *exact + 1);
    spry_status s;

    if (!exact)
        return say_fail(SPRY_SYSTEM, "not enough memory");
    s = say_status(spry_network_reference(exact, r->net, x, count));
    for (int64_t i = 0; s == SPRY_OK && i < n; i++)
        y[i] = (float)exact[i];
    free(exact);
    return s;
}

static spry_status run_slice(const runner *r, float *y, const float *x,
                             int64_t count)
{
    if (r->edges)
        return say_status(spry_stream_run(r->edges, y, x, count));
    if (r->layers)
        return say_status(spry_layers_run(y, r->layers, x, count));
    return run_reference(r, y, x, count);
}

static void find_categories(result *out, const float *y, int64_t first,
                            int64_t count, int64_t outputs)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t j = 0;

        while (j < outputs && !(y[i * outputs + j] < 0) &&
               !(y[i * outputs + j] > 0))
            j++;
        if (j < outputs)
            out->category[out->categories++] = first + i + 1;
    }
}

static spry_status run_slices(result *out, const runner *r, const net_batch *b,
                              float *x, float *y, int64_t slice)
{
    spry_status s = SPRY_OK;

    for (int64_t at = 0; s == SPRY_OK && at < b->count; at += slice) {
        int64_t count = b->count - at < slice ? b->count - at : slice;
        float *to = out->y ? out->y + at * r->outputs : y;
        double begin;

        s = net_batch_load(x, b, at, count, r->inputs);
        begin = now();
        if (s == SPRY_OK)
            s = run_slice(r, to, x, count);
        out->seconds += now() - begin;
        if (s == SPRY_OK)
            find_categories(out, to, at, count, r->outputs);
    }
    return s;
}

static spry_status run_batch(result *out, const runner *r, const net_batch *b)
{
    int64_t each = (r->inputs + r->outputs) * (int64_t)sizeof(float);
    int64_t slice = SLICE_BYTES / each;
    float *x, *y;
    spry_status s;

    slice = slice < 1 ? 1 : slice < b->count ? slice : b->count;
    x = malloc((size_t)(slice * r->inputs) * sizeof *x);
    y = malloc((size_t)(slice * r->outputs) * sizeof *y);
    out->category = malloc((size_t)b->count * sizeof *out->category);
    if (file)
        out->y = malloc((size_t)(b->count * r->outputs) * sizeof *out->y);
    s = x && y && out->category && (out->y || !file)
            ? run_slices(out, r, b, x, y, slice)
            : say_fail(SPRY_SYSTEM,
                       "not enough memory for the outputs of %s "
                       "inputs",
                       say_count((double)b->count));
    free(x);
    free(y);
    return s;
}

/* ---- what is expected ---- */

static int is_expected(const result *r, int64_t at, int64_t category)
{
    return at < r->categories && r->category[at] == category;
}

/* The rows of a matrix that hold an entry. */
static spry_status compare_matrix(const result *r)
{
    spry_matrix *m = NULL;
    int64_t at = 0;
    spry_status s = open_matrix(&m, expected);

    for (int64_t i = 0; s == SPRY_OK && i < m->rows; i++)
        if (m->start[i] < m->start[i + 1] && !is_expected(r, at++, i + 1))
            s = SPRY_WRONG;
    spry_matrix_free(m);
    return s == SPRY_OK && at != r->categories ? SPRY_WRONG : s;
}

static spry_status compare_lines(const result *r)
{
    FILE *f = fopen(expected, "r");
    int64_t at = 0, category;
    spry_status s = SPRY_OK;

    if (!f)
        return say_fail(SPRY_INPUT, "%s: cannot be read", expected);
    while (s == SPRY_OK && fscanf(f, "%" SCNd64, &category) == 1)
        if (!is_expected(r, at++, category))
            s = SPRY_WRONG;
    if (s == SPRY_OK && !feof(f))
        s = say_fail(SPRY_INPUT, "%s: line %" PRId64 " holds no category",
                     expected, at + 1);
    fclose(f);
    return s == SPRY_OK && at != r->categories ? SPRY_WRONG : s;
}

static spry_status compare(const result *r)
{
    size_t n = strlen(expected);
    spry_status s = n > 4 && strcmp(expected + n - 4, ".mtx") == 0
                        ? compare_matrix(r)
                        : compare_lines(r);

    if (s == SPRY_WRONG)
        return say_fail(s, "the categories are not those of %s", expected);
    return s;
}

/* ---- saying it ---- */

static const char *mode_name(void)
{
    static const char *const names[] = {"edge", "layers", "reference"};

    return names[mode];
}

static void print_json(const result *out, const runner *r, const net_batch *b)
{
    json j = json_begin("spry.net.run/1");
    double edges = (double)r->edge_count * (double)b->count;

    json_text(&j, "mode", mode_name());
    json_text(&j, "order", r->edges ? net_order_name() : NULL);
    json_integer(&j, "inputs", b->count);
    json_integer(&j, "edges", r->edge_count);
    json_number(&j, "nominal_edges", edges);
    json_number(&j, "executed_edges", edges);
    json_number(&j, "seconds", out->seconds);
    json_number(&j, "nominal_edges_per_second", edges / out->seconds);
    json_open(&j, "categories", '[');
    for (int64_t i = 0; i < out->categories; i++)
        json_integer(&j, NULL, out->category[i]);
    json_close(&j, ']');
    json_end(&j);
}

static void print_text(const result *out, const runner *r, const net_batch *b)
{
    double edges = (double)r->edge_count * (double)b->count;

    for (int64_t i = 0; !file && i < out->categories; i++)
        printf("%" PRId64 "\n", out->category[i]);
    fprintf(stderr,
            "%s inputs, %s categories in %s (%s)\n"
            "edges: nominal %.4g, executed %.4g, %s\n",
            say_count((double)b->count), say_count((double)out->categories),
            say_seconds(out->seconds), mode_name(), edges, edges,
            say_rate(edges / out->seconds, "edges/s"));
}

static spry_status report(const result *out, const runner *r,
                          const net_batch *b)
{
    dense d = {.dims = 2,
               .shape = {b->count, r->outputs},
               .type = SPRY_F32,
               .data = out->y};
    spry_status s = file ? npy_write(&d, file) : SPRY_OK;

    if (s != SPRY_OK)
        return s;
    if (cli.json && !(file && strcmp(file, "-") == 0))
        print_json(out, r, b);
    else
        print_text(out, r, b);
    return expected ? compare(out) : SPRY_OK;
}

spry_status net_run(int argc, char **argv)
{
    runner r = {0};
    net_batch b = {0};
    result out = {0};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    s = open_runner(&r, argv[0]);
    if (s == SPRY_OK)
        s = net_batch_open(&b, input, r.inputs, (int64_t)batch, enlarge);
    if (s == SPRY_OK)
        s = run_batch(&out, &r, &b);
    if (!r.net)
        r.edge_count = r.layers ? spry_layers_edges(r.layers) : 0;
    if (s == SPRY_OK)
        s = report(&out, &r, &b);
    free(out.category);
    free(out.y);
    net_batch_close(&b);
    close_runner(&r);
    return s;
}
