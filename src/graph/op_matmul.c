/* op_matmul.c - products of matrices: MatMul and Gemm. */
#include "graph/opcodes.h"

/* C[m][n] += A[m][k] B[k][n], whose elements lie so far apart. */
typedef struct {
    int64_t m, n, k;
    int64_t a_row, a_col, b_row, b_col;
} sizes;

static void multiply(double *C, const double *A, const double *B,
                     const sizes *z)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < z->m; i++)
        for (int64_t k = 0; k < z->k; k++) {
            double a = A[i * z->a_row + k * z->a_col];
            const double *b = B + k * z->b_row;
            double *c = C + i * z->n;

            if (z->b_col == 1)
                for (int64_t j = 0; j < z->n; j++)
                    c[j] += a * b[j];
            else
                for (int64_t j = 0; j < z->n; j++)
                    c[j] += a * b[j * z->b_col];
        }
}

/* ---- MatMul ---- */

/* Vectors become matrices of one row or column. */
static void as_matrices(sp_extent *a, sp_extent *b)
{
    if (a->dims == 1)
        *a = (sp_extent){2, {1, a->dim[0]}};
    if (b->dims == 1)
        *b = (sp_extent){2, {b->dim[0], 1}};
}

/* The batch of products: all dimensions but the last two. */
static spry_status batch_of(sp_extent *out, const sp_call *c, sp_extent a,
                            sp_extent b)
{
    if (a.dim[a.dims - 1] != b.dim[b.dims - 2])
        return sp_refuse(c->node, "%lld columns times %lld rows",
                         (long long)a.dim[a.dims - 1],
                         (long long)b.dim[b.dims - 2]);
    a.dims -= 2;
    b.dims -= 2;
    return sp_broadcast(out, &a, &b)
               ? SPRY_OK
               : sp_refuse(c->node, "the batches do not fit");
}

spry_status sp_matmul_infer(sp_call *c)
{
    sp_extent a = c->in[0]->shape, b = c->in[1]->shape, *out = &c->out[0].shape;
    spry_status s;

    if (a.dims < 1 || b.dims < 1 || c->in[0]->whole || c->in[1]->whole)
        return sp_refuse(c->node, "the inputs are no matrices of reals");
    as_matrices(&a, &b);
    s = batch_of(out, c, a, b);
    if (s != SPRY_OK)
        return s;
    if (c->in[0]->shape.dims > 1)
        out->dim[out->dims++] = a.dim[a.dims - 2];
    if (c->in[1]->shape.dims > 1)
        out->dim[out->dims++] = b.dim[b.dims - 1];
    return SPRY_OK;
}

/* Where product i of the batch begins in an operand. */
static int64_t place(int64_t i, const sp_extent *batch,
                     const int64_t step[SP_GRAPH_DIMS], int64_t matrix)
{
    int64_t at = 0;

    for (int d = batch->dims - 1; d >= 0; d--) {
        at += i % batch->dim[d] * step[d];
        i /= batch->dim[d];
    }
    return at * matrix;
}

spry_status sp_matmul_compute(sp_call *c)
{
    int64_t step_a[SP_GRAPH_DIMS], step_b[SP_GRAPH_DIMS], count;
    sp_extent a = c->in[0]->shape, b = c->in[1]->shape, batch;
    double *out = c->out[0].data;
    sizes z = {0};
    spry_status s;

    as_matrices(&a, &b);
    s = batch_of(&batch, c, a, b);
    if (s == SPRY_OK)
        s = sp_extent_count(&count, &batch);
    if (s != SPRY_OK)
        return s;
    z = (sizes){a.dim[a.dims - 2],
                b.dim[b.dims - 1],
                a.dim[a.dims - 1],
                a.dim[a.dims - 1],
                1,
                b.dim[b.dims - 1],
                1};
    a.dims -= 2;
    b.dims -= 2;
    sp_broadcast_steps(step_a, &a, &batch);
    sp_broadcast_steps(step_b, &b, &batch);
    for (int64_t i = 0; i < c->out[0].count; i++)
        out[i] = 0;
    for (int64_t i = 0; i < count; i++)
        multiply(out + i * z.m * z.n,
                 c->in[0]->data + place(i, &batch, step_a, z.m * z.k),
                 c->in[1]->data + place(i, &batch, step_b, z.k * z.n), &z);
    return SPRY_OK;
}

/* ---- Gemm ---- */

static spry_status gemm_sizes(sizes *z, const sp_call *c)
{
    const sp_extent *a = &c->in[0]->shape, *b = &c->in[1]->shape;
    int ta = sp_attr_int(c->node, "transA", 0) != 0;
    int tb = sp_attr_int(c->node, "transB", 0) != 0;

    if (a->dims != 2 || b->dims != 2 || c->in[0]->whole || c->in[1]->whole)
        return sp_refuse(c->node, "the inputs are no matrices of reals");
    *z = (sizes){.m = a->dim[ta],
                 .k = a->dim[!ta],
                 .n = b->dim[!tb],
                 .a_row = ta ? 1 : a->dim[1],
                 .a_col = ta ? a->dim[1] : 1,
                 .b_row = tb ? 1 : b->dim[1],
                 .b_col = tb ? b->dim[1] : 1};
    return z->k == b->dim[tb]
               ? SPRY_OK
               : sp_refuse(c->node, "%lld columns times %lld rows",
                           (long long)z->k, (long long)b->dim[tb]);
}

spry_status sp_gemm_infer(sp_call *c)
{
    sizes z = {0};
    spry_status s = gemm_sizes(&z, c);
    sp_extent out = {2, {0}}, both;

    if (s != SPRY_OK)
        return s;
    out.dim[0] = z.m;
    out.dim[1] = z.n;
    if (c->node->inputs > 2 && c->in[2] &&
        (!sp_broadcast(&both, &out, &c->in[2]->shape) ||
         !sp_extent_equal(&both, &out)))
        return sp_refuse(c->node, "what is added does not fit");
    c->out[0].shape = out;
    return SPRY_OK;
}

spry_status sp_gemm_compute(sp_call *c)
{
    double alpha = sp_attr_real(c->node, "alpha", 1);
    double beta = sp_attr_real(c->node, "beta", 1);
    const sp_array *add = c->node->inputs > 2 ? c->in[2] : NULL;
    int64_t step[SP_GRAPH_DIMS] = {0};
    double *out = c->out[0].data;
    sizes z = {0};
    spry_status s = gemm_sizes(&z, c);

    if (s != SPRY_OK)
        return s;
    for (int64_t i = 0; i < c->out[0].count; i++)
        out[i] = 0;
    multiply(out, c->in[0]->data, c->in[1]->data, &z);
    if (add)
        sp_broadcast_steps(step, &add->shape, &c->out[0].shape);
    for (int64_t i = 0; i < z.m; i++)
        for (int64_t j = 0; j < z.n; j++) {
            double more = add ? add->data[i * step[0] + j * step[1]] : 0;

            out[i * z.n + j] = alpha * out[i * z.n + j] + beta * more;
        }
    return SPRY_OK;
}
