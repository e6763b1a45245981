/* npy.h - NumPy's .npy files: versions 1 to 3 are read, 1 is written. The
 * command spry uses it, too. */
#ifndef SP_NPY_H
#define SP_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "spry/status.h"

enum {
    SP_NPY_BEGIN = 12,    /* bytes that tell how long a header is */
    SP_NPY_HEAD = 128,    /* of a header that is written */
    SP_NPY_LIMIT = 65536, /* of one that is read */
    SP_NPY_DIMS = 32
};

typedef struct {
    char kind; /* i u b f c: numbers; S U: text; O: Python objects */
    int size;  /* bytes of an element */
    int swap;  /* big-endian */
    int columns_first;
    int dims;
    int64_t shape[SP_NPY_DIMS];
    int64_t count; /* of elements */
} sp_npy;

/* Bytes of the whole header, from its first SP_NPY_BEGIN; 0 when it is none,
 * or longer than SP_NPY_LIMIT. */
size_t sp_npy_length(const char *data);

/* A header of sp_npy_length bytes; 0 when it is damaged. */
int sp_npy_parse(sp_npy *out, const char *data);

/* A file of `len` bytes: its header, and where the elements begin; NULL when
 * it is none, damaged or too short. */
const char *sp_npy_open(sp_npy *out, const char *data, size_t len);
/* Why elements of this kind are not read; NULL when they are. */
const char *sp_npy_refused(const sp_npy *a);
/* Element k of those at `at`. Unsigned numbers beyond int64 turn negative. */
int64_t sp_npy_int(const sp_npy *a, const char *at, int64_t k);
double sp_npy_real(const sp_npy *a, const char *at, int64_t k);

/* Version 1, rows first; type is NumPy's word, "<f8". At most two dimensions,
 * or eight of an array of no more than 2^31 elements that is not empty. */
void sp_npy_write(char out[SP_NPY_HEAD], const char *type, int dims,
                  const int64_t *shape);

/* The same with its elements as a file, whole or not at all. */
spry_status sp_npy_save(const char *path, const char *type, int dims,
                        const int64_t *shape, const void *data, size_t bytes);

#endif
