/* prelude.c - the types and helpers at the top of generated code.
 *
 * Vectors are the compiler's own vector types, so the same text serves
 * every instruction set; intrinsics.c has what the language has no word
 * for. */
#include "codegen/emit.h"

#define SP_TEXT(type, name) "    " #type " " #name ";\n"
static const char args_text[] =
    "#include <stdint.h>\n"
    "\n"
    "typedef struct {\n" SP_ARGS(SP_TEXT) "} "
                                          "sp_args;\n\n";

/* Two column numbers side by side. */
static const char pairs_text[] =
    "typedef uint32_t sp_pair32 __attribute__((aligned(2), may_alias));\n"
    "typedef uint64_t sp_pair64 __attribute__((aligned(4), may_alias));\n\n";

/* Codes side by side. */
static const char bytes_text[] =
    "typedef uint32_t sp_bytes4 __attribute__((aligned(1), may_alias));\n"
    "typedef uint64_t sp_bytes8 __attribute__((aligned(1), may_alias));\n\n";

/* Vectors of `lanes` elements and of integers as wide, the sum of their lanes, their halves added,
 * and neighbours added across two vectors: {a0+a1, a2+a3, b0+b1, b2+b3}. */
static void add_vector(sp_buf *out, const char *stem, const char *T, int size,
                       int lanes)
{
    int half = lanes / 2, bits = 8 * size;

    sp_buf_printf(out,
                  "typedef int%d_t i%dx%d __attribute__((vector_size(%d)));\n"
                  "typedef int%d_t i%dx%du __attribute__((vector_size(%d), "
                  "aligned(%d), may_alias));\n",
                  bits, bits, lanes, size * lanes, bits, bits, lanes,
                  size * lanes, size);
    sp_buf_printf(out,
                  "typedef %s %s%d __attribute__((vector_size(%d)));\n"
                  "typedef %s %s%du __attribute__((vector_size(%d), "
                  "aligned(%d), may_alias));\n",
                  T, stem, lanes, size * lanes, T, stem, lanes, size * lanes,
                  size);
    if (lanes == 2)
        sp_buf_printf(out,
                      "static inline %s sum_%s2(%s2 v) { return v[0] + v[1]; "
                      "}\n",
                      T, stem, stem);
    else {
        sp_buf_printf(out,
                      "static inline %s%d half_%s%d(%s%d v)\n{\n"
                      "    return __builtin_shufflevector(v, v",
                      stem, half, stem, lanes, stem, lanes);
        for (int i = 0; i < half; i++)
            sp_buf_printf(out, ", %d", i);
        sp_buf_add(out, ") +\n           __builtin_shufflevector(v, v");
        for (int i = half; i < lanes; i++)
            sp_buf_printf(out, ", %d", i);
        sp_buf_printf(out,
                      ");\n}\n"
                      "static inline %s sum_%s%d(%s%d v)\n{\n"
                      "    return sum_%s%d(half_%s%d(v));\n}\n",
                      T, stem, lanes, stem, lanes, stem, half, stem, lanes);
    }
    if (lanes > 4)
        return;
    sp_buf_printf(out,
                  "static inline %s%d pair_%s%d(%s%d a, %s%d b)\n{\n"
                  "    return __builtin_shufflevector(a, b, %s) +\n"
                  "           __builtin_shufflevector(a, b, %s);\n}\n",
                  stem, lanes, stem, lanes, stem, lanes, stem, lanes,
                  lanes == 2 ? "0, 2" : "0, 2, 4, 6",
                  lanes == 2 ? "1, 3" : "1, 3, 5, 7");
}

void sp_codegen_prelude(sp_buf *out, spry_isa isa)
{
    int bytes = spry_isa_bytes(isa);

    sp_buf_add(out, args_text);
    sp_buf_add(out, pairs_text);
    sp_buf_add(out, bytes_text);
    for (int lanes = 2; lanes * 4 <= bytes; lanes *= 2)
        add_vector(out, "f32x", "float", 4, lanes);
    for (int lanes = 2; lanes * 8 <= bytes; lanes *= 2)
        add_vector(out, "f64x", "double", 8, lanes);
    sp_buf_add(out, "\n");
    sp_emit_stream(out, isa);
}
