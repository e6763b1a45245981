/* op_window.c - the window that convolutions and pools move over images. */
#include <string.h>

#include "graph/opcodes.h"

#define LARGEST ((int64_t)1 << 30)

/* Up to `count` positive numbers of an attribute; otherwise: as given. */
static spry_status numbers(int64_t *out, const sp_opnode *n, const char *name,
                           int count, int64_t otherwise, int64_t least)
{
    const sp_attr *a = sp_attr_find(n, name);

    for (int i = 0; i < count; i++)
        out[i] = otherwise;
    if (!a)
        return SPRY_OK;
    if (a->count != count)
        return sp_refuse(n, "%s has %d numbers, not %d", name, a->count, count);
    for (int i = 0; i < count; i++) {
        if (a->ints[i] < least || a->ints[i] > LARGEST)
            return sp_refuse(n, "%s holds %lld", name, (long long)a->ints[i]);
        out[i] = a->ints[i];
    }
    return SPRY_OK;
}

/* Padding that keeps the size, but for the stride; more of it at the end, or
 * at the beginning. */
static void pad_same(sp_window *w, int i, int64_t span, int lower)
{
    int64_t out = (w->in[i] + w->stride[i] - 1) / w->stride[i];
    int64_t pad = (out - 1) * w->stride[i] + span - w->in[i];

    pad = pad < 0 ? 0 : pad;
    w->pad[i] = lower ? pad - pad / 2 : pad / 2;
    w->pad[i + 2] = pad - w->pad[i];
}

static spry_status place(sp_window *w, const sp_opnode *n, int i, int up)
{
    const char *pad = sp_attr_word(n, "auto_pad", "NOTSET");
    int64_t span = (w->kernel[i] - 1) * w->dilate[i] + 1, room;

    if (strcmp(pad, "SAME_UPPER") == 0 || strcmp(pad, "SAME_LOWER") == 0)
        pad_same(w, i, span, pad[5] == 'L');
    else if (strcmp(pad, "VALID") == 0)
        w->pad[i] = w->pad[i + 2] = 0;
    else if (strcmp(pad, "NOTSET") != 0 && *pad)
        return sp_refuse(n, "auto_pad %s is not known", pad);
    room = w->in[i] + w->pad[i] + w->pad[i + 2] - span;
    if (room < 0)
        return sp_refuse(n, "the window is larger than the image");
    w->out[i] = (room + (up ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
    /* No window begins in the padding behind the image. */
    if (up && (w->out[i] - 1) * w->stride[i] >= w->in[i] + w->pad[i])
        w->out[i]--;
    return SPRY_OK;
}

spry_status sp_window_of(sp_window *w, const sp_opnode *n, const sp_extent *in,
                         const int64_t kernel[2])
{
    int up = sp_attr_int(n, "ceil_mode", 0) != 0;
    spry_status s;

    memset(w, 0, sizeof *w);
    if (in->dims != 4)
        return sp_refuse(n, "%d dimensions; only images [n][c][h][w] are known",
                         in->dims);
    for (int i = 0; i < 2; i++) {
        w->in[i] = in->dim[2 + i];
        if (w->in[i] < 1 || w->in[i] > LARGEST)
            return sp_refuse(n, "an image of size %lld", (long long)w->in[i]);
    }
    s = numbers(w->kernel, n, "kernel_shape", 2, 0, 1);
    for (int i = 0; s == SPRY_OK && kernel && i < 2; i++) {
        if (w->kernel[i] && w->kernel[i] != kernel[i])
            return sp_refuse(n, "kernel_shape is not that of the weights");
        w->kernel[i] = kernel[i];
    }
    if (s == SPRY_OK && (w->kernel[0] < 1 || w->kernel[1] < 1))
        s = sp_refuse(n, "the window has no size");
    if (s == SPRY_OK)
        s = numbers(w->stride, n, "strides", 2, 1, 1);
    if (s == SPRY_OK)
        s = numbers(w->dilate, n, "dilations", 2, 1, 1);
    if (s == SPRY_OK)
        s = numbers(w->pad, n, "pads", 4, 0, 0);
    for (int i = 0; s == SPRY_OK && i < 2; i++)
        s = place(w, n, i, up);
    return s;
}
