/* fuzz_array.c - what commands read by themselves, from any bytes: NumPy's
 * arrays, as operands and as inputs of operator graphs, and the categories
 * that are expected of a network. The first byte chooses. */
#include "files.h"
#include "fuzz.h"

#include <stdarg.h>

#include "cli/graph_files.h"
#include "cli/net.h"
#include "graph/build.h"

/* ---- what these files need of the command ---- */

cli_settings cli;

spry_status say_fail(spry_status s, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 1 || s == SPRY_OK)
        abort();
    va_end(args);
    return s;
}

spry_status say_status(spry_status s)
{
    return s;
}

const char *say_count(double count)
{
    return count > 0 ? "some" : "no";
}

spry_status open_matrix(spry_matrix **out, const char *path)
{
    return spry_matrix_read(out, path);
}

/* ---- readers ---- */

/* All numbers of an array that was read are there. */
static void read_operand(const char *path)
{
    dense d;

    if (npy_read(&d, path) == SPRY_OK &&
        dense_convert(&d, d.type == SPRY_F32 ? SPRY_F64 : SPRY_F32) != SPRY_OK)
        abort();
    free(d.data);
}

/* A graph that takes 2 x 3 numbers, whole ones or reals. */
static const spry_graph *small_graph(int whole)
{
    static spry_graph *made[2];
    spry_graph *g = NULL;
    sp_builder b = {.rng = sp_rng_seed(1), .batch = 1};
    int x;

    if (made[whole])
        return made[whole];
    if (sp_graph_new(&g, "small") != SPRY_OK)
        abort();
    g->opset = 13;
    b.g = g;
    x = sp_build_input(&b, "input", whole, &(sp_extent){2, {2, 3}});
    sp_build_output(&b, sp_build_unary(&b, "Identity", x));
    if (b.status != SPRY_OK || sp_graph_count(g) != SPRY_OK ||
        sp_graph_infer(g) != SPRY_OK)
        abort();
    return made[whole] = g;
}

static void read_input(const char *path, int whole)
{
    spry_graph_value shape[GRAPH_VALUES];
    graph_arrays a;

    if (graph_shapes_peek(shape, path) != 1)
        abort();
    graph_arrays_open(&a, small_graph(whole), path, NULL);
    graph_arrays_close(&a);
}

static void expect(const char *path)
{
    int64_t category[] = {1, 3, 4};
    net_categories c = {category, 3};
    spry_status s = net_expect(&c, path);

    if (s != SPRY_OK && s != SPRY_WRONG && s != SPRY_INPUT)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_file array, lines, matrix;
    int64_t live;

    if (size == 0)
        return 0;
    small_graph(0);
    small_graph(1);
    live = sp_alloc_live();
    switch (data[0] % 5) {
    case 0: read_operand(fuzz_put(&array, "a.npy", data + 1, size - 1)); break;
    case 1: read_input(fuzz_put(&array, "a.npy", data + 1, size - 1), 0); break;
    case 2: read_input(fuzz_put(&array, "a.npy", data + 1, size - 1), 1); break;
    case 3: expect(fuzz_put(&lines, "lines.tsv", data + 1, size - 1)); break;
    default: expect(fuzz_put(&matrix, "rows.mtx", data + 1, size - 1));
    }
    if (sp_alloc_live() != live)
        abort();
    return 0;
}
