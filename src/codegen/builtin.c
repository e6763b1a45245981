/* builtin.c - which kernels are generated when spry is built.
 *
 * One table of what measurements say is worth having; everything else is
 * compiled on demand. */
#include "codegen/codegen.h"
#include "machine/isa.h"

enum { W16 = 1, W32 = 2, W64 = 4, ALL = 7 };

/* A row stands for kernels of both types, of every index width it lists,
 * and of each choice it leaves open. */
typedef struct {
    int32_t format;
    spry_op op;
    int32_t tile;
    int32_t unroll, r, c, slice; /* 0: 1 */
    int32_t widths;              /* W16 | W32 | W64 */
    int32_t prefetch;            /* 1: with and without */
    int32_t gather;  /* 1: with and without, where the machine has it */
    int32_t fixed;   /* 1: for any dense width, and for the common ones */
    int32_t palette; /* 1: with values, and with palettes of all sizes */
    int32_t scatter; /* 1: into rows of the result */
    int32_t symmetric;
} shape;

#define PLAIN(f, o)                               \
    {                                             \
        .format = f, .op = o, .widths = W32 | W64 \
    }
#define SPMV(u)                                                          \
    {                                                                    \
        .format = SPRY_CSR, .op = SPRY_SPMV, .unroll = u, .widths = ALL, \
        .palette = 1                                                     \
    }
#define SPMM(t, n)                                                     \
    {                                                                  \
        .format = SPRY_CSR, .op = SPRY_SPMM, .tile = t, .widths = ALL, \
        .prefetch = 1, .fixed = n                                      \
    }
#define PAIRS(t)                                                     \
    {                                                                \
        .format = SPRY_CSR, .op = SPRY_SPMM, .tile = t, .unroll = 2, \
        .widths = W16 | W32, .fixed = 1                              \
    }
#define SDDMM(t, u, n)                                                \
    {                                                                 \
        .format = SPRY_CSR, .op = SPRY_SDDMM, .tile = t, .unroll = u, \
        .widths = W32 | W64, .prefetch = 1, .fixed = n                \
    }
#define MTTKRP(f, t, u, n)                                      \
    {                                                           \
        .format = f, .op = SPRY_MTTKRP, .tile = t, .unroll = u, \
        .widths = W16 | W32, .prefetch = 1, .fixed = n          \
    }
#define SCATTER(t)                                                             \
    {                                                                          \
        .format = SPRY_CSF, .op = SPRY_MTTKRP, .tile = t, .widths = W16 | W32, \
        .prefetch = 1, .fixed = 1, .scatter = 1                                \
    }
#define SELL(s)                                                          \
    {                                                                    \
        .format = SPRY_SELL, .op = SPRY_SPMV, .slice = s, .widths = ALL, \
        .gather = 1, .palette = 1                                        \
    }
#define SLICES(s, t)                                                 \
    {                                                                \
        .format = SPRY_SELL, .op = SPRY_SPMM, .tile = t, .slice = s, \
        .widths = W16 | W32, .prefetch = 1, .fixed = 1               \
    }
#define DIA(s, one_triangle)                                            \
    {                                                                   \
        .format = SPRY_DIA, .op = SPRY_SPMV, .slice = s, .widths = W32, \
        .symmetric = one_triangle                                       \
    }
#define BLOCK(rows, columns)                                           \
    {                                                                  \
        .format = SPRY_BCSR, .op = SPRY_SPMV, .r = rows, .c = columns, \
        .widths = W16 | W32                                            \
    }
#define BLOCKS(rows, columns, t)                                    \
    {                                                               \
        .format = SPRY_BCSR, .op = SPRY_SPMM, .tile = t, .r = rows, \
        .c = columns, .widths = W32, .prefetch = 1                  \
    }

