/* generate_mixed.c - RadiX-Nets of any radices (Robinett and Kepner, 2019).
 *
 * A mixed-radix system (r1 .. rd) numbers C = r1 r2 ... rd classes. Layer j
 * joins every class to r_j others, `place` = r1 ... r_(j-1) apart:
 *
 *     input i feeds output o  iff  (i - o) mod C is t place, t = 0 .. r_j - 1
 *
 * so after d layers each input reaches each output by exactly one path per
 * copy. Layers may hold several copies of all classes, B_j of them: index
 * mod C is the class. Radices may go on with a next system of the same C. */
#include "network/internal.h"

enum { RADICES = 31 };

typedef struct {
    int64_t classes;
    int radices, copies;
    int64_t radix[RADICES], copy[RADICES + 1];
} mixed;

static int64_t copies_at(const mixed *m, int64_t layer)
{
    return m->copy[m->copies > 1 ? layer : 0];
}

/* The step between the classes that layer l joins. */
static int64_t place_of(const mixed *m, int64_t l)
{
    int64_t place = 1;

    for (int64_t i = 0; i < l; i++) {
        place *= m->radix[i];
        if (place == m->classes)
            place = 1;
    }
    return place;
}

static int64_t draw(int32_t *source, const spry_layers *s, int64_t output,
                    sp_rng *r)
{
    const mixed *m = s->state;
    int64_t radix = m->radix[s->at], place = place_of(m, s->at), at = radix;

    (void)r;
    for (int64_t t = 0; t < radix; t++)
        source[t] = (int32_t)((output + t * place) % m->classes);
    sp_sort_sources(source, radix);
    for (int64_t i = 1; i < copies_at(m, s->at); i++)
        for (int64_t t = 0; t < radix; t++)
            source[at++] = (int32_t)(source[t] + i * m->classes);
    return at;
}

/* All weights 2 / fan-in, as in the challenge. */
static spry_status next(spry_layers *s)
{
    const mixed *m = s->state;
    int64_t fan = m->radix[s->at] * copies_at(m, s->at);
    int64_t outputs = m->classes * copies_at(m, s->at + 1);
    spry_status status = sp_layers_draw(s, outputs, fan, draw);

    for (int64_t k = 0; status == SPRY_OK && k < s->layer.edges; k++)
        s->weight[k] = 2.0f / (float)fan;
    return status;
}

static const sp_source mixed_source = {.next = next};

/* Do the radices form systems of m->classes each, the last perhaps one of a
 * divisor? */
static int systems_fit(const mixed *m)
{
    int64_t product = 1;

    for (int i = 0; i < m->radices; i++) {
        if (m->radix[i] > m->classes / product)
            return 0;
        product *= m->radix[i];
        if (m->classes % product)
            return 0;
        product = product == m->classes ? 1 : product;
    }
    return 1;
}

/* classes=0: the product of the radices. */
static spry_status read_classes(mixed *m, const sp_recipe *p)
{
    spry_status s = sp_recipe_count(&m->classes, p, "classes", 0, 1 << 24);

    if (s != SPRY_OK || m->classes)
        return s;
    m->classes = 1;
    for (int i = 0; i < m->radices; i++)
        if (__builtin_mul_overflow(m->classes, m->radix[i], &m->classes) ||
            m->classes > 1 << 24)
            return sp_fail(SPRY_USAGE, "mixed: the radices make too many "
                                       "classes; at most 2^24");
    return SPRY_OK;
}

static spry_status read_mixed(mixed *m, const sp_recipe *p)
{
    spry_status s =
        sp_recipe_list(m->radix, &m->radices, RADICES, p, "radices");

    if (s == SPRY_OK)
        s = sp_recipe_list(m->copy, &m->copies, RADICES + 1, p, "copies");
    if (s == SPRY_OK)
        s = read_classes(m, p);
    if (s != SPRY_OK)
        return s;
    if (!systems_fit(m))
        return sp_fail(SPRY_USAGE,
                       "mixed: the radices do not form systems of %lld classes",
                       (long long)m->classes);
    if (m->copies > 1 && m->copies != m->radices + 1)
        return sp_fail(SPRY_USAGE,
                       "mixed: copies must be one number, or one for the "
                       "inputs and each of the %d layers",
                       m->radices);
    for (int i = 0; i < m->copies; i++)
        if (m->copy[i] > (1 << 24) / m->classes)
            return sp_fail(SPRY_USAGE, "mixed: %lld copies are too many",
                           (long long)m->copy[i]);
    return SPRY_OK;
}

static spry_status open_mixed(spry_layers *s, const sp_recipe *p)
{
    mixed *m = s->state = sp_alloc(1, sizeof *m);
    spry_status status = m ? read_mixed(m, p) : sp_fail_memory(sizeof *m);

    s->source = &mixed_source;
    if (status == SPRY_OK)
        status = sp_recipe_neuron(&s->layer.activation, &s->options.bias, p);
    if (status != SPRY_OK)
        return status;
    s->inputs = m->classes * copies_at(m, 0);
    s->outputs = m->classes * copies_at(m, m->radices);
    s->depth = m->radices;
    return SPRY_OK;
}

const sp_maker sp_maker_mixed = {
    .name = "mixed",
    .help = "a RadiX-Net of any radices, such as radices=2x3x4 copies=8",
    .params = "radices=2x2x2x2x2x2 classes=0 copies=16" SP_RECIPE_NEURON,
    .open = open_mixed,
};
