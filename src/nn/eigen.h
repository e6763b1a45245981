/* eigen.h - a few eigenvectors of a large symmetric matrix. */
#ifndef SP_NN_EIGEN_H
#define SP_NN_EIGEN_H

#include <stdint.h>

#include "base/base.h"

/* y = A x, both of n numbers. */
typedef void sp_operator(double *y, const double *x, void *payload);

typedef struct {
    int64_t n;
    sp_operator *multiply;
    void *payload;
    uint64_t seed; /* where the search begins */
} sp_symmetric;

/* The k largest eigenvalues, descending, and their vectors of length 1 as
 * vector[k][n]; 1 <= k <= n. By ARPACK where there is one, else by orthogonal
 * iteration. A vector's sign is such that its largest entry is positive. */
spry_status sp_eigen_largest(double *value, double *vector, int64_t k,
                             const sp_symmetric *a);
/* The same without ARPACK. */
spry_status sp_eigen_own(double *value, double *vector, int64_t k,
                         const sp_symmetric *a);

/* Turn x so that its largest entry is positive. */
void sp_eigen_fix_sign(double *x, int64_t n);

/* What finds them: "ARPACK" or "own iteration". */
const char *sp_eigen_by(void);

#endif
