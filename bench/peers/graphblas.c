/* graphblas.c - SuiteSparse:GraphBLAS over the plus-times semiring.
 *
 * B and D are full matrices on our own arrays, lent and taken back. SDDMM is
 * a masked product, then entrywise with A. The library chooses a method for
 * each product; here every choice is tried and the fastest kept. */
#include <GraphBLAS.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "peers.h"

/* How a product may be asked for; the last, by dot products, is for vectors
 * only. */
static const struct {
    int method;
    int accumulate; /* into a full zero result instead of a new one */
} ways[] = {
    {GxB_DEFAULT, 0}, {GxB_AxB_SAXPY, 0}, {GxB_DEFAULT, 1}, {GxB_AxB_DOT, 0}};
enum { WAYS = sizeof ways / sizeof ways[0] };

typedef struct {
    const bench_operands *o;
    GrB_Type type;
    GrB_Semiring product;
    GrB_BinaryOp plus, times;
    GrB_Matrix A, B, D, C;
    GrB_Vector x, y;
    GrB_Descriptor desc;
    int way;
} graphblas;

static const char *version(void)
{
    static char text[32];

    snprintf(text, sizeof text, "%d.%d.%d", GxB_IMPLEMENTATION_MAJOR,
             GxB_IMPLEMENTATION_MINOR, GxB_IMPLEMENTATION_SUB);
    return text;
}

/* Once; blocking, so that a call returns when its work is done. */
static void begin(int threads)
{
    static int begun;

    if (!begun)
        (void)GrB_init(GrB_BLOCKING);
    begun = 1;
    (void)GxB_set(GxB_NTHREADS, threads);
}

static void set_type(graphblas *h)
{
    int single = h->o->c.type == SPRY_F32;

    h->type = single ? GrB_FP32 : GrB_FP64;
    h->product =
        single ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_PLUS_TIMES_SEMIRING_FP64;
    h->plus = single ? GrB_PLUS_FP32 : GrB_PLUS_FP64;
    h->times = single ? GrB_TIMES_FP32 : GrB_TIMES_FP64;
}

/* ---- operands ---- */

static GrB_Index *widen(const int32_t *x, int64_t count)
{
    GrB_Index *wide = sp_alloc_raw(count, sizeof *wide);

    for (int64_t k = 0; wide && k < count; k++)
        wide[k] = (GrB_Index)x[k];
    return wide;
}

static GrB_Info copy_matrix(graphblas *h)
{
    const bench_operands *o = h->o;
    GrB_Index rows = (GrB_Index)o->rows, nnz = (GrB_Index)o->nnz;
    GrB_Index cols = (GrB_Index)o->cols;
    GrB_Index *start = widen(o->start, o->rows + 1);
    GrB_Index *col = widen(o->col, o->nnz);
    GrB_Info info = GrB_OUT_OF_MEMORY;

    if (start && col && o->c.type == SPRY_F32)
        info =
            GrB_Matrix_import_FP32(&h->A, h->type, rows, cols, start, col,
                                   o->val, rows + 1, nnz, nnz, GrB_CSR_FORMAT);
    else if (start && col)
        info =
            GrB_Matrix_import_FP64(&h->A, h->type, rows, cols, start, col,
                                   o->val, rows + 1, nnz, nnz, GrB_CSR_FORMAT);
    sp_free(start);
    sp_free(col);
    return info;
}

/* A full matrix that lives on X until take_back. */
static GrB_Info lend(GrB_Matrix *out, const graphblas *h, int64_t rows, void *X)
{
    GrB_Index bytes = (GrB_Index)(rows * h->o->c.n) * h->o->c.type;
    GrB_Info info =
        GrB_Matrix_new(out, h->type, (GrB_Index)rows, (GrB_Index)h->o->c.n);

    return info == GrB_SUCCESS
               ? GxB_Matrix_pack_FullR(*out, &X, bytes, false, NULL)
               : info;
}

static void take_back(GrB_Matrix *lent)
{
    void *X = NULL;
    GrB_Index bytes;
    bool iso;

    if (*lent)
        (void)GxB_Matrix_unpack_FullR(*lent, &X, &bytes, &iso, NULL);
    (void)GrB_Matrix_free(lent);
}

static GrB_Info make_vectors(graphblas *h)
{
    void *X = h->o->B;
    GrB_Index bytes = (GrB_Index)h->o->cols * h->o->c.type;
    GrB_Info info = GrB_Vector_new(&h->x, h->type, (GrB_Index)h->o->cols);

    if (info == GrB_SUCCESS)
        info = GxB_Vector_pack_Full(h->x, &X, bytes, false, NULL);
    if (info == GrB_SUCCESS)
        info = GrB_Vector_new(&h->y, h->type, (GrB_Index)h->o->rows);
    return info;
}

static GrB_Info make_matrices(graphblas *h)
{
    const bench_operands *o = h->o;
    int sddmm = o->c.op == SPRY_SDDMM;
    GrB_Info info = lend(&h->B, h, sddmm ? o->rows : o->cols, o->B);

    if (info == GrB_SUCCESS && sddmm)
        info = lend(&h->D, h, o->cols, o->D);
    if (info == GrB_SUCCESS)
        info = GrB_Matrix_new(&h->C, h->type, (GrB_Index)o->rows,
                              (GrB_Index)(sddmm ? o->cols : o->c.n));
    return info;
}

/* ---- products ---- */

