/* spnet_write.c - a network into a .spnet file, from memory or, walking its
 * layers once for each section, from a source. */
#include "network/spnet.h"

#include <string.h>

enum { CHUNK = 4096 };

/* A writer that remembers the checksum of what went through. */
typedef struct {
    sp_writer w;
    uint32_t sum;
    int64_t at;
    sp_spnet_layout layout;
} summed;

static void put(summed *o, const void *data, int64_t bytes)
{
    if (bytes <= 0)
        return;
    fwrite(data, 1, (size_t)bytes, o->w.f);
    o->sum = sp_spnet_sum(o->sum, data, bytes);
    o->at += bytes;
}

static void begin_section(summed *o, sp_spnet_section section)
{
    static const char zeros[SP_SPNET_LINE];

    put(o, zeros, o->layout.at[section] - o->at);
}

static void put_section(summed *o, sp_spnet_section section, const void *data)
{
    begin_section(o, section);
    put(o, data, o->layout.bytes[section]);
}

/* Fill in what follows from the counts. */
static void put_header(summed *o, sp_spnet_header *h)
{
    memcpy(h->magic, sp_spnet_magic, sizeof h->magic);
    h->version = SP_SPNET_VERSION;
    sp_spnet_lay_out(&o->layout, h);
    h->bytes = o->layout.end;
    put(o, h, sizeof *h);
}

static void put_checksum(summed *o)
{
    uint32_t sum;

    begin_section(o, SP_CHECKSUM);
    sum = o->sum;
    put(o, &sum, sizeof sum);
}

/* ---- from memory ---- */

spry_status sp_spnet_write(const spry_network *n, const char *path)
{
    sp_spnet_header h = {.flags = n->bias_on_nonzero ? 1 : 0,
                         .neurons = n->neurons,
                         .inputs = n->inputs,
                         .outputs = n->outputs,
                         .layers = n->layers,
                         .edges = n->edges};
    summed o = {0};
    spry_status s = sp_writer_open(&o.w, path);

    if (s != SPRY_OK)
        return s;
    put_header(&o, &h);
    put_section(&o, SP_FIRST, n->first);
    put_section(&o, SP_START, n->start);
    put_section(&o, SP_SOURCE, n->source);
    put_section(&o, SP_WEIGHT, n->weight);
    put_section(&o, SP_BIAS_OF, n->bias);
    put_section(&o, SP_ACTIVATION, n->activation);
    put_section(&o, SP_OUTPUT_OF, n->output);
    put_checksum(&o);
    return sp_writer_close(&o.w, 1);
}

/* ---- from a source ---- */

/* What stands before a layer. */
typedef struct {
    int64_t neurons, edges;
    int64_t sources; /* the first neuron of the layer before */
} place;

typedef void layer_putter(summed *o, const spry_layer *l, const place *before);

static void put_starts(summed *o, const spry_layer *l, const place *before)
{
    for (int64_t j = 1; j <= l->outputs; j++) {
        int64_t start = before->edges + l->start[j];

        put(o, &start, sizeof start);
    }
}

static void put_sources(summed *o, const spry_layer *l, const place *before)
{
    int32_t chunk[CHUNK];

    for (int64_t k = 0; k < l->edges; k += CHUNK) {
        int64_t count = l->edges - k < CHUNK ? l->edges - k : CHUNK;

        for (int64_t i = 0; i < count; i++)
            chunk[i] = (int32_t)(before->sources + l->source[k + i]);
        put(o, chunk, count * (int64_t)sizeof *chunk);
    }
}

static void put_weights(summed *o, const spry_layer *l, const place *before)
{
    (void)before;
    put(o, l->weight, l->edges * (int64_t)sizeof *l->weight);
}

static void put_biases(summed *o, const spry_layer *l, const place *before)
{
    (void)before;
    put(o, l->bias, l->outputs * (int64_t)sizeof *l->bias);
}

