/* meta.c - the inner loop, and slopes through it.
 *
 * Second order: the slope v after the inner loop becomes v - rate * H v before
 * each of its steps, last to first. H v is a difference of gradients, at
 * weights moved along v and against it. */
#include "adapt/meta.h"

#include <math.h>
#include <string.h>

static const struct {
    sp_meta_kind kind;
    const char *name;
} kinds[] = {{SP_META_MAML, "maml"},
             {SP_META_FOMAML, "fomaml"},
             {SP_META_REPTILE, "reptile"},
             {SP_META_ANIL, "anil"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *sp_meta_name(sp_meta_kind kind)
{
    return kinds[kind].name;
}

spry_status sp_meta_named(sp_meta_kind *out, const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(kinds[i].name, name)) {
            *out = kinds[i].kind;
            return SPRY_OK;
        }
    return sp_fail(SPRY_USAGE,
                   "there is no meta-learning '%s'; there are "
                   "maml, fomaml, reptile and anil",
                   name);
}

/* ---- weights as one vector ---- */

/* Values, or slopes, of all that learns; how many. */
static int64_t copy_out(float *out, const sp_learner *l, int slopes)
{
    int64_t at = 0;
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(l->nn, i, NULL)); i++) {
        if (!t->grad)
            continue;
        if (out)
            memcpy(out + at, slopes ? t->grad : t->value,
                   (size_t)t->size * sizeof *out);
        at += t->size;
    }
    return at;
}

int64_t sp_learner_size(const sp_learner *l)
{
    return copy_out(NULL, l, 0);
}

void sp_learner_get(float *out, const sp_learner *l)
{
    copy_out(out, l, 0);
}

void sp_learner_set(const sp_learner *l, const float *from)
{
    int64_t at = 0;
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(l->nn, i, NULL)); i++)
        if (t->grad) {
            memcpy(t->value, from + at, (size_t)t->size * sizeof *from);
            at += t->size;
        }
}

/* 1 for what inner steps may move. */
static void mask_of(float *out, const sp_learner *l, sp_meta_kind kind)
{
    const char *name;
    int64_t at = 0;
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(l->nn, i, &name)); i++) {
        float moves = kind != SP_META_ANIL || strstr(name, l->head) ? 1 : 0;

        for (int64_t k = 0; t->grad && k < t->size; k++)
            out[at++] = moves;
    }
}

/* ---- slopes ---- */

typedef struct {
    const sp_learner *l;
    const sp_meta *how;
    sp_tape *tape;
    int64_t size;
    int task;
    const int64_t *support, *query;
    float *path; /* [steps + 1, size] weights along the inner loop */
    float *mask, *g, *h, *moved;
} loop;

/* The mean loss over subjects at the weights as they are, and its slope. */
static spry_status slope_of(float *out, double *loss, loop *w,
                            const int64_t *subject, int count)
{
    const sp_learner *l = w->l;
    spry_status s = SPRY_OK;
    double sum = 0;

    sp_nn_forget(l->nn);
    for (int i = 0; i < count && s == SPRY_OK; i++) {
        sp_tensor *one;

        sp_tape_begin(w->tape, 1);
        one = l->loss(w->tape, l->net, w->task, subject[i], l->payload);
        one = sp_nn_scale(w->tape, one, 1.0 / count);
        s = sp_tape_backward(w->tape, one);
        sum += s == SPRY_OK ? (double)one->value[0] : 0;
    }
    copy_out(out, l, 1);
    sp_nn_forget(l->nn);
    if (loss)
        *loss = sum;
    return s;
}

static double norm(const float *v, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += (double)v[i] * (double)v[i];
    return sqrt(sum);
}

/* v -= rate * H (mask v) at the weights of step k, in place. */
static spry_status back_step(float *v, loop *w, int k)
{
    const float *at = w->path + k * w->size;
    double length, far;
    spry_status s = SPRY_OK;

    for (int64_t i = 0; i < w->size; i++)
        w->h[i] = v[i] * w->mask[i];
    length = norm(w->h, w->size);
    if (length == 0)
        return SPRY_OK;
    far = 1e-3 * (1 + norm(at, w->size)) / length;
    for (int side = 1; side >= -1 && s == SPRY_OK; side -= 2) {
        for (int64_t i = 0; i < w->size; i++)
            w->moved[i] = at[i] + (float)(side * far) * w->h[i];
        sp_learner_set(w->l, w->moved);
        s = slope_of(w->g, NULL, w, w->support, w->how->support);
        for (int64_t i = 0; i < w->size && s == SPRY_OK; i++)
            v[i] -= (float)(side * w->how->inner_rate / (2 * far)) * w->g[i];
    }
    return s;
}

/* Weights end where the inner loop ends. */
static spry_status inner(loop *w)
{
    spry_status s = SPRY_OK;

    sp_learner_get(w->path, w->l);
    for (int k = 0; k < w->how->steps && s == SPRY_OK; k++) {
        const float *at = w->path + k * w->size;
        float *next = w->path + (k + 1) * w->size;

        s = slope_of(w->g, NULL, w, w->support, w->how->support);
        for (int64_t i = 0; i < w->size; i++)
            next[i] = at[i] - (float)w->how->inner_rate * w->mask[i] * w->g[i];
        sp_learner_set(w->l, next);
    }
    return s;
}

static spry_status outer(float *out, double *loss, loop *w)
{
    const float *last = w->path + w->how->steps * w->size;
    int second = w->how->kind == SP_META_MAML || w->how->kind == SP_META_ANIL;
    spry_status s = inner(w);

    if (s == SPRY_OK)
        s = slope_of(out, loss, w, w->query, w->how->query);
    for (int64_t i = 0; i < w->size && w->how->kind == SP_META_REPTILE; i++)
        out[i] = w->path[i] - last[i];
    for (int k = w->how->steps - 1; k >= 0 && second && s == SPRY_OK; k--)
        s = back_step(out, w, k);
    sp_learner_set(w->l, w->path);
    return s;
}

spry_status sp_meta_slope(float *out, double *loss, const sp_learner *l,
                          const sp_meta *how, int task, const int64_t *support,
                          const int64_t *query)
{
    loop w = {.l = l,
              .how = how,
              .size = sp_learner_size(l),
              .task = task,
              .support = support,
              .query = query};
    spry_status s = sp_tape_new(&w.tape, 1);

    w.path = sp_alloc((how->steps + 5) * w.size, sizeof *w.path);
    if (s == SPRY_OK && !w.path)
        s = sp_fail_memory((size_t)w.size * sizeof *w.path);
    if (s == SPRY_OK) {
        w.mask = w.path + (how->steps + 1) * w.size;
        w.g = w.mask + w.size;
        w.h = w.g + w.size;
        w.moved = w.h + w.size;
        mask_of(w.mask, l, how->kind);
        s = outer(out, loss, &w);
    }
    sp_free(w.path);
    sp_tape_free(w.tape);
    return s;
}
