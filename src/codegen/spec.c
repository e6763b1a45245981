/* spec.c - what is known of a kernel by its spec: name, flags, padding. */
#include "codegen/codegen.h"

#include "machine/isa.h"
#include "schedule/super.h"

/* Names are asked for thousands of times in a search, and printf takes its
 * time. */
static void add_text(char *out, size_t *at, const char *text)
{
    while (*text && *at + 1 < SP_KERNEL_NAME)
        out[(*at)++] = *text++;
    out[*at] = 0;
}

static void add_number(char *out, size_t *at, const char *name, int64_t value,
                       int64_t otherwise)
{
    char digit[24], *first = digit + sizeof digit - 1;
    uint64_t left = (uint64_t)value;

    if (value == otherwise)
        return;
    *first = 0;
    do
        *--first = (char)('0' + left % 10);
    while (left /= 10);
    add_text(out, at, "_");
    add_text(out, at, name);
    add_text(out, at, first);
}

/* A nest has too many words for a name; their hash has not. */
static void add_nest(char *out, size_t *at, const sp_spec *k)
{
    sp_hash h = sp_hash_begin();
    char hex[33];

    sp_hash_add(&h, &k->super, sizeof k->super);
    sp_hash_add(&h, k->size, sizeof k->size);
    sp_hash_hex(hex, h);
    hex[16] = 0;
    add_text(out, at, "_");
    add_text(out, at, hex);
    add_text(out, at, k->dynamic ? "_dynamic" : "");
    add_text(out, at, k->own ? "_own" : "");
}

char *sp_codegen_name(char out[SP_KERNEL_NAME], const sp_spec *k)
{
    const char *plain = sp_formats[k->format].fibers ? "plain_csf" : "plain";
    const char *const words[] = {spry_op_name(k->op),
                                 "_",
                                 k->plain ? plain : sp_formats[k->format].name,
                                 "_",
                                 spry_type_name(k->type),
                                 "_",
                                 spry_isa_name(k->isa)};
    size_t at = 0;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        add_text(out, &at, words[i]);
    add_number(out, &at, "scatter", k->scatter, 0);
    if (k->format == SPRY_SUPER)
        add_nest(out, &at, k);
    add_number(out, &at, "tile", k->tile, 0);
    add_number(out, &at, "unroll", k->unroll, 1);
    add_number(out, &at, "r", k->r, 1);
    add_number(out, &at, "c", k->c, 1);
    add_number(out, &at, "slice", k->slice, 1);
    add_number(out, &at, "symmetric", k->symmetric, 0);
    add_number(out, &at, "gather", k->gather, 0);
    add_number(out, &at, "index", k->index, 32);
    add_number(out, &at, "palette", k->palette, 0);
    add_number(out, &at, "prefetch", k->prefetch, 0);
    add_number(out, &at, "n", k->n, 0);
    return out;
}

int sp_codegen_lanes(spry_isa isa, spry_type type)
{
    return spry_isa_bytes(isa) / (int)type;
}

/* Values are stored for a whole block only when the last level is dense, and
 * sddmm leaves those out that are no entries. */
static int super_pads(const sp_spec *k)
{
    const sp_operation *d = sp_operation_of(k->op);
    int last = k->super.loops - 1;

    while (last > 0 && !sp_is_sparse(d, sp_loop_index(k->super.order[last])))
        last--;
    return !sp_is_sampled(k->op) && k->super.dense >> k->super.order[last] & 1;
}

int sp_codegen_pads(const sp_spec *k)
{
    if (k->format == SPRY_SUPER)
        return super_pads(k);
    return sp_formats[k->format].pads && k->palette != 1;
}

static int add_flags(const char *out[SP_FLAGS], int at,
                     const char *const *flags)
{
    while (*flags)
        out[at++] = *flags++;
    return at;
}

/* Rows walked vector by vector are written out so far that more than `quick`
 * finds nothing, and takes twice as long to find it. */
static int is_written_out(const sp_spec *k)
{
    return (k->format == SPRY_CSR || sp_formats[k->format].listed ||
            sp_formats[k->format].slices) &&
           !sp_has_tensor(k->op) && sp_has_columns(k->op) && !k->plain;
}

/* GCC makes one instruction of a multiplication and an addition only among
 * its expensive optimizations, which -O1 leaves out; clang does it anyway.
 * Nests leave vectors of sparse loops to the compiler and open their own
 * parallel loops. */
const char *const *sp_codegen_flags(const char *out[SP_FLAGS], const sp_spec *k)
{
    static const char *const nest[] = {"-O3", "-fassociative-math",
                                       "-fno-signed-zeros",
                                       "-fno-trapping-math", NULL};
    static const char *const threads[] = {"-fopenmp", NULL};
    static const char *const quick[] = {"-O1", "-fexpensive-optimizations",
                                        NULL};
    static const char *const usual[] = {"-O2", NULL};
    int at = add_flags(out, 0,
                       is_written_out(k)         ? quick
                       : k->format == SPRY_SUPER ? nest
                                                 : usual);

    at = add_flags(out, at, sp_isa_of(k->isa)->flags);
    if (k->format == SPRY_SUPER && k->super.parallel)
        at = add_flags(out, at, threads);
    out[at] = NULL;
    return out;
}
