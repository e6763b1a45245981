/* export.c - a network as C that stands alone: NAME.c and NAME.h.
 *
 * The text is the weights as arrays and one loop over layers, written twice:
 * for one input, and for eight side by side, which compilers turn into
 * vectors. Values of a chained network lie in two buffers that layers fill in
 * turn; in other networks every neuron has a place of its own. */
#include <string.h>

#include "form/export.h"
#include "form/internal.h"

enum { EDGES_MOST = 1 << 24, SHORT = 1 << 16 };

typedef struct {
    const spry_network *n;
    const char *name;
    FILE *f;
    int64_t width; /* the widest layer, inputs included */
} exporting;

/* ---- where values lie ---- */

static int64_t widest(const spry_network *n)
{
    int64_t most = sp_network_widest(n);

    return most > n->inputs ? most : n->inputs;
}

static int64_t slots(const exporting *e)
{
    return e->n->chained ? 2 * e->width : e->n->neurons;
}

/* Where the values of layer l begin; -1 is the inputs. */
static int64_t slot_of(const exporting *e, int64_t l)
{
    if (e->n->chained)
        return (l + 1) % 2 * e->width;
    return l < 0 ? 0 : e->n->first[l];
}

/* The neuron that layer l counts its sources from. */
static int64_t base_of(const exporting *e, int64_t l)
{
    return e->n->chained && l > 0 ? e->n->first[l - 1] : 0;
}

/* ---- arrays ---- */

/* Numbers with commas, a line at a time. */
typedef struct {
    FILE *f;
    int column;
} listing;

static void list_text(listing *l, const char *text)
{
    int len = (int)strlen(text) + 1;

    if (l->column + len > 78) {
        fputc('\n', l->f);
        l->column = 0;
    }
    fprintf(l->f, "%s,", text);
    l->column += len;
}

static void list_count(listing *l, int64_t x)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)x);
    list_text(l, text);
}

/* 0.0625f, 1.0f, 1e-05f: exact, with a point in every locale. */
static void print_float(char out[SP_REAL + 4], float x)
{
    int n = sp_print_real(out, (double)x, SPRY_F32);

    snprintf(out + n, 4, "%s", strpbrk(out, ".e") ? "f" : ".0f");
}

static void list_float(listing *l, float x)
{
    char text[SP_REAL + 4];

    print_float(text, x);
    list_text(l, text);
}

static listing open_list(const exporting *e, const char *type, const char *name)
{
    fprintf(e->f, "static const %s %s[] = {\n", type, name);
    return (listing){e->f, 0};
}

/* C has no empty arrays: a 0 stands behind all of them. */
static void close_list(const exporting *e)
{
    fprintf(e->f, "0};\n\n");
}

static const char *type_for(int64_t most)
{
    return most < SHORT ? "unsigned short" : "unsigned";
}

static void write_sources(const exporting *e)
{
    const spry_network *n = e->n;
    listing list = open_list(e, "source_t", "source");

    for (int64_t l = 0; l < n->layers; l++)
        for (int64_t k = n->start[n->first[l]]; k < n->start[n->first[l + 1]];
             k++)
            list_count(&list, n->source[k] - base_of(e, l));
    close_list(e);
}

/* Have all edges into layer l one weight? Then it is stored once. */
static int is_even(const spry_network *n, int64_t l)
{
    int64_t from = n->start[n->first[l]], end = n->start[n->first[l + 1]];

    for (int64_t k = from + 1; k < end; k++)
        if (sp_float_bits(n->weight[k]) != sp_float_bits(n->weight[from]))
            return 0;
    return 1;
}

static void write_weights(const exporting *e)
{
    const spry_network *n = e->n;
    listing list = open_list(e, "float", "weight");

    for (int64_t l = 0; l < n->layers; l++)
        if (!is_even(n, l))
            for (int64_t k = n->start[n->first[l]];
                 k < n->start[n->first[l + 1]]; k++)
                list_float(&list, n->weight[k]);
    close_list(e);
}

static void write_neurons(const exporting *e)
{
    const spry_network *n = e->n;
    listing list = open_list(e, "count_t", "count");

    for (int64_t v = n->inputs; v < n->neurons; v++)
        list_count(&list, n->start[v + 1] - n->start[v]);
    close_list(e);
    list = open_list(e, "float", "bias");
    for (int64_t v = n->inputs; v < n->neurons; v++)
        list_float(&list, n->bias[v]);
    close_list(e);
}

static void write_outputs(const exporting *e)
{
    const spry_network *n = e->n;
    listing list = open_list(e, "unsigned", "output");
    int64_t last = n->first[n->layers - 1];

    for (int64_t i = 0; i < n->outputs; i++)
        list_count(&list, n->chained
                              ? slot_of(e, n->layers - 1) + n->output[i] - last
                              : n->output[i]);
    close_list(e);
}

/* As the text calls them; tanh is a function there. */
static const char *const curves[] = {"linear", "relu", "clamp", "tangent",
                                     "sigmoid"};

