/* builtin.c - which kernels are generated when spry is built.
 *
 * The list is a few nested loops over what measurements say is worth
 * having; everything else is compiled on demand. */
#include "codegen/codegen.h"

/* Count down to the wanted spec. */
typedef struct {
    sp_spec *out;
    int left;
} counter;

static int reached(counter *n, const sp_spec *k)
{
    if (n->left-- != 0)
        return 0;
    *n->out = *k;
    return 1;
}

static const sp_spec blank = {.unroll = 1, .r = 1, .c = 1, .slice = 1};
static const int32_t widths[] = {16, 32, 64};
static const spry_type types[] = {SPRY_F32, SPRY_F64};

#define EACH(item, list) \
    for (size_t item = 0; item < sizeof(list) / sizeof(list)[0]; item++)

static int plain(counter *n, sp_spec k)
{
    k.plain = 1;
    for (k.op = SPRY_SPMV; k.op <= SPRY_SDDMM; k.op++)
        EACH(t, types)
    for (k.index = 32; k.index <= 64; k.index += 32) {
        k.type = types[t];
        if (reached(n, &k))
            return 1;
    }
    return 0;
}

static int csr(counter *n, sp_spec k)
{
    static const struct {
        spry_op op;
        int32_t tile, unroll;
    } shapes[] = {
        {SPRY_SPMV, 0, 2},  {SPRY_SPMV, 0, 4},  {SPRY_SPMV, 0, 8},
        {SPRY_SPMM, 1, 1},  {SPRY_SPMM, 2, 1},  {SPRY_SPMM, 4, 1},
        {SPRY_SPMM, 8, 1},  {SPRY_SPMM, 1, 4},  {SPRY_SPMM, 2, 2},
        {SPRY_SPMM, 4, 2},  {SPRY_SDDMM, 1, 1}, {SPRY_SDDMM, 1, 4},
        {SPRY_SDDMM, 4, 2}, {SPRY_SDDMM, 4, 4},
    };

    k.format = SPRY_CSR;
    EACH(s, shapes)
    EACH(t, types)
    EACH(w, widths)
    for (k.prefetch = 0; k.prefetch <= 1; k.prefetch++) {
        k.op = shapes[s].op;
        k.tile = shapes[s].tile;
        k.unroll = shapes[s].unroll;
        k.type = types[t];
        k.index = widths[w];
        if (reached(n, &k))
            return 1;
    }
    return 0;
}

static int bcsr(counter *n, sp_spec k)
{
    static const int32_t blocks[][2] = {{1, 2}, {1, 4}, {1, 8}, {2, 1}, {2, 2},
                                        {2, 4}, {4, 1}, {4, 2}, {4, 4}, {4, 8},
                                        {8, 1}, {8, 2}, {8, 4}, {8, 8}};
    static const int32_t tiles[] = {0, 1, 2, 4}; /* 0: spmv */

    k.format = SPRY_BCSR;
    EACH(b, blocks)
    EACH(t, types)
    EACH(j, tiles)
    EACH(w, widths)
    {
        k.op = tiles[j] ? SPRY_SPMM : SPRY_SPMV;
        k.r = blocks[b][0];
        k.c = blocks[b][1];
        k.tile = tiles[j];
        k.type = types[t];
        k.index = widths[w];
        if (k.r * k.tile > 12 || (k.tile && k.index == 64 && k.tile != 1))
            continue;
        if (reached(n, &k))
            return 1;
    }
    return 0;
}

static int sell_and_dia(counter *n, sp_spec k)
{
    k.op = SPRY_SPMV;
    EACH(t, types)
    {
        k.type = types[t];
        for (k.slice = 1; k.slice <= 4; k.slice *= 2) {
            k.format = SPRY_DIA;
            k.index = 32;
            k.gather = k.prefetch = 0;
            if (reached(n, &k))
                return 1;
            k.format = SPRY_SELL;
            EACH(w, widths)
            for (k.prefetch = 0; k.prefetch <= 1; k.prefetch++)
                for (k.gather = 0;
                     k.gather <= (k.isa >= SPRY_AVX2 && widths[w] != 64);
                     k.gather++) {
                    k.index = widths[w];
                    if (reached(n, &k))
                        return 1;
                }
        }
    }
    return 0;
}

int sp_codegen_builtin(sp_spec *out, spry_isa isa, int i)
{
    counter n = {out, i};
    sp_spec k = blank;

    k.isa = isa;
    return plain(&n, k) || csr(&n, k) || bcsr(&n, k) || sell_and_dia(&n, k);
}
