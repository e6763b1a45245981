/* net_run.c - the outputs of a network for a batch of inputs.
 *
 * Inputs go through in slices, so that memory does not grow with the batch;
 * with --stream the network does not have to fit either. In mode auto the
 * network runs as `net tune` found best; when only categories are asked for,
 * inputs stay sparse and outputs are not kept. */
#include "net.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *input, *file, *expected;
static net_how how = {NET_AUTO, NULL, 0};
static int enlarge;
static double batch = -1; /* not said */
static const opt options[] = {
    {"input", OPT_TEXT, &input, "FILE",
     "images.tsv, any matrix or .npy: a row each; else pen strokes"},
    {"batch", OPT_COUNT, &batch, "N", "so many inputs, repeated if need be"},
    {"enlarge", OPT_FLAG, &enlarge, NULL,
     "repeat the pixels of smaller square images"},
    {"mode", OPT_WORD, &how.mode, "auto|edge|layers|reference",
     "as tuned, edges in --order, layer by layer, or plainly in double"},
    {"way", OPT_TEXT, &how.way, "TEXT",
     "of auto: this one, \"passes=all rows tile=8 threads=2\""},
    {"passes", OPT_TEXT, &net_passes_text, "NAMES",
     "run over the network first: all, none, merge,... (all in auto)"},
    {"stream", OPT_FLAG, &how.stream, NULL, "hold one layer at a time"},
    {"out", OPT_TEXT, &file, "FILE.npy", "write the outputs; - for stdout"},
    {"expect", OPT_TEXT, &expected, "FILE",
     "the categories must be these, one to a line or the rows of an .mtx"},
    {0}};
static const opt_page page = {
    "net run",
    "NETWORK",
    "Compute the outputs of a network. Without --out, print the categories:\n"
    "the inputs, counted from 1, with an output that is not 0. NaN propagates\n"
    "along edges, as in NumPy. Passes are exact for finite inputs; if one is\n"
    "not finite, they are left out unless --passes asks for them. Executed\n"
    "edges are an upper bound, since values may stop changing early.\n"
    "  spry net run gen:radix --input sparse-images-1024.tsv\n"
    "An operator graph has options of its own: spry net run x.onnx --help.",
    {options, net_ordering, net_shaping, net_reading, cli_locking},
    1,
    1};

enum { SLICE_BYTES = 1 << 28, SLICE_ROWS = 1 << 16 };

/* What came out. */
typedef struct {
    net_categories found;
    float *y; /* [batch][outputs], with --out only */
    double seconds;
} result;

/* ---- running ---- */

static void find_categories(result *out, const float *y, int64_t first,
                            int64_t count, int64_t outputs)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t j = 0;

        while (j < outputs && y[i * outputs + j] == 0)
            j++;
        if (j < outputs)
            out->found.category[out->found.count++] = first + i + 1;
    }
}

static spry_status run_slices(result *out, const net_runner *r,
                              const net_batch *b, float *x, float *y,
                              int64_t slice)
{
    spry_status s = SPRY_OK;

    for (int64_t at = 0; s == SPRY_OK && at < b->count; at += slice) {
        int64_t count = b->count - at < slice ? b->count - at : slice;
        float *to = out->y ? out->y + at * r->outputs : y;
        double begin;

        s = net_batch_load(x, b, at, count, r->inputs);
        begin = now_seconds();
        if (s == SPRY_OK)
            s = net_runner_run(r, to, x, count);
        out->seconds += now_seconds() - begin;
        if (s == SPRY_OK)
            find_categories(out, to, at, count, r->outputs);
    }
    return s;
}

static spry_status run_outputs(result *out, const net_runner *r,
                               const net_batch *b)
{
    int64_t each = (r->inputs + r->outputs) * (int64_t)sizeof(float);
    int64_t slice = SLICE_BYTES / each;
    float *x, *y;
    spry_status s;

    slice = slice < 1 ? 1 : slice < b->count ? slice : b->count;
    x = malloc((size_t)(slice * r->inputs) * sizeof *x);
    y = malloc((size_t)(slice * r->outputs) * sizeof *y);
    if (file)
        out->y = malloc((size_t)(b->count * r->outputs) * sizeof *out->y);
    s = x && y && (out->y || !file)
            ? run_slices(out, r, b, x, y, slice)
            : say_fail(SPRY_SYSTEM,
                       "not enough memory for the outputs of %s "
                       "inputs",
                       say_count((double)b->count));
    free(x);
    free(y);
    return s;
}

/* ---- categories only ---- */

static void note_categories(result *out, const uint8_t *any, int64_t first,
                            int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (any[i])
            out->found.category[out->found.count++] = first + i + 1;
}

