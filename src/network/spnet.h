/* spnet.h - the layout of a .spnet file.
 *
 *     header     64 bytes
 *     first      int64[layers + 1]
 *     start      int64[neurons + 1]
 *     source     int32[edges]
 *     weight     float[edges]
 *     bias       float[neurons]
 *     activation {int32 curve, float limit}[layers]
 *     output     int32[outputs]
 *     checksum   uint32: the CRC-32 of all that stands before
 *
 * Little-endian. Each array begins on 64 bytes, zeros between, so that a
 * mapped file can be used in place. docs/formats.md is the full account. */
#ifndef SP_NETWORK_SPNET_H
#define SP_NETWORK_SPNET_H

#include "network/read.h"

enum { SP_SPNET_VERSION = 1, SP_SPNET_LINE = 64 };

typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t flags; /* bit 0: bias_on_nonzero */
    int64_t neurons, inputs, outputs, layers, edges;
    int64_t bytes; /* of the file */
} sp_spnet_header;

/* The arrays, in the order of the file. */
typedef enum {
    SP_FIRST,
    SP_START,
    SP_SOURCE,
    SP_WEIGHT,
    SP_BIAS_OF,
    SP_ACTIVATION,
    SP_OUTPUT_OF,
    SP_CHECKSUM,
    SP_SECTIONS
} sp_spnet_section;

typedef struct {
    int64_t at[SP_SECTIONS], bytes[SP_SECTIONS];
    int64_t end; /* of the file */
} sp_spnet_layout;

/* Where everything lies, for counts that make sense. */
void sp_spnet_lay_out(sp_spnet_layout *out, const sp_spnet_header *h);
/* The same for a header that was read, of a file of `len` bytes;
 * SPRY_INPUT when its version or its counts are nothing to read. */
spry_status sp_spnet_check(sp_spnet_layout *out, const sp_spnet_header *h,
                           int64_t len, const char *name);
/* Go on with a CRC-32 that begins with 0. */
uint32_t sp_spnet_sum(uint32_t sum, const void *data, int64_t bytes);
extern const char sp_spnet_magic[8];

#endif
