/* weights.c - the named tensors that make a network what it is. */
#include "nn/nn.h"

#include <math.h>
#include <string.h>

#include "nn/internal.h"

/* ---- how weights start ---- */

sp_init sp_init_constant(double value)
{
    return (sp_init){SP_CONSTANT, value};
}

sp_init sp_init_uniform(double bound)
{
    return (sp_init){SP_UNIFORM, bound};
}

sp_init sp_init_normal(double deviation)
{
    return (sp_init){SP_NORMAL, deviation};
}

sp_init sp_init_kaiming(int64_t fan)
{
    return sp_init_normal(sqrt(2 / (double)fan));
}

static double draw(sp_rng *r, sp_init init)
{
    switch (init.kind) {
    case SP_UNIFORM: return init.scale * (2 * sp_rng_unit(r) - 1);
    case SP_NORMAL: return init.scale * sp_rng_normal(r);
    case SP_CONSTANT: break;
    }
    return init.scale;
}

/* ---- the list ---- */

spry_status sp_nn_new(sp_nn **out, uint64_t seed)
{
    sp_nn *n = sp_alloc(1, sizeof *n);

    *out = n;
    if (!n)
        return sp_fail_memory(sizeof *n);
    n->rng = sp_rng_seed(seed);
    return SPRY_OK;
}

static void free_weights(sp_weights *w)
{
    if (w)
        sp_free(w->t.value);
    sp_free(w);
}

void sp_nn_free(sp_nn *n)
{
    if (!n)
        return;
    for (int i = 0; i < n->count; i++)
        free_weights(n->weights[i]);
    sp_free(n->weights);
    sp_free(n->card);
    sp_free(n);
}

static int grow(sp_nn *n)
{
    int room = n->room ? 2 * n->room : 16;
    sp_weights **more;

    if (n->count < n->room)
        return 1;
    more = sp_grow(n->weights, n->count, room, sizeof(void *));
    if (!more)
        return 0;
    n->weights = more;
    n->room = room;
    return 1;
}

/* Values, gradients and Adam's two moments in one block. */
static sp_weights *make(const char *name, sp_shape shape)
{
    int64_t size = sp_shape_size(shape);
    sp_weights *w = sp_alloc(1, sizeof *w);

    if (!w)
        return NULL;
    snprintf(w->name, sizeof w->name, "%s", name);
    w->t = (sp_tensor){shape, size, sp_alloc(4 * size, sizeof(float)), NULL};
    if (!w->t.value) {
        free_weights(w);
        return NULL;
    }
    w->t.grad = w->t.value + size;
    w->first = w->t.value + 2 * size;
    w->second = w->t.value + 3 * size;
    return w;
}

sp_weights *sp_nn_append(sp_nn *n, const char *name, sp_shape shape)
{
    sp_weights *w = grow(n) ? make(name, shape) : NULL;

    if (w)
        n->weights[n->count++] = w;
    else
        sp_fail_memory((size_t)sp_shape_size(shape) * 4 * sizeof(float));
    return w;
}

sp_weights *sp_nn_find(const sp_nn *n, const char *name)
{
    for (int i = 0; i < n->count; i++)
        if (!strcmp(n->weights[i]->name, name))
            return n->weights[i];
    return NULL;
}

/* ---- what builders ask for ---- */

int sp_nn_good_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

    return n > 0 && !name[n] && n < SP_NN_NAME;
}

static spry_status found(sp_weights *w, const char *name, sp_shape shape)
{
    char has[SP_SHAPE_TEXT], asked[SP_SHAPE_TEXT];

    if (!w)
        return sp_fail(SPRY_INPUT, "the model has no tensor %s", name);
    if (!sp_shape_equal(w->t.shape, shape))
        return sp_fail(SPRY_INPUT, "the model's tensor %s is %s, not %s", name,
                       sp_shape_text(has, w->t.shape),
                       sp_shape_text(asked, shape));
    return SPRY_OK;
}

static spry_status added(sp_weights **out, sp_nn *n, const char *name,
                         sp_shape shape, sp_init init)
{
    if (!sp_nn_good_name(name) || sp_nn_find(n, name) ||
        sp_shape_size(shape) <= 0 || n->count == SP_NN_TENSORS)
        return sp_fail(SPRY_USAGE, "%.80s cannot be the name of new weights",
                       name);
    *out = sp_nn_append(n, name, shape);
    if (!*out)
        return SPRY_SYSTEM;
    for (int64_t i = 0; i < (*out)->t.size; i++)
        (*out)->t.value[i] = (float)draw(&n->rng, init);
    return SPRY_OK;
}

sp_tensor *sp_nn_weights(sp_nn *n, const char *name, sp_shape shape,
                         sp_init init)
{
    sp_weights *w = NULL;

    if (n->status != SPRY_OK)
        return NULL;
    if (n->loaded) {
        w = sp_nn_find(n, name);
        n->status = found(w, name, shape);
    } else {
        n->status = added(&w, n, name, shape, init);
    }
    if (n->status != SPRY_OK || !w)
        return NULL;
    w->asked = 1;
    return &w->t;
}

sp_tensor *sp_nn_part(sp_nn *n, const char *name, const char *part,
                      sp_shape shape, sp_init init)
{
    char full[2 * SP_NN_NAME];

    snprintf(full, sizeof full, "%.70s.%s", name, part);
    return sp_nn_weights(n, full, shape, init);
}

spry_status sp_nn_status(const sp_nn *n)
{
    for (int i = 0; i < n->count && n->status == SPRY_OK; i++)
        if (!n->weights[i]->asked)
            return sp_fail(SPRY_INPUT, "the model's tensor %s is unknown",
                           n->weights[i]->name);
    return n->status;
}

void sp_nn_freeze(sp_nn *n, const char *prefix, int frozen)
{
    for (int i = 0; i < n->count; i++)
        if (!strncmp(n->weights[i]->name, prefix, strlen(prefix))) {
            sp_tensor *t = &n->weights[i]->t;

            t->grad = frozen ? NULL : t->value + t->size;
            memset(t->value + t->size, 0, (size_t)t->size * sizeof(float));
        }
}

int64_t sp_nn_count(const sp_nn *n)
{
    int64_t count = 0;

    for (int i = 0; i < n->count; i++)
        count += n->weights[i]->t.grad ? n->weights[i]->t.size : 0;
    return count;
}

sp_tensor *sp_nn_at(const sp_nn *n, int i, const char **name)
{
    if (i < 0 || i >= n->count)
        return NULL;
    if (name)
        *name = n->weights[i]->name;
    return &n->weights[i]->t;
}

const char *sp_nn_card(const sp_nn *n)
{
    return n->card ? n->card : "{}";
}
