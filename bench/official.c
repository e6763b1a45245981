/* official.c - are the generated networks the official ones?
 *
 * Four counters of each of the twelve networks of the Sparse DNN Graph
 * Challenge, beside those that the 2020 champion's program printed of the
 * published files (jainmilan/GraphChallengePNNL-SpDNN, benchmark logs). Of
 * the 4096-wide ones no log is known: theirs are only written down here. With
 * QUICK=1 the networks of 120 layers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "spry/network.h"

static const struct {
    int width, depth, logged;
    int64_t right[4]; /* buffers, map, warpnz, weight_max */
} networks[] = {
    {1024, 120, 1, {960, 491520, 163152, 50176}},
    {1024, 480, 1, {3840, 1966080, 659840, 50176}},
    {1024, 1920, 1, {15360, 7864320, 2658544, 50176}},
    {4096, 120, 0, {15360, 7864320, 965872, 279552}},
    {4096, 480, 0, {61440, 31457280, 3958400, 284672}},
    {4096, 1920, 0, {245760, 125829120, 15946736, 290816}},
    {16384, 120, 1, {82944, 40882176, 4182400, 1412096}},
    {16384, 480, 1, {331776, 163528704, 17327472, 1412096}},
    {16384, 1920, 1, {1327104, 654114816, 69903104, 1413120}},
    {65536, 120, 1, {358400, 178216960, 17027216, 5536768}},
    {65536, 480, 1, {1433600, 712867840, 71159472, 5554176}},
    {65536, 1920, 1, {5734400, 2851471360, 287738496, 5576192}},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static int equal(const spry_counters *a, const int64_t *b)
{
    return a->buffers == b[0] && a->map == b[1] && a->warpnz == b[2] &&
           a->weight_max == b[3];
}

/* 1 when the counters are right, said on a line. */
static int check(int i)
{
    char path[64];
    spry_layers *layers;
    spry_counters c = {.size = sizeof c};
    double begin = sp_seconds();
    spry_status s;

    snprintf(path, sizeof path, "gen:radix,width=%d,depth=%d",
             networks[i].width, networks[i].depth);
    s = spry_layers_open(&layers, path, NULL);
    if (s == SPRY_OK)
        s = spry_layers_counters(&c, layers);
    spry_layers_close(layers);
    if (s != SPRY_OK) {
        printf("%s: %s\n", path, spry_message());
        return 0;
    }
    printf("%6d %6d %10" PRId64 " %12" PRId64 " %12" PRId64 " %10" PRId64
           "  %-9s %-9s %5.1f s\n",
           networks[i].width, networks[i].depth, c.buffers, c.map, c.warpnz,
           c.weight_max, equal(&c, networks[i].right) ? "equal" : "DIFFERENT",
           networks[i].logged ? "published" : "ours", sp_seconds() - begin);
    fflush(stdout);
    return equal(&c, networks[i].right);
}

int main(void)
{
    const char *quick = getenv("QUICK");
    int right = 0, tried = 0;

    printf(" width  depth    buffers          map       warpnz  weightmax\n");
    for (int i = 0; i < NETWORKS; i++)
        if (!quick || networks[i].depth == 120) {
            tried++;
            right += check(i);
        }
    printf("%d of %d networks have the counters they must have\n", right,
           tried);
    return right == tried ? 0 : SPRY_WRONG;
}
