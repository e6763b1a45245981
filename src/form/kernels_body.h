/* kernels_body.h - the inner loops of running networks, compiled once for
 * each instruction set (cmake/isas.cmake), which defines SET(name), the name
 * with the set's behind it.
 *
 * Vectors are the compiler's own, eight floats wide everywhere: it makes of
 * them what the instruction set has. What must be constant for sums to stay
 * in registers is an argument of an inlined function. */
#include <string.h>

#include "form/kernels_ends.h"

/* ---- one input: eight outputs in step ---- */

INLINE void add_tails(float sum[SP_LANES], const float *x,
                      const sp_gather_layer *l, const sp_eight *e, int is_far)
{
    int64_t k = e->at + (int64_t)e->common * SP_LANES;

    for (int i = 0; i < SP_LANES; i++)
        for (int32_t t = 0; t < e->tail[i]; t++, k++) {
            float value = x[is_far ? l->far[k] : l->near[k]];

            sum[i] += l->weight ? l->weight[k] * value : value;
        }
}

/* Equal weights: sums alone. Four sources come with one load of an integer,
 * which leaves the ports to the values. */
INLINE void sum_near(float sum[SP_LANES], const float *x, const uint16_t *near,
                     int32_t count)
{
    float a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;

    for (int32_t k = 0; k < count; k++, near += SP_LANES) {
        uint64_t p, q;

        memcpy(&p, near, sizeof p);
        memcpy(&q, near + 4, sizeof q);
        a += x[p & 0xffff];
        b += x[p >> 16 & 0xffff];
        c += x[p >> 32 & 0xffff];
        d += x[p >> 48];
        e += x[q & 0xffff];
        f += x[q >> 16 & 0xffff];
        g += x[q >> 32 & 0xffff];
        h += x[q >> 48];
    }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy(sum, (float[]){d, c, b, a, h, g, f, e}, 8 * sizeof *sum);
#else
    memcpy(sum, (float[]){a, b, c, d, e, f, g, h}, 8 * sizeof *sum);
#endif
}

INLINE void sum_far(float sum[SP_LANES], const float *x, const uint32_t *far,
                    int32_t count)
{
    memset(sum, 0, SP_LANES * sizeof *sum);
    for (int32_t k = 0; k < count; k++, far += SP_LANES)
        for (int i = 0; i < SP_LANES; i++)
            sum[i] += x[far[i]];
}

/* With weights: values one by one into two vectors of four. Hardware gathers
 * of eight were slower by half on Zen 3. */
INLINE void dot(float sum[SP_LANES], const float *x, const sp_gather_layer *l,
                int64_t at, int32_t count, int is_far)
{
    const float *w = l->weight + at;
    const uint16_t *near = l->near + (is_far ? 0 : at);
    const uint32_t *far = l->far + (is_far ? at : 0);
    vec4 low = {0}, high = {0};

    for (int32_t k = 0; k < count; k++, w += SP_LANES) {
        vec4 a, b;

        if (is_far) {
            a = (vec4){x[far[0]], x[far[1]], x[far[2]], x[far[3]]};
            b = (vec4){x[far[4]], x[far[5]], x[far[6]], x[far[7]]};
            far += SP_LANES;
        } else {
            a = (vec4){x[near[0]], x[near[1]], x[near[2]], x[near[3]]};
            b = (vec4){x[near[4]], x[near[5]], x[near[6]], x[near[7]]};
            near += SP_LANES;
        }
        low += a * *(const vec4 *)w;
        high += b * *(const vec4 *)(w + 4);
    }
    memcpy(sum, &low, sizeof low);
    memcpy(sum + 4, &high, sizeof high);
}

INLINE vec eight_of(const float x[SP_LANES])
{
    vec v;

    memcpy(&v, x, sizeof v);
    return v;
}

/* Sums to values without a branch that hangs on them: it would be missed as
 * often as not. */
INLINE void settle_eight(float *to, const sp_gather_layer *l, const sp_eight *e,
                         const float sum[SP_LANES], const ending *end)
{
    vec y = finish(eight_of(sum) * eight_of(e->scale), eight_of(e->bias), end);

    if (end->curved)
        for (int i = 0; i < SP_LANES; i++)
            y[i] = sp_activate(l->activation, y[i]);
    if (e->abreast)
        memcpy(to + e->target[0], &y, sizeof y);
    else
        for (int i = 0; i < e->count; i++)
            to[e->target[i]] = y[i];
}

