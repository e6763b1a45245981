/* export.c - a plan as C that stands alone: NAME.c, NAME.h and NAME.bin.
 *
 * The .bin holds the packed arrays one after the other, each on 64 bytes;
 * the .c knows where each begins, so loading is reading the file. */
#include "plan/sparse.h"

#include <ctype.h>
#include <string.h>

#include "base/base.h"

enum { ALIGN = 64, ARRAYS = 11 };

/* The arrays of a part in file order, with their sizes in bytes. */
typedef struct {
    const void *data[ARRAYS];
    int64_t bytes[ARRAYS];
} arrays;

static const char *const array_names[ARRAYS] = {
    "start", "col",   "val",    "code", "row",      "base",
    "out",   "whole", "length", "mid",  "mid_start"};

static arrays arrays_of(const sp_sparse_plan *plan, const sp_part *q)
{
    int64_t wide = plan->packed->index == 64 ? 8 : 4;
    int64_t lanes = sp_schedule_slice(
        &plan->x, plan->p->op, sp_codegen_lanes(plan->spec.isa, plan->p->type));
    int64_t mid = q->mid_start ? wide : plan->packed->index / 8;
    arrays a = {
        {q->start, q->col, q->val, q->code, q->row, q->base, q->out, q->whole,
         q->length, q->mid, q->mid_start},
        {(q->units + 1) * wide,
         (q->entries + plan->packed->spare) * (plan->packed->index / 8),
         (q->values + plan->packed->spare) * (int64_t)plan->p->type,
         q->entries + plan->packed->spare, q->units * lanes * wide,
         (plan->packed->index == 8 ? q->entries / lanes : q->units) * wide,
         plan->x.format == SPRY_SUPER ? q->values * wide : q->units * 8,
         q->units * wide, q->units * lanes * (int64_t)plan->p->type,
         (q->fibers + plan->packed->spare) * mid, (q->fibers + 1) * wide}};

    return a;
}

static spry_status write_data(const sp_sparse_plan *plan, const char *path)
{
    static const char zero[ALIGN];
    sp_writer w;
    spry_status s = sp_writer_open(&w, path);
    int good = 1;

    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < plan->packed->parts; i++) {
        arrays a = arrays_of(plan, &plan->packed->part[i]);

        for (int j = 0; j < ARRAYS; j++) {
            size_t n = (size_t)a.bytes[j];
            size_t pad = (size_t)(sp_round_up(a.bytes[j], ALIGN) - a.bytes[j]);

            if (a.data[j])
                good &= fwrite(a.data[j], 1, n, w.f) == n &&
                        fwrite(zero, 1, pad, w.f) == pad;
        }
    }
    s = sp_writer_close(&w, good);
    return good ? s : sp_fail_errno(SPRY_SYSTEM, "cannot write %s", path);
}

/* Threads that call the kernel: a nest deals out its own. */
static int shares_of(const sp_sparse_plan *plan)
{
    return plan->x.format == SPRY_SUPER ? 1 : plan->x.threads;
}

static void add_numbers(sp_buf *out, const char *name, const int64_t *number,
                        int64_t count)
{
    sp_buf_printf(out, "static const int64_t %s[] = {", name);
    for (int64_t d = 0; d < count; d++)
        sp_buf_printf(out, "%s%lld", d ? ", " : "", (long long)number[d]);
    sp_buf_add(out, count ? "};\n" : "0};\n");
}

/* One initialiser per part: offsets into the data, -1 for none. */
static int64_t add_parts(sp_buf *out, const sp_sparse_plan *plan)
{
    static const int64_t whole[] = {0, 1};
    int64_t at = 0;

    sp_buf_printf(
        out,
        "enum { PARTS = %d, THREADS = %d };\n"
        "static const struct {\n"
        "    int64_t col0, start, col, val, code, row, base, out, whole, "
        "length, mid, "
        "mid_start, mid_prefetch, cut[THREADS + 1];\n"
        "} part[PARTS] = {\n",
        plan->packed->parts, shares_of(plan));
    for (int i = 0; i < plan->packed->parts; i++) {
        const sp_part *q = &plan->packed->part[i];
        const int64_t *cut = q->cut ? q->cut : whole;
        arrays a = arrays_of(plan, q);

        sp_buf_printf(out, "    {.col0 = %lld", (long long)q->col0);
        for (int j = 0; j < ARRAYS; j++) {
            sp_buf_printf(out, ", .%s = %lld", array_names[j],
                          a.data[j] ? (long long)at : -1LL);
            at += a.data[j] ? sp_round_up(a.bytes[j], ALIGN) : 0;
        }
        sp_buf_printf(out, ", .mid_prefetch = %lld",
                      (long long)sp_plan_mid_prefetch(plan, q));
        sp_buf_add(out, ", .cut = {");
        for (int t = 0; t <= shares_of(plan); t++)
            sp_buf_printf(out, "%s%lld", t ? ", " : "", (long long)cut[t]);
        sp_buf_add(out, "}},\n");
    }
    sp_buf_add(out, "};\n");
    return at;
}

