/* run_depthwise.c - one share of a depthwise convolution: tiles of pixels of a
 * line, all channels of a tile before the next. */
#include "dense/tiling.h"

static void run_tile(const sp_dense_core *p, const sp_depthwise *line,
                     const sp_tile_place *x)
{
    const spry_operator *op = &p->op;
    const sp_tiling *t = p->tiling;
    int64_t first = x->at * op->stride_w - op->pad_left;
    int64_t last = first + (x->mr - 1) * op->stride_w + op->s;
    sp_depthwise d = *line;
    int edge = first < 0 || last > op->w;

    d.in += first * op->pitch_in;
    d.low = first < 0 ? -first : 0;
    d.high = op->w - first;
    d.out += x->at * t->out_pixel;
    d.add = d.add ? d.add + x->at * t->out_pixel : NULL;
    p->loops.depthwise->tile[op->s / 2][op->stride_w][x->mr][edge](&d);
}

void sp_depthwise_part(const sp_dense_core *p, const spry_tensors *tensors,
                       int i, void *scratch)
{
    const spry_operator *op = &p->op;
    const sp_tiling *t = p->tiling;

    (void)scratch;
    for (int64_t at = t->cut[i]; at < t->cut[i + 1]; at++) {
        int64_t line = at / t->tiles, image = line / t->height;
        int64_t at_line = line % t->height,
                y = at_line * op->stride_h - op->pad_top;
        int64_t r0 = 0, r1 = op->r;
        int64_t out = image * t->out_image + at_line * t->out_line;

        while (r0 < r1 && y + r0 * op->dilate_h < 0)
            r0++;
        while (r1 > r0 && y + (r1 - 1) * op->dilate_h >= op->h)
            r1--;
        run_tile(
            p,
            &(sp_depthwise){.in = tensors->in + image * t->in_image +
                                  (y + r0 * op->dilate_h) * t->in_line,
                            .pitch = op->pitch_in,
                            .rows = r1 - r0,
                            .row = op->dilate_h * t->in_line,
                            .w = p->packed + r0 * op->s * t->w_tap,
                            .w_tap = t->w_tap,
                            .bias = p->bias,
                            .add = tensors->add ? tensors->add + out : NULL,
                            .out = tensors->out + out,
                            .pitch_out = op->pitch_out,
                            .channels = op->c,
                            .f = &t->finish},
            &t->tile[at % t->tiles]);
    }
}
