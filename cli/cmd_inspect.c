/* cmd_inspect.c - what a matrix is like, in numbers and as a picture. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

static const char *spy;
static const opt options[] = {
    {"spy", OPT_TEXT, &spy, "FILE", "draw the pattern: .png or .svg"}, {0}};
static const opt_page page = {
    "inspect",
    "MATRIX",
    "Show shape, row lengths, block fill, locality and a small picture; of a\n"
    "tensor, its modes and fibers.",
    {options},
    1,
    1};

static double share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void print_block(json *j, const spry_stats *s, int r, int c,
                        int64_t blocks)
{
    json_open(j, NULL, '{');
    json_integer(j, "r", r);
    json_integer(j, "c", c);
    json_integer(j, "blocks", blocks);
    json_number(j, "fill", spry_stats_fill(s, r, c));
    json_close(j, '}');
}

static void print_fill(json *j, const spry_stats *s)
{
    json_open(j, "fill", '[');
    for (int a = 0; a < SPRY_BLOCKS; a++)
        for (int b = 0; b < SPRY_BLOCKS; b++)
            print_block(j, s, 1 << a, 1 << b, s->blocks[a][b]);
    print_block(j, s, 3, 3, s->threes);
    print_block(j, s, 6, 6, s->sixes);
    json_close(j, ']');
}

static void print_bins(json *j, const char *key, const int64_t *bin, int bins)
{
    json_open(j, key, '[');
    for (int i = 0; i < bins; i++)
        json_integer(j, NULL, bin[i]);
    json_close(j, ']');
}

static void print_json(const spry_matrix *m, const spry_stats *s,
                       const char *path)
{
    json j = json_begin("spry.inspect/1");
    char key[33];

    spry_matrix_key(key, m);
    json_text(&j, "matrix", path);
    json_text(&j, "key", key);
    json_integer(&j, "rows", s->rows);
    json_integer(&j, "cols", s->cols);
    json_integer(&j, "nnz", s->nnz);
    json_text(&j, "type", spry_type_name(m->type));
    json_integer(&j, "index_bytes", m->index);
    json_integer(&j, "empty_rows", s->empty_rows);
    json_integer(&j, "empty_cols", s->empty_cols);
    json_integer(&j, "row_min", s->row_min);
    json_integer(&j, "row_max", s->row_max);
    json_number(&j, "row_mean", s->row_mean);
    json_number(&j, "row_deviation", s->row_deviation);
    json_number(&j, "row_skew", s->row_skew);
    json_integer(&j, "bandwidth", s->bandwidth);
    json_number(&j, "mean_distance", s->mean_distance);
    json_integer(&j, "mean_span", s->mean_span);
    json_integer(&j, "max_span", s->max_span);
    json_integer(&j, "diagonals", s->diagonals);
    json_number(&j, "symmetry", s->symmetry);
    json_integer(&j, "not_finite", s->not_finite);
    json_integer(&j, "explicit_zeros", s->explicit_zeros);
    json_integer(&j, "one_value", s->one_value);
    json_integer(&j, "different_values", s->different);
    print_bins(&j, "row_hist", s->row_hist, SPRY_HIST);
    print_bins(&j, "reuse", s->reuse, SPRY_REUSE);
    json_integer(&j, "reuse_first", s->reuse_first);
    print_fill(&j, s);
    json_end(&j);
}

static void print_oddities(const spry_stats *s)
{
    if (s->not_finite)
        printf("values     %s are NaN or infinite\n",
               say_count((double)s->not_finite));
    if (s->explicit_zeros)
        printf("values     %s stored zeros\n",
               say_count((double)s->explicit_zeros));
}

/* The row-length histogram, a line per bin that holds a row. */
static void print_lengths(const spry_stats *s)
{
    enum { BAR = 30 };
    int64_t most = 1;

    for (int b = 0; b < SPRY_HIST; b++)
        most = s->row_hist[b] > most ? s->row_hist[b] : most;
    for (int b = 0; b < SPRY_HIST; b++) {
        int bar = (int)ceil(BAR * share(s->row_hist[b], most));
        char range[48];

        if (!s->row_hist[b])
            continue;
        if (b < 2)
            snprintf(range, sizeof range, "%d", b);
        else
            snprintf(range, sizeof range, "%.0f..%.0f", ldexp(1, b - 1),
                     ldexp(1, b) - 1);
        printf("  %12s %12s  %.*s\n", range, say_count((double)s->row_hist[b]),
               bar, "##############################");
    }
}

static void print_numbers(const spry_matrix *m, const spry_stats *s)
{
    static const int sides[] = {2, 3, 4, 6, 8, 16};
    printf("shape      %s x %s, %s entries, %s, density %.3g\n",
           say_count((double)s->rows), say_count((double)s->cols),
           say_count((double)s->nnz), spry_type_name(m->type),
           s->rows && s->cols
               ? (double)s->nnz / (double)s->rows / (double)s->cols
               : 0);
    printf("rows       %s to %s entries, mean %.1f, deviation %.1f; "
           "%s empty\n",
           say_count((double)s->row_min), say_count((double)s->row_max),
           s->row_mean, s->row_deviation, say_count((double)s->empty_rows));
    print_lengths(s);
    printf("locality   bandwidth %s, mean span %s, %s diagonals, "
           "symmetry %.0f %%\n",
           say_count((double)s->bandwidth), say_count((double)s->mean_span),
           say_count((double)s->diagonals), 100 * s->symmetry);
    printf("block fill");
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        printf("  %dx%d %.0f %%", sides[i], sides[i],
               100 * spry_stats_fill(s, sides[i], sides[i]));
    printf("\n");
    print_oddities(s);
}

static spry_status print_picture(const spry_stats *s)
{
    char *text;
    int width = say_width(stdout);
    spry_status status =
        spry_matrix_spy_text(&text, s, width && width < 44 ? width : 44);

    if (status == SPRY_OK) {
        printf("\n%s", text);
        free(text);
    }
    return say_status(status);
}

spry_status cmd_inspect(int argc, char **argv)
{
    static spry_stats stats = {.size = sizeof stats};
    spry_matrix *m = NULL;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (is_tensor(argv[0]) && spy)
        return say_fail(SPRY_USAGE, "--spy draws matrices, not tensors");
    if (is_tensor(argv[0]))
        return inspect_tensor(argv[0]);
    s = open_matrix(&m, argv[0]);
    if (s == SPRY_OK)
        s = say_status(spry_matrix_stats(&stats, m));
    if (s == SPRY_OK && spy)
        s = say_status(spry_matrix_spy(&stats, spy));
    if (s == SPRY_OK && cli.json)
        print_json(m, &stats, argv[0]);
    if (s == SPRY_OK && !cli.json) {
        print_numbers(m, &stats);
        s = print_picture(&stats);
    }
    spry_matrix_free(m);
    return s;
}