static void add_constants(sp_buf *out, const sp_sparse_plan *plan,
                          int64_t bytes)
{
    const sp_sparse *p = plan->p;

    sp_buf_printf(
        out,
        "static const int64_t rows = %lld, cols = %lld, n = %lld, "
        "results = %lld;\n"
        "static const int64_t diagonals = %lld, bytes = %lld;\n"
        "enum { COVERS = %d, SAMPLED = %d, PREFETCH = %d };\n"
        "enum { INNER = %d, SWAPPED = %d, REST = %d };\n"
        "static const int64_t pass = %lld, threads = %d, "
        "chunk = %d;\n\n",
        (long long)p->A->rows, (long long)p->A->cols, (long long)p->n,
        (long long)sp_sparse_output_size(p), (long long)plan->packed->diagonals,
        (long long)bytes, plan->packed->covers, sp_is_sampled(p->op),
        (int)plan->x.prefetch, sp_plan_inner(plan), sp_plan_swapped(plan),
        plan->x.rest != 0, (long long)(plan->x.pass ? plan->x.pass : p->n),
        (int)plan->x.threads, (int)plan->x.chunk);
}

/* @ is the name, $ the kernel, ^ that of a rest, T the element type. */
static const char body[] =
    "struct @ {\n"
    "    char *data;\n"
    "};\n"
    "\n"
    "@ *@_load(const char *path)\n"
    "{\n"
    "    FILE *f = fopen(path, \"rb\");\n"
    "    @ *m = malloc(sizeof *m);\n"
    "    char *data = aligned_alloc(64, (size_t)bytes + 64);\n"
    "    int good = f && m && data &&\n"
    "               fread(data, 1, (size_t)bytes, f) == (size_t)bytes &&\n"
    "               fgetc(f) == EOF;\n"
    "\n"
    "    if (f)\n"
    "        fclose(f);\n"
    "    if (good) {\n"
    "        m->data = data;\n"
    "        return m;\n"
    "    }\n"
    "    free(data);\n"
    "    free(m);\n"
    "    return NULL;\n"
    "}\n"
    "\n"
    "void @_free(@ *m)\n"
    "{\n"
    "    if (m)\n"
    "        free(m->data);\n"
    "    free(m);\n"
    "}\n"
    "\n"
    "static const void *array(const @ *m, int64_t at)\n"
    "{\n"
    "    return at < 0 ? NULL : m->data + at;\n"
    "}\n"
    "\n"
    "static void share(const @ *m, int t, double alpha, const T *B,\n"
    "                  const T *D, double beta, T *C)\n"
    "{\n"
    "    for (int i = 0; i < PARTS; i++) {\n"
    "        int64_t skip = part[i].col0 * n;\n"
    "        const T *b = INNER == 0 ? B + skip : B;\n"
    "        const T *d = INNER == 1 ? D + skip : D;\n"
    "        sp_args a = {\n"
    "            .first = part[i].cut[t], .last = part[i].cut[t + 1],\n"
    "            .rows = rows, .cols = cols,\n"
    "            .columns = n, .n = n, .wide = n,\n"
    "            .start = array(m, part[i].start),\n"
    "            .col = array(m, part[i].col), .val = array(m, part[i].val),\n"
    "            .code = array(m, part[i].code),\n"
    "            .row = array(m, part[i].row), .base = array(m, part[i].base),\n"
    "            .out = array(m, part[i].out),\n"
    "            .whole = array(m, part[i].whole),\n"
    "            .length = array(m, part[i].length),\n"
    "            .diagonal = diagonal, .diagonals = diagonals,\n"
    "            .level = level, .results = results,\n"
    "            .threads = threads, .chunk = chunk,\n"
    "            .mid = array(m, part[i].mid),\n"
    "            .mid_start = array(m, part[i].mid_start),\n"
    "            .B = SWAPPED ? d : b, .D = SWAPPED ? b : d,\n"
    "            .C = INNER == 2 ? C + skip : C, .alpha = alpha,\n"
    "            .beta = i && !SAMPLED ? 1 : beta,\n"
    "            .prefetch = PREFETCH, .pass = pass,\n"
    "            .mid_prefetch = part[i].mid_prefetch,\n"
    "        };\n"
    "        if (a.first < a.last)\n"
    "            (i && REST ? ^ : $)(&a);\n"
    "    }\n"
    "}\n"
    "\n"
    "void @_run(const @ *m, double alpha, const T *B, const T *D,\n"
    "           double beta, T *C)\n"
    "{\n"
    "    if (!COVERS) {\n"
    "        for (int64_t k = 0; k < results; k++)\n"
    "            C[k] = beta == 0 ? 0 : (T)beta * C[k];\n"
    "        beta = 1;\n"
    "    }\n"
    "#pragma omp parallel for num_threads(THREADS) schedule(static)\n"
    "    for (int t = 0; t < THREADS; t++)\n"
    "        share(m, t, alpha, B, D, beta, C);\n"
    "}\n";

