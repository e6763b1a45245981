/* export_marks.c - templates: what their marks stand for. */
#include <ctype.h>
#include <string.h>

#include "dense/export_inside.h"

/* ---- operands ---- */

/* input, or input0_x: a name that C takes, for operand i. */
static void add_name(sp_buf *out, const sp_export_operand *list, int count,
                     int i, const char *what)
{
    sp_buf_add(out, what);
    if (count == 1)
        return;
    sp_buf_printf(out, "%d_", i);
    for (const char *c = list[i].name; *c && c - list[i].name < 40; c++)
        sp_buf_printf(out, "%c", isalnum((unsigned char)*c) ? *c : '_');
}

static void add_parameters(sp_buf *out, const sp_exporting *z)
{
    const sp_export *x = z->x;

    for (int i = 0; i < x->inputs + x->outputs; i++) {
        int in = i < x->inputs, k = in ? i : i - x->inputs;
        const sp_export_operand *o = in ? &x->input[k] : &x->output[k];

        sp_buf_printf(out, ",\n    %s%s *", in ? "const " : "",
                      o->whole ? "int64_t" : "float");
        add_name(out, in ? x->input : x->output, in ? x->inputs : x->outputs, k,
                 in ? "input" : "output");
    }
}

static void add_operand_notes(sp_buf *out, const sp_exporting *z)
{
    const sp_export *x = z->x;

    sp_buf_add(out, "/* Rows first:\n");
    for (int i = 0; i < x->inputs + x->outputs; i++) {
        int in = i < x->inputs, k = in ? i : i - x->inputs;
        const sp_export_operand *o = in ? &x->input[k] : &x->output[k];

        sp_buf_add(out, " *   ");
        add_name(out, in ? x->input : x->output, in ? x->inputs : x->outputs, k,
                 in ? "input" : "output");
        sp_buf_printf(out, "  %s\n", o->shape);
    }
    sp_buf_add(out, " */\n");
}

static void add_names(sp_buf *out, const sp_export_operand *list, int count,
                      const char *what)
{
    for (int i = 0; i < count; i++) {
        sp_buf_add(out, i ? ", " : "");
        add_name(out, list, count, i, what);
    }
    sp_buf_add(out, count ? "" : "NULL");
}

static void add_sizes(sp_buf *out, const sp_export_operand *list, int count)
{
    for (int i = 0; i < count; i++)
        sp_buf_printf(out, "{%lld, %d}, ", (long long)list[i].count,
                      list[i].whole);
    sp_buf_add(out, "{0, 0}");
}

static void add_arguments(sp_buf *out, const sp_exporting *z)
{
    for (int i = 0; i < z->x->inputs; i++)
        sp_buf_printf(out, ", in[%d]", i);
    for (int i = 0; i < z->x->outputs; i++)
        sp_buf_printf(out, ", out[%d]", i);
}

static void add_flags(sp_buf *out, const sp_exporting *z, const char *before)
{
    const char *const *f = sp_isa_of(z->x->isa)->flags;

    for (int i = 0; i < SP_ISA_FLAGS && f[i]; i++)
        sp_buf_printf(out, "%s%s", before, f[i]);
}

static void add_in_capitals(sp_buf *out, const char *word)
{
    for (; *word; word++)
        sp_buf_printf(out, "%c", toupper((unsigned char)*word));
}

/* What the compiler must have been told, or the wrong kernels come out. */
static void add_needed(sp_buf *out, const sp_exporting *z)
{
    const char *const *f = sp_isa_of(z->x->isa)->flags;

    for (int i = 0; i < SP_ISA_FLAGS && f[i]; i++) {
        if (strncmp(f[i], "-m", 2) != 0 || strchr(f[i], '='))
            continue;
        sp_buf_add(out, "#ifndef __");
        add_in_capitals(out, f[i] + 2);
        sp_buf_printf(out, "__\n#error \"compile it with %s\"\n#endif\n", f[i]);
    }
}

/* C has no empty lists: moves alone need none of them. */
static void add_loops(sp_buf *out, const sp_exporting *z)
{
    for (int a = 0; a < SP_ALGORITHMS; a++)
        if (z->uses[a])
            sp_buf_printf(out, "%s.%s = %sSET(%s)", out->len ? ", " : "",
                          sp_export_algorithms[a].loop,
                          a == SP_PLAIN || a == SP_ROWS ? "" : "&",
                          sp_export_algorithms[a].table);
    if (!out->len)
        sp_buf_add(out, ".plain = NULL");
}

static void add_parts(sp_buf *out, const sp_exporting *z)
{
    for (int a = 0; a < SP_ALGORITHMS; a++)
        if (z->uses[a])
            sp_buf_printf(out, "%s[%d] = %s", out->len ? ", " : "", a,
                          sp_export_algorithms[a].part);
    if (!out->len)
        sp_buf_add(out, "NULL");
}

