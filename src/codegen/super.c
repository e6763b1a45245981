/* super.c - any SuperSchedule as a loop nest in C.
 *
 * Loops are written outermost first. A loop over a level of A moves the
 * position p<level>: through a dense level by arithmetic, through a
 * compressed one along pos and crd. Blocks at the end of an index are cut to
 * its length, so operands need no padding. The dense width is known here:
 * its last, shorter block gets code of its own with constant bounds. The
 * innermost dense loop becomes one operation on a row (body.c). */
#include "codegen/nest.h"

#include <stdarg.h>

static const char letters[] = "ijkl";

void sp_nest_line(sp_nest *w, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    sp_buf_printf(w->e->out, "%*s%s\n", 4 * w->depth, "", text);
}

static void close_brace(sp_nest *w)
{
    w->depth--;
    sp_nest_line(w, "}");
}

/* Does a loop add to results that its other iterations add to as well? */
static int reduces(const sp_nest *w, int place)
{
    return !sp_is_output(w->d, sp_loop_index(w->s->order[place]));
}

/* ---- the top ---- */

/* Names of every index: N its length, M its blocks, both run-time numbers. */
static void name_dims(sp_nest *w)
{
    for (int i = 0; i < w->d->modes; i++) {
        int index = w->d->sparse[i];
        char c = letters[index];

        sp_nest_line(w,
                     "const int64_t N%c = a->level[%d], M%c = (N%c + %lld) "
                     "/ %lld;",
                     c, index, c, c, (long long)w->k->size[index] - 1,
                     (long long)w->k->size[index]);
        sp_nest_line(w, "(void)M%c;", c);
    }
}

static void name_arrays(sp_nest *w)
{
    const char *I = w->e->I;

    sp_nest_line(w, "typedef %s T;", w->e->T);
    sp_nest_line(w, "const %s *restrict start = a->start;", I);
    sp_nest_line(w, "const %s *restrict col = a->col;", I);
    sp_nest_line(w, "const T *restrict val = a->val, *restrict B = a->B;");
    if (sp_is_sampled(w->k->op))
        sp_nest_line(w, "const %s *restrict out = a->out;", I);
    if (w->d->operands > 1)
        sp_nest_line(w, "const T *restrict D = a->D;");
    sp_nest_line(w, "T *restrict C = a->C;");
    sp_nest_line(w, "const T alpha = (T)a->alpha;");
    sp_nest_line(w, "const int64_t results = a->results;");
    for (int q = 0; q < w->s->loops; q++)
        if (w->level[q] >= 0 && !(w->s->dense >> w->s->order[q] & 1))
            sp_nest_line(w,
                         "const %s *restrict pos%d = start + a->level[%d], "
                         "*restrict crd%d = col + a->level[%d];",
                         I, w->level[q], SPRY_INDICES + 2 * w->level[q],
                         w->level[q], SPRY_INDICES + 2 * w->level[q] + 1);
    sp_nest_line(w, "(void)start, (void)col, (void)results;");
}

/* A zero times what is not finite is NaN, and stays in the sum. */
static void finish(sp_nest *w)
{
    if (!w->e->pads) {
        sp_nest_line(w, "return 0;");
        return;
    }
    sp_nest_line(w, "int bad = 0;");
    if (w->parallel >= 0)
        sp_nest_line(w, "#pragma omp parallel for num_threads(a->threads) "
                        "reduction(| : bad)");
    sp_nest_line(w, "for (int64_t r = 0; r < results; r++)");
    sp_nest_line(w, "    bad |= !__builtin_isfinite(C[r]);");
    sp_nest_line(w, "return bad;");
}

/* ---- loops ---- */

static void nest(sp_nest *w, int place);

/* Threads that add to the same results get copies, or add atomically. */
static void pragma(sp_nest *w, int place)
{
    if (place != w->parallel)
        return;
    sp_nest_line(w,
                 "#pragma omp parallel for num_threads(a->threads) "
                 "schedule(%s)%s",
                 w->k->dynamic ? "dynamic, a->chunk" : "static",
                 reduces(w, place) && w->k->own ? " reduction(+ : C[:results])"
                                                : "");
}

/* The position before a level. */
static const char *above(char out[16], int level)
{
    if (level == 0)
        snprintf(out, 16, "0");
    else
        snprintf(out, 16, "p%d", level - 1);
    return out;
}

/* What is known once the loop of an index, or of its inside, is entered. */
static void name_coordinate(sp_nest *w, int place)
{
    int loop = w->s->order[place], index = sp_loop_index(loop);
    char c = letters[index];

    if (sp_loop_inner(loop))
        sp_nest_line(w, "const int64_t %c = %c1 * %lld + %c0;", c, c,
                     (long long)w->k->size[index], c);
}

static void dense_level(sp_nest *w, int place, const char *x, const char *bound)
{
    int loop = w->s->order[place], level = w->level[place];
    char c = letters[sp_loop_index(loop)], up[16], extent[24];

    pragma(w, place);
    sp_nest_line(w, "for (int64_t %s = 0; %s < %s; %s++) {", x, x, bound, x);
    w->depth++;
    if (sp_loop_inner(loop))
        snprintf(extent, sizeof extent, "%lld",
                 (long long)w->k->size[sp_loop_index(loop)]);
    else
        snprintf(extent, sizeof extent, "M%c", c);
    if (level == 0)
        sp_nest_line(w, "const int64_t p0 = %s;", x);
    else
        sp_nest_line(w, "const int64_t p%d = %s * %s + %s;", level,
                     above(up, level), extent, x);
    name_coordinate(w, place);
    nest(w, place + 1);
    close_brace(w);
}

