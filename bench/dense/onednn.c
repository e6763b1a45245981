/* onednn.c - oneDNN 2's convolutions and products, through its C door. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dnnl.h>

#include "base/unconst.h"
#include "peer.h"

enum { ARGUMENTS = 3 };

struct dense_peer {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[ARGUMENTS]; /* in, weights, out */
    dnnl_exec_arg_t arg[ARGUMENTS];
    int threads, rows;
    char about[128];
};

const char *dense_peer_name(void)
{
    static char name[32];
    const dnnl_version_t *v = dnnl_version();

    snprintf(name, sizeof name, "oneDNN %d.%d.%d", v->major, v->minor,
             v->patch);
    return name;
}

static int bad(dnnl_status_t s)
{
    return s != dnnl_success;
}

/* Copies `data`, laid out as `plain`, into memory laid out as `want`. */
static int fill(dnnl_memory_t *out, dnnl_engine_t engine, dnnl_stream_t stream,
                const dnnl_memory_desc_t *plain, const dnnl_memory_desc_t *want,
                const float *data)
{
    dnnl_memory_t from = NULL;
    dnnl_primitive_desc_t how = NULL;
    dnnl_primitive_t copy = NULL;
    dnnl_exec_arg_t arg[2];
    int wrong =
        bad(dnnl_memory_create(out, want, engine, DNNL_MEMORY_ALLOCATE)) ||
        bad(dnnl_memory_create(&from, plain, engine, sp_unconst(data))) ||
        bad(dnnl_reorder_primitive_desc_create(&how, plain, engine, want,
                                               engine, NULL)) ||
        bad(dnnl_primitive_create(&copy, how));

    if (!wrong) {
        arg[0] = (dnnl_exec_arg_t){DNNL_ARG_FROM, from};
        arg[1] = (dnnl_exec_arg_t){DNNL_ARG_TO, *out};
        wrong = bad(dnnl_primitive_execute(copy, stream, 2, arg)) ||
                bad(dnnl_stream_wait(stream));
    }
    dnnl_primitive_destroy(copy);
    dnnl_primitive_desc_destroy(how);
    dnnl_memory_destroy(from);
    return wrong;
}

static dnnl_memory_desc_t tensor(int dims, const dnnl_dim_t *size,
                                 dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t m;
    dnnl_dims_t all = {0};

    memcpy(all, size, (size_t)dims * sizeof *size);
    dnnl_memory_desc_init_by_tag(&m, dims, all, dnnl_f32, tag);
    return m;
}

/* The three tensors as they are given. */
static void describe(dnnl_memory_desc_t plain[ARGUMENTS],
                     dnnl_memory_desc_t want[ARGUMENTS],
                     const spry_operator *op, dense_layout layout)
{
    dnnl_dim_t p = spry_operator_height(op), q = spry_operator_width(op);
    dnnl_format_tag_t images = dnnl_nhwc;

    if (op->kind == SPRY_MATMUL) {
        dnnl_dim_t a[] = {op->batch, op->m, op->k};
        dnnl_dim_t b[] = {op->batch, op->k, op->n};
        dnnl_dim_t c[] = {op->batch, op->m, op->n};
        const dnnl_dim_t *size[] = {a, b, c};
        int skip = op->batch == 1;

        for (int i = 0; i < ARGUMENTS; i++) {
            plain[i] =
                tensor(3 - skip, size[i] + skip, skip ? dnnl_ab : dnnl_abc);
            want[i] = i == 1 && !op->given ? tensor(3 - skip, size[i] + skip,
                                                    dnnl_format_tag_any)
                                           : plain[i];
        }
        if (op->transposed)
            plain[1] = tensor(3 - skip, b + skip, skip ? dnnl_ba : dnnl_acb);
        if (op->transposed && op->given)
            want[1] = plain[1];
        return;
    }
    dnnl_dim_t in[] = {op->n, op->c, op->h, op->w};
    dnnl_dim_t out[] = {op->n, op->k, p, q};
    dnnl_dim_t w[] = {op->groups, op->k / op->groups, op->c / op->groups, op->r,
                      op->s};
    int one = op->groups == 1;

    plain[0] = tensor(4, in, images);
    plain[2] = tensor(4, out, images);
    plain[1] = tensor(5 - one, w + one, one ? dnnl_oihw : dnnl_goihw);
    want[1] = tensor(5 - one, w + one, dnnl_format_tag_any);
    images = layout == PEER_ROWS       ? dnnl_nhwc
             : layout == PEER_SIXTEENS ? dnnl_nChw16c
             : layout == PEER_EIGHTS   ? dnnl_nChw8c
                                       : dnnl_format_tag_any;
    /* Few channels are no block; it takes pictures of three row by row. */
    want[0] = layout > PEER_WINOGRAD && op->c < 8 ? tensor(4, in, dnnl_nchw)
                                                  : tensor(4, in, images);
    want[2] = tensor(4, out, images);
}

