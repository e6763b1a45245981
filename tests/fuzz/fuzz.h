/* fuzz.h - one reader, any bytes: no crash, no leak, a valid matrix or a
 * sentence. */
#ifndef SPRY_FUZZ_H
#define SPRY_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "matrix/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A matrix that exists keeps its promises. */
static inline void fuzz_check(const spry_matrix *m)
{
    if (m->start[0] != 0 || m->start[m->rows] != m->nnz)
        abort();
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t k = m->start[r]; k < m->start[r + 1]; k++)
            if (sp_col(m, k) < 0 || sp_col(m, k) >= m->cols ||
                (k > m->start[r] && sp_col(m, k) <= sp_col(m, k - 1)))
                abort();
}

/* The copy is exact in size, so reading beyond it is seen. */
#define FUZZ_READER(parse, name)                                 \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
    {                                                            \
        char *copy = malloc(size + 1);                           \
        sp_text t = {name, copy, copy + size};                   \
        spry_matrix *m = NULL;                                   \
                                                                 \
        if (!copy)                                               \
            return 0;                                            \
        if (size)                                                \
            memcpy(copy, data, size);                            \
        copy[size] = 0;                                          \
        if (parse(&m, &t) == SPRY_OK)                            \
            fuzz_check(m);                                       \
        else if (m || !*spry_message() || sp_alloc_live())       \
            abort();                                             \
        spry_matrix_free(m);                                     \
        free(copy);                                              \
        return 0;                                                \
    }

#endif
