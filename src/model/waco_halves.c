/* waco_halves.c - the head of WACO's network in two halves.
 *
 * Its first layer is a sum over both embeddings: the schedules' part is
 * multiplied once for a whole space, the matrix's once for a problem. */
#include <math.h>
#include <string.h>

#include "model/waconet.h"

enum { FEW = SP_WACO_FEW };

int sp_waco_width(const sp_cost *c)
{
    (void)c;
    return SP_WACO_WIDTH;
}

/* What the model has no words for is so large that it comes last. */
static spry_status halves_few(float *out, const sp_cost *c, sp_tape *t,
                              const spry_schedule *x, int64_t count)
{
    const sp_waconet *w = c->inner;
    sp_waco_words words[FEW];
    int has[FEW];
    sp_tensor *y;
    sp_gemm g;

    memset(words, 0, sizeof words);
    for (int64_t i = 0; i < count; i++)
        has[i] = sp_waconet_words(&words[i], w, &x[i]);
    for (int64_t i = 0; i < count; i++)
        if (!has[i])
            memset(&words[i], 0, sizeof words[i]);
    sp_tape_begin(t, 0);
    y = sp_waconet_schedules(t, w, words, count);
    if (!y)
        return sp_tape_status(t);
    g = (sp_gemm){.m = count,
                  .n = SP_WACO_WIDTH,
                  .k = SP_WACO_WIDTH,
                  .a = y->value,
                  .b = w->head[0].weight->value + SP_WACO_WIDTH,
                  .c = out,
                  .lda = SP_WACO_WIDTH,
                  .ldb = INT64_C(2) * SP_WACO_WIDTH,
                  .ldc = SP_WACO_WIDTH,
                  .tb = 1};
    sp_nn_gemm(&g, 1);
    for (int64_t i = 0; i < count; i++)
        if (!has[i])
            out[i * SP_WACO_WIDTH] = nanf("");
    return sp_tape_status(t);
}

spry_status sp_waco_halves(float *out, const sp_cost *c, const spry_schedule *x,
                           int64_t count)
{
    sp_tape *t = NULL;
    spry_status s = sp_tape_new(&t, 1);

    for (int64_t at = 0; at < count && s == SPRY_OK; at += FEW)
        s = halves_few(out + at * SP_WACO_WIDTH, c, t, x + at,
                       count - at < FEW ? count - at : FEW);
    sp_tape_free(t);
    return s;
}

static void join_few(float *out, const sp_waconet *w, const sp_waco_view *own,
                     const float *half, int64_t count)
{
    enum { SECOND = 64 };
    float first[64][SP_WACO_WIDTH], second[64][SECOND];
    sp_gemm g = {.m = count,
                 .n = SECOND,
                 .k = SP_WACO_WIDTH,
                 .a = first[0],
                 .b = w->head[1].weight->value,
                 .c = second[0],
                 .lda = SP_WACO_WIDTH,
                 .ldb = SP_WACO_WIDTH,
                 .ldc = SECOND,
                 .tb = 1};

    for (int64_t i = 0; i < count; i++)
        for (int h = 0; h < SP_WACO_WIDTH; h++) {
            float y = half[i * SP_WACO_WIDTH + h] + own->first[h];

            first[i][h] = y > 0 ? y : 0;
        }
    sp_nn_gemm(&g, 1);
    for (int64_t i = 0; i < count; i++) {
        float sum = w->head[2].bias->value[0];

        for (int h = 0; h < SECOND; h++) {
            float y = second[i][h] + w->head[1].bias->value[h];

            sum += w->head[2].weight->value[h] * (y > 0 ? y : 0);
        }
        out[i] = half[i * SP_WACO_WIDTH] == half[i * SP_WACO_WIDTH] ? sum
                                                                    : HUGE_VALF;
    }
}

void sp_waco_join(float *out, const sp_view *v, const float *half,
                  int64_t count)
{
    for (int64_t at = 0; at < count; at += 64)
        join_few(out + at, v->cost->inner, v->inner, half + at * SP_WACO_WIDTH,
                 count - at < 64 ? count - at : 64);
}
