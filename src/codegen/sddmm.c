/* sddmm.c - C = A .* (B D'), a few entries of a row at a time.
 *
 * The entries of a row share B's row; `unroll` of D's rows are walked side
 * by side, one vector accumulator each, and the accumulators are summed
 * together at the end, which costs a third of summing them one by one.
 *
 * The loops stand there twice, for beta 0 and for others. A test of beta in a
 * loop whose body is one basic block is an invitation to make masked
 * arithmetic of it, which GCC 12 accepts and, for vectors, gets wrong: the
 * mask of its one comparison has one lane. */
#include "codegen/emit.h"

/* acc<q> += b[j + at ...] * d<q>[j + at ...], `width` elements. */
static void step(sp_emit *e, int many, int width, int at)
{
    char v[16], mem[16];

    sp_line(e, "            { const %s x = *(const %s *)(b + j + %d);",
            sp_vec(v, e, width), sp_mem(mem, e, width), at);
    for (int q = 0; q < many; q++)
        sp_line(e, "            %s%d += x * *(const %s *)(d%d + j + %d);",
                width > 1 ? "s" : "t", q, mem, q, at);
    sp_line(e, "            }");
}

/* Sum accumulators q .. q + group - 1, each `width` wide, into one vector
 * of `group` lanes, as an expression. */
static void reduce(sp_emit *e, int q, int group, int width)
{
    if (group == 1) {
        sp_buf_printf(e->out, "sum_%s%d(s%d)", e->v, e->lanes, q);
        return;
    }
    if (width == 1) { /* a leaf: fold one accumulator to the group's width */
        for (int fold = 2 * group; fold <= e->lanes; fold *= 2)
            sp_buf_printf(e->out, "half_%s%d(", e->v, fold);
        sp_buf_printf(e->out, "s%d", q);
        for (int fold = 2 * group; fold <= e->lanes; fold *= 2)
            sp_buf_add(e->out, ")");
        return;
    }
    sp_buf_printf(e->out, "pair_%s%d(", e->v, group);
    reduce(e, q, group, width / 2);
    sp_buf_add(e->out, ", ");
    reduce(e, q + width / 2, group, width / 2);
    sp_buf_add(e->out, ")");
}

static void store(sp_emit *e, int many, int adds)
{
    int group = many < 4 ? many : 4;
    char v[16], mem[16];

    if (group > e->lanes)
        group = e->lanes;
    for (int q = 0; q < many; q += group) {
        sp_buf_printf(e->out, "        %s r%d = ", sp_vec(v, e, group), q);
        reduce(e, q, group, group);
        sp_buf_add(e->out, ";\n");
        for (int l = 0; l < group && group > 1; l++)
            sp_line(e, "        r%d[%d] += t%d;", q, l, q + l);
        if (group == 1)
            sp_line(e, "        r%d += t%d;", q, q);
        sp_line(e, "        r%d *= alpha * *(const %s *)(val + k + %d);", q,
                sp_mem(mem, e, group), q);
        if (adds)
            sp_line(e, "        r%d += beta * *(%s *)(c + k + %d);", q, mem, q);
        sp_line(e, "        *(%s *)(c + k + %d) = r%d;", mem, q, q);
    }
}

static void prefetch(sp_emit *e, int many)
{
    if (!e->k->prefetch)
        return;
    sp_line(e, "        for (int64_t l = 0; l < n; l += %d) {",
            64 / (int)e->k->type);
    for (int q = 0; q < many; q++)
        sp_line(e,
                "            __builtin_prefetch(D + (int64_t)col[k + %d + "
                "ahead] * n + l);",
                q);
    sp_line(e, "        }");
}

/* `many` entries from k on. */
static void entries(sp_emit *e, int many, int adds)
{
    int full = e->k->tile * e->lanes;
    char v[16];

    for (int q = 0; q < many; q++) {
        sp_line(e, "        const %s *d%d = D + (int64_t)col[k + %d] * n;",
                e->T, q, q);
        sp_line(e, "        %s s%d = {0};", sp_vec(v, e, e->lanes), q);
        sp_line(e, "        %s t%d = 0;", e->T, q);
    }
    prefetch(e, many);
    sp_line(e, "        int64_t j = 0;");
    sp_line(e, "        for (; j + %d <= n; j += %d) {", full, full);
    for (int i = 0; i < e->k->tile; i++)
        step(e, many, e->lanes, i * e->lanes);
    sp_line(e, "        }");
    if (e->k->tile > 1) {
        sp_line(e, "        for (; j + %d <= n; j += %d) {", e->lanes,
                e->lanes);
        step(e, many, e->lanes, 0);
        sp_line(e, "        }");
    }
    sp_line(e, "        for (; j < n; j++) {");
    step(e, many, 1, 0);
    sp_line(e, "        }");
    store(e, many, adds);
}

static void rows(sp_emit *e, int adds)
{
    int unroll = e->k->unroll;

    sp_line(e, "    for (int64_t u = a->first; u < last; u++) {");
    sp_line(e, "    const %s *b = B + (row ? (int64_t)row[u] : u) * n;", e->T);
    sp_line(e,
            "    const %s *D = (const %s *)a->D + (base ? (int64_t)base[u] "
            "* n : 0);",
            e->T, e->T);
    sp_line(e, "    int64_t k = start[u];");
    sp_line(e, "    const int64_t end = start[u + 1];");
    sp_line(e, "    %s *c = out ? C + out[u] - k : C;", e->T);
    if (unroll > 1) {
        sp_line(e, "    for (; k + %d <= end; k += %d) {", unroll, unroll);
        entries(e, unroll, adds);
        sp_line(e, "    }");
    }
    sp_line(e, "    for (; k < end; k++) {");
    entries(e, 1, adds);
    sp_line(e, "    }");
    sp_line(e, "    }");
}

void sp_emit_sddmm(sp_emit *e)
{
    sp_emit_opening(e);
    sp_line(e, "    const int64_t *out = a->out;");
    sp_line(e, "    if (beta != 0) {");
    rows(e, 1);
    sp_line(e, "    } else {");
    rows(e, 0);
    sp_line(e, "    }");
    sp_emit_closing(e);
}
