/* npy.h - the header of NumPy's .npy files: versions 1 to 3 are read, 1 is
 * written. The command spry uses it, too. */
#ifndef SP_NPY_H
#define SP_NPY_H

#include <stddef.h>
#include <stdint.h>

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

/* Version 1, rows first; type is NumPy's word, "<f8". At most two
 * dimensions. */
void sp_npy_write(char out[SP_NPY_HEAD], const char *type, int dims,
                  const int64_t *shape);

#endif