static void spmv(graphblas *h, int accumulate)
{
    if (accumulate)
        (void)GrB_Vector_assign_FP64(h->y, NULL, NULL, 0, GrB_ALL,
                                     (GrB_Index)h->o->rows, NULL);
    (void)GrB_mxv(h->y, NULL, accumulate ? h->plus : NULL, h->product, h->A,
                  h->x, h->desc);
}

static void spmm(graphblas *h, int accumulate)
{
    if (accumulate)
        (void)GrB_Matrix_assign_FP64(h->C, NULL, NULL, 0, GrB_ALL,
                                     (GrB_Index)h->o->rows, GrB_ALL,
                                     (GrB_Index)h->o->c.n, NULL);
    (void)GrB_mxm(h->C, NULL, accumulate ? h->plus : NULL, h->product, h->A,
                  h->B, h->desc);
}

/* C<A> = B D'; C = A .* C */
static void sddmm(graphblas *h)
{
    (void)GrB_mxm(h->C, h->A, NULL, h->product, h->B, h->D, GrB_DESC_RST1);
    (void)GrB_Matrix_eWiseMult_BinaryOp(h->C, NULL, NULL, h->times, h->A, h->C,
                                        NULL);
}

static void run_way(void *handle, int way)
{
    graphblas *h = handle;

    (void)GxB_set(h->desc, GxB_AxB_METHOD, ways[way].method);
    if (h->o->c.op == SPRY_SPMV)
        spmv(h, ways[way].accumulate);
    else if (h->o->c.op == SPRY_SPMM)
        spmm(h, ways[way].accumulate);
    else
        sddmm(h);
}

static void run_graphblas(void *handle)
{
    run_way(handle, ((graphblas *)handle)->way);
}

/* ---- results ---- */

/* Entries that are there; the rest is zero. */
static void copy_present(const graphblas *h, char *C, int64_t count,
                         const int8_t *present, const char *X)
{
    size_t size = h->o->c.type;

    memset(C, 0, (size_t)count * size);
    for (int64_t k = 0; k < count; k++)
        if (!present || present[k])
            memcpy(C + (size_t)k * size, X + (size_t)k * size, size);
}

/* Taking the arrays out empties C; the next run fills it again. */
static void fetch(void *handle, void *C)
{
    graphblas *h = handle;
    const bench_operands *o = h->o;
    GrB_Index *start = NULL, *col = NULL, sizes[3], present_count;
    int8_t *present = NULL;
    void *X = NULL;
    bool iso = false;

    if (o->c.op == SPRY_SDDMM) {
        (void)GxB_Matrix_unpack_CSR(h->C, &start, &col, &X, &sizes[0],
                                    &sizes[1], &sizes[2], &iso, NULL, NULL);
        if (X && start && start[o->rows] == (GrB_Index)o->nnz)
            memcpy(C, X, (size_t)o->nnz * o->c.type);
    } else if (o->c.op == SPRY_SPMM) {
        (void)GxB_Matrix_unpack_BitmapR(h->C, &present, &X, &sizes[0],
                                        &sizes[1], &iso, &present_count, NULL);
        if (X)
            copy_present(h, C, o->rows * o->c.n, present, X);
    } else {
        (void)GxB_Vector_unpack_Bitmap(h->y, &present, &X, &sizes[0], &sizes[1],
                                       &iso, &present_count, NULL);
        if (X)
            copy_present(h, C, o->rows, present, X);
    }
    free(start);
    free(col);
    free(present);
    free(X);
}

/* ---- the row ---- */

static void close_graphblas(void *handle)
{
    graphblas *h = handle;
    void *X = NULL;
    GrB_Index bytes;
    bool iso;

    if (h->x)
        (void)GxB_Vector_unpack_Full(h->x, &X, &bytes, &iso, NULL);
    take_back(&h->B);
    take_back(&h->D);
    (void)GrB_Vector_free(&h->x);
    (void)GrB_Vector_free(&h->y);
    (void)GrB_Matrix_free(&h->A);
    (void)GrB_Matrix_free(&h->C);
    (void)GrB_Descriptor_free(&h->desc);
    sp_free(h);
}

static void *open_graphblas(const bench_operands *o, char why[BENCH_WHY])
{
    graphblas *h = sp_alloc(1, sizeof *h);
    GrB_Info info;

    if (!h) {
        snprintf(why, BENCH_WHY, "not enough memory");
        return NULL;
    }
    begin(o->c.threads);
    h->o = o;
    set_type(h);
    info = GrB_Descriptor_new(&h->desc);
    if (info == GrB_SUCCESS)
        info = copy_matrix(h);
    if (info == GrB_SUCCESS)
        info = o->c.op == SPRY_SPMV ? make_vectors(h) : make_matrices(h);
    if (info != GrB_SUCCESS) {
        snprintf(why, BENCH_WHY, "GraphBLAS says %d", (int)info);
        close_graphblas(h);
        return NULL;
    }
    if (o->c.op != SPRY_SDDMM)
        h->way = bench_fastest_way(run_way, h, WAYS - (o->c.op != SPRY_SPMV));
    return h;
}

const bench_peer bench_graphblas = {.name = "graphblas",
                                    .ops =
                                        BENCH_SPMV | BENCH_SPMM | BENCH_SDDMM,
                                    .types = BENCH_F32 | BENCH_F64,
                                    .parallel = 1,
                                    .version = version,
                                    .open = open_graphblas,
                                    .run = run_graphblas,
                                    .fetch = fetch,
                                    .close = close_graphblas};
