/* body.c - what stands inside a nest: sums, and how they reach C.
 *
 * A step adds one product of A's value and the dense operands, or a whole
 * row of them when the innermost loop is dense: C's row (spmm) in vectors,
 * or a product of two rows (sddmm). Sums that stay with one result over the
 * loops around a step are held in registers and added to C behind them. */
#include "codegen/nest.h"

enum { MOST_PIECES = 12, MOST_ARRAY = 1024 };

static int is_dot(const sp_nest *w)
{
    return w->d->sampled;
}

/* Vectors and halves of the row. */
static int fits_registers(const sp_nest *w)
{
    uint64_t rest = (uint64_t)(w->held % w->e->lanes);

    return w->held / w->e->lanes + __builtin_popcountll(rest) <= MOST_PIECES;
}

static sp_holding holding(const sp_nest *w)
{
    if (!w->row)
        return SP_HOLD_SCALAR;
    if (fits_registers(w))
        return w->hold < sp_nest_loops(w) || w->atomic || is_dot(w)
                   ? SP_HOLD_PIECES
                   : SP_HOLD_NONE;
    if (is_dot(w))
        return SP_HOLD_SCALAR;
    return w->hold < sp_nest_loops(w) ? SP_HOLD_ARRAY : SP_HOLD_NONE;
}

int sp_nest_holds(const sp_nest *w, int64_t span)
{
    return is_dot(w) || span <= MOST_ARRAY;
}

/* ---- where things are ---- */

/* The first column of the row operation, or the column of a single step. */
static const char *column(char out[32], const sp_nest *w)
{
    static const char letters[] = "ijkl";
    int dense = w->d->dense;

    if (dense < 0)
        snprintf(out, 32, "0");
    else if (!w->row)
        snprintf(out, 32, "%c", letters[dense]);
    else if (w->s->split[dense])
        snprintf(out, 32, "%c1 * %lld", letters[dense],
                 (long long)w->k->size[dense]);
    else
        snprintf(out, 32, "0");
    return out;
}

/* Pointers to the operands of a step. */
static void point_at_operands(sp_nest *w)
{
    static const char *const operand[] = {"b = B", "d = D"};
    long long n = (long long)w->k->n;
    char from[32];

    column(from, w);
    for (int i = 0; i < w->d->operands; i++)
        sp_nest_line(w, "const T *%s + %c * %lld + %s;", operand[i],
                     "ijkl"[w->d->row[i]], n, from);
}

static void point_at_result(sp_nest *w)
{
    char from[32];

    if (is_dot(w))
        sp_nest_line(w, "T *c = C + out[p%d];", w->levels - 1);
    else
        sp_nest_line(w, "T *c = C + i * %lld + %s;", (long long)w->k->n,
                     column(from, w));
}

/* ---- sums ---- */

static sp_pieces pieces(const sp_nest *w)
{
    return sp_pieces_of(w->e, (int)w->held);
}

void sp_nest_begin(sp_nest *w)
{
    sp_holding how;
    sp_pieces p;
    char v[16];

    w->held = w->span;
    how = holding(w);
    if (how == SP_HOLD_SCALAR || is_dot(w))
        sp_nest_line(w, "T s = 0;");
    if (how == SP_HOLD_ARRAY) {
        sp_nest_line(w, "T s[%lld];", (long long)w->span);
        sp_nest_line(w, "for (int64_t e = 0; e < %lld; e++)",
                     (long long)w->span);
        sp_nest_line(w, "    s[e] = 0;");
    }
    if (how != SP_HOLD_PIECES)
        return;
    p = pieces(w);
    for (int i = 0; i < p.count; i++)
        sp_nest_line(w, "%s s%d = %s;", sp_vec(v, w->e, p.width[i]), i,
                     p.width[i] > 1 ? "{0}" : "0");
}

/* What A's value is multiplied by: of mttkrp, two rows. */
static const char *product(char out[96], const sp_nest *w, const char *m,
                           int at)
{
    int n = snprintf(out, 96, "*(const %s *)(b + %d)", m, at);

    if (w->d->modes == 3)
        snprintf(out + n, 96 - (size_t)n, " * *(const %s *)(d + %d)", m, at);
    return out;
}

/* s<i> += the product of piece i. */
static void step_pieces(sp_nest *w)
{
    sp_pieces p = pieces(w);
    char m[16], term[96];

    for (int i = 0; i < p.count; i++) {
        sp_mem(m, w->e, p.width[i]);
        if (is_dot(w))
            sp_nest_line(w,
                         "s%d += *(const %s *)(b + %d) * *(const %s *)"
                         "(d + %d);",
                         i, m, p.offset[i], m, p.offset[i]);
        else
            sp_nest_line(w, "s%d += w * %s;", i,
                         product(term, w, m, p.offset[i]));
    }
}

