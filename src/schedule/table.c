/* table.c - the parameters and the formats. */
#include "schedule/schedule.h"

#include <string.h>

#include "problem/sparse.h"

static const char *const orders[] = {"none", "length", "rcm", "cluster", NULL};

static const char *const modes[] = {"ikl", "ilk", "kli", "lki", NULL};

#define FIELD(name) #name, offsetof(spry_schedule, name)

const sp_param sp_params[] = {
    {FIELD(tile), 0, NULL, {1, 2, 4, 8, -1}},
    {FIELD(r), 1, NULL, {1, 2, 3, 4, 6, 8, 16, -1}},
    {FIELD(c), 1, NULL, {1, 2, 3, 4, 6, 8, 16, -1}},
    {FIELD(rest), 0, NULL, {0, 25, 50, 75, -1}},
    {FIELD(slice), 1, NULL, {1, 2, 4, -1}},
    {FIELD(symmetric), 0, NULL, {0, 1, -1}},
    {FIELD(sigma), 1, NULL, {1, 64, 512, 4096, 1 << 20, -1}},
    {FIELD(unroll), 1, NULL, {1, 2, 4, 8, -1}},
    {FIELD(gather), 0, NULL, {0, 1, -1}},
    {FIELD(index), 0, NULL, {0, 8, 16, -1}},
    {FIELD(palette), 0, NULL, {0, 1, 8, 16, 256, -1}},
    {FIELD(prefetch), 0, NULL, {0, 4, 8, 12, 16, 32, -1}},
    {FIELD(panel),
     0,
     NULL,
     {0, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, -1}},
    {FIELD(pass), 0, NULL, {0, 16, 32, 64, 128, -1}},
    {FIELD(copy), 0, NULL, {0, 1, -1}},
    {FIELD(order), 0, orders, {0, 1, 2, 3, -1}},
    {FIELD(modes), 0, modes, {0, 1, 2, 3, -1}},
    {FIELD(stream), 0, NULL, {0, 1, -1}},
    {FIELD(fixed), 0, NULL, {0, 1, -1}},
    {FIELD(threads), 1, NULL, {1, -1}}, /* the machine adds its own */
    {FIELD(chunk), 0, NULL, {0, 64, 512, -1}},
};
const int sp_param_count = sizeof sp_params / sizeof sp_params[0];

const sp_format sp_formats[] = {
    [SPRY_CSR] = {"csr",
                  {"unroll index palette prefetch panel order threads chunk",
                   "tile unroll sigma index prefetch panel pass copy order "
                   "stream fixed threads chunk",
                   "unroll tile index prefetch panel fixed threads chunk",
                   "tile unroll index prefetch panel pass fixed threads chunk"},
                  .plain = 1,
                  .cycles = 4},
    [SPRY_BCSR] = {"bcsr",
                   {"r c rest index threads chunk",
                    "r c rest tile index prefetch pass copy stream fixed "
                    "threads chunk"},
                   .pads = 1,
                   .blocks = 1,
                   .cycles = 14},
    [SPRY_SELL] = {"sell",
                   {"slice sigma gather index palette prefetch panel threads "
                    "chunk",
                    "tile slice sigma index prefetch panel pass copy stream "
                    "fixed threads chunk"},
                   .pads = 1,
                   .slices = 1,
                   .cycles = 10},
    [SPRY_DCSR] = {"dcsr",
                   {"unroll index palette prefetch threads chunk",
                    "tile unroll index prefetch pass copy stream fixed "
                    "threads chunk",
                    "unroll tile index prefetch fixed threads chunk"},
                   .listed = 1,
                   .cycles = 4},
    [SPRY_DIA] = {"dia",
                  {"slice symmetric threads chunk"},
                  .pads = 1,
                  .ordered = 1,
                  .cycles = 8},
    [SPRY_CSF] = {"csf",
                  {NULL, NULL, NULL,
                   "tile unroll index prefetch panel pass modes fixed threads "
                   "chunk"},
                  .plain = 1,
                  .fibers = 1,
                  .cycles = 8},
    [SPRY_SUPER] = {"super",
                    {"index threads chunk", "index threads chunk",
                     "index threads chunk", "index threads chunk"},
                    .plain = 0},
};
const int sp_format_count = sizeof sp_formats / sizeof sp_formats[0];

