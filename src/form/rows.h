/* rows.h - the form for many inputs at a time.
 *
 * Inputs go through in tiles, a vector of each neuron's values side by side,
 * and several tiles in step as a group, so that a layer's edges are fetched
 * once for all of them. */
#ifndef SP_FORM_ROWS_H
#define SP_FORM_ROWS_H

#include "form/internal.h"
#include "spry/shrink.h"

typedef struct {
    const spry_network *net;
    const sp_net_kernels *kernels;
    sp_places places;
    int tile, threads;
    int tiles; /* of a group, at most */
    sp_rows_layer *layer;
    sp_share *share;
    float *bias, *weight;
    uint16_t *near;
    uint32_t *far;
    double bytes;   /* of the arrays above */
    uint8_t *quiet; /* [layers] an input whose values are all 0 behind layer l
                       gives only zeros */
    spry_rest rest; /* where others are done; `full` is the number of layers
                       when none is, or when it was not asked for */
} sp_rows;

/* The tile that suits a network: 32, or, where outputs share sources, 16,
 * which leaves registers to more outputs (rows_pack.c). */
spry_status sp_rows_choose(int *tile, const spry_network *n);
/* The layers of r->net for r->tile and r->places (rows_pack.c). */
spry_status sp_rows_pack(sp_rows *r);

#endif
