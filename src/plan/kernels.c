/* kernels.c - many kernels, few calls of the compiler.
 *
 * Starting a compiler costs more than most kernels do, so the kernels of many
 * plans go into one file, or into one per core. Those with flags of their own
 * have files of their own, and all files are compiled at once. */
#include <stdatomic.h>
#include <string.h>

#include "base/base.h"
#include "plan/sparse.h"

/* Kernels of a kind have the same flags, or nearly. */
enum { OTHERS, QUICK, NESTS, KINDS };

enum { WAYS = 8, FEW = 8 };

struct sp_kernels {
    atomic_int holders;
    sp_jit_code **part; /* [parts] */
    int parts;
};

/* What one file is made of: every `ways`-th kernel of a kind. */
typedef struct {
    const sp_spec **spec; /* those not built in, each once */
    int count, first, ways;
} share;

/* Some kernels need no more than -O1. */
static int kind_of(const sp_spec *k)
{
    const char *flags[SP_FLAGS];

    if (k->format == SPRY_SUPER)
        return NESTS;
    return strcmp(sp_codegen_flags(flags, k)[0], "-O1") == 0 ? QUICK : OTHERS;
}

static void *find(const sp_kernels *k, const char *name)
{
    void *found = NULL;

    for (int i = 0; i < k->parts && !found; i++)
        found = sp_jit_symbol(k->part[i], name);
    return found;
}

static int is_listed(const sp_spec *const *list, int count, const char *name)
{
    char other[SP_KERNEL_NAME];

    for (int i = 0; i < count; i++)
        if (strcmp(name, sp_codegen_name(other, list[i])) == 0)
            return 1;
    return 0;
}

/* The kernels of a kind that must be compiled. */
static int missing(const sp_spec **out, const sp_kernels *k,
                   const sp_spec *spec, int count, int kind)
{
    char name[SP_KERNEL_NAME];
    int n = 0;

    for (int i = 0; i < count; i++) {
        sp_codegen_name(name, &spec[i]);
        if (kind_of(&spec[i]) == kind && !sp_builtin_find(&spec[i]) &&
            !find(k, name) && !is_listed(out, n, name))
            out[n++] = &spec[i];
    }
    return n;
}

/* One file with every kernel of the share; *widest needs the most flags. */
static void write_file(sp_buf *out, const sp_spec **widest, const share *s)
{
    sp_buf kernels = {0};

    *widest = s->spec[s->first];
    for (int i = s->first; i < s->count; i += s->ways) {
        if (s->spec[i]->super.parallel)
            *widest = s->spec[i];
        sp_codegen_kernel(&kernels, s->spec[i], "");
    }
    sp_codegen_around(out, (*widest)->isa, &kernels);
    sp_buf_free(&kernels);
}

static spry_status compile(sp_jit_code **out, const share *s, const char *cpu)
{
    const char *flags[SP_FLAGS];
    const sp_spec *widest;
    sp_buf source = {0};
    spry_status status;

    write_file(&source, &widest, s);
    status = source.failed ? sp_fail_memory(source.cap)
                           : sp_jit_load(out, source.data,
                                         sp_codegen_flags(flags, widest), cpu);
    sp_buf_free(&source);
    return status;
}

/* A file per core, unless there are only a few kernels. */
static int ways_for(int count, int cores)
{
    int ways = (count + FEW - 1) / FEW;

    ways = ways < cores ? ways : cores;
    return ways < WAYS ? ways : WAYS;
}

/* All files at once, on so many cores. */
static spry_status compile_files(sp_kernels *k, const share *file, int files,
                                 const char *cpu, int cores)
{
    sp_jit_code *code[KINDS * WAYS] = {NULL};
    char why[512] = "";
    spry_status s = SPRY_OK;
    void *room =
        sp_grow(k->part, k->parts, k->parts + files, sizeof(sp_jit_code *));

    if (!room)
        return sp_fail_memory((size_t)(k->parts + files) *
                              sizeof(sp_jit_code *));
    k->part = room;
#pragma omp parallel for schedule(dynamic, 1) \
    num_threads(cores < files ? cores : files)
    for (int i = 0; i < files; i++) {
        spry_status one = compile(&code[i], &file[i], cpu);

#pragma omp critical(sp_kernels)
        if (one != SPRY_OK) {
            s = one;
            snprintf(why, sizeof why, "%s", spry_message());
        }
    }
    for (int i = 0; i < files; i++)
        if (code[i])
            k->part[k->parts++] = code[i];
    return s == SPRY_OK ? s : sp_fail(s, "%s", why);
}

spry_status sp_kernels_open(sp_kernels **out)
{
    sp_kernels *k = sp_alloc(1, sizeof *k);

    *out = k;
    if (!k)
        return sp_fail_memory(sizeof *k);
    k->holders = 1;
    return SPRY_OK;
}

/* Nests take longest and so come first. */
spry_status sp_kernels_add(sp_kernels *k, const sp_spec *spec, int count,
                           const char *cpu, int cores)
{
    const sp_spec **asked = sp_alloc(KINDS * count + 1, sizeof(sp_spec *));
    const sp_spec **list = asked;
    share file[KINDS * WAYS];
    int files = 0;
    spry_status s = SPRY_OK;

    if (!asked)
        return sp_fail_memory((size_t)count * sizeof(sp_spec *));
    for (int kind = KINDS; kind-- > 0;) {
        int n = missing(list, k, spec, count, kind);
        int ways = ways_for(n, cores > 1 ? cores : 1);

        for (int i = 0; i < ways; i++)
            file[files++] = (share){list, n, i, ways};
        list += n;
    }
    if (files)
        s = compile_files(k, file, files, cpu, cores > 1 ? cores : 1);
    sp_free(asked);
    return s;
}

void sp_kernels_free(sp_kernels *k)
{
    if (!k || atomic_fetch_sub(&k->holders, 1) > 1)
        return;
    for (int i = 0; i < k->parts; i++)
        sp_jit_free(k->part[i]);
    sp_free(k->part);
    sp_free(k);
}

int sp_kernels_bind(sp_sparse_plan *plan, sp_kernels *k)
{
    *(void **)&plan->kernel = find(k, plan->name);
    if (!plan->kernel)
        return 0;
    atomic_fetch_add(&k->holders, 1);
    plan->kernels = k;
    return 1;
}
