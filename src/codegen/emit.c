/* emit.c - the parts that kernels have in common. */
#include "codegen/emit.h"

#include <stdarg.h>

#include "machine/isa.h"

void sp_line(sp_emit *e, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    sp_buf_add(e->out, text);
    sp_buf_add(e->out, "\n");
}

const char *sp_vec(char out[16], const sp_emit *e, int width)
{
    if (width == 1)
        snprintf(out, 16, "%s", e->T);
    else
        snprintf(out, 16, "%s%d", e->v, width);
    return out;
}

const char *sp_mem(char out[16], const sp_emit *e, int width)
{
    if (width == 1)
        snprintf(out, 16, "%s", e->T);
    else
        snprintf(out, 16, "%s%du", e->v, width);
    return out;
}

sp_pieces sp_pieces_of(const sp_emit *e, int count)
{
    sp_pieces p = {.total = count};

    for (int width = e->lanes, at = 0; at < count; width /= 2)
        while (count - at >= width && p.count < 32) {
            p.width[p.count] = width;
            p.offset[p.count++] = at;
            at += width;
        }
    return p;
}

/* What only tensors have. */
static void open_tensor(sp_emit *e)
{
    int in_fibers = sp_formats[e->k->format].fibers;

    sp_line(e, "    const %s *restrict D = a->D;", e->T);
    sp_line(e, "    const %s *restrict mid = a->mid;", in_fibers ? e->I : e->J);
    if (in_fibers)
        sp_line(e, "    const %s *restrict mid_start = a->mid_start;", e->I);
    if (in_fibers && e->k->prefetch)
        sp_line(e, "    const int64_t mid_ahead = a->mid_prefetch;");
}

/* Two columns of 16 or 32 bits are one word, the first one low. */
static int paired(const sp_emit *e)
{
    return e->k->index != 64 && sp_isa_of(e->k->isa)->packs_words;
}

void sp_emit_columns(sp_emit *e, int from, int count)
{
    int bits = 2 * (int)e->k->index;

    if (e->k->index == 8) {
        sp_emit_bytes(e, "col", from, count);
        return;
    }
    for (int at = from; paired(e) && at < from + count; at += 2)
        sp_line(e,
                "            const uint%d_t w%d = *(const sp_pair%d *)(col + "
                "k + %d);",
                bits, at, bits, at);
}

const char *sp_column(char out[48], const sp_emit *e, int at)
{
    int bits = (int)e->k->index;

    if (bits == 8) /* of slices only, which are walked vector by vector */
        return sp_byte(out, e, "col", at, e->lanes);
    if (!paired(e))
        snprintf(out, 48, "col[k + %d]", at);
    else if (at % 2)
        snprintf(out, 48, "w%d >> %d", at - 1, bits);
    else
        snprintf(out, 48, "(uint%d_t)w%d", bits, at);
    return out;
}

/* Products take rows of B that lie apart whether they know their width or
 * not: to multiply a row's number by a distance takes no longer than to shift
 * it, and much less than to copy B. */
static void open_columns(sp_emit *e)
{
    int apart = sp_is_product(sp_operation_of(e->k->op));

    if (e->k->n)
        sp_line(e, "    const int64_t columns = %lld;", (long long)e->k->n);
    else
        sp_line(e, "    const int64_t columns = a->columns;");
    sp_line(e, "    const int64_t n = %s, wide = a->wide;",
            e->k->n && !apart ? "columns" : "a->n");
}

void sp_emit_opening(sp_emit *e)
{
    char v[16];

    sp_line(e,
            "    const %s *restrict start = a->start, *restrict row = a->row, "
            "*restrict base = a->base;",
            e->I);
    sp_line(e, "    const %s *restrict col = a->col;", e->J);
    sp_line(e, "    const %s *restrict val = a->val, *restrict B = a->B;",
            e->T);
    if (e->k->palette > 1)
        sp_line(e, "    const uint8_t *restrict code = a->code;");
    sp_line(e, "    %s *restrict C = a->C;", e->T);
    if (sp_has_tensor(e->k->op))
        open_tensor(e);
    sp_line(e, "    const %s alpha = (%s)a->alpha, beta = (%s)a->beta;", e->T,
            e->T, e->T);
    open_columns(e);
    if (e->k->prefetch)
        sp_line(e, "    const int64_t ahead = a->prefetch;");
    for (int w = e->lanes; e->pads && w >= 1; w /= 2)
        sp_line(e, "    %s bad%d = %s;", sp_vec(v, e, w), w,
                w > 1 ? "{0}" : "0");
    sp_line(e, "    const int64_t last = a->last, stream = a->stream;");
    sp_line(e, "    (void)start, (void)row, (void)base, (void)n;");
    sp_line(e, "    (void)columns, (void)wide, (void)last, (void)stream;");
}

void sp_emit_watch(sp_emit *e, int width, const char *value)
{
    if (e->pads) /* x - x is 0 for every finite x, else NaN */
        sp_line(e, "        bad%d += %s - %s;", width, value, value);
}

