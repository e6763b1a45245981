/* conv.c - convolution over the sites of a sparse image.
 *
 * One offset of the kernel at a time: walk the pairs of sites it connects,
 * gather their rows, multiply them all by the offset's matrix, and add the
 * products where they belong. Pairs come in small batches that stay in the
 * cache and are never stored, so memory does not grow with the kernel.
 *
 * Threads share the image by rows, or the kernel by offsets; each number is
 * summed by one thread in one order. */
#include "nn/layers.h"

#include <string.h>

#include "nn/internal.h"

enum { BATCH = 512, FEW_CHANNELS = 8 };

sp_conv sp_conv_make(sp_nn *n, const char *name, int size, int stride,
                     int64_t in, int64_t out)
{
    int64_t area = (int64_t)size * size;

    return (sp_conv){sp_nn_weights(n, name, SP_SHAPE(area, in, out),
                                   sp_init_kaiming(area * out)),
                     size, stride};
}

typedef struct {
    sp_conv l;
    sp_tensor *x, *y;
    const sp_sites *from, *to;
    int64_t in, out; /* channels */
} note;

/* ---- pairs ---- */

/* Sites of `to` and `from` that offset (down, right) connects, in order. */
typedef struct {
    const sp_sites *from, *to;
    int stride, down, right;
    int64_t r, r_end; /* rows of `to` */
    int64_t q, q_end; /* rows of `from` */
    int64_t i, j;     /* sites reached in rows r and q */
    int inside;       /* rows r and q match */
} walk;

typedef struct {
    int64_t n;
    int32_t from[BATCH], to[BATCH];
} pairs;

static int next_row(walk *w)
{
    for (; w->r < w->r_end; w->r++) {
        int64_t want = (int64_t)w->to->row[w->r] * w->stride + w->down;

        while (w->q < w->q_end && w->from->row[w->q] < want)
            w->q++;
        if (w->q == w->q_end)
            return 0;
        if (w->from->row[w->q] == want) {
            w->i = w->to->start[w->r];
            w->j = w->from->start[w->q];
            return 1;
        }
    }
    return 0;
}

/* Pairs of the two rows, until they end or p is full. */
static void match_row(pairs *p, walk *w)
{
    int64_t i = w->i, i_end = w->to->start[w->r + 1];
    int64_t j = w->j, j_end = w->from->start[w->q + 1];
    int64_t n = p->n;

    while (n < BATCH && i < i_end && j < j_end) {
        int64_t want = (int64_t)w->to->col[i] * w->stride + w->right;
        int64_t have = w->from->col[j];

        p->to[n] = (int32_t)i;
        p->from[n] = (int32_t)j;
        n += have == want;
        i += have >= want;
        j += have <= want;
    }
    w->i = i;
    w->j = j;
    p->n = n;
}

/* The next batch; 0 when there are no more. */
static int next_pairs(pairs *p, walk *w)
{
    p->n = 0;
    while (w->inside || (w->inside = next_row(w))) {
        match_row(p, w);
        if (p->n == BATCH)
            return 1;
        w->inside = 0;
        w->r++;
    }
    return p->n > 0;
}

static walk walk_all(const note *n, int offset)
{
    int size = n->l.size;

    return (walk){.from = n->from,
                  .to = n->to,
                  .stride = n->l.stride,
                  .down = offset / size - size / 2,
                  .right = offset % size - size / 2,
                  .r_end = n->to->rows,
                  .q_end = n->from->rows};
}

/* The first row of the i-th of `parts` shares, about equal in sites. */
static int64_t cut(const sp_sites *s, int i, int parts)
{
    int64_t site = s->n * i / parts, low = 0, high = s->rows;

    while (low < high) {
        int64_t middle = (low + high) / 2;

        if (s->start[middle] < site)
            low = middle + 1;
        else
            high = middle;
    }
    return i == parts ? s->rows : low;
}

/* ---- one batch ---- */

static void gather(float *out, const float *x, const int32_t *index, int64_t n,
                   int64_t width)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(out + i * width, x + index[i] * width,
               (size_t)width * sizeof(float));
}

static void scatter_add(float *y, const float *in, const int32_t *index,
                        int64_t n, int64_t width)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < width; j++)
            y[index[i] * width + j] += in[i * width + j];
}

/* y(to) += x(from) W, row by row: where a product would be all packing. */
static void add_directly(const note *n, const pairs *p, const float *w)
{
    for (int64_t i = 0; i < p->n; i++) {
        const float *x = n->x->value + p->from[i] * n->in;
        float *y = n->y->value + p->to[i] * n->out;

        for (int64_t k = 0; k < n->in; k++)
            for (int64_t j = 0; j < n->out; j++)
                y[j] += x[k] * w[k * n->out + j];
    }
}