static void put_activation(summed *o, const spry_layer *l, const place *before)
{
    (void)before;
    put(o, &l->activation, sizeof l->activation);
}

static void put_end(summed *o, const spry_layer *l, const place *before)
{
    int64_t end = before->neurons + l->outputs;

    put(o, &end, sizeof end);
}

/* All layers through one function. */
static spry_status put_layers(summed *o, spry_layers *from,
                              layer_putter *put_one)
{
    place before = {.neurons = from->inputs};
    const spry_layer *l;
    spry_status s = spry_layers_rewind(from);

    for (int64_t i = 0; s == SPRY_OK && i < from->depth; i++) {
        s = spry_layers_next(from, &l);
        if (s != SPRY_OK)
            break;
        put_one(o, l, &before);
        before.sources = before.neurons;
        before.neurons += l->outputs;
        before.edges += l->edges;
    }
    return s;
}

static spry_status count(sp_spnet_header *h, spry_layers *from)
{
    const spry_layer *l;
    spry_status s = spry_layers_rewind(from);

    h->neurons = h->inputs = from->inputs;
    h->layers = from->depth;
    for (int64_t i = 0; s == SPRY_OK && i < from->depth; i++) {
        s = spry_layers_next(from, &l);
        if (s != SPRY_OK)
            break;
        h->flags = l->bias_on_nonzero ? 1 : 0;
        h->neurons += l->outputs;
        h->edges += l->edges;
        h->outputs = l->outputs;
    }
    if (s == SPRY_OK && h->neurons > INT32_MAX)
        s = sp_fail(SPRY_USAGE, "%lld neurons are too many for .spnet",
                    (long long)h->neurons);
    return s;
}

static void put_zeros(summed *o, int64_t bytes)
{
    static const char zeros[CHUNK];

    for (; bytes > 0; bytes -= CHUNK)
        put(o, zeros, bytes < CHUNK ? bytes : CHUNK);
}

static void put_outputs(summed *o, const sp_spnet_header *h)
{
    for (int64_t i = h->neurons - h->outputs; i < h->neurons; i++) {
        int32_t output = (int32_t)i;

        put(o, &output, sizeof output);
    }
}

static spry_status put_sections(summed *o, const sp_spnet_header *h,
                                spry_layers *from)
{
    static const struct {
        sp_spnet_section section;
        layer_putter *put;
    } passes[] = {{SP_FIRST, put_end},      {SP_START, put_starts},
                  {SP_SOURCE, put_sources}, {SP_WEIGHT, put_weights},
                  {SP_BIAS_OF, put_biases}, {SP_ACTIVATION, put_activation}};
    spry_status s = SPRY_OK;

    for (size_t i = 0; s == SPRY_OK && i < sizeof passes / sizeof *passes;
         i++) {
        begin_section(o, passes[i].section);
        if (passes[i].section == SP_FIRST)
            put(o, &h->inputs, sizeof h->inputs);
        if (passes[i].section == SP_START)
            put_zeros(o, (h->inputs + 1) * (int64_t)sizeof(int64_t));
        if (passes[i].section == SP_BIAS_OF)
            put_zeros(o, h->inputs * (int64_t)sizeof(float));
        s = put_layers(o, from, passes[i].put);
    }
    begin_section(o, SP_OUTPUT_OF);
    put_outputs(o, h);
    return s;
}

spry_status sp_spnet_write_layers(spry_layers *from, const char *path)
{
    sp_spnet_header h = {0};
    summed o = {0};
    spry_status s = count(&h, from);

    if (s == SPRY_OK)
        s = sp_writer_open(&o.w, path);
    if (s != SPRY_OK)
        return s;
    put_header(&o, &h);
    s = put_sections(&o, &h, from);
    put_checksum(&o);
    if (s == SPRY_OK)
        return sp_writer_close(&o.w, 1);
    sp_writer_close(&o.w, 0);
    return s;
}
