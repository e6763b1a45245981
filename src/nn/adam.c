/* adam.c - gradients to better weights: Kingma and Ba 2015, with the weight
 * decay of Loshchilov and Hutter 2019 if asked. */
#include "nn/nn.h"

#include <math.h>
#include <string.h>

#include "nn/internal.h"

void sp_nn_forget(sp_nn *n)
{
    for (int i = 0; i < n->count; i++) {
        sp_tensor *t = &n->weights[i]->t;

        if (t->grad)
            memset(t->grad, 0, (size_t)t->size * sizeof *t->grad);
    }
}

/* The length of all gradients that learn, as one vector. */
static double norm(const sp_nn *n)
{
    double sum = 0;

    for (int i = 0; i < n->count; i++) {
        const sp_tensor *t = &n->weights[i]->t;

        for (int64_t j = 0; j < t->size && t->grad; j++)
            sum += (double)t->grad[j] * (double)t->grad[j];
    }
    return sqrt(sum);
}

/* One step in f32; `scale` clips, `rate` and `root` hold what corrects the
 * moments for having begun at zero. */
typedef struct {
    float scale, rate, root;
    float beta1, beta2, epsilon;
    float pull;   /* decay into the gradient */
    float shrink; /* decay of the weight itself */
} move_by;

static void move(sp_weights *w, const move_by *s)
{
    float *x = w->t.value, *g = w->t.grad, *m = w->first, *v = w->second;

    for (int64_t i = 0; i < w->t.size; i++) {
        float d = g[i] * s->scale + s->pull * x[i];

        m[i] = s->beta1 * m[i] + (1 - s->beta1) * d;
        v[i] = s->beta2 * v[i] + (1 - s->beta2) * d * d;
        x[i] -= s->shrink * x[i] +
                s->rate * m[i] / (sqrtf(v[i]) * s->root + s->epsilon);
    }
}

double sp_nn_adam(sp_nn *n, const sp_adam *a, double share)
{
    double length = norm(n), rate = a->rate * share;
    double steps = (double)(n->steps + 1);
    move_by s = {.scale = 1,
                 .rate = (float)(rate / (1 - pow(a->beta1, steps))),
                 .root = (float)(1 / sqrt(1 - pow(a->beta2, steps))),
                 .beta1 = (float)a->beta1,
                 .beta2 = (float)a->beta2,
                 .epsilon = (float)a->epsilon,
                 .pull = a->decoupled ? 0 : (float)a->decay,
                 .shrink = a->decoupled ? (float)(rate * a->decay) : 0};

    if (a->clip > 0 && length > a->clip)
        s.scale = (float)(a->clip / length);
    if (isfinite(length)) {
        for (int i = 0; i < n->count; i++)
            if (n->weights[i]->t.grad)
                move(n->weights[i], &s);
        n->steps++;
    }
    sp_nn_forget(n);
    return length;
}

double sp_nn_share(int64_t step, int64_t warmup, int64_t steps, double floor)
{
    double at;

    if (step < warmup)
        return (double)(step + 1) / (double)warmup;
    if (step >= steps || steps <= warmup)
        return floor;
    at = (double)(step - warmup) / (double)(steps - warmup);
    return floor + (1 - floor) * 0.5 * (1 + cos(at * acos(-1)));
}
