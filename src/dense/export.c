/* export.c - plans as C that stands alone: files, weights, templates. */
#include <string.h>

#include "dense/export_inside.h"
#include "dense/tiling.h"

enum { ALIGN = SP_EXPORT_ALIGN };

const sp_export_algorithm sp_export_algorithms[SP_ALGORITHMS] = {
    [SP_PLAIN] = {"plain", "run_rows", "sp_plain_part", "plain",
                  "sp_plain_rows"},
    [SP_DIRECT] = {"tile", "run_direct", "sp_direct_part", "tiles",
                   "sp_tile_set"},
    [SP_WINO2] = {"winograd", "run_winograd", "sp_winograd_part", "winograd",
                  "sp_winograd_set"},
    [SP_DW] = {"depthwise", "run_depthwise", "sp_depthwise_part", "depthwise",
               "sp_depthwise_set"},
    [SP_ROWS] = {"rows", "run_rows", "sp_rows_part", "rows", "sp_row_loops"},
    [SP_PRUNED] = {"pruned", "run_pruned", "sp_pruned_part", "pruned",
                   "sp_pruned_set"}};

/* ---- weights ---- */

static int add_part(sp_export_weights *w, const void *data, int64_t bytes)
{
    if (!data || bytes <= 0)
        return -1;
    w->part[w->parts] = (sp_export_constant){data, bytes};
    w->at[w->parts] = w->bytes;
    w->bytes += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return w->parts++;
}

/* Floats of a plan's bias: padded to whole vectors. */
static int64_t bias_floats(const sp_dense_plan *plan)
{
    const sp_tiling *t = plan->tiling;
    int lanes = plan->core.loops.tiles->lanes, group = SP_PRUNED_GROUP;

    if (plan->x.algorithm == SP_PRUNED)
        return (plan->p->cols + group - 1) / group * group;
    if (plan->x.algorithm == SP_DW)
        return t->w_tap;
    return t->groups * ((t->k + lanes - 1) / lanes * lanes);
}

static sp_export_arrays add_arrays(sp_export_weights *w,
                                   const sp_dense_plan *plan)
{
    const spry_operator *op = &plan->p->op;
    sp_export_arrays a = {-1, -1, -1, -1};

    a.packed = add_part(w, plan->packed, (int64_t)plan->head.bytes);
    if (plan->bias)
        a.bias = add_part(w, plan->bias, 4 * bias_floats(plan));
    if (op->kind == SPRY_LAYERNORM)
        a.op_weights = add_part(w, op->weights, 4 * sp_dense_weights(op));
    if (op->kind == SPRY_LAYERNORM || plan->x.algorithm == SP_PLAIN)
        a.op_bias = add_part(w, op->bias, 4 * sp_dense_bias(op));
    return a;
}

/* The arrays and their places; a stamp that code and file have in common. */
static spry_status plan_weights(sp_exporting *z)
{
    const sp_export *x = z->x;
    int64_t most = x->constants + 4 * (int64_t)x->steps + 1;
    sp_hash h = sp_hash_begin();

    z->w.part = sp_alloc(most, sizeof *z->w.part);
    z->w.at = sp_alloc(most, sizeof *z->w.at);
    z->of = sp_alloc(x->steps + 1, sizeof *z->of);
    if (!z->w.part || !z->w.at || !z->of)
        return sp_fail_memory((size_t)most * sizeof *z->w.part);
    z->w.bytes = ALIGN;
    for (int i = 0; i < x->constants; i++) /* even an empty one has a number */
        if (add_part(&z->w, x->constant[i].data, x->constant[i].bytes) < 0)
            z->w.at[z->w.parts++] = ALIGN;
    for (int i = 0; i < x->steps; i++)
        if (x->step[i].plan)
            z->of[i] = add_arrays(&z->w, x->step[i].plan);
    for (int i = 0; i < z->w.parts; i++)
        sp_hash_add(&h, z->w.part[i].data, (size_t)z->w.part[i].bytes);
    sp_hash_add(&h, z->w.at, (size_t)z->w.parts * sizeof *z->w.at);
    sp_hash_hex(z->w.stamp, h);
    return SPRY_OK;
}