static const char header[] =
    "/* @.h - written by spry: ~\n"
    " *\n"
    " * Compile @.c with: cc -std=gnu11 -ffp-contract=fast%\n"
    " * and -fopenmp for threads. @.bin holds the matrix. Dense operands are\n"
    " * row-major and finite. */\n"
    "#ifndef @_H\n"
    "#define @_H\n"
    "\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "\n"
    "typedef struct @ @;\n"
    "\n"
    "/* Read @.bin; NULL when it cannot be read. */\n"
    "@ *@_load(const char *path);\n"
    "void @_free(@ *m);\n"
    "\n"
    "/* C = alpha A B + beta C; for sddmm C = alpha A .* (B D') + beta C on\n"
    " * A's entries; for mttkrp C(i,j) = alpha sum A(i,k,l) B(k,j) D(l,j) +\n"
    " * beta C(i,j). D is NULL otherwise. */\n"
    "void @_run(const @ *m, double alpha, const T *B, const T *D,\n"
    "           double beta, T *C);\n"
    "\n"
    "#ifdef __cplusplus\n"
    "}\n"
    "#endif\n"
    "#endif\n";

/* Copy text, replacing the marks. */
static void add_template(sp_buf *out, const char *text,
                         const sp_sparse_plan *plan, const char *name)
{
    const char *T = plan->p->type == SPRY_F32 ? "float" : "double";
    const char *flags[SP_FLAGS];
    char rest[SP_KERNEL_NAME];

    for (const char *at = text; *at; at++) {
        int word =
            isalnum((unsigned char)at[1]) || at[1] == '_' ||
            (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_'));

        if (*at == '@')
            sp_buf_add(out, name);
        else if (*at == '$')
            sp_buf_add(out, plan->name);
        else if (*at == '^')
            sp_buf_add(out,
                       sp_codegen_name(rest, plan->x.rest ? &plan->rest_spec
                                                          : &plan->spec));
        else if (*at == '~')
            sp_buf_add(out, plan->head.text);
        else if (*at == '%')
            for (const char *const *f = sp_codegen_flags(flags, &plan->spec);
                 *f; f++)
                sp_buf_printf(out, " %s", *f);
        else if (*at == 'T' && !word)
            sp_buf_add(out, T);
        else
            sp_buf_bytes(out, at, 1);
    }
}

static void add_source(sp_buf *out, const sp_sparse_plan *plan,
                       const char *name)
{
    int64_t bytes;

    sp_buf_printf(out, "/* %s.c - written by spry: %s */\n", name,
                  plan->head.text);
    sp_buf_printf(out, "#include \"%s.h\"\n\n", name);
    sp_buf_add(out, "#include <stdio.h>\n#include <stdlib.h>\n");
    sp_plan_source(out, plan, "static ");
    bytes = add_parts(out, plan);
    add_numbers(out, "diagonal", plan->packed->diagonal,
                plan->packed->diagonals);
    add_numbers(out, "level", plan->packed->level, SP_LEVEL_TABLE);
    add_constants(out, plan, bytes);
    add_template(out, body, plan, name);
}

/* The same storage without copies of the dense operand, for which the
 * exported function would need memory of its own. */
static sp_sparse_plan without_copies(const sp_sparse_plan *plan)
{
    sp_sparse_plan p = *plan;

    if (!p.x.copy)
        return p;
    p.x.copy = p.x.fixed = 0;
    spry_schedule_text(p.head.text, &p.x);
    p.spec = sp_codegen_spec(&p.x, p.p, p.spec.isa, p.packed->index);
    if (p.x.rest)
        p.rest_spec = sp_plan_rest_spec(&p.x, p.p, p.spec.isa, p.packed->index);
    sp_codegen_name(p.name, &p.spec);
    return p;
}

spry_status sp_sparse_export(const sp_sparse_plan *plan, const char *dir,
                             const char *name)
{
    sp_sparse_plan alone = without_copies(plan);
    sp_buf source = {0}, head = {0};
    char path[3][4096];
    static const char *const endings[] = {"c", "h", "bin"};
    spry_status s;

    s = sp_need_export(dir, name);
    if (s != SPRY_OK)
        return s;
    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "%s/%.64s.%s", dir, name, endings[i]);
    add_source(&source, &alone, name);
    add_template(&head, header, &alone, name);
    if (s == SPRY_OK && (source.failed || head.failed))
        s = sp_fail_memory(0);
    if (s == SPRY_OK)
        s = write_data(plan, path[2]);
    if (s == SPRY_OK)
        s = sp_file_write(path[0], source.data, source.len);
    if (s == SPRY_OK)
        s = sp_file_write(path[1], head.data, head.len);
    sp_buf_free(&source);
    sp_buf_free(&head);
    return s;
}
