/* network.c - run a sparse network, edge by edge, in two orders.
 *
 *   example-network gen:radix,depth=8     or   example-network FILE.spnet */
#include <stdio.h>
#include <stdlib.h>

#include <spry.h>

enum { BATCH = 16 };

/* y = what the network makes of x, its edges in the order called `order`. */
static spry_status run(float *y, const spry_network *n, const char *order,
                       const float *x)
{
    int32_t *edge = malloc((size_t)n->edges * sizeof *edge);
    spry_stream *stream = NULL;
    spry_status s = edge ? spry_order_make(edge, n, order, NULL) : SPRY_SYSTEM;

    if (s == SPRY_OK)
        s = spry_stream_make(&stream, n, edge);
    if (s == SPRY_OK)
        s = spry_stream_run(stream, y, x, BATCH);
    spry_stream_free(stream);
    free(edge);
    return s;
}

static float largest_difference(const float *a, const float *b, int64_t n)
{
    float most = 0;

    for (int64_t i = 0; i < n; i++) {
        float d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];

        most = d > most ? d : most;
    }
    return most;
}

int main(int argc, char **argv)
{
    spry_network *n = NULL;
    spry_matrix *images = NULL;
    float *x = NULL, *y = NULL, *z = NULL;
    spry_status s;

    s = spry_network_read(&n, argc > 1 ? argv[1] : "gen:radix,depth=8", NULL);
    if (s == SPRY_OK)
        s = spry_inputs_strokes(&images, BATCH, n->inputs, 1);
    if (s == SPRY_OK) {
        x = malloc(BATCH * (size_t)n->inputs * sizeof *x);
        y = malloc(BATCH * (size_t)n->outputs * sizeof *y);
        z = malloc(BATCH * (size_t)n->outputs * sizeof *z);
        s = x && y && z ? spry_inputs_dense(x, images, 0, BATCH, n->inputs)
                        : SPRY_SYSTEM;
    }
    if (s == SPRY_OK)
        s = run(y, n, "destination", x);
    if (s == SPRY_OK)
        s = run(z, n, "blocked", x);
    if (s == SPRY_OK)
        printf("%lld edges; the two orders differ by at most %g\n",
               (long long)n->edges,
               (double)largest_difference(y, z, BATCH * n->outputs));
    else
        fprintf(stderr, "%s\n", spry_message());
    free(x);
    free(y);
    free(z);
    spry_matrix_free(images);
    spry_network_free(n);
    return (int)s;
}