static dnnl_status_t choose(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                            const spry_operator *op, dense_layout layout,
                            const dnnl_memory_desc_t want[ARGUMENTS])
{
    dnnl_dims_t stride = {op->stride_h, op->stride_w};
    dnnl_dims_t dilate = {op->dilate_h - 1, op->dilate_w - 1};
    dnnl_dims_t before = {op->pad_top, op->pad_left};
    dnnl_dims_t behind = {op->pad_bottom, op->pad_right};
    dnnl_convolution_desc_t conv;
    dnnl_matmul_desc_t product;
    dnnl_status_t s;

    if (op->kind == SPRY_MATMUL) {
        s = dnnl_matmul_desc_init(&product, &want[0], &want[1], NULL, &want[2]);
        return bad(s) ? s
                      : dnnl_primitive_desc_create(out, &product, NULL, engine,
                                                   NULL);
    }
    s = dnnl_dilated_convolution_forward_desc_init(
        &conv, dnnl_forward_inference,
        layout == PEER_WINOGRAD ? dnnl_convolution_winograd
                                : dnnl_convolution_direct,
        &want[0], &want[1], NULL, &want[2], stride, dilate, before, behind);
    return bad(s) ? s
                  : dnnl_primitive_desc_create(out, &conv, NULL, engine, NULL);
}

static int prepare(dense_peer *p, const spry_operator *op,
                   const spry_tensors *t, dense_layout layout)
{
    static const dnnl_query_t what[] = {
        dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md};
    static const int name[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    dnnl_memory_desc_t plain[ARGUMENTS], want[ARGUMENTS];
    const float *data[] = {t->in, op->given ? t->b : op->weights, t->out};
    dnnl_primitive_desc_t how = NULL;
    const char *about = "";
    int wrong;

    describe(plain, want, op, layout);
    if (bad(choose(&how, p->engine, op, layout, want)))
        return 1;
    wrong = bad(dnnl_primitive_create(&p->primitive, how));
    dnnl_primitive_desc_query(how, dnnl_query_impl_info_str, 0, &about);
    snprintf(p->about, sizeof p->about, "%s", about);
    for (int i = 0; i < ARGUMENTS && !wrong; i++) {
        const dnnl_memory_desc_t *md =
            dnnl_primitive_desc_query_md(how, what[i], 0);

        wrong =
            fill(&p->memory[i], p->engine, p->stream, &plain[i], md, data[i]);
        p->arg[i] = (dnnl_exec_arg_t){name[i], p->memory[i]};
        if (i == 2)
            p->rows = dnnl_memory_desc_equal(md, &plain[2]);
    }
    dnnl_primitive_desc_destroy(how);
    return wrong;
}

dense_peer *dense_peer_open(const spry_operator *op, const spry_tensors *t,
                            dense_layout layout, int threads)
{
    dense_peer *p = calloc(1, sizeof *p);
    int before = omp_get_max_threads(), wrong;

    if (!p)
        return NULL;
    p->threads = threads;
    omp_set_num_threads(threads);
    wrong = bad(dnnl_engine_create(&p->engine, dnnl_cpu, 0)) ||
            bad(dnnl_stream_create(&p->stream, p->engine,
                                   dnnl_stream_default_flags)) ||
            prepare(p, op, t, layout);
    omp_set_num_threads(before);
    if (!wrong)
        return p;
    dense_peer_close(p);
    return NULL;
}

void dense_peer_run(void *peer)
{
    dense_peer *p = peer;
    int before = omp_get_max_threads();

    omp_set_num_threads(p->threads);
    dnnl_primitive_execute(p->primitive, p->stream, ARGUMENTS, p->arg);
    dnnl_stream_wait(p->stream);
    omp_set_num_threads(before);
}

const char *dense_peer_about(const dense_peer *p)
{
    return p->about;
}

double dense_peer_difference(const dense_peer *p, const float *out,
                             int64_t count)
{
    double largest = 0, off = 0;
    void *data = NULL;

    if (!p->rows || bad(dnnl_memory_get_data_handle(p->memory[2], &data)))
        return -1;
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)out[i]));
        off = fmax(off, fabs((double)out[i] - (double)((float *)data)[i]));
    }
    return off / (largest + 1e-30);
}

void dense_peer_close(dense_peer *p)
{
    if (!p)
        return;
    dnnl_primitive_destroy(p->primitive);
    for (int i = 0; i < ARGUMENTS; i++)
        dnnl_memory_destroy(p->memory[i]);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    free(p);
}