static void add_products(const note *n, const pairs *p, const float *w,
                         float *scratch)
{
    float *rows = scratch, *products = scratch + BATCH * n->in;

    gather(rows, n->x->value, p->from, p->n, n->in);
    sp_nn_gemm(&(sp_gemm){.m = p->n,
                          .n = n->out,
                          .k = n->in,
                          .a = rows,
                          .lda = n->in,
                          .b = w,
                          .ldb = n->out,
                          .c = products,
                          .ldc = n->out},
               1);
    scatter_add(n->y->value, products, p->to, p->n, n->out);
}

/* ---- shares of the work; scratch holds BATCH rows of x and of y ---- */

/* y over the i-th share of its rows. */
static void forward_share(const note *n, int i, int parts, float *scratch)
{
    int64_t first = cut(n->to, i, parts), last = cut(n->to, i + 1, parts);
    pairs p;

    memset(n->y->value + n->to->start[first] * n->out, 0,
           (size_t)((n->to->start[last] - n->to->start[first]) * n->out) *
               sizeof(float));
    for (int offset = 0; offset < n->l.size * n->l.size; offset++) {
        const float *w = n->l.weight->value + offset * n->in * n->out;
        walk along = walk_all(n, offset);

        along.r = first;
        along.r_end = last;
        while (next_pairs(&p, &along))
            if (n->in < FEW_CHANNELS)
                add_directly(n, &p, w);
            else
                add_products(n, &p, w, scratch);
    }
}

/* dx += dy W' over the i-th share of the rows of x. */
static void input_share(const note *n, int i, int parts, float *scratch)
{
    int64_t first = cut(n->from, i, parts), last = cut(n->from, i + 1, parts);
    float *products = scratch, *rows = scratch + BATCH * n->in;
    pairs p;

    for (int offset = 0; offset < n->l.size * n->l.size; offset++) {
        const float *w = n->l.weight->value + offset * n->in * n->out;
        walk along = walk_all(n, offset);

        along.q = first;
        along.q_end = last;
        while (next_pairs(&p, &along)) {
            gather(rows, n->y->grad, p.to, p.n, n->out);
            sp_nn_gemm(&(sp_gemm){.m = p.n,
                                  .n = n->in,
                                  .k = n->out,
                                  .a = rows,
                                  .lda = n->out,
                                  .b = w,
                                  .ldb = n->out,
                                  .tb = 1,
                                  .c = products,
                                  .ldc = n->in},
                       1);
            scatter_add(n->x->grad, products, p.from, p.n, n->in);
        }
    }
}

/* dW += x' dy for every parts-th offset from the i-th on. */
static void weight_share(const note *n, int i, int parts, float *scratch)
{
    float *x = scratch, *dy = scratch + BATCH * n->in;
    pairs p;

    for (int offset = i; offset < n->l.size * n->l.size; offset += parts) {
        float *dw = n->l.weight->grad + offset * n->in * n->out;
        walk along = walk_all(n, offset);

        while (next_pairs(&p, &along)) {
            gather(x, n->x->value, p.from, p.n, n->in);
            gather(dy, n->y->grad, p.to, p.n, n->out);
            sp_nn_gemm(&(sp_gemm){.m = n->in,
                                  .n = n->out,
                                  .k = p.n,
                                  .a = x,
                                  .lda = n->in,
                                  .ta = 1,
                                  .b = dy,
                                  .ldb = n->out,
                                  .c = dw,
                                  .ldc = n->out,
                                  .add = 1},
                       1);
        }
    }
}

typedef void share(const note *n, int i, int parts, float *scratch);

static void run_shares(sp_tape *t, const note *n, share *run)
{
    int parts = sp_tape_threads(t, (n->from->n + n->to->n) * n->out);
    int64_t width = BATCH * (n->in + n->out);
    float *scratch = sp_tape_memory(t, parts * width, sizeof *scratch);

    if (!scratch)
        return;
#pragma omp parallel for num_threads(parts) schedule(static)
    for (int i = 0; i < parts; i++)
        run(n, i, parts, scratch + i * width);
}

/* ---- the layer ---- */

static void back(sp_tape *t, const void *at)
{
    const note *n = at;

    if (n->l.weight->grad)
        run_shares(t, n, weight_share);
    if (n->x->grad)
        run_shares(t, n, input_share);
}

sp_tensor *sp_nn_conv(sp_tape *t, const sp_conv *l, sp_tensor *x,
                      const sp_sites *from, const sp_sites *to)
{
    note n = {.l = *l, .x = x, .from = from, .to = to};

    if (!x || !l->weight || x->shape.rank != 2 || sp_rows(x) != from->n ||
        l->weight->shape.dim[1] != sp_cols(x) || l->size % 2 == 0)
        return sp_tape_refuse(t, "conv: sites or channels differ");
    n.in = l->weight->shape.dim[1];
    n.out = l->weight->shape.dim[2];
    n.y = SP_RESULT(t, SP_SHAPE(to->n, n.out), x, l->weight);
    if (!n.y)
        return NULL;
    run_shares(t, &n, forward_share);
    sp_tape_note(t, n.y, back, &n, sizeof n);
    return n.y;
}
