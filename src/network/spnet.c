/* spnet.c - .spnet, our own file of a network: its layout, and reading it.
 *
 * Nothing in a file is believed: the counts must make exactly the file's
 * length, the checksum must agree, and then every index is checked as in any
 * other network. */
#include "network/spnet.h"

#include <string.h>
#include <zlib.h>

const char sp_spnet_magic[8] = "SPNET\r\n\x1a";

int sp_spnet_sniff(const char *data, size_t len)
{
    return len >= sizeof sp_spnet_magic &&
           memcmp(data, sp_spnet_magic, sizeof sp_spnet_magic) == 0;
}

/* ---- layout ---- */

/* Counts so small that no size below overflows. */
static int counts_make_sense(const sp_spnet_header *h)
{
    return h->neurons >= 2 && h->neurons <= INT32_MAX && h->inputs >= 1 &&
           h->inputs < h->neurons && h->outputs >= 1 &&
           h->outputs <= h->neurons && h->layers >= 1 &&
           h->layers < h->neurons && h->edges >= 0 &&
           h->edges < (int64_t)1 << 48;
}

void sp_spnet_lay_out(sp_spnet_layout *l, const sp_spnet_header *h)
{
    const int64_t bytes[SP_SECTIONS] = {
        [SP_FIRST] = (h->layers + 1) * 8, [SP_START] = (h->neurons + 1) * 8,
        [SP_SOURCE] = h->edges * 4,       [SP_WEIGHT] = h->edges * 4,
        [SP_BIAS_OF] = h->neurons * 4,    [SP_ACTIVATION] = h->layers * 8,
        [SP_OUTPUT_OF] = h->outputs * 4,  [SP_CHECKSUM] = 4,
    };
    int64_t at = sizeof *h;

    for (int i = 0; i < SP_SECTIONS; i++) {
        l->at[i] = at =
            (at + SP_SPNET_LINE - 1) / SP_SPNET_LINE * SP_SPNET_LINE;
        l->bytes[i] = bytes[i];
        at += bytes[i];
    }
    l->end = at;
}

spry_status sp_spnet_check(sp_spnet_layout *out, const sp_spnet_header *h,
                           int64_t len, const char *name)
{
    if (h->version != SP_SPNET_VERSION)
        return sp_fail(SPRY_INPUT,
                       "%s: is of version %u of .spnet; this spry reads %d",
                       name, h->version, SP_SPNET_VERSION);
    if (h->flags > 1 || !counts_make_sense(h))
        return sp_fail(SPRY_INPUT, "%s: its header is no network's", name);
    sp_spnet_lay_out(out, h);
    if (h->bytes != out->end || len != out->end)
        return sp_fail(SPRY_INPUT,
                       "%s: should have %lld bytes, but has %lld; it is cut "
                       "short or damaged",
                       name, (long long)out->end, (long long)len);
    return SPRY_OK;
}

uint32_t sp_spnet_sum(uint32_t sum, const void *data, int64_t bytes)
{
    return (uint32_t)crc32_z(sum, data, (size_t)bytes);
}

/* ---- reading ---- */

static void point_parts(sp_parts *p, const sp_spnet_header *h, char *data,
                        const sp_spnet_layout *l)
{
    *p = (sp_parts){.neurons = h->neurons,
                    .inputs = h->inputs,
                    .outputs = h->outputs,
                    .layers = h->layers,
                    .edges = h->edges,
                    .first = (void *)(data + l->at[SP_FIRST]),
                    .start = (void *)(data + l->at[SP_START]),
                    .source = (void *)(data + l->at[SP_SOURCE]),
                    .weight = (void *)(data + l->at[SP_WEIGHT]),
                    .bias = (void *)(data + l->at[SP_BIAS_OF]),
                    .activation = (void *)(data + l->at[SP_ACTIVATION]),
                    .output = (void *)(data + l->at[SP_OUTPUT_OF]),
                    .bias_on_nonzero = (int)(h->flags & 1)};
}

/* A fuzzer cannot guess checksums; it is let through to what lies behind. */
static int sum_fits(const sp_file *f, const sp_spnet_layout *l)
{
    uint32_t sum;

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return 1;
#endif
    memcpy(&sum, f->data + l->at[SP_CHECKSUM], sizeof sum);
    return sum == sp_spnet_sum(0, f->data, l->at[SP_CHECKSUM]);
}

static spry_status check_bytes(sp_spnet_header *h, sp_spnet_layout *l,
                               const sp_file *f, const char *name)
{
    spry_status s;

    if (f->len < sizeof *h)
        return sp_fail(SPRY_INPUT, "%s: ends within its header", name);
    memcpy(h, f->data, sizeof *h);
    s = sp_spnet_check(l, h, (int64_t)f->len, name);
    if (s != SPRY_OK)
        return s;
    if (!sum_fits(f, l))
        return sp_fail(SPRY_INPUT, "%s: its checksum is wrong; it is damaged",
                       name);
    return SPRY_OK;
}

spry_status sp_spnet_read(spry_network **out, sp_file *file, const char *name,
                          const spry_network_options *unused)
{
    sp_spnet_header h;
    sp_spnet_layout l;
    sp_parts p;
    spry_status s = check_bytes(&h, &l, file, name);

    (void)unused;
    *out = NULL;
    if (s != SPRY_OK) {
        sp_file_free(file);
        return s;
    }
    point_parts(&p, &h, file->data, &l);
    return sp_network_adopt(out, &p, file, name);
}