INLINE void run_eight(float *value, const sp_gather_layer *l, const sp_eight *e,
                      int is_far, const ending *end)
{
    const float *x = whole(value + l->from);
    float sum[SP_LANES];

    if (l->weight)
        dot(sum, x, l, e->at, e->common, is_far);
    else if (is_far)
        sum_far(sum, x, l->far + e->at, e->common);
    else
        sum_near(sum, x, l->near + e->at, e->common);
    if (e->tails)
        add_tails(sum, x, l, e, is_far);
    settle_eight(value + l->to, l, e, sum, end);
}

static void gather(float *value, const sp_gather_layer *l, int64_t first,
                   int64_t last)
{
    ending end = ending_of(l->activation, l->bias_on_nonzero);

    if (l->far)
        for (int64_t i = first; i < last; i++)
            run_eight(value, l, &l->eight[i], 1, &end);
    else
        for (int64_t i = first; i < last; i++)
            run_eight(value, l, &l->eight[i], 0, &end);
}

/* ---- many inputs: outputs that share sources, in registers ---- */

/* Where the walk through a layer has come to. */
typedef struct {
    float *to;
    const float *bias, *weight;
    const uint16_t *near;
    const uint32_t *far;
} place;

INLINE const float *source(const float *x, const place *p, int32_t k,
                           int is_far, int vecs)
{
    size_t i = is_far ? p->far[k] : p->near[k];

    return x + i * (size_t)(vecs * SP_LANES);
}

INLINE void settle(const sp_rows_layer *l, const place *p, const vec *sum,
                   int vecs, const ending *e, bits *alive)
{
    UNROLL for (int v = 0; v < vecs; v++)
    {
        vec y = finish(sum[v], (vec){0} + p->bias[0], e);

        alive[v] |= (bits)y;
        *(vec *)(p->to + v * SP_LANES) = y;
    }
    if (e->curved)
        bend(p->to, vecs * SP_LANES, l->activation, (uint32_t *)alive);
}

/* One output: `chains` sums of every chains-th source each, so that additions
 * need not wait for each other. */
INLINE void run_one(float *value, const sp_rows_layer *l, const place *p,
                    int32_t sources, int vecs, int chains, int is_far,
                    const ending *e, bits *alive)
{
    const float *x = whole(value + l->from * vecs * SP_LANES);
    vec sum[8][8];
    int32_t k = 0;

    UNROLL for (int c = 0; c < chains; c++)
        UNROLL for (int v = 0; v < vecs; v++) sum[c][v] = (vec){0};
    for (; k + chains <= sources; k += chains)
        UNROLL for (int c = 0; c < chains; c++)
        {
            const float *from = source(x, p, k + c, is_far, vecs);

            UNROLL for (int v = 0; v < vecs; v++) sum[c][v] +=
                p->weight[k + c] * *(const vec *)(from + v * SP_LANES);
        }
    for (; k < sources; k++) {
        const float *from = source(x, p, k, is_far, vecs);

        UNROLL for (int v = 0; v < vecs; v++) sum[0][v] +=
            p->weight[k] * *(const vec *)(from + v * SP_LANES);
    }
    UNROLL for (int c = chains / 2; c > 0; c /= 2)
        UNROLL for (int i = 0; i < c; i++) UNROLL for (int v = 0; v < vecs; v++)
            sum[i][v] += sum[i + c][v];
    settle(l, p, sum[0], vecs, e, alive);
}

/* Several: a source is loaded once for all of them. Each number of them has a
 * function of its own, in which nothing else asks for registers; sums are
 * stored as they are. */
