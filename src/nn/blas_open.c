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
 * when it is loaded; a name that this release does not have is followed by the
 * next. No clock decides: what is learned must not depend on how busy the
 * machine was. Who has set the variable is obeyed, and a library that the
 * program around us has loaded is used as it is. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "nn/blas.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#include "base/base.h"
#include "base/library.h"
#include "machine/isa.h"

static const char CORE_TYPE[] = "OPENBLAS_CORETYPE",
                  THREADS[] = "OPENBLAS_NUM_THREADS";

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
#endif
    return add(out, n, NULL);
}

/* Load with one type; NULL when it cannot be used. */
static void *try_type(sp_blas *out, const char *file, const char *type)
{
    void *library = load(file, type);
    void (*set_threads)(int);

    *out = (sp_blas){.ours = 1};
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
    }
    return library;
}

/* Did it take other kernels than those of that name? */
static int is_refused(const sp_blas *b, const char *type)
{
    return type && *b->kernels && strcasecmp(b->kernels, type) != 0;
}

/* The first type that it has kernels for. */
static void *load_best(sp_blas *out, const char *file)
{
    const char *type[SP_CORE_TYPES];
    int n = getenv(CORE_TYPE) ? add(type, 0, NULL) : sp_blas_core_types(type);
    void *library = NULL;

    for (int i = 0; i < n; i++) {
        library = try_type(out, file, type[i]);
        if (!library || !is_refused(out, type[i]))
            break;
        dlclose(library);
        /* While it stays in memory the variable would not be read again. */
        library = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        if (library)
            break;
    }
    return library;
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

/* OpenBLAS takes a buffer for each thread at its first product, and tries for
 * ever where there is no room for it. */
static int has_room(void)
{
    const size_t buffer = (size_t)128 << 20;
    size_t bytes = (size_t)(omp_get_max_threads() + 1) * buffer;
    void *room = mmap(NULL, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED)
        return 0;
    munmap(room, bytes);
    return 1;
}

static void open_blas(void)
{
    const char *file = sp_library_file("SPRY_BLAS", "libopenblas.so.0");
    sp_blas found;

    if (!file || !has_room() || use_theirs(&blas, file))
        return;
    if (load_best(&found, file))
        blas = found;
}

const sp_blas *sp_blas_open(void)
{
    pthread_once(&once, open_blas);
    return &blas;
}
