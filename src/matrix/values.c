/* values.c - matrices with few different values: graphs, patterns, stencils,
 * rounded weights. */
#include <math.h>
#include <string.h>

#include "matrix/internal.h"

int sp_matrix_one_value(const spry_matrix *m)
{
    double v = m->nnz > 0 ? sp_val(m, 0) : 0;

    if (!(fabs(v) >= 1 && fabs(v) < 1e30))
        return 0;
    /* Each is as the one before it, bit by bit. */
    return memcmp(m->val, (const char *)m->val + m->type,
                  (size_t)(m->nnz - 1) * m->type) == 0;
}

/* Equal bit by bit, so that NaN is found again and -0 stays apart from 0. */
static uint64_t bits_of(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Where v is or belongs; more places than values, so there always is one. */
static int place_of(const sp_palette *c, double v)
{
    uint64_t bits = bits_of(v);
    int at = (int)(bits * 0x9e3779b97f4a7c15u >> (64 - SP_PALETTE_BITS));

    while (c->find[at] && bits_of(c->value[c->find[at] - 1]) != bits)
        at = (at + 1) & (SP_PALETTE_PLACES - 1);
    return at;
}

int sp_palette_code(const sp_palette *c, double v)
{
    return c->find[place_of(c, v)] - 1;
}

/* 0 when there is no room for one more. */
static int add(sp_palette *c, double v)
{
    int at = place_of(c, v);

    if (c->find[at])
        return 1;
    if (c->count == SP_PALETTE)
        return 0;
    c->value[c->count] = v;
    c->find[at] = (int16_t)++c->count;
    return 1;
}

/* Every value's code; 0: there are too many. */
#define NOTE(name, Value)                                           \
    static int name(sp_palette *c, uint8_t *code, const void *list, \
                    int64_t count)                                  \
    {                                                               \
        const Value *value = list;                                  \
                                                                    \
        for (int64_t k = 0; k < count; k++) {                       \
            double v = (double)value[k];                            \
            int at = place_of(c, v);                                \
                                                                    \
            if (!c->find[at] && !add(c, v))                         \
                return 0;                                           \
            code[k] = (uint8_t)(c->find[at] - 1);                   \
        }                                                           \
        return 1;                                                   \
    }

NOTE(note_floats, float)
NOTE(note_doubles, double)

void sp_palette_open(sp_palette *out)
{
    memset(out, 0, sizeof *out);
    add(out, 0);
}

int sp_palette_note(sp_palette *c, uint8_t *code, const spry_matrix *m,
                    int64_t from, int64_t count)
{
    const char *value = (const char *)m->val + from * (int64_t)m->type;

    return m->type == SPRY_F32 ? note_floats(c, code + from, value, count)
                               : note_doubles(c, code + from, value, count);
}

void sp_palette_of(sp_palette *out, const spry_matrix *m)
{
    double last = 0;

    sp_palette_open(out);
    for (int64_t k = 0; k < m->nnz; k++) {
        double v = sp_val(m, k);

        if (bits_of(v) == bits_of(last))
            continue;
        if (!add(out, v)) {
            out->count = SP_PALETTE + 1;
            return;
        }
        last = v;
    }
}