static void write_layers(const exporting *e)
{
    const spry_network *n = e->n;
    int64_t weights = 0;

    fprintf(e->f, "static const layer layers[] = {\n");
    for (int64_t l = 0; l < n->layers; l++) {
        int64_t first = n->first[l], edge = n->start[first];
        int64_t edges = n->start[n->first[l + 1]] - edge;
        int even = is_even(n, l);
        char limit[SP_REAL + 4], scale[SP_REAL + 4];

        print_float(limit, n->activation[l].limit);
        print_float(scale, even && edges ? n->weight[edge] : 0);
        fprintf(e->f,
                "    {%lld, %lld, %lld, %lld,\n"
                "     %lld, %lld, %s, %d, %s, %s},\n",
                (long long)slot_of(e, e->n->chained ? l - 1 : -1),
                (long long)slot_of(e, l), (long long)(n->first[l + 1] - first),
                (long long)(first - n->inputs), (long long)edge,
                (long long)weights, curves[n->activation[l].curve], even, limit,
                scale);
        weights += even ? 0 : edges;
    }
    fprintf(e->f, "};\nenum { LAYERS = %lld };\n\n", (long long)n->layers);
}

/* ---- text ---- */

/* @ stands for the name. */
static void write_text(const exporting *e, const char *text)
{
    for (const char *at = text; *at; at++)
        if (*at == '@')
            fputs(e->name, e->f);
        else
            fputc(*at, e->f);
}

static void write_about(const exporting *e, const char *ending)
{
    fprintf(e->f,
            "/* %s.%s - written by spry: a network of %lld layers, %lld\n"
            " * neurons and %lld edges. Compile %s.c with -std=c99 -O3 and\n"
            " * -march=native, and link with -lm. */\n",
            e->name, ending, (long long)e->n->layers, (long long)e->n->neurons,
            (long long)e->n->edges, e->name);
}

/* ---- files ---- */

static void write_header(const exporting *e)
{
    write_about(e, "h");
    write_text(e, sp_export_guard);
    fprintf(e->f,
            "enum {\n    %s_INPUTS = %lld,\n    %s_OUTPUTS = %lld,\n"
            "    %s_ROOM = %lld\n};\n",
            e->name, (long long)e->n->inputs, e->name, (long long)e->n->outputs,
            e->name, 8 * (long long)slots(e));
    write_text(e, sp_export_header);
}

static void write_source(const exporting *e)
{
    const spry_network *n = e->n;

    write_about(e, "c");
    fprintf(e->f,
            "#include \"%s.h\"\n\n#include <math.h>\n#include <string.h>\n\n"
            "enum { EIGHT = 8, BIAS_ON_NONZERO = %d };\n"
            "typedef %s source_t;\ntypedef %s count_t;\n",
            e->name, n->bias_on_nonzero,
            type_for(n->chained ? e->width : n->neurons),
            type_for(sp_network_most_edges(n)));
    write_text(e, sp_export_types);
    write_sources(e);
    write_weights(e);
    write_neurons(e);
    write_outputs(e);
    write_layers(e);
    write_text(e, sp_export_finish);
    write_text(e, sp_export_one);
    write_text(e, sp_export_eight);
    write_text(e, sp_export_run);
}

static spry_status too_many(const spry_network *n)
{
    return sp_fail(SPRY_USAGE,
                   "%lld edges are too many for a file of C; at most %d",
                   (long long)n->edges, EDGES_MOST);
}

spry_status sp_export_source(char **out, const spry_network *n)
{
    exporting e = {n, "network", NULL, widest(n)};
    size_t size;
    int good;

    *out = NULL;
    if (n->edges > EDGES_MOST)
        return too_many(n);
    e.f = open_memstream(out, &size);
    if (!e.f)
        return sp_fail_errno(SPRY_SYSTEM, "no text can be written");
    write_source(&e);
    good = !ferror(e.f) && fclose(e.f) == 0;
    return good ? SPRY_OK : sp_fail_memory((size_t)n->edges);
}

static spry_status write_file(exporting *e, const char *dir, const char *ending,
                              void (*write)(const exporting *e))
{
    char path[4096];
    sp_writer w;
    spry_status s;
    int good;

    snprintf(path, sizeof path, "%s/%.64s.%s", dir, e->name, ending);
    s = sp_writer_open(&w, path);
    if (s != SPRY_OK)
        return s;
    e->f = w.f;
    write(e);
    good = !ferror(w.f);
    s = sp_writer_close(&w, good);
    return good ? s : sp_fail_errno(SPRY_SYSTEM, "cannot write %s", path);
}

spry_status spry_network_export(const spry_network *n, const char *dir,
                                const char *name)
{
    SP_NEED(n, dir, name);

    exporting e = {n, name, NULL, widest(n)};
    spry_status s;

    s = sp_need_export(dir, name);
    if (s == SPRY_OK && n->edges > EDGES_MOST)
        s = too_many(n);
    if (s == SPRY_OK)
        s = write_file(&e, dir, "c", write_source);
    return s == SPRY_OK ? write_file(&e, dir, "h", write_header) : s;
}