static spry_status write_weights(const sp_exporting *z)
{
    char path[4096], head[ALIGN] = {0};
    sp_writer w;
    spry_status s;
    int good;

    snprintf(path, sizeof path, "%.4000s/%.64s.bin", z->dir, z->name);
    s = sp_writer_open(&w, path);
    if (s != SPRY_OK)
        return s;
    snprintf(head, sizeof head, "spry weights 1\n%s\n", z->w.stamp);
    good = fwrite(head, 1, ALIGN, w.f) == ALIGN;
    for (int i = 0; i < z->w.parts; i++) {
        size_t n = (size_t)z->w.part[i].bytes;
        size_t pad = (ALIGN - n % ALIGN) % ALIGN;
        static const char zero[ALIGN];

        good &= (n == 0 || fwrite(z->w.part[i].data, 1, n, w.f) == n) &&
                fwrite(zero, 1, pad, w.f) == pad;
    }
    s = sp_writer_close(&w, good);
    return good ? s : sp_fail_errno(SPRY_SYSTEM, "cannot write %s", path);
}

/* ---- which kernels ---- */

static void note_plan(sp_exporting *z, const sp_dense_plan *plan)
{
    const sp_dense_way *x = &plan->x;
    const spry_operator *op = &plan->p->op;

    z->uses[x->algorithm] = 1;
    if (plan->scratch > z->scratch)
        z->scratch = plan->scratch;
    if (x->algorithm == SP_DIRECT || x->algorithm == SP_WINO2) {
        int lanes = plan->core.loops.tiles->lanes;

        for (int64_t b = 0; b < plan->tiling->blocks; b++) {
            int v = sp_tiling_vectors(plan->tiling, b, lanes);

            z->mr[v] = x->mr > z->mr[v] ? x->mr : z->mr[v];
        }
    }
    /* a B of each run that lies as rows is turned by loops for pixels */
    if (x->algorithm == SP_DIRECT && op->given && op->transposed)
        z->uses[SP_PRUNED] = 1;
    if (x->algorithm == SP_DW && x->mr > z->depth[op->s / 2][op->stride_w])
        z->depth[op->s / 2][op->stride_w] = x->mr;
}

static spry_status note_steps(sp_exporting *z)
{
    for (int i = 0; i < z->x->steps; i++) {
        const sp_export_step *s = &z->x->step[i];

        if (s->plan && !sp_export_algorithms[s->plan->x.algorithm].kernel)
            return sp_fail(SPRY_USAGE, "%s cannot be written as C",
                           s->plan->head.text);
        if (s->plan) {
            note_plan(z, s->plan);
            sp_export_entry(&z->entries, s->plan, &z->w, &z->of[i]);
        } else if (s->move)
            sp_export_move(&z->moves, s->move);
        sp_export_call(&z->calls, s,
                       s->plan   ? z->operators++
                       : s->move ? z->move_count++
                                 : 0,
                       &z->w);
    }
    z->uses[SP_DIRECT] |= z->uses[SP_DW] | z->uses[SP_WINO2];
    return SPRY_OK;
}

/* ---- files ---- */

static const char *text_of(const char *name)
{
    const sp_export_text *t = sp_export_texts;

    while (t->name && strcmp(t->name, name) != 0)
        t++;
    return (const char *)t->text;
}

/* Tiles of kernels/tile.c and kernels/depthwise.c: those that are needed. */
static void add_tiles(sp_buf *out, const sp_exporting *z, sp_algorithm a)
{
    sp_buf_add(out, "#define ALL(DO)");
    for (int v = 1; a == SP_DIRECT && v <= SP_TILE_V; v++)
        for (int m = 1; m <= (v == 1 && !z->mr[v] ? 1 : z->mr[v]); m++)
            sp_buf_printf(out, " DO(%d, %d)", v, m);
    for (int i = 0; a == SP_DW && i < 9; i++)
        for (int m = 1; m <= z->depth[i / 3][i % 3]; m++)
            sp_buf_printf(out, " DO(%d, %d, %d)", i / 3 * 2 + 1, i % 3, m);
    sp_buf_add(out, "\n");
}

