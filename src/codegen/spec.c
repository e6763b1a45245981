/* spec.c - what a schedule needs from its kernel, and the kernel's name. */
#include "codegen/codegen.h"

#include "problem/problem.h"

sp_spec sp_codegen_spec(const spry_schedule *x, const spry_problem *p,
                        spry_isa isa, int32_t index)
{
    /* A dcsr kernel is a csr kernel that is handed a list of rows. */
    sp_spec k = {
        .op = p->op,
        .type = p->type,
        .isa = isa,
        .format = x->format == SPRY_DCSR ? SPRY_CSR : x->format,
        .plain = sp_schedule_plain(x),
        .scatter = sp_schedule_innermost(x) == 2,
        .tile = x->tile,
        .unroll = x->unroll,
        .r = x->r,
        .c = x->c,
        .slice = x->slice,
        .gather = x->gather && index != 64,
        .index = index,
        .palette = x->palette,
        .prefetch = x->prefetch > 0,
        .n = !x->fixed ? 0
             : x->copy ? x->pass
                       : p->n,
    };

    return k;
}

static void add_number(char *out, size_t *at, const char *name, int64_t value,
                       int64_t otherwise)
{
    if (value != otherwise && *at < SP_KERNEL_NAME)
        *at += (size_t)snprintf(out + *at, SP_KERNEL_NAME - *at, "_%s%lld",
                                name, (long long)value);
}

char *sp_codegen_name(char out[SP_KERNEL_NAME], const sp_spec *k)
{
    const char *plain = k->format == SPRY_CSF ? "plain_csf" : "plain";
    size_t at = (size_t)snprintf(
        out, SP_KERNEL_NAME, "%s_%s_%s_%s", spry_op_name(k->op),
        k->plain ? plain : sp_formats[k->format].name, spry_type_name(k->type),
        spry_isa_name(k->isa));

    add_number(out, &at, "scatter", k->scatter, 0);
    add_number(out, &at, "tile", k->tile, 0);
    add_number(out, &at, "unroll", k->unroll, 1);
    add_number(out, &at, "r", k->r, 1);
    add_number(out, &at, "c", k->c, 1);
    add_number(out, &at, "slice", k->slice, 1);
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

int sp_codegen_pads(const sp_spec *k)
{
    return k->format == SPRY_BCSR || k->format == SPRY_DIA ||
           (k->format == SPRY_SELL && !k->palette);
}

const char *const *sp_codegen_flags(spry_isa isa)
{
    static const char *const none[] = {NULL};
    static const char *const avx2[] = {"-mavx2", "-mfma", NULL};
    static const char *const avx512[] = {
        "-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw",
        "-mavx2",    "-mfma",      NULL};

    return isa == SPRY_AVX512 ? avx512 : isa == SPRY_AVX2 ? avx2 : none;
}
