/* blas.h - the library that multiplies dense matrices, once it is open. */
#ifndef SP_NN_BLAS_H
#define SP_NN_BLAS_H

/* CBLAS in its numbers. */
enum { SP_ROW_MAJOR = 101, SP_AS_IT_IS = 111, SP_TRANSPOSED = 112 };
typedef void sp_cblas_sgemm(int order, int ta, int tb, int m, int n, int k,
                            float alpha, const float *a, int lda,
                            const float *b, int ldb, float beta, float *c,
                            int ldc);
typedef void sp_cblas_sgemv(int order, int ta, int m, int n, float alpha,
                            const float *a, int lda, const float *x, int incx,
                            float beta, float *y, int incy);

typedef struct {
    sp_cblas_sgemm *sgemm; /* NULL: own loops */
    sp_cblas_sgemv *sgemv;
    char kernels[32]; /* the CPU they were written for; "" when not told */
    char about[160];
    int ours; /* we opened it, with one thread */
} sp_blas;

/* Open it at the first call; later calls return the same. */
const sp_blas *sp_blas_open(void);

/* The CPU types to ask OpenBLAS for on this machine, best first; NULL asks
 * for what it makes of the CPU itself. Returns how many. */
enum { SP_CORE_TYPES = 4 };
int sp_blas_core_types(const char *out[SP_CORE_TYPES]);

#endif