/* Whole repetitions of the rows at a time. */
static spry_status run_rows(result *out, const net_runner *r,
                            const net_batch *b, uint8_t *any, int64_t slice)
{
    spry_matrix *rows = NULL;
    spry_status s = say_status(spry_inputs_repeat(&rows, b->rows, slice));

    for (int64_t at = 0; s == SPRY_OK && at < b->count; at += slice) {
        int64_t count = b->count - at < slice ? b->count - at : slice;
        double begin = now_seconds();

        s = say_status(spry_run_categories(r->plan, any, rows, 0, count));
        out->seconds += now_seconds() - begin;
        if (s == SPRY_OK)
            note_categories(out, any, at, count);
    }
    spry_matrix_free(rows);
    return s;
}

static spry_status run_categories(result *out, const net_runner *r,
                                  const net_batch *b)
{
    int64_t rows = b->rows->rows;
    int64_t slice = rows < SLICE_ROWS ? SLICE_ROWS / rows * rows : rows;
    uint8_t *any;
    spry_status s;

    slice = slice < b->count ? slice : b->count;
    any = malloc((size_t)slice);
    s = any ? run_rows(out, r, b, any, slice)
            : say_fail(SPRY_SYSTEM, "not enough memory");
    free(any);
    return s;
}

static spry_status run_batch(result *out, const net_runner *r,
                             const net_batch *b)
{
    out->found.category = malloc((size_t)b->count * sizeof(int64_t));
    if (!out->found.category)
        return say_fail(SPRY_SYSTEM, "not enough memory for %s inputs",
                        say_count((double)b->count));
    return r->plan && !file ? run_categories(out, r, b)
                            : run_outputs(out, r, b);
}

/* ---- saying it ---- */

static const char *mode_name(const net_runner *r)
{
    static const char *const names[] = {"auto", "edge", "layers", "reference"};

    return names[r->layers ? NET_LAYERS : how.mode];
}

/* How it ran: the way of auto, else the mode. */
static const char *way_name(const net_runner *r)
{
    return r->plan ? spry_plan_text(r->plan) : mode_name(r);
}

static void print_json(const result *out, const net_runner *r,
                       const net_batch *b)
{
    json j = json_begin("spry.net.run/1");
    double edges = (double)r->nominal * (double)b->count;

    json_text(&j, "mode", mode_name(r));
    json_text(&j, "way", r->plan ? way_name(r) : NULL);
    json_text(&j, "order",
              how.mode == NET_EDGE && r->plan ? net_order_name() : NULL);
    json_integer(&j, "inputs", b->count);
    json_integer(&j, "edges", r->nominal);
    json_number(&j, "nominal_edges", edges);
    json_number(&j, "executed_edges", (double)r->executed * (double)b->count);
    json_bool(&j, "executed_is_upper_bound", 1);
    json_number(&j, "seconds", out->seconds);
    json_number(&j, "nominal_edges_per_second", edges / out->seconds);
    json_open(&j, "categories", '[');
    for (int64_t i = 0; i < out->found.count; i++)
        json_integer(&j, NULL, out->found.category[i]);
    json_close(&j, ']');
    json_end(&j);
}

static void print_text(const result *out, const net_runner *r,
                       const net_batch *b)
{
    double edges = (double)r->nominal * (double)b->count;

    for (int64_t i = 0; !file && i < out->found.count; i++)
        printf("%" PRId64 "\n", out->found.category[i]);
    fprintf(stderr,
            "%s inputs, %s categories in %s (%s)\n"
            "edges: nominal %.4g, executed at most %.4g; nominal %s\n",
            say_count((double)b->count), say_count((double)out->found.count),
            say_seconds(out->seconds), way_name(r), edges,
            (double)r->executed * (double)b->count,
            say_rate(edges / out->seconds, "edges/s"));
}

static spry_status report(const result *out, const net_runner *r,
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
    return expected ? net_expect(&out->found, expected) : SPRY_OK;
}

spry_status net_run(int argc, char **argv)
{
    net_runner r = {0};
    net_batch b = {0};
    result out = {0};
    int64_t count = 0;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    s = net_check_order();
    if (s == SPRY_OK)
        s = net_count(&count, "batch", batch, 0);
    if (s == SPRY_OK)
        s = net_runner_open(&r, argv[0], &how);
    if (s == SPRY_OK)
        s = net_batch_open(&b, input, r.inputs, count, enlarge);
    if (s == SPRY_OK)
        s = net_runner_prepare(&r, &b, &how);
    if (s == SPRY_OK)
        s = run_batch(&out, &r, &b);
    if (!r.net && r.layers)
        r.nominal = r.executed = spry_layers_edges(r.layers);
    if (s == SPRY_OK)
        s = report(&out, &r, &b);
    free(out.found.category);
    free(out.y);
    net_batch_close(&b);
    net_runner_close(&r);
    return s;
}
