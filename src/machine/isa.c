/* isa.c - instruction sets: the table, and which of them runs here. */
#include "machine/isa.h"

#include <string.h>

#include "base/base.h"

#if defined(__x86_64__)
#define ON_x86_64 1
/* The compiler's run-time check asks cpuid and, with xgetbv, whether the
 * system saves the wide registers. */
#define X86(feature) (__builtin_cpu_init(), __builtin_cpu_supports(feature))
#else
#define ON_x86_64    0
#define X86(feature) 0
#endif
#if defined(__aarch64__)
#include <sys/auxv.h>
#define ON_aarch64   1
#define ARM(feature) ((getauxval(AT_HWCAP) & HWCAP_##feature) != 0)
#else
#define ON_aarch64   0
#define ARM(feature) 0
#endif
#define ON_any 1

#define SP_ISA(id, name, arch, test, ...) \
    static int runs_##name(void)          \
    {                                     \
        return ON_##arch && (test);       \
    }
#include "machine/isas.def"
#undef SP_ISA

#define SP_ISA(id, text, where, test, ...) \
    [SPRY_##id] = {                        \
        .name = #text, .arch = #where, .runs_here = runs_##text, __VA_ARGS__},
const sp_isa sp_isas[] = {
#include "machine/isas.def"
};
#undef SP_ISA

const int sp_isa_count = sizeof sp_isas / sizeof sp_isas[0];

static int has_row(spry_isa isa)
{
    return (int)isa >= 0 && (int)isa < sp_isa_count;
}

const sp_isa *sp_isa_of(spry_isa isa)
{
    return &sp_isas[has_row(isa) ? isa : SPRY_PORTABLE];
}

const char *spry_isa_name(spry_isa isa)
{
    return has_row(isa) ? sp_isas[isa].name : "unknown";
}

int spry_isa_bytes(spry_isa isa)
{
    return sp_isa_of(isa)->bytes;
}

/* "portable, neon, sse2 or avx2" */
static const char *list(char *out, size_t size)
{
    size_t at = 0;

    for (int i = 0; i < sp_isa_count && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s",
                               i == 0                  ? ""
                               : i == sp_isa_count - 1 ? " or "
                                                       : ", ",
                               sp_isas[i].name);
    return out;
}

spry_status spry_isa_parse(spry_isa *out, const char *name)
{
    SP_NEED(out, name);

    char names[256];

    *out = SPRY_PORTABLE;
    for (int i = 0; i < sp_isa_count; i++)
        if (strcmp(name, sp_isas[i].name) == 0) {
            *out = (spry_isa)i;
            return SPRY_OK;
        }
    return sp_fail(SPRY_USAGE, "'%s' is not an instruction set: use %s", name,
                   list(names, sizeof names));
}

int sp_isa_includes(spry_isa have, spry_isa want)
{
    const sp_isa *a = sp_isa_of(have), *b = sp_isa_of(want);

    return has_row(want) && (strcmp(b->arch, "any") == 0 ||
                             (strcmp(a->arch, b->arch) == 0 && b <= a));
}

int sp_isa_runs_here(spry_isa isa)
{
    return has_row(isa) && sp_isas[isa].runs_here();
}

spry_isa sp_isa_here(void)
{
    int last = sp_isa_count - 1;

    while (last > 0 && !sp_isas[last].runs_here())
        last--;
    return (spry_isa)last;
}