static const char *second(const sp_nest *w, const char *at)
{
    if (w->d->modes != 3)
        return "";
    return *at == 'e' ? " * d[e]" : " * d[0]";
}

/* Straight into C. */
static void step_directly(sp_nest *w)
{
    sp_pieces p;
    char m[16], term[96];

    point_at_result(w);
    if (!fits_registers(w)) {
        sp_nest_line(w, "for (int64_t e = 0; e < %lld; e++)",
                     (long long)w->span);
        if (w->atomic)
            sp_nest_line(w, "#pragma omp atomic");
        sp_nest_line(w, "    c[e] += alpha * w * b[e]%s;", second(w, "e"));
        return;
    }
    p = pieces(w);
    sp_nest_line(w, "const T aw = alpha * w;");
    for (int i = 0; i < p.count; i++) {
        sp_mem(m, w->e, p.width[i]);
        sp_nest_line(w, "*(%s *)(c + %d) += aw * %s;", m, p.offset[i],
                     product(term, w, m, p.offset[i]));
    }
}

/* One product, or a row's in a loop that the compiler turns into vectors:
 * of a long row, or of a last block shorter than the sums were begun for. */
static void step_plainly(sp_nest *w, sp_holding how)
{
    const char *s = how == SP_HOLD_ARRAY ? "s[e]" : "s";
    const char *at = w->row ? "e" : "0";

    if (w->row)
        sp_nest_line(w, "for (int64_t e = 0; e < %lld; e++)",
                     (long long)w->span);
    if (is_dot(w))
        sp_nest_line(w, "    %s += b[%s] * d[%s];", s, at, at);
    else
        sp_nest_line(w, "    %s += w * b[%s]%s;", s, at, second(w, at));
}

void sp_nest_step(sp_nest *w)
{
    sp_holding how = holding(w);

    point_at_operands(w);
    if (!is_dot(w))
        sp_nest_line(w, "const T w = val[p%d];", w->levels - 1);
    if (how == SP_HOLD_NONE)
        step_directly(w);
    else if (how == SP_HOLD_PIECES && w->span == w->held)
        step_pieces(w);
    else
        step_plainly(w, how);
}

/* ---- sums to C ---- */

/* All pieces of a product of rows join the number s. */
static void add_up(sp_nest *w)
{
    sp_pieces p = pieces(w);
    int first = 0;

    for (int i = 1; i <= p.count; i++) {
        if (i < p.count && p.width[i] == p.width[first]) {
            sp_nest_line(w, "s%d += s%d;", first, i);
            continue;
        }
        if (p.width[first] > 1)
            sp_nest_line(w, "s += sum_%s%d(s%d);", w->e->v, p.width[first],
                         first);
        else
            sp_nest_line(w, "s += s%d;", first);
        first = i;
    }
}

static void end_number(sp_nest *w)
{
    if (w->atomic)
        sp_nest_line(w, "#pragma omp atomic");
    if (is_dot(w))
        sp_nest_line(w, "*c += alpha * val[p%d] * s;", w->levels - 1);
    else
        sp_nest_line(w, "*c += alpha * s;");
}

static void end_array(sp_nest *w)
{
    sp_nest_line(w, "for (int64_t e = 0; e < %lld; e++)", (long long)w->span);
    if (w->atomic)
        sp_nest_line(w, "#pragma omp atomic");
    sp_nest_line(w, "    c[e] += alpha * s[e];");
}

static void end_pieces(sp_nest *w)
{
    sp_pieces p = pieces(w);
    char m[16];

    for (int i = 0; i < p.count; i++)
        if (!w->atomic) {
            sp_nest_line(w, "*(%s *)(c + %d) += alpha * s%d;",
                         sp_mem(m, w->e, p.width[i]), p.offset[i], i);
        } else {
            sp_nest_line(w, "for (int e = 0; e < %d; e++)", p.width[i]);
            sp_nest_line(w, "#pragma omp atomic");
            sp_nest_line(w, "    c[%d + e] += alpha * s%d%s;", p.offset[i], i,
                         p.width[i] > 1 ? "[e]" : "");
        }
}

void sp_nest_end(sp_nest *w)
{
    sp_holding how = holding(w);

    if (how == SP_HOLD_NONE)
        return;
    if (is_dot(w)) { /* padding has no result */
        if (how == SP_HOLD_PIECES)
            add_up(w);
        sp_nest_line(w, "if (out[p%d] >= 0) {", w->levels - 1);
        w->depth++;
        point_at_result(w);
        end_number(w);
        w->depth--;
        sp_nest_line(w, "}");
        return;
    }
    point_at_result(w);
    if (how == SP_HOLD_SCALAR)
        end_number(w);
    else if (how == SP_HOLD_ARRAY)
        end_array(w);
    else
        end_pieces(w);
}
