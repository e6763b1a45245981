/* vertex_view.c - what a neuron is, seen from the graph: its entries in the
 * eigenvectors of the Laplacian with the largest eigenvalues; or plain
 * features, from which GraphSAGE learns an embedding. */
#include <math.h>
#include <string.h>

#include "eon/policy.h"
#include "nn/eigen.h"

/* ---- the graph without directions ---- */

static spry_status list_neighbours(sp_vertex_view *s, const spry_network *n)
{
    int64_t *next;

    s->start = sp_alloc(n->neurons + 2, sizeof *s->start);
    s->around = sp_alloc_raw(2 * n->edges, sizeof *s->around);
    if (!s->start || !s->around)
        return sp_fail_memory((size_t)n->edges * 2 * sizeof *s->around);
    /* next[v] is where v's list begins, and in the end where it ends. */
    next = s->start + 1;
    for (int64_t v = 0; v < n->neurons; v++)
        for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
            s->start[v + 2]++;
            s->start[n->source[k] + 2]++;
        }
    for (int64_t v = 2; v <= n->neurons + 1; v++)
        s->start[v] += s->start[v - 1];
    for (int64_t v = 0; v < n->neurons; v++)
        for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
            s->around[next[v]++] = n->source[k];
            s->around[next[n->source[k]]++] = (int32_t)v;
        }
    return SPRY_OK;
}

/* ---- Laplacian: L = D - A ---- */

static void laplacian(double *y, const double *x, void *payload)
{
    const sp_vertex_view *s = payload;

    for (int64_t v = 0; v < s->neurons; v++) {
        double sum = (double)(s->start[v + 1] - s->start[v]) * x[v];

        for (int64_t i = s->start[v]; i < s->start[v + 1]; i++)
            sum -= x[s->around[i]];
        y[v] = sum;
    }
}

/* Entries are scaled to a mean square of 1. */
static spry_status take_spectrum(sp_vertex_view *s)
{
    int64_t n = s->neurons, k = n < s->width ? n : s->width;
    sp_symmetric a = {n, laplacian, s, 1};
    double *value = sp_alloc(k, sizeof *value);
    double *vector = sp_alloc(k * n, sizeof *vector);
    double scale = sqrt((double)n);
    spry_status status = SPRY_OK;

    if (value && vector)
        status = sp_eigen_largest(value, vector, k, &a);
    else
        status = sp_fail_memory((size_t)(k * n) * sizeof *vector);
    for (int64_t v = 0; vector && status == SPRY_OK && v < n; v++)
        for (int64_t i = 0; i < k; i++)
            s->feature[v * s->width + i] = (float)(scale * vector[i * n + v]);
    sp_free(value);
    sp_free(vector);
    return status;
}

/* ---- plain features ---- */

static float log_of(int64_t count)
{
    return (float)log2((double)count + 1) / 4;
}

static void fill_plain(sp_vertex_view *s, const spry_network *n)
{
    for (int64_t o = 0; o < n->outputs; o++)
        s->feature[n->output[o] * s->width + 5] = 1;
    for (int64_t l = -1; l < n->layers; l++) {
        int64_t from = l < 0 ? 0 : n->first[l], end = n->first[l + 1];
        double depth = (double)(l + 1) / (double)n->layers;

        for (int64_t v = from; v < end; v++) {
            float *f = s->feature + v * s->width;
            int64_t ins = n->start[v + 1] - n->start[v];
            double place = (double)(v - from) / (double)(end - from);

            f[0] = 1;
            f[1] = log_of(ins);
            f[2] = log_of(s->start[v + 1] - s->start[v] - ins);
            f[3] = (float)depth;
            f[4] = l < 0 ? 1.0F : 0.0F;
            f[6] = (float)sin(6.283185307179586 * place);
            f[7] = (float)cos(6.283185307179586 * place);
        }
    }
}

spry_status sp_vertex_view_open(sp_vertex_view *out, const spry_network *n,
                                spry_embedding embedding)
{
    int64_t width = embedding == SPRY_LAPLACIAN ? SP_SPECTRUM : SP_VERTEX;
    spry_status s;

    *out = (sp_vertex_view){.neurons = n->neurons, .width = width};
    out->feature = sp_alloc(n->neurons * width, sizeof *out->feature);
    if (!out->feature)
        return sp_fail_memory((size_t)(n->neurons * width) * sizeof(float));
    s = list_neighbours(out, n);
    if (s == SPRY_OK && embedding == SPRY_LAPLACIAN)
        s = take_spectrum(out);
    else if (s == SPRY_OK)
        fill_plain(out, n);
    if (s != SPRY_OK)
        sp_vertex_view_close(out);
    return s;
}

void sp_vertex_view_close(sp_vertex_view *s)
{
    sp_free(s->feature);
    sp_free(s->start);
    sp_free(s->around);
    *s = (sp_vertex_view){0};
}
