/* prelude.c - the types and helpers at the top of generated code.
 *
 * Vectors are the compiler's own vector types, so the same text serves
 * every instruction set; intrinsics appear only where the language has no
 * word: stores past the cache and hardware gathers. */
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

/* Stores past the cache. Both compilers know them by other names, and their
 * header with all of them takes ten times as long to read as a kernel. */
static void add_stream(sp_buf *out, spry_isa isa)
{
    const char *bits = isa == SPRY_AVX512 ? "512"
                       : isa == SPRY_AVX2 ? "256"
                                          : "";

    if (isa < SPRY_SSE2) {
        sp_buf_add(out, "#define SP_STREAM_f32(p, x) (*(p) = (x))\n"
                        "#define SP_STREAM_f64(p, x) (*(p) = (x))\n"
                        "#define SP_FENCE() ((void)0)\n\n");
        return;
    }
    sp_buf_printf(out,
                  "#ifdef __clang__\n"
                  "#define SP_STREAM_f32(p, x) "
                  "__builtin_nontemporal_store(x, p)\n"
                  "#define SP_STREAM_f64(p, x) "
                  "__builtin_nontemporal_store(x, p)\n"
                  "#else\n"
                  "#define SP_STREAM_f32(p, x) "
                  "__builtin_ia32_movntps%s((float *)(p), x)\n"
                  "#define SP_STREAM_f64(p, x) "
                  "__builtin_ia32_movntpd%s((double *)(p), x)\n"
                  "#endif\n"
                  "#define SP_FENCE() __builtin_ia32_sfence()\n\n",
                  bits, bits);
}

static const char gather_avx2[] =
    "#define SP_GATHER_f32_8(x, c) \\\n"
    "    (f32x8)_mm256_i32gather_ps(x, _mm256_cvtepu8_epi32("
    "_mm_loadl_epi64((const __m128i *)(c))), 4)\n"
    "#define SP_GATHER_f64_8(x, c) \\\n"
    "    (f64x4)_mm256_i32gather_pd(x, _mm_cvtepu8_epi32("
    "_mm_cvtsi32_si128((int)*(const sp_bytes4 *)(c))), 8)\n"
    "#define SP_GATHER_f32_32(x, c) \\\n"
    "    (f32x8)_mm256_i32gather_ps(x, _mm256_loadu_si256("
    "(const __m256i *)(c)), 4)\n"
    "#define SP_GATHER_f32_16(x, c) \\\n"
    "    (f32x8)_mm256_i32gather_ps(x, _mm256_cvtepu16_epi32("
    "_mm_loadu_si128((const __m128i *)(c))), 4)\n"
    "#define SP_GATHER_f64_32(x, c) \\\n"
    "    (f64x4)_mm256_i32gather_pd(x, _mm_loadu_si128("
    "(const __m128i *)(c)), 8)\n"
    "#define SP_GATHER_f64_16(x, c) \\\n"
    "    (f64x4)_mm256_i32gather_pd(x, _mm_cvtepu16_epi32("
    "_mm_loadl_epi64((const __m128i *)(c))), 8)\n\n";

static const char gather_avx512[] =
    "#define SP_GATHER_f32_8(x, c) \\\n"
    "    (f32x16)_mm512_i32gather_ps(_mm512_cvtepu8_epi32("
    "_mm_loadu_si128((const __m128i *)(c))), x, 4)\n"
    "#define SP_GATHER_f64_8(x, c) \\\n"
    "    (f64x8)_mm512_i32gather_pd(_mm256_cvtepu8_epi32("
    "_mm_loadl_epi64((const __m128i *)(c))), x, 8)\n"
    "#define SP_GATHER_f32_32(x, c) \\\n"
    "    (f32x16)_mm512_i32gather_ps(_mm512_loadu_si512(c), x, 4)\n"
    "#define SP_GATHER_f32_16(x, c) \\\n"
    "    (f32x16)_mm512_i32gather_ps(_mm512_cvtepu16_epi32("
    "_mm256_loadu_si256((const __m256i *)(c))), x, 4)\n"
    "#define SP_GATHER_f64_32(x, c) \\\n"
    "    (f64x8)_mm512_i32gather_pd(_mm256_loadu_si256("
    "(const __m256i *)(c)), x, 8)\n"
    "#define SP_GATHER_f64_16(x, c) \\\n"
    "    (f64x8)_mm512_i32gather_pd(_mm256_cvtepu16_epi32("
    "_mm_loadu_si128((const __m128i *)(c))), x, 8)\n\n";

/* A vector of values by their codes in a table of 64 bytes. A double is two
 * words side by side: numbers 2 c and 2 c + 1 of either half, and one bit of
 * the code tells which half. */
static const char pick_avx2[] =
    "static inline f32x8 SP_PICK_f32(const float *t, const uint8_t *c)\n{\n"
    "    const __m256i i = _mm256_cvtepu8_epi32("
    "_mm_loadl_epi64((const __m128i *)c));\n"
    "    return (f32x8)_mm256_blendv_ps(\n"
    "        _mm256_permutevar8x32_ps(_mm256_loadu_ps(t), i),\n"
    "        _mm256_permutevar8x32_ps(_mm256_loadu_ps(t + 8), i),\n"
    "        _mm256_castsi256_ps(_mm256_slli_epi32(i, 28)));\n}\n"
    "static inline f64x4 SP_PICK_f64(const double *t, const uint8_t *c)\n{\n"
    "    const __m256i i = _mm256_cvtepu8_epi64("
    "_mm_cvtsi32_si128((int)*(const sp_bytes4 *)c));\n"
    "    const __m256i d = _mm256_slli_epi64(i, 1);\n"
    "    const __m256i w = _mm256_or_si256(_mm256_slli_epi64(d, 32), "
    "_mm256_or_si256(d, _mm256_set1_epi64x(1LL << 32)));\n"
    "    const __m256 a = _mm256_loadu_ps((const float *)t);\n"
    "    const __m256 b = _mm256_loadu_ps((const float *)(t + 4));\n"
    "    return (f64x4)_mm256_blendv_pd(\n"
    "        _mm256_castps_pd(_mm256_permutevar8x32_ps(a, w)),\n"
    "        _mm256_castps_pd(_mm256_permutevar8x32_ps(b, w)),\n"
    "        _mm256_castsi256_pd(_mm256_slli_epi64(i, 61)));\n}\n\n";

static const char pick_avx512[] =
    "static inline f32x16 SP_PICK_f32(const float *t, const uint8_t *c)\n{\n"
    "    return (f32x16)_mm512_permutexvar_ps(_mm512_cvtepu8_epi32("
    "_mm_loadu_si128((const __m128i *)c)), _mm512_loadu_ps(t));\n}\n"
    "static inline f64x8 SP_PICK_f64(const double *t, const uint8_t *c)\n{\n"
    "    return (f64x8)_mm512_permutexvar_pd(_mm512_cvtepu8_epi64("
    "_mm_loadl_epi64((const __m128i *)c)), _mm512_loadu_pd(t));\n}\n\n";

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
    add_stream(out, isa);
}

void sp_codegen_intrinsics(sp_buf *out, spry_isa isa)
{
    if (isa >= SPRY_SSE2)
        sp_buf_add(out, "#include <immintrin.h>\n\n");
    if (isa == SPRY_AVX2)
        sp_buf_printf(out, "%s%s", gather_avx2, pick_avx2);
    if (isa == SPRY_AVX512)
        sp_buf_printf(out, "%s%s", gather_avx512, pick_avx512);
}
