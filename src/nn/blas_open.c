/* blas_open.c - OpenBLAS, with the kernels that this CPU deserves.
 *
 * OpenBLAS is opened when the first product is asked for, not linked: merely
 * loading it starts threads that spin for a while, and that must not happen
 * to a program that only measures kernels. It is told to have one thread;
 * large products are cut by us. SPRY_BLAS names another library with CBLAS in
 * it, or "none".
 *
 * A release of OpenBLAS does not know CPUs newer than itself and takes them
 * for a Prescott of 2004, at a fifth of what they can do. So we name the
 * kernels, by instruction set, through OPENBLAS_CORETYPE, which it reads once
 * when it is loaded; a short product then shows whether that was right, and
 * if not the next name is tried. Who has set the variable is obeyed, and a
 * library that the program around us has loaded is used as it is. */
#include "nn/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/library.h"
#include "machine/isa.h"
#include "machine/machine.h"

static const char CORE_TYPE[] = "OPENBLAS_CORETYPE",
                  THREADS[] = "OPENBLAS_NUM_THREADS";

/* Kernels for another CPU stay below, the right ones above. */
static const double SANE_SHARE = 0.4;

enum { EDGE = 256, ROUNDS = 4 }; /* of the timed product */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sp_blas blas = {.about = "own loops"};

/* ---- the library ---- */

/* A variable of the environment as it was, and again after `give_back`. */
typedef struct {
    const char *name;
    char *was;
} variable;

static variable lend(const char *name, const char *value)
{
    const char *was = getenv(name);
    variable v = {name, was ? sp_strdup(was) : NULL};

    if (value)
        setenv(name, value, 1);
    return v;
}

static void give_back(variable *v)
{
    if (v->was)
        setenv(v->name, v->was, 1);
    else
        unsetenv(v->name);
    free(v->was);
}

static void *load(const char *file, const char *core_type)
{
    variable type = lend(CORE_TYPE, core_type), threads = lend(THREADS, "1");
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);

    give_back(&threads);
    give_back(&type);
    return library;
}

static int find_products(sp_blas *out, void *library)
{
    return sp_library_function(&out->sgemv, library, "cblas_sgemv") &&
           sp_library_function(&out->sgemm, library, "cblas_sgemm");
}

/* "OpenBLAS 0.3.21" of "OpenBLAS 0.3.21 NO_LAPACKE ... Zen MAX_THREADS=64". */
static void describe(sp_blas *out, void *library, const char *file)
{
    char *(*config)(void);
    char *(*core)(void);
    const char *text = file;
    int n = (int)strlen(file);

    if (sp_library_function(&config, library, "openblas_get_config")) {
        text = config();
        n = (int)strcspn(text, " ");
        n += text[n] ? 1 + (int)strcspn(text + n + 1, " ") : 0;
    }
    if (sp_library_function(&core, library, "openblas_get_corename"))
        snprintf(out->kernels, sizeof out->kernels, "%s", core());
    snprintf(out->about, sizeof out->about, "%.*s%s%s", n < 100 ? n : 100, text,
             *out->kernels ? ", kernels for " : "", out->kernels);
}

/* ---- a timed product ---- */

typedef struct {
    const sp_blas *blas;
    float *a, *b, *c;
} product;

static double product_seconds(const product *p)
{
    double start = sp_seconds();

    p->blas->sgemm(SP_ROW_MAJOR, SP_AS_IT_IS, SP_AS_IT_IS, EDGE, EDGE, EDGE, 1,
                   p->a, EDGE, p->b, EDGE, 0, p->c, EDGE);
    return sp_seconds() - start;
}

/* The best of a few rounds of product and multiply-adds in turns, so that
 * who shares the machine slows both. */
static double share_of_peak(const sp_blas *b)
{
    const double flops = 2.0 * EDGE * EDGE * EDGE;
    float *all = sp_alloc(3 * EDGE * EDGE, sizeof *all);
    double rate = 0, peak = 0;

    if (!all)
        return 0;
    for (int i = 0; i < ROUNDS; i++) {
        product p = {b, all, all + EDGE * EDGE, all + 2 * EDGE * EDGE};
        double now = flops / product_seconds(&p), fma = sp_multiply_adds();

        rate = now > rate ? now : rate;
        peak = fma > peak ? fma : peak;
    }
    sp_free(all);
    return peak > 0 ? rate / peak : 0;
}

/* ---- which kernels ---- */

static int add(const char *out[SP_CORE_TYPES], int n, const char *name)
{
    out[n] = name;
    return n + 1;
}

int sp_blas_core_types(const char *out[SP_CORE_TYPES])
{
    int n = 0;

    /* The CPU itself is asked: OpenBLAS's kernels are never lowered. */
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        n = add(out, n, "SkylakeX");
    if (sp_isa_runs_here(SPRY_AVX2)) {
        int amd = __builtin_cpu_is("amd");

        n = add(out, n, amd ? "Zen" : "Haswell");
        n = add(out, n, amd ? "Haswell" : "Zen");
    }
    return add(out, n, NULL);
#elif defined(__aarch64__)
    n = add(out, n, NULL);
    n = add(out, n, "NEOVERSEN1");
    return add(out, n, "CORTEXA57");
#else
    return add(out, n, NULL);
#endif
}

/* Load with one type and time it; NULL when it cannot be used. */
static void *try_type(sp_blas *out, const char *file, const char *type)
{
    void *library = load(file, type);
    void (*set_threads)(int);

    *out = (sp_blas){0};
    if (library && !find_products(out, library)) {
        dlclose(library);
        library = NULL;
    }
    if (library) {
        /* The OpenMP build reads another variable. */
        if (sp_library_function(&set_threads, library,
                                "openblas_set_num_threads"))
            set_threads(1);
        describe(out, library, file);
        out->share = share_of_peak(out);
    }
    return library;
}

/* NULL once it is gone from memory; else the variable would not be read
 * again, and it stays open. */
static void *unload(void *library, const char *file)
{
    dlclose(library);
    return dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
}

/* The first type that is fast enough, else the fastest. */
static void *load_best(sp_blas *out, const char *file)
{
    const char *type[SP_CORE_TYPES];
    int n = getenv(CORE_TYPE) ? add(type, 0, NULL) : sp_blas_core_types(type);
    int at = 0, best = 0;
    void *library = try_type(out, file, type[0]);

    while (library && out->share < SANE_SHARE && at + 1 < n) {
        double share = out->share;
        void *pinned = unload(library, file);

        if (pinned)
            return pinned;
        library = try_type(out, file, type[++at]);
        if (out->share > share)
            best = at;
        else
            out->share = share;
    }
    if (!library || best == at)
        return library;
    library = unload(library, file);
    return library ? library : try_type(out, file, type[best]);
}

/* ---- the door ---- */

/* A program that has OpenBLAS already has its own idea of its threads. */
static int use_theirs(sp_blas *out, const char *file)
{
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);

    if (!library)
        return 0;
    if (find_products(out, library))
        describe(out, library, file);
    else
        *out = (sp_blas){.about = "own loops"};
    return 1;
}

static void open_blas(void)
{
    const char *file = sp_library_file("SPRY_BLAS", "libopenblas.so.0");
    sp_blas found;

    if (!file || use_theirs(&blas, file))
        return;
    if (load_best(&found, file))
        blas = found;
}

const sp_blas *sp_blas_open(void)
{
    pthread_once(&once, open_blas);
    return &blas;
}
