/* values.c - the values of entries, as they are stored or by their codes.
 *
 * A table of 64 bytes is looked up by permuting registers, a larger one by
 * loads; hardware gathers are slower than either. */
#include "codegen/emit.h"

/* One permutation of a vector of 64 bytes, or two of 32. */
static int permuted(const sp_emit *e, int width)
{
    return e->k->isa >= SPRY_AVX2 && e->k->isa <= SPRY_AVX512 &&
           width == e->lanes && e->k->palette * (int)e->k->type == 64;
}

/* Codes in a word; x86 has the first one low. 0: they are loaded singly. */
static int codes_at_once(const sp_emit *e, int width)
{
    if (e->k->isa < SPRY_SSE2 || e->k->isa > SPRY_AVX512 || width < 4)
        return 0;
    return width < 8 ? 4 : 8;
}

void sp_emit_codes(sp_emit *e, int at, int width)
{
    int step = codes_at_once(e, width);

    if (e->k->palette <= 1 || permuted(e, width) || !step)
        return;
    for (int i = at; i < at + width; i += step)
        sp_line(e,
                "            const uint%d_t q%d = *(const sp_bytes%d *)(code "
                "+ k + %d);",
                8 * step, i, step, i);
}

static void add_looked_up(sp_emit *e, int at, int width)
{
    int step = codes_at_once(e, width);
    char v[16];

    sp_buf_printf(e->out, "(%s){", sp_vec(v, e, width));
    for (int l = 0; l < width; l++) {
        sp_buf_add(e->out, l ? ", " : "");
        if (step)
            sp_buf_printf(e->out, "val[(uint8_t)(q%d >> %d)]",
                          at + l / step * step, 8 * (l % step));
        else
            sp_buf_printf(e->out, "val[code[k + %d]]", at + l);
    }
    sp_buf_add(e->out, "}");
}

void sp_emit_values(sp_emit *e, int at, int width)
{
    char mem[16];

    if (e->k->palette <= 1)
        sp_buf_printf(e->out, "*(const %s *)(val + k + %d)",
                      sp_mem(mem, e, width), at);
    else if (permuted(e, width))
        sp_buf_printf(e->out, "SP_PICK_%s(val, code + k + %d)",
                      spry_type_name(e->k->type), at);
    else
        add_looked_up(e, at, width);
}