/* kernels/NAME.c: loops for the one instruction set. */
static spry_status write_loops(const sp_exporting *z, int a)
{
    const char *kernel = sp_export_algorithms[a].kernel;
    char file[80], body[64];
    sp_buf out = {0};
    spry_status s;

    snprintf(body, sizeof body, "%s_body.h", kernel);
    snprintf(file, sizeof file, "kernels/%s", body);
    s = sp_export_put(z, file, text_of(body));
    sp_buf_printf(&out, "/* %s.c - for %s. */\n@NEEDED@#include \"loops.h\"\n",
                  kernel, spry_isa_name(z->x->isa));
    if (a == SP_DIRECT || a == SP_DW)
        add_tiles(&out, z, (sp_algorithm)a);
    sp_buf_printf(&out, "#include \"%s\"\n", body);
    snprintf(file, sizeof file, "kernels/%s.c", kernel);
    if (s == SPRY_OK)
        s = out.failed ? sp_fail_memory(out.len)
                       : sp_export_put(z, file, out.data);
    sp_buf_free(&out);
    return s;
}

static spry_status write_kernels(const sp_exporting *z)
{
    static const char *const always[] = {
        "operator.h", "core.h", "tile.h",     "tiling.h",
        "pruned.h",   "move.h", "turn.h",     "tiling.c",
        "move.c",     "act.c",  "run_rows.c", "curves_body.h"};
    spry_status s = SPRY_OK;
    char file[64];

    for (size_t i = 0; s == SPRY_OK && i < sizeof always / sizeof *always;
         i++) {
        snprintf(file, sizeof file, "kernels/%s", always[i]);
        s = sp_export_put(z, file, text_of(always[i]));
    }
    for (int a = 0; s == SPRY_OK && a < SP_ALGORITHMS; a++) {
        if (!z->uses[a])
            continue;
        s = write_loops(z, a);
        snprintf(file, sizeof file, "kernels/%s.c",
                 sp_export_algorithms[a].source);
        if (s == SPRY_OK)
            s = sp_export_put(z, file, text_of(file + 8));
    }
    if (s == SPRY_OK)
        s = sp_export_put(z, "kernels/base.h", text_of("base.h.in"));
    if (s == SPRY_OK)
        s = sp_export_put(z, "kernels/loops.h", text_of("loops.h.in"));
    return s;
}

static spry_status write_files(sp_exporting *z)
{
    static const char *const ending[] = {"c", "h"};
    char path[4200];
    spry_status s;

    snprintf(path, sizeof path, "%.4000s/kernels", z->dir);
    s = sp_make_dirs(path, 0777);
    sp_export_mark(z);
    if (s == SPRY_OK)
        s = write_weights(z);
    if (s == SPRY_OK)
        s = write_kernels(z);
    for (int i = 0; s == SPRY_OK && i < 2; i++) {
        char file[80], text[16];

        snprintf(file, sizeof file, "%.64s.%s", z->name, ending[i]);
        snprintf(text, sizeof text, "network.%s.in", ending[i]);
        s = sp_export_put(z, file, text_of(text));
    }
    if (s == SPRY_OK)
        s = sp_export_put(z, "example.c", text_of("example.c.in"));
    if (s == SPRY_OK)
        s = sp_export_put(z, "CMakeLists.txt", text_of("CMakeLists.txt.in"));
    sp_export_unmark(z);
    return s;
}

spry_status sp_export_write(const sp_export *x, const char *dir,
                            const char *name)
{
    sp_exporting z = {.x = x, .dir = dir, .name = name, .scratch = x->scratch};
    spry_status s;

    s = sp_need_export(dir, name);
    if (s == SPRY_OK)
        s = plan_weights(&z);
    if (s == SPRY_OK)
        s = note_steps(&z);
    if (s == SPRY_OK)
        s = write_files(&z);
    sp_buf_free(&z.entries);
    sp_buf_free(&z.moves);
    sp_buf_free(&z.calls);
    sp_free(z.w.part);
    sp_free(z.w.at);
    sp_free(z.of);
    return s;
}
