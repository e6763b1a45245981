/* intrinsics.c - what an instruction set has and the language no word for:
 * stores past the cache, hardware gathers, values picked by permutation.
 *
 * One row per set that has some of them; kernels are written for any set. */
#include "codegen/emit.h"
#include "machine/isa.h"

/* Both compilers know these by other names, and the header with all
 * intrinsics takes ten times as long to read as a kernel. */
#define STREAM(bits)                                     \
    "#ifdef __clang__\n"                                 \
    "#define SP_STREAM_f32(p, x) "                       \
    "__builtin_nontemporal_store(x, p)\n"                \
    "#define SP_STREAM_f64(p, x) "                       \
    "__builtin_nontemporal_store(x, p)\n"                \
    "#else\n"                                            \
    "#define SP_STREAM_f32(p, x) "                       \
    "__builtin_ia32_movntps" bits "((float *)(p), x)\n"  \
    "#define SP_STREAM_f64(p, x) "                       \
    "__builtin_ia32_movntpd" bits "((double *)(p), x)\n" \
    "#endif\n"                                           \
    "#define SP_FENCE() __builtin_ia32_sfence()\n\n"

static const char no_stream[] = "#define SP_STREAM_f32(p, x) (*(p) = (x))\n"
                                "#define SP_STREAM_f64(p, x) (*(p) = (x))\n"
                                "#define SP_FENCE() ((void)0)\n\n";

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

typedef struct {
    const char *stream; /* SP_STREAM_f32, SP_STREAM_f64, SP_FENCE */
    const char *header;
    const char *gather; /* SP_GATHER_<type>_<bits of a column> */
    const char *pick;   /* SP_PICK_<type> */
} words;

static const char x86_header[] = "#include <immintrin.h>\n\n";

static const words words_of[] = {
    [SPRY_SSE2] = {STREAM(""), x86_header, "", ""},
    [SPRY_AVX2] = {STREAM("256"), x86_header, gather_avx2, pick_avx2},
    [SPRY_AVX512] = {STREAM("512"), x86_header, gather_avx512, pick_avx512},
};
enum { SETS = sizeof words_of / sizeof words_of[0] };

void sp_emit_stream(sp_buf *out, spry_isa isa)
{
    sp_buf_add(out, sp_isa_of(isa)->streams ? words_of[isa].stream : no_stream);
}

void sp_codegen_intrinsics(sp_buf *out, spry_isa isa)
{
    if ((int)isa < SETS && words_of[isa].header)
        sp_buf_printf(out, "%s%s%s", words_of[isa].header, words_of[isa].gather,
                      words_of[isa].pick);
}