enum { PLAIN_ONES = 5 };
static const shape shapes[] = {
    PLAIN(SPRY_CSR, SPRY_SPMV), /* these first */
    PLAIN(SPRY_CSR, SPRY_SPMM),
    PLAIN(SPRY_CSR, SPRY_SDDMM),
    PLAIN(SPRY_CSR, SPRY_MTTKRP),
    PLAIN(SPRY_CSF, SPRY_MTTKRP),
    SPMV(2),
    SPMV(4),
    SPMV(8),
    SPMM(1, 0),
    SPMM(2, 1),
    SPMM(4, 1),
    SPMM(8, 1),
    PAIRS(2),
    PAIRS(4),
    SDDMM(1, 1, 0),
    SDDMM(1, 4, 0),
    SDDMM(2, 4, 1),
    SDDMM(4, 4, 1),
    MTTKRP(SPRY_CSR, 1, 1, 0),
    MTTKRP(SPRY_CSR, 2, 1, 1),
    MTTKRP(SPRY_CSR, 4, 1, 1),
    MTTKRP(SPRY_CSR, 8, 1, 1),
    MTTKRP(SPRY_CSF, 1, 1, 0),
    MTTKRP(SPRY_CSF, 2, 1, 1),
    MTTKRP(SPRY_CSF, 2, 2, 1),
    MTTKRP(SPRY_CSF, 4, 1, 1),
    MTTKRP(SPRY_CSF, 4, 2, 1),
    MTTKRP(SPRY_CSF, 8, 1, 1),
    SCATTER(2),
    SCATTER(4),
    SELL(1),
    SELL(2),
    SELL(4),
    SLICES(2, 4),
    DIA(1, 0),
    DIA(4, 0),
    DIA(1, 1),
    DIA(4, 1),
    BLOCK(1, 2),
    BLOCK(1, 4),
    BLOCK(1, 8),
    BLOCK(2, 1),
    BLOCK(2, 2),
    BLOCK(2, 4),
    BLOCK(3, 3),
    BLOCK(4, 1),
    BLOCK(4, 2),
    BLOCK(4, 4),
    BLOCK(4, 8),
    BLOCK(6, 6),
    BLOCK(8, 1),
    BLOCK(8, 2),
    BLOCK(8, 4),
    BLOCK(8, 8),
    BLOCKS(2, 1, 4),
    BLOCKS(2, 2, 4),
    BLOCKS(3, 3, 4),
    BLOCKS(4, 1, 2),
    BLOCKS(4, 4, 2),
    BLOCKS(4, 8, 2),
    BLOCKS(6, 6, 2),
    BLOCKS(8, 1, 1),
    BLOCKS(8, 8, 1),
};

/* Where each choice stands; they count like the digits of a number. */
typedef struct {
    int type, width, prefetch, gather, fixed, palette;
} counters;

static const int64_t columns[] = {0, 16, 32, 64, 128};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* One value, a table of 64 bytes, a table that a byte reaches. */
static int32_t palette_of(int wheel, spry_type type)
{
    const int32_t sizes[] = {0, 1, 64 / (int32_t)type, 256};

    return sizes[wheel];
}
enum { PALETTES = 4 };

static int turn(int *wheel, int size)
{
    *wheel = (*wheel + 1) % size;
    return *wheel != 0;
}

/* The next combination; 0 after the last. */
static int advance(counters *w, const shape *s)
{
    return turn(&w->type, 2) || turn(&w->width, 3) ||
           turn(&w->prefetch, 1 + s->prefetch) ||
           turn(&w->gather, 1 + s->gather) ||
           turn(&w->palette, s->palette ? PALETTES : 1) ||
           turn(&w->fixed, s->fixed ? COLUMNS : 1);
}

/* A tile must fit the width it is compiled for, and not be far too small:
 * four vectors are enough, fewer only when they hold half of it. Tensors are
 * multiplied with narrower matrices. */
static int fits(const sp_spec *k)
{
    int64_t held = k->tile * (int64_t)sp_codegen_lanes(k->isa, k->type);

    if (k->n && k->n == sp_operation_of(k->op)->omits)
        return 0;
    return !k->n || (k->index != 64 && held <= k->n &&
                     (k->tile >= 4 || 2 * held >= k->n));
}

static int worth_having(const sp_spec *k, const shape *s, int width)
{
    return (s->widths >> width & 1) && fits(k) &&
           (!k->gather || (sp_isa_of(k->isa)->gathers && k->index != 64)) &&
           (!k->palette || (!k->gather && k->index != 64));
}

static sp_spec spec_of(const shape *s, const counters *w, spry_isa isa)
{
    spry_type type = w->type ? SPRY_F64 : SPRY_F32;
    sp_spec k = {
        .op = s->op,
        .type = type,
        .isa = isa,
        .format = s->format,
        .plain = s < shapes + PLAIN_ONES,
        .scatter = s->scatter,
        .tile = s->tile,
        .unroll = s->unroll ? s->unroll : 1,
        .r = s->r ? s->r : 1,
        .c = s->c ? s->c : 1,
        .slice = s->slice ? s->slice : 1,
        .symmetric = s->symmetric,
        .gather = w->gather,
        .index = 16 << w->width,
        .palette = palette_of(w->palette, type),
        .prefetch = w->prefetch,
        .n = columns[w->fixed],
    };

    return k;
}

int sp_codegen_builtin(sp_spec *out, spry_isa isa, int i)
{
    for (size_t row = 0; row < sizeof shapes / sizeof shapes[0]; row++) {
        counters w = {0};

        do {
            *out = spec_of(&shapes[row], &w, isa);
            if (worth_having(out, &shapes[row], w.width) && i-- == 0)
                return 1;
        } while (advance(&w, &shapes[row]));
    }
    return 0;
}
