/* values.c - what entries store in bytes: codes of their values, columns.
 *
 * Bytes are loaded a word at a time. A table of 64 bytes is looked up by
 * permuting registers, a larger one by loads; hardware gathers are slower
 * than either. */
#include "codegen/emit.h"
#include "machine/isa.h"

/* ---- bytes ---- */

/* Bytes in a word, the first one low. 1: they are loaded singly. */
static int bytes_at_once(const sp_emit *e, int width)
{
    if (!sp_isa_of(e->k->isa)->packs_words || width < 4)
        return 1;
    return width < 8 ? 4 : 8;
}

void sp_emit_bytes(sp_emit *e, const char *array, int at, int width)
{
    int step = bytes_at_once(e, width);

    for (int i = at; step > 1 && i < at + width; i += step)
        sp_line(e,
                "            const uint%d_t %s%d = *(const sp_bytes%d *)(%s "
                "+ k + %d);",
                8 * step, array, i, step, array, i);
}

const char *sp_byte(char out[48], const sp_emit *e, const char *array, int at,
                    int width)
{
    int step = bytes_at_once(e, width);

    if (step == 1)
        snprintf(out, 48, "%s[k + %d]", array, at);
    else
        snprintf(out, 48, "(uint8_t)(%s%d >> %d)", array, at - at % step,
                 8 * (at % step));
    return out;
}

/* ---- values ---- */

/* One permutation of a vector of 64 bytes, or two of 32. */
static int permuted(const sp_emit *e, int width)
{
    return sp_isa_of(e->k->isa)->permutes && width == e->lanes &&
           e->k->palette * (int)e->k->type == 64;
}

void sp_emit_codes(sp_emit *e, int at, int width)
{
    if (e->k->palette > 1 && !permuted(e, width))
        sp_emit_bytes(e, "code", at, width);
}

static void add_looked_up(sp_emit *e, int at, int width)
{
    char v[16], byte[48];

    sp_buf_printf(e->out, "(%s){", sp_vec(v, e, width));
    for (int l = 0; l < width; l++)
        sp_buf_printf(e->out, "%sval[%s]", l ? ", " : "",
                      sp_byte(byte, e, "code", at + l, width));
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