/* Files of kernels/ that are compiled: loops, and what walks over them. */
static void add_sources(sp_buf *out, const sp_exporting *z, int loops)
{
    static const char *const always[] = {"move", "tiling", "act", "run_rows"};

    for (size_t i = 0; !loops && i < sizeof always / sizeof *always; i++)
        sp_buf_printf(out, " kernels/%s.c", always[i]);
    for (int a = 0; a < SP_ALGORITHMS; a++)
        if (z->uses[a] && loops)
            sp_buf_printf(out, " kernels/%s.c", sp_export_algorithms[a].kernel);
        else if (z->uses[a] && a != SP_PLAIN && a != SP_ROWS)
            sp_buf_printf(out, " kernels/%s.c", sp_export_algorithms[a].source);
}

/* ---- marks ---- */

static sp_buf *mark(sp_exporting *z, const char *name)
{
    z->mark[z->marks].name = name;
    return &z->mark[z->marks++].text;
}

static void mark_number(sp_exporting *z, const char *name, int64_t x)
{
    sp_buf_printf(mark(z, name), "%lld", (long long)x);
}

static void mark_numbers(sp_exporting *z)
{
    const sp_export *x = z->x;
    int64_t arena = sp_round_up(x->arena, SP_EXPORT_ALIGN),
            scratch = sp_round_up(z->scratch, SP_EXPORT_ALIGN);

    mark_number(z, "BYTES", sp_isa_of(x->isa)->bytes);
    mark_number(z, "THREADS", x->threads);
    mark_number(z, "OPERATORS", z->operators);
    mark_number(z, "STEPS", x->steps);
    mark_number(z, "WEIGHTS", z->w.bytes);
    mark_number(z, "ARENA", arena);
    mark_number(z, "SCRATCH", scratch);
    mark_number(z, "MEMORY", arena + scratch * x->threads + SP_EXPORT_ALIGN);
    mark_number(z, "INPUT_COUNT", x->inputs);
    mark_number(z, "OUTPUT_COUNT", x->outputs);
}

/* A comment cannot end within what it is about. */
static void add_about(sp_buf *out, const char *text)
{
    for (; *text; text++)
        sp_buf_printf(out, "%c",
                      *text == '*' || !isprint((unsigned char)*text) ? '_'
                                                                     : *text);
}

void sp_export_mark(sp_exporting *z)
{
    const sp_export *x = z->x;

    sp_buf_add(mark(z, "NAME"), z->name);
    add_about(mark(z, "ABOUT"), x->about);
    sp_buf_add(mark(z, "STAMP"), z->w.stamp);
    mark_numbers(z);
    sp_buf_bytes(mark(z, "ENTRIES"), z->entries.data, z->entries.len);
    sp_buf_bytes(mark(z, "MOVES"), z->moves.data, z->moves.len);
    sp_buf_bytes(mark(z, "CALLS"), z->calls.data, z->calls.len);
    add_flags(mark(z, "FLAGS"), z, " ");
    add_flags(mark(z, "OPTIONS"), z, ";");
    add_needed(mark(z, "NEEDED"), z);
    add_loops(mark(z, "LOOPS"), z);
    add_parts(mark(z, "PARTS"), z);
    add_sources(mark(z, "SOURCES"), z, 0);
    add_sources(mark(z, "KERNELS"), z, 1);
    add_operand_notes(mark(z, "OPERANDS"), z);
    add_parameters(mark(z, "PARAMETERS"), z);
    add_arguments(mark(z, "ARGUMENTS"), z);
    add_names(mark(z, "INPUTS"), x->input, x->inputs, "input");
    add_names(mark(z, "OUTPUTS"), x->output, x->outputs, "output");
    add_sizes(mark(z, "INPUT_SIZES"), x->input, x->inputs);
    add_sizes(mark(z, "OUTPUT_SIZES"), x->output, x->outputs);
}

void sp_export_unmark(sp_exporting *z)
{
    for (int i = 0; i < z->marks; i++)
        sp_buf_free(&z->mark[i].text);
    z->marks = 0;
}

/* The mark that begins at text, and in *end what is behind it. */
static const sp_buf *mark_at(const sp_exporting *z, const char *text,
                             const char **end)
{
    for (int i = 0; *text == '@' && i < z->marks; i++) {
        size_t n = strlen(z->mark[i].name);

        if (strncmp(text + 1, z->mark[i].name, n) == 0 && text[n + 1] == '@') {
            *end = text + n + 2;
            return &z->mark[i].text;
        }
    }
    return NULL;
}

spry_status sp_export_put(const sp_exporting *z, const char *file,
                          const char *text)
{
    static const char *const room[] = {"#include \"base/", "#include \"dense/",
                                       "#include \"spry/"};
    char path[4200];
    sp_buf out = {0};
    spry_status s;

    snprintf(path, sizeof path, "%.4000s/%s", z->dir, file);
    while (*text) {
        const char *end = text;
        const sp_buf *m = mark_at(z, text, &end);

        for (int i = 0; i < 3; i++) /* here they lie side by side */
            if (strncmp(text, room[i], strlen(room[i])) == 0) {
                sp_buf_add(&out, "#include \"");
                end = text + strlen(room[i]);
            }
        if (m)
            sp_buf_bytes(&out, m->data, m->len);
        else if (end == text)
            sp_buf_bytes(&out, end++, 1);
        text = end;
    }
    s = out.failed ? sp_fail_memory(out.len)
                   : sp_file_write(path, out.data, out.len);
    sp_buf_free(&out);
    return s;
}