INLINE void sum_some(float *value, const sp_rows_layer *l, const place *p,
                     int32_t sources, int vecs, int outputs)
{
    const float *x = whole(value + l->from * vecs * SP_LANES);
    const float *w = p->weight;
    vec sum[SP_SHARE][8];

    UNROLL for (int r = 0; r < outputs; r++)
        UNROLL for (int v = 0; v < vecs; v++) sum[r][v] = (vec){0};
    for (int32_t k = 0; k < sources; k++, w += outputs) {
        const float *from = source(x, p, k, 0, vecs);
        vec in[8];

        UNROLL for (int v = 0; v < vecs; v++) in[v] =
            *(const vec *)(from + v * SP_LANES);
        UNROLL for (int r = 0; r < outputs; r++)
            UNROLL for (int v = 0; v < vecs; v++) sum[r][v] += w[r] * in[v];
    }
    UNROLL for (int r = 0; r < outputs; r++)
    {
        vec *to = (vec *)(p->to + r * vecs * SP_LANES);

        UNROLL for (int v = 0; v < vecs; v++) to[v] = sum[r][v];
    }
}

typedef void summing(float *value, const sp_rows_layer *l, const place *p,
                     int32_t sources);
#define SOME(tile, n)                                                   \
    static void some_##tile##_##n(float *value, const sp_rows_layer *l, \
                                  const place *p, int32_t sources)      \
    {                                                                   \
        sum_some(value, l, p, sources, tile / SP_LANES, n);             \
    }
SOME(8, 2)
SOME(8, 3)
SOME(8, 4)
SOME(8, 5)
SOME(8, 6)
SOME(8, 7)
SOME(8, 8)
SOME(16, 2)
SOME(16, 3)
SOME(16, 4)
SOME(16, 5)
SOME(16, 6)
SOME(32, 2)
SOME(32, 3)

/* By the logarithm of the vectors in a tile and by outputs. */
static summing *const few[4][SP_SHARE + 1] = {
    {0, 0, some_8_2, some_8_3, some_8_4, some_8_5, some_8_6, some_8_7,
     some_8_8},
    {0, 0, some_16_2, some_16_3, some_16_4, some_16_5, some_16_6},
    {0, 0, some_32_2, some_32_3},
    {0}};

static __attribute__((noinline)) void settle_some(const sp_rows_layer *l,
                                                  const place *p, int outputs,
                                                  int vecs, const ending *e,
                                                  bits *alive)
{
    for (int r = 0; r < outputs; r++)
        for (int v = 0; v < vecs; v++) {
            float *at = p->to + (r * vecs + v) * SP_LANES;
            vec y = finish(*(vec *)at, (vec){0} + p->bias[r], e);

            alive[v] |= (bits)y;
            *(vec *)at = y;
            if (e->curved)
                bend(at, SP_LANES, l->activation, (uint32_t *)&alive[v]);
        }
}

INLINE void run_share(float *value, const sp_rows_layer *l, const place *p,
                      const sp_share *s, int vecs, int chains, const ending *e,
                      bits *alive)
{
    if (s->outputs == 1) {
        run_one(value, l, p, s->sources, vecs, chains, 0, e, alive);
        return;
    }
    few[vecs == 1 ? 0 : vecs == 2 ? 1 : 2][s->outputs](value, l, p, s->sources);
    settle_some(l, p, s->outputs, vecs, e, alive);
}

/* Layers whose sources lie far apart are rare: their outputs share nothing. */
INLINE void run_layer(float *value, const sp_rows_layer *l, int vecs,
                      int chains, int is_far, uint32_t *alive)
{
    place p = {value + l->to * vecs * SP_LANES, l->bias, l->weight, l->near,
               l->far};
    ending e = ending_of(l->activation, l->bias_on_nonzero);
    bits any[8] = {{0}};

    for (int64_t i = 0; i < l->shares; i++) {
        const sp_share *s = &l->share[i];

        if (is_far)
            run_one(value, l, &p, s->sources, vecs, chains, 1, &e, any);
        else
            run_share(value, l, &p, s, vecs, chains, &e, any);
        p.to += (int64_t)s->outputs * vecs * SP_LANES;
        p.bias += s->outputs;
        p.weight += (int64_t)s->outputs * s->sources;
        if (is_far)
            p.far += s->sources;
        else
            p.near += s->sources;
    }
    memcpy(alive, any, (size_t)(vecs * SP_LANES) * sizeof *alive);
}

