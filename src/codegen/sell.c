/* sell.c - y = A x over slices, one row per lane.
 *
 * A slice of L rows is stored entry by entry across its rows. `row` gives
 * each lane's row, or -1. Rows shorter than the longest are padded: with
 * zeros, or, where no values are stored, with entries that a mask keeps out
 * of the sum. Those begin at `whole`. Columns of 8 bits count from a base of
 * their own in every step over the rows, others from one of the slice. */
#include "codegen/emit.h"

static void lanes_of_x(sp_emit *e, int at)
{
    char col[48];

    sp_buf_printf(e->out, "(%s%d){", e->v, e->lanes);
    for (int l = 0; l < e->lanes; l++)
        sp_buf_printf(e->out, "%sb[%s]", l ? ", " : "",
                      sp_column(col, e, at + l));
    sp_buf_add(e->out, "}");
}

static void prefetch_lanes(sp_emit *e, int at)
{
    for (int l = 0; e->k->prefetch && l < e->lanes; l++)
        sp_line(e, "            __builtin_prefetch(b + col[k + %d + ahead]);",
                at + l);
}

/* s += values * x */
static void slice_step(sp_emit *e, int i)
{
    int at = i * e->lanes;

    prefetch_lanes(e, at);
    if (!e->k->gather)
        sp_emit_columns(e, at, e->lanes);
    sp_emit_codes(e, at, e->lanes);
    sp_buf_printf(e->out, "            s%d += ", i);
    sp_emit_values(e, at, e->lanes);
    sp_buf_add(e->out, " * ");
    if (e->k->gather)
        sp_buf_printf(e->out, "SP_GATHER_%s_%d(b, col + k + %d)",
                      spry_type_name(e->k->type), (int)e->k->index, at);
    else
        lanes_of_x(e, at);
    sp_line(e, ";");
}

/* s += x; where some rows have ended, of the others only. */
static void bare_step(sp_emit *e, int i, int masked)
{
    int bits = 8 * (int)e->k->type;

    prefetch_lanes(e, i * e->lanes);
    sp_emit_columns(e, i * e->lanes, e->lanes);
    sp_buf_printf(e->out, "            s%d += ", i);
    if (masked)
        sp_buf_printf(e->out, "(%s%d)((n%d > done) & (i%dx%d)", e->v, e->lanes,
                      i, bits, e->lanes);
    lanes_of_x(e, i * e->lanes);
    sp_line(e, masked ? ");" : ";");
}

static void slice_loop(sp_emit *e, int total)
{
    sp_line(e,
            "        for (int64_t k = start[u]; k < start[u + 1]; k += %d) "
            "{",
            total);
    if (e->k->index == 8)
        sp_line(e, "            const %s *b = B + base[k / %d];", e->T, total);
    for (int i = 0; i < e->k->slice; i++)
        slice_step(e, i);
    sp_line(e, "        }");
}

static void bare_loops(sp_emit *e, int total)
{
    int bits = 8 * (int)e->k->type;

    sp_line(e, "        int64_t k = start[u];");
    sp_line(e, "        const int64_t end = start[u + 1];");
    sp_line(e, "        const int64_t stop = ((const %s *)a->whole)[u];", e->I);
    sp_line(e, "        int%d_t done = (int%d_t)((stop - k) / %d);", bits, bits,
            total);
    sp_line(e, "        for (; k < stop; k += %d) {", total);
    for (int i = 0; i < e->k->slice; i++)
        bare_step(e, i, 0);
    sp_line(e, "        }");
    sp_line(e, "        if (k < end) {");
    for (int i = 0; i < e->k->slice; i++)
        sp_line(e,
                "        const i%dx%d n%d = *(const i%dx%du *)((const "
                "int%d_t *)a->length + u * %d + %d);",
                bits, e->lanes, i, bits, e->lanes, bits, total, i * e->lanes);
    sp_line(e, "        for (; k < end; k += %d, done++) {", total);
    for (int i = 0; i < e->k->slice; i++)
        bare_step(e, i, 1);
    sp_line(e, "        }");
    sp_line(e, "        }");
    for (int i = 0; i < e->k->slice; i++)
        sp_line(e, "        s%d *= *val;", i);
}

static void slice_store(sp_emit *e, int i)
{
    char name[16];

    snprintf(name, sizeof name, "s%d", i);
    sp_line(e, "        %s *= alpha;", name);
    sp_emit_watch(e, e->lanes, name);
    sp_line(e, "        for (int l = 0; l < %d; l++) {", e->lanes);
    sp_line(e, "            const int64_t i = u * %d + %d + l;",
            e->k->slice * e->lanes, i * e->lanes);
    sp_line(e, "            const int64_t r = row ? (int64_t)row[i] : i;");
    sp_line(e, "            if (r >= 0 && r < a->rows)");
    sp_line(e, "                C[r] = s%d[l] + (beta != 0 ? beta * C[r] : 0);",
            i);
    sp_line(e, "        }");
}

/* Vectors as they are, or lane by lane to where the row list says. */
static void whole_stores(sp_emit *e, int total, int adds)
{
    sp_line(e, "        if (row) {");
    sp_line(e, "        const %s *r = row + u * %d;", e->I, total);
    for (int i = 0; i < total; i++)
        sp_line(e, "        C[r[%d]] %s s%d[%d];", i, adds ? "+=" : "=",
                i / e->lanes, i % e->lanes);
    sp_line(e, "        } else {");
    for (int i = 0; i < e->k->slice; i++)
        sp_line(e, "        *(%s%du *)(C + u * %d + %d) %s s%d;", e->v,
                e->lanes, total, i * e->lanes, adds ? "+=" : "=", i);
    sp_line(e, "        }");
}

/* A slice without lanes past the last row: alone, or added to what panels
 * before it have left. */
static void slice_fast_store(sp_emit *e, int total)
{
    sp_line(e,
            "        if ((beta == 0 || beta == 1) && (u + 1) * %d <= "
            "a->rows) {",
            total);
    for (int i = 0; i < e->k->slice; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%d", i);
        sp_line(e, "        %s *= alpha;", name);
        sp_emit_watch(e, e->lanes, name);
    }
    sp_line(e, "        if (beta == 0) {");
    whole_stores(e, total, 0);
    sp_line(e, "        } else {");
    whole_stores(e, total, 1);
    sp_line(e, "        }");
    sp_line(e, "        continue;");
    sp_line(e, "        }");
}

void sp_emit_sell_spmv(sp_emit *e)
{
    int total = e->k->slice * e->lanes;

    sp_emit_opening(e);
    sp_line(e, "    for (int64_t u = a->first; u < last; u++) {");
    if (e->k->index != 8)
        sp_line(e, "        const %s *b = B + (base ? (int64_t)base[u] : 0);",
                e->T);
    for (int i = 0; i < e->k->slice; i++)
        sp_line(e, "        %s%d s%d = {0};", e->v, e->lanes, i);
    if (e->k->prefetch)
        sp_line(e, "        const int64_t ahead = a->prefetch * %d;", total);
    if (e->k->palette == 1)
        bare_loops(e, total);
    else
        slice_loop(e, total);
    slice_fast_store(e, total);
    for (int i = 0; i < e->k->slice; i++)
        slice_store(e, i);
    sp_line(e, "    }");
    sp_emit_closing(e);
}