/* Inside a block: full ones have a constant bound where it matters most. */
static void dense_inside(sp_nest *w, int place, const char *x)
{
    int index = sp_loop_index(w->s->order[place]);
    long long size = (long long)w->k->size[index];
    char c = letters[index], limit[8], whole[24];

    snprintf(limit, sizeof limit, "L%c", c);
    snprintf(whole, sizeof whole, "%lld", size);
    sp_nest_line(w,
                 "const int64_t L%c = N%c - %c1 * %lld < %lld ? N%c - %c1 * "
                 "%lld : %lld;",
                 c, c, c, size, size, c, c, size, size);
    if (place + 1 < sp_nest_loops(w) || w->row || place == w->parallel) {
        dense_level(w, place, x, limit);
        return;
    }
    sp_nest_line(w, "if (L%c == %lld) {", c, size);
    w->depth++;
    dense_level(w, place, x, whole);
    close_brace(w);
    sp_nest_line(w, "else {");
    w->depth++;
    dense_level(w, place, x, limit);
    close_brace(w);
}

static void compressed_level(sp_nest *w, int place, const char *x)
{
    int level = w->level[place];
    char up[16];

    above(up, level);
    pragma(w, place);
    sp_nest_line(w,
                 "for (int64_t p%d = pos%d[%s]; p%d < pos%d[%s + 1]; p%d++) {",
                 level, level, up, level, level, up, level);
    w->depth++;
    sp_nest_line(w, "const int64_t %s = crd%d[p%d];", x, level, level);
    name_coordinate(w, place);
    nest(w, place + 1);
    close_brace(w);
}

/* Blocks of the dense index: full ones, and what is left over. */
static void dense_blocks(sp_nest *w, int place, const char *x)
{
    int64_t n = w->k->n, size = w->k->size[w->d->dense];
    int64_t full = n / size, rest = n % size;

    pragma(w, place);
    sp_nest_line(w, "for (int64_t %s = 0; %s < %lld; %s++) {", x, x,
                 (long long)(full + (rest > 0)), x);
    w->depth++;
    w->span = size;
    if (rest) {
        sp_nest_line(w, "if (%s < %lld) {", x, (long long)full);
        w->depth++;
    }
    nest(w, place + 1);
    if (rest) {
        close_brace(w);
        sp_nest_line(w, "else {");
        w->depth++;
        w->span = rest;
        nest(w, place + 1);
        close_brace(w);
    }
    close_brace(w);
}

/* All columns, or those of a block, one by one. */
static void dense_columns(sp_nest *w, int place, const char *x)
{
    pragma(w, place);
    sp_nest_line(w, "for (int64_t %s = 0; %s < %lld; %s++) {", x, x,
                 (long long)w->span, x);
    w->depth++;
    name_coordinate(w, place);
    nest(w, place + 1);
    close_brace(w);
}

static void loop(sp_nest *w, int place)
{
    int loop = w->s->order[place], index = sp_loop_index(loop);
    int inner = sp_loop_inner(loop);
    char x[3], bound[8];

    sp_loop_name(x, w->s, loop);
    snprintf(bound, sizeof bound, "M%c", letters[index]);
    if (!sp_is_sparse(w->d, index) && !inner && w->s->split[index])
        dense_blocks(w, place, x);
    else if (!sp_is_sparse(w->d, index))
        dense_columns(w, place, x);
    else if (!(w->s->dense >> loop & 1))
        compressed_level(w, place, x);
    else if (inner)
        dense_inside(w, place, x);
    else
        dense_level(w, place, x, bound);
}

/* The loops from a place on, and what they hold. */
static void nest(sp_nest *w, int place)
{
    if (place == w->hold)
        sp_nest_begin(w);
    if (place == sp_nest_loops(w))
        sp_nest_step(w);
    else
        loop(w, place);
    if (place == w->hold)
        sp_nest_end(w);
}

/* ---- the plan of it ---- */

/* Sums are held over the innermost loops that do not change which result
 * they go to, up to the parallel one. */
static int find_hold(const sp_nest *w)
{
    int place = sp_nest_loops(w);

    if (w->row && !sp_nest_holds(w, w->span))
        return place;
    while (place > 0 && reduces(w, place - 1) && place - 1 != w->parallel)
        place--;
    return place;
}

static sp_nest plan_nest(sp_emit *e)
{
    const sp_spec *k = e->k;
    sp_nest w = {.e = e,
                 .k = k,
                 .d = sp_operation_of(k->op),
                 .s = &k->super,
                 .parallel = -1,
                 .depth = 1};
    int last = k->super.loops - 1, split;

    for (int q = 0; q <= last; q++) {
        int sparse = sp_is_sparse(w.d, sp_loop_index(w.s->order[q]));

        w.level[q] = sparse ? w.levels++ : -1;
        if (w.s->order[q] + 1 == w.s->parallel)
            w.parallel = q;
    }
    split = w.d->dense >= 0 && w.s->split[w.d->dense];
    w.span = split ? k->size[w.d->dense] : k->n;
    w.row = w.level[last] < 0 && w.parallel != last;
    w.atomic = w.parallel >= 0 && reduces(&w, w.parallel) && !k->own;
    w.hold = find_hold(&w);
    return w;
}

void sp_emit_super(sp_emit *e)
{
    sp_nest w = plan_nest(e);

    name_arrays(&w);
    name_dims(&w);
    nest(&w, 0);
    finish(&w);
}