#define ROWS(tile, chains)                                          \
    static void rows_##tile(float *value, const sp_rows_layer *l,   \
                            uint32_t *alive)                        \
    {                                                               \
        if (l->far)                                                 \
            run_layer(value, l, tile / SP_LANES, chains, 1, alive); \
        else                                                        \
            run_layer(value, l, tile / SP_LANES, chains, 0, alive); \
    }
ROWS(8, 4)
ROWS(16, 4)
ROWS(32, 2)
ROWS(64, 1)

static void rows(float *value, const sp_rows_layer *l, int tile,
                 uint32_t *alive)
{
    switch (tile) {
    case 8: rows_8(value, l, alive); break;
    case 16: rows_16(value, l, alive); break;
    case 32: rows_32(value, l, alive); break;
    default: rows_64(value, l, alive); break;
    }
}

/* ---- inputs side by side ---- */

/* Eight rows of eight into eight columns. */
INLINE void turn_block(float *to, const float *x, int64_t width, int tile)
{
    vec row[SP_LANES];

    UNROLL for (int i = 0; i < SP_LANES; i++)
        memcpy(&row[i], x + i * width, sizeof row[i]);
    for (int j = 0; j < SP_LANES; j++) {
        vec col = {0};

        UNROLL for (int i = 0; i < SP_LANES; i++) col[i] = row[i][j];
        *(vec *)(to + (int64_t)j * tile) = col;
    }
}

static void turn_some(float *to, const float *x, int64_t width, int tile,
                      int count, int64_t first)
{
    for (int64_t i = first; i < width; i++) {
        for (int b = 0; b < count; b++)
            to[i * tile + b] = x[b * width + i];
        for (int b = count; b < SP_LANES; b++)
            to[i * tile + b] = 0;
    }
}

static void turn(float *to, const float *x, int64_t width, int tile, int count)
{
    for (int b = 0; b < tile; b += SP_LANES) {
        int rest = count - b < SP_LANES ? count - b : SP_LANES;
        int64_t i = 0;

        if (rest == SP_LANES)
            for (; i + SP_LANES <= width; i += SP_LANES)
                turn_block(to + i * tile + b, x + b * width + i, width, tile);
        turn_some(to + b, x + (rest > 0 ? b * width : 0), width, tile,
                  rest > 0 ? rest : 0, i);
    }
}

/* ---- neuron by neuron ---- */

enum { SIDE_VECS = SP_SIDE / SP_LANES };

/* Neuron v, for SP_SIDE inputs in value[slots][SP_SIDE]. */
INLINE void plain_side(float *value, const sp_plain *p, int64_t v,
                       spry_activation a, const ending *e)
{
    const spry_network *n = p->net;
    vec sum[SIDE_VECS] = {{0}};
    float *to = value + (int64_t)p->places.home[v] * SP_SIDE;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        const vec *from =
            (const vec *)(value + (int64_t)p->source[k] * SP_SIDE);

        UNROLL for (int i = 0; i < SIDE_VECS; i++) sum[i] +=
            n->weight[k] * from[i];
    }
    UNROLL for (int i = 0; i < SIDE_VECS; i++)((vec *)to)[i] =
        finish(sum[i], (vec){0} + n->bias[v], e);
    for (int i = 0; e->curved && i < SP_SIDE; i++)
        to[i] = sp_activate(a, to[i]);
}

/* The same for one input in value[slots]. */
INLINE void plain_one(float *value, const sp_plain *p, int64_t v,
                      spry_activation a)
{
    const spry_network *n = p->net;
    float sum = 0;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++)
        sum += n->weight[k] * value[p->source[k]];
    value[p->places.home[v]] =
        sp_finish(a, sum, n->bias[v], n->bias_on_nonzero);
}

static void plain(float *value, const sp_plain *p, int side)
{
    const spry_network *n = p->net;

    for (int64_t l = 0; l < n->layers; l++) {
        spry_activation a = n->activation[l];
        ending e = ending_of(a, n->bias_on_nonzero);

        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
            if (side == 1)
                plain_one(value, p, v, a);
            else
                plain_side(value, p, v, a, &e);
    }
}

extern const sp_net_kernels SET(sp_net_kernels);
const sp_net_kernels SET(sp_net_kernels) = {gather, rows, turn, plain};
