/* codes.c - every value as its code in a palette, quickly.
 *
 * The palette's own table is searched from place to place, and a search whose
 * length the processor cannot guess costs more than the rest. Here every value
 * has a place for itself, by a hash that was looked for. A value that is none
 * of them is found out afterwards, for a piece at a time, and that piece is
 * walked the slow way. */
#include <string.h>

#include "matrix/internal.h"

enum {
    PLACE_BITS = 16, /* then every other hash keeps 256 values apart */
    TRIES = 32,
    PIECE = 1 << 13, /* values that a thread takes at a time */
    WINDOW = 256     /* most pieces between looks at what was not found */
};

typedef struct {
    int ready; /* 0: no hash keeps the values apart */
    uint64_t factor;
    uint64_t bits[SP_PALETTE];     /* of each code's value */
    uint8_t code[1 << PLACE_BITS]; /* free: 0 */
} finder;

/* A value's bits as its matrix has them. */
static uint64_t bits_in(double v, spry_type type)
{
    float narrow = (float)v;
    uint64_t bits = 0;
    uint32_t half;

    memcpy(&bits, &v, sizeof bits);
    memcpy(&half, &narrow, sizeof half);
    return type == SPRY_F32 ? half : bits;
}

/* 0: two of them meet. Code 0 has all places that are free, and its own. */
static int spread(finder *f, int count)
{
    memset(f->code, 0, sizeof f->code);
    for (int i = 1; i < count; i++) {
        uint64_t at = f->bits[i] * f->factor >> (64 - PLACE_BITS);

        if (f->code[at] || at == f->bits[0] * f->factor >> (64 - PLACE_BITS))
            return 0;
        f->code[at] = (uint8_t)i;
    }
    return 1;
}

static void build(finder *f, const sp_palette *c, spry_type type)
{
    for (int i = 0; i < c->count; i++)
        f->bits[i] = bits_in(c->value[i], type);
    f->ready = 0;
    f->factor = 0x9e3779b97f4a7c15u;
    for (int i = 0; !f->ready && i < TRIES; i++) {
        f->ready = spread(f, c->count);
        if (!f->ready)
            f->factor = f->factor * 0xd1342543de82ef95u;
    }
}

/* 0: some value has no code. Four at a time, each with differences of its own:
 * one after the other takes a quarter longer. */
#define FIND(name, Bits)                                                      \
    static uint64_t name##_one(uint8_t *code, const char *value,              \
                               const finder *f)                               \
    {                                                                         \
        Bits b;                                                               \
                                                                              \
        memcpy(&b, value, sizeof b);                                          \
        *code = f->code[b * f->factor >> (64 - PLACE_BITS)];                  \
        return f->bits[*code] ^ b;                                            \
    }                                                                         \
                                                                              \
    static int name(uint8_t *restrict code, const char *value, int64_t count, \
                    const finder *restrict f)                                 \
    {                                                                         \
        uint64_t wrong[4] = {0};                                              \
        const char *end = value + count * (int64_t)sizeof(Bits);              \
                                                                              \
        for (; end - value >= 4 * (int64_t)sizeof(Bits); code += 4) {         \
            wrong[0] |= name##_one(code, value, f);                           \
            wrong[1] |= name##_one(code + 1, value + sizeof(Bits), f);        \
            wrong[2] |= name##_one(code + 2, value + 2 * sizeof(Bits), f);    \
            wrong[3] |= name##_one(code + 3, value + 3 * sizeof(Bits), f);    \
            value += 4 * sizeof(Bits);                                        \
        }                                                                     \
        for (; value < end; value += sizeof(Bits), code++)                    \
            wrong[0] |= name##_one(code, value, f);                           \
        return (wrong[0] | wrong[1] | wrong[2] | wrong[3]) == 0;              \
    }

FIND(find_narrow, uint32_t)
FIND(find_wide, uint64_t)

static int find_piece(uint8_t *code, const spry_matrix *m, const finder *f,
                      int64_t from, int64_t count)
{
    const char *value = (const char *)m->val + from * (int64_t)m->type;

    if (!f->ready)
        return 0;
    return m->type == SPRY_F32 ? find_narrow(code + from, value, count, f)
                               : find_wide(code + from, value, count, f);
}

static int64_t at_most(int64_t most, int64_t n)
{
    return n < most ? n : most;
}

/* `all` entries from `from` on, by all threads, then the pieces with something
 * new, in order. 0: there are too many values. */
static int code_window(sp_palette *c, uint8_t *code, const spry_matrix *m,
                       finder *f, int64_t from, int64_t all, int threads)
{
    int known = c->count;
    uint8_t missing[WINDOW] = {0};

#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t at = 0; at < all; at += PIECE)
        missing[at / PIECE] =
            !find_piece(code, m, f, from + at, at_most(PIECE, all - at));
    for (int64_t at = 0; at < all; at += PIECE)
        if (missing[at / PIECE] &&
            !sp_palette_note(c, code, m, from + at, at_most(PIECE, all - at)))
            return 0;
    if (c->count > known)
        build(f, c, m->type);
    return 1;
}

/* Windows grow: new values show up early, if at all. */
void sp_palette_codes(sp_palette *out, uint8_t *code, const spry_matrix *m,
                      int threads)
{
    int64_t wide = 1, all;
    finder f;
    int few = 1;

    sp_palette_open(out);
    build(&f, out, m->type);
    for (int64_t at = 0; few && at < m->nnz; at += all) {
        all = at_most(wide * PIECE, m->nnz - at);
        few = code_window(out, code, m, &f, at, all, threads);
        wide = at_most(WINDOW, 8 * wide);
    }
    if (!few)
        out->count = SP_PALETTE + 1;
}
