/* generate_radix.c - the official networks of the Sparse DNN Graph Challenge,
 * edge for edge.
 *
 * They are RadiX-Nets: the N neurons of a layer fall into C = N / 16 classes,
 * and with q = log2 C, layer l = q p + k has
 *
 *     weight(i, j) = 1/16  iff  (f(i) - j) mod C is 0 or 2^k
 *
 * where f(i) = i mod C in period p = 0. Every later period permutes its
 * inputs: f(i) = rank of r_i mod C, the rank among the next N numbers
 * r_0 .. r_(N-1) of MATLAB's default stream of chance. One stream served all
 * official networks, smaller widths first, 1920 layers each; so a width
 * begins where the ones before it ended. */
#include <stdlib.h>
#include <string.h>

#include "network/internal.h"

enum { COPIES = 16, FAN = 2 * COPIES, OFFICIAL = 1920, SEED = 5489 };

static const struct width {
    int32_t neurons;
    int period; /* q */
    float bias;
} widths[] = {{1024, 6, -0.3f},
              {4096, 8, -0.35f},
              {16384, 10, -0.4f},
              {65536, 12, -0.45f}};
enum { WIDTHS = sizeof widths / sizeof *widths };

static const struct width *find_width(int64_t neurons)
{
    for (int i = 0; i < WIDTHS; i++)
        if (widths[i].neurons == neurons)
            return &widths[i];
    return NULL;
}

float spry_challenge_bias(int64_t width)
{
    const struct width *w = find_width(width);

    return w ? w->bias : 0;
}

typedef struct {
    uint64_t bits;
    int32_t input;
} draw;

typedef struct {
    const struct width *width;
    sp_mersenne begin, now; /* the stream before period 1, and where it is */
    draw *drawn;            /* [N] to find ranks with */
    int32_t *class;         /* [N] the inputs by f, ascending within a class */
    int32_t *fill;          /* [C] */
} radix;

/* ---- periods ---- */

static int ascending(const void *a, const void *b)
{
    const draw *x = a, *y = b;

    if (x->bits != y->bits)
        return x->bits < y->bits ? -1 : 1;
    return x->input < y->input ? -1 : 1;
}

/* drawn[t].input = the input of rank t. */
static void draw_ranks(radix *r, int64_t period)
{
    int32_t n = r->width->neurons;

    for (int32_t i = 0; i < n; i++) {
        r->drawn[i].bits = period ? sp_mersenne_bits(&r->now) : 0;
        r->drawn[i].input = i;
    }
    qsort(r->drawn, (size_t)n, sizeof *r->drawn, ascending);
}

/* f of every input in the period, and from it the members of each class. */
static void begin_period(radix *r, int64_t period)
{
    int32_t n = r->width->neurons, classes = n / COPIES;

    draw_ranks(r, period);
    for (int32_t t = 0; t < n; t++) /* the draw is done with: keep f there */
        r->drawn[r->drawn[t].input].bits = (uint64_t)(t % classes);
    for (int32_t c = 0; c < classes; c++)
        r->fill[c] = c * COPIES;
    for (int32_t i = 0; i < n; i++)
        r->class[r->fill[r->drawn[i].bits]++] = i;
}

/* ---- layers ---- */

/* The members of classes a and b into out[FAN], ascending. */
static void merge_classes(int32_t *out, const int32_t *a, const int32_t *b)
{
    const int32_t *a_end = a + COPIES, *b_end = b + COPIES;

    while (a < a_end && b < b_end)
        *out++ = *a < *b ? *a++ : *b++;
    while (a < a_end)
        *out++ = *a++;
    while (b < b_end)
        *out++ = *b++;
}

/* Output j looks like j - C: only the first C are worked out. */
static void fill_layer(spry_layers *s, const radix *r, int k)
{
    int64_t n = r->width->neurons, classes = n / COPIES;

    for (int64_t j = 0; j < classes; j++)
        merge_classes(s->from + j * FAN, r->class + j * COPIES,
                      r->class + (j + (1 << k)) % classes * COPIES);
    for (int64_t j = classes; j < n; j += classes)
        memcpy(s->from + j * FAN, s->from,
               (size_t)(classes * FAN) * sizeof *s->from);
    for (int64_t e = 0; e < n * FAN; e++)
        s->weight[e] = 1.0f / COPIES;
    for (int64_t j = 0; j <= n; j++)
        s->start[j] = j * FAN;
}

static spry_status next(spry_layers *s)
{
    radix *r = s->state;
    int64_t n = r->width->neurons;
    spry_status status = sp_layers_reserve(s, n, n * FAN, r->width->bias);

    if (status != SPRY_OK)
        return status;
    if (s->at % r->width->period == 0)
        begin_period(r, s->at / r->width->period);
    fill_layer(s, r, (int)(s->at % r->width->period));
    return SPRY_OK;
}

static spry_status rewind_stream(spry_layers *s)
{
    radix *r = s->state;

    r->now = r->begin;
    return SPRY_OK;
}

/* ---- opening ---- */

/* Pass over what the smaller widths drew: a permutation for each of their
 * periods but the first. */
static void seed_stream(radix *r)
{
    sp_mersenne_seed(&r->begin, SEED);
    for (const struct width *w = widths; w != r->width; w++) {
        int64_t periods = (OFFICIAL + w->period - 1) / w->period;

        for (int64_t i = 0; i < (periods - 1) * w->neurons; i++)
            sp_mersenne_bits(&r->begin);
    }
    r->now = r->begin;
}

static void close_radix(void *state)
{
    radix *r = state;

    if (!r)
        return;
    sp_free(r->drawn);
    sp_free(r->class);
    sp_free(r->fill);
    sp_free(r);
}

static const sp_source radix_source = {next, rewind_stream, close_radix};

static spry_status open_width(spry_layers *s, const struct width *width)
{
    radix *r = s->state = sp_alloc(1, sizeof *r);

    s->source = &radix_source;
    if (!r)
        return sp_fail_memory(sizeof *r);
    r->width = width;
    r->drawn = sp_alloc_raw(width->neurons, sizeof *r->drawn);
    r->class = sp_alloc_raw(width->neurons, sizeof *r->class);
    r->fill = sp_alloc_raw(width->neurons / COPIES, sizeof *r->fill);
    if (!r->drawn || !r->class || !r->fill)
        return sp_fail_memory((size_t)width->neurons * sizeof *r->drawn);
    seed_stream(r);
    return SPRY_OK;
}

static spry_status open_radix(spry_layers *s, const sp_recipe *p)
{
    int64_t neurons;
    spry_status status = sp_recipe_count(&neurons, p, "width", 1, INT32_MAX);

    if (status == SPRY_OK)
        status = sp_recipe_count(&s->depth, p, "depth", 1, 1 << 20);
    if (status != SPRY_OK)
        return status;
    if (!find_width(neurons))
        return sp_fail(SPRY_USAGE,
                       "radix: width is %lld; the challenge has 1024, 4096, "
                       "16384 and 65536",
                       (long long)neurons);
    s->inputs = s->outputs = neurons;
    s->edges = neurons * FAN * s->depth;
    s->layer.activation = (spry_activation){SPRY_CLAMP, 32};
    s->layer.bias_on_nonzero = 1;
    return open_width(s, find_width(neurons));
}

const sp_maker sp_maker_radix = {
    .name = "radix",
    .help = "the official Graph Challenge network, edge for edge",
    .params = "width=1024 depth=120",
    .open = open_radix,
};
