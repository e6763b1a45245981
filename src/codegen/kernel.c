/* kernel.c - one spec, one C function. */
#include "codegen/emit.h"

#include <string.h>

/* [format][op]; dcsr shares csr's. */
static sp_emitter *const emitters[][SPRY_OPS] = {
    [SPRY_CSR] = {sp_emit_csr_spmv, sp_emit_csr_spmm, sp_emit_sddmm,
                  sp_emit_mttkrp},
    [SPRY_BCSR] = {sp_emit_bcsr_spmv, sp_emit_bcsr_spmm, NULL, NULL},
    [SPRY_SELL] = {sp_emit_sell_spmv, sp_emit_sell_spmm, NULL, NULL},
    [SPRY_DIA] = {sp_emit_dia_spmv, NULL, NULL, NULL},
    [SPRY_CSF] = {NULL, NULL, NULL, sp_emit_mttkrp},
    [SPRY_SUPER] = {sp_emit_super, sp_emit_super, sp_emit_super, sp_emit_super},
};

void sp_codegen_kernel(sp_buf *out, const sp_spec *k, const char *storage)
{
    char name[SP_KERNEL_NAME];
    sp_emit e = {
        .out = out,
        .k = k,
        .T = k->type == SPRY_F32 ? "float" : "double",
        .v = k->type == SPRY_F32 ? "f32x" : "f64x",
        .I = k->index == 64 ? "int64_t" : "int32_t",
        .J = k->index == 8    ? "uint8_t"
             : k->index == 16 ? "uint16_t"
             : k->index == 64 ? "int64_t"
                              : "int32_t",
        .lanes = sp_codegen_lanes(k->isa, k->type),
        .pads = sp_codegen_pads(k),
    };
    sp_emitter *emit = k->plain       ? sp_emit_plain
                       : k->symmetric ? sp_emit_symmetric
                                      : emitters[k->format][k->op];

    sp_line(&e, "%sint %s(const sp_args *a)\n{", storage,
            sp_codegen_name(name, k));
    emit(&e);
    sp_line(&e, "}\n");
}

static int uses_intrinsics(const char *text)
{
    return text && (strstr(text, "SP_GATHER") || strstr(text, "SP_PICK") ||
                    strstr(text, "_mm"));
}

void sp_codegen_around(sp_buf *out, spry_isa isa, const sp_buf *kernels)
{
    sp_codegen_prelude(out, isa);
    if (uses_intrinsics(kernels->data))
        sp_codegen_intrinsics(out, isa);
    if (kernels->failed)
        out->failed = 1;
    else
        sp_buf_add(out, kernels->data);
}

void sp_codegen_file(sp_buf *out, const sp_spec *k)
{
    sp_buf kernel = {0};

    sp_codegen_kernel(&kernel, k, "");
    sp_codegen_around(out, k->isa, &kernel);
    sp_buf_free(&kernel);
}