int32_t sp_param_get(const spry_schedule *x, const sp_param *q)
{
    int32_t value;

    memcpy(&value, (const char *)x + q->offset, sizeof value);
    return value;
}

void sp_param_set(spry_schedule *x, const sp_param *q, int32_t value)
{
    memcpy((char *)x + q->offset, &value, sizeof value);
}

/* Is `name` one of the words of a list? */
static int listed(const char *list, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = list; at && (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
            return 1;
    return 0;
}

/* Bit i: parameter i is used; the highest: it is known. Whoever comes first
 * reads the words, and all find the same. */
static uint32_t used_by(int32_t format, spry_op op)
{
    enum { MOST = 16 };
    static const uint32_t known = 1u << 31;
    static _Atomic uint32_t table[MOST][SPRY_OPS];
    uint32_t mask;

    _Static_assert(sizeof sp_params / sizeof sp_params[0] < 31,
                   "a parameter has a bit below the highest");
    SP_ASSERT(format >= 0 && format < sp_format_count);
    SP_ASSERT(sp_operation_of(op));
    mask = format < MOST ? table[format][op] : 0;
    if (mask)
        return mask;
    mask = known;
    for (int i = 0; i < sp_param_count; i++)
        if (listed(sp_formats[format].uses[op], sp_params[i].name))
            mask |= 1u << i;
    if (format < MOST)
        table[format][op] = mask;
    return mask;
}

int sp_param_used(const sp_param *q, int32_t format, spry_op op)
{
    return (int)(used_by(format, op) >> (q - sp_params) & 1);
}

spry_schedule sp_schedule_default(int32_t format)
{
    spry_schedule x = {.format = format};

    for (int i = 0; i < sp_param_count; i++)
        sp_param_set(&x, &sp_params[i], sp_params[i].otherwise);
    return x;
}

spry_schedule spry_schedule_baseline(int threads)
{
    spry_schedule x = sp_schedule_default(SPRY_CSR);

    x.threads = threads;
    return x;
}

int sp_schedule_equal(const spry_schedule *a, const spry_schedule *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

int sp_schedule_plain(const spry_schedule *x)
{
    spry_schedule plain = spry_schedule_baseline(x->threads);

    if (x->format == SPRY_CSF)
        plain.format = SPRY_CSF;
    plain.chunk = x->chunk;
    plain.index = x->index;
    return sp_schedule_equal(x, &plain);
}

/* As many registers as blocks have, for one row, as far as it is wide. */
spry_schedule sp_schedule_of_rest(const spry_schedule *x, const sp_sparse *p,
                                  int lanes)
{
    enum { SHORT_ROWS = 4, WIDEST = 8 };
    int64_t n = x->pass ? x->pass : p->n;
    spry_schedule y = *x;

    y.format = SPRY_CSR;
    y.r = y.c = 1;
    y.rest = 0;
    y.unroll = sp_has_columns(p->op) ? 1 : SHORT_ROWS;
    while (y.tile && 2 * y.tile <= x->r * x->tile && 2 * y.tile <= WIDEST &&
           (int64_t)2 * y.tile * lanes <= n)
        y.tile *= 2;
    return y;
}

int sp_schedule_slice(const spry_schedule *x, spry_op op, int lanes)
{
    if (x->format != SPRY_SELL)
        return 1;
    return sp_has_columns(op) ? x->slice : x->slice * lanes;
}

int sp_schedule_sorts(const spry_schedule *x)
{
    return x->order != SPRY_ORDER_NONE || x->sigma > 1;
}

int sp_schedule_innermost(const spry_schedule *x)
{
    static const int operand[] = {[SPRY_MODES_IKL] = 1,
                                  [SPRY_MODES_ILK] = 0,
                                  [SPRY_MODES_KLI] = 2,
                                  [SPRY_MODES_LKI] = 2};

    return operand[x->modes];
}