void sp_emit_closing(sp_emit *e)
{
    if (!e->pads) {
        sp_line(e, "    return 0;");
        return;
    }
    for (int w = e->lanes; w > 1; w /= 2)
        sp_line(e, "    bad1 += sum_%s%d(bad%d);", e->v, w, w);
    sp_line(e, "    return bad1 != 0;");
}

void sp_emit_prefetch(sp_emit *e, const sp_pieces *p, const char *from)
{
    int line = 64 / (int)e->k->type;
    int step = sp_isa_of(e->k->isa)->pairs_lines ? 2 * line : line;

    if (!e->k->prefetch)
        return;
    for (int at = 0; at < p->total; at += step)
        sp_line(e, "            __builtin_prefetch(%s + %d);", from, at);
}

/* c[...] = alpha * acc (+ beta * c[...]) in the three ways. */
void sp_emit_store(sp_emit *e, const sp_pieces *p, const char *stem)
{
    const char *type = spry_type_name(e->k->type);
    char mem[16], name[48];

    sp_line(e, "        if (beta != 0) {");
    for (int i = 0; i < p->count; i++)
        sp_line(e, "            %s%d = alpha * %s%d + beta * *(%s *)(c + %d);",
                stem, i, stem, i, sp_mem(mem, e, p->width[i]), p->offset[i]);
    sp_line(e, "        } else {");
    for (int i = 0; i < p->count; i++)
        sp_line(e, "            %s%d = alpha * %s%d;", stem, i, stem, i);
    sp_line(e, "        }");
    for (int i = 0; i < p->count; i++) {
        snprintf(name, sizeof name, "%s%d", stem, i);
        sp_emit_watch(e, p->width[i], name);
    }
    if (p->width[0] == e->lanes)
        sp_line(e, "        if (stream) {");
    else
        sp_line(e, "        {");
    for (int i = 0; i < p->count; i++)
        if (p->width[i] == e->lanes)
            sp_line(e, "            SP_STREAM_%s((%s%d *)(c + %d), %s%d);",
                    type, e->v, e->lanes, p->offset[i], stem, i);
        else
            sp_line(e, "            *(%s *)(c + %d) = %s%d;",
                    sp_mem(mem, e, p->width[i]), p->offset[i], stem, i);
    sp_line(e, "        }");
    if (p->width[0] == e->lanes) {
        sp_line(e, "        else {");
        for (int i = 0; i < p->count; i++)
            sp_line(e, "            *(%s *)(c + %d) = %s%d;",
                    sp_mem(mem, e, p->width[i]), p->offset[i], stem, i);
        sp_line(e, "        }");
    }
}

/* for (; j + W <= stop; j += W) { body } */
static void one_loop(sp_emit *e, int width, sp_tile_body *body)
{
    sp_pieces p = sp_pieces_of(e, width);

    sp_line(e, "    for (; j + %d <= stop; j += %d) {", width, width);
    body(e, &p);
    sp_line(e, "    }");
}

/* With the width known, what full tiles leave over is one tile of its own;
 * without, it is taken in halves. */
static void tiles(sp_emit *e, sp_tile_body *body)
{
    int full = e->k->tile * e->lanes;
    int64_t n = e->k->n;

    if (!n) {
        int half = 1;

        while (half * 2 < full)
            half *= 2;
        one_loop(e, full, body);
        for (; half >= 1 && full > 1; half /= 2)
            one_loop(e, half, body);
        return;
    }
    if (n == full) { /* no loop at all: rows are short */
        sp_pieces p = sp_pieces_of(e, full);

        sp_line(e, "    {");
        body(e, &p);
        sp_line(e, "    }");
    } else if (n > full)
        one_loop(e, full, body);
    if (n % full) {
        sp_pieces p = sp_pieces_of(e, (int)(n % full));

        sp_line(e, "    if (j < stop) {");
        body(e, &p);
        sp_line(e, "    }");
    }
}

/* A width that is known is done in one pass. */
void sp_emit_passes(sp_emit *e, sp_tile_body *body)
{
    sp_emit_opening(e);
    if (e->k->n) {
        sp_line(e, "    {");
        sp_line(e, "    const int64_t from = 0, stop = columns;");
    } else {
        sp_line(e, "    const int64_t pass = a->pass;");
        sp_line(e,
                "    for (int64_t from = 0; from < columns; from += pass) {");
        sp_line(e, "    const int64_t stop = from + pass < columns ? "
                   "from + pass : columns;");
    }
    sp_line(e, "    (void)stop;");
    sp_line(e, "    for (int64_t u = a->first; u < last; u++) {");
    sp_line(e, "    int64_t j = from;");
    tiles(e, body);
    sp_line(e, "    }");
    sp_line(e, "    }");
    sp_line(e, "    if (stream)");
    sp_line(e, "        SP_FENCE();");
    sp_emit_closing(e);
}
