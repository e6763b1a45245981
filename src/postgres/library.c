/* library.c - libpq, opened when it is needed.
 *
 * It brings two dozen libraries along, which a program that only tunes should
 * not wait for. SPRY_LIBPQ names another file; "none" is as if there were
 * none. */
#include <dlfcn.h>
#include <pthread.h>

#include "base/library.h"
#include "postgres/internal.h"

#ifdef SPRY_LIBPQ_HEADER
#define SAME(result, name, arguments)                                         \
    _Static_assert(                                                           \
        __builtin_types_compatible_p(__typeof__(&name), result(*) arguments), \
        #name);
SP_LIBPQ(SAME)
#undef SAME
#endif

static sp_libpq functions;
static int ready;

static void look_up(void)
{
    const char *file = sp_library_file("SPRY_LIBPQ", "libpq.so.5");
    void *library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;

    if (!library)
        return;
    ready = 1;
#define FIND(result, name, arguments) \
    ready = ready && sp_library_function(&functions.name, library, #name);
    SP_LIBPQ(FIND)
#undef FIND
}

const sp_libpq *sp_libpq_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, look_up);
    if (ready)
        return &functions;
    sp_fail(SPRY_SYSTEM, "stores on PostgreSQL need libpq, which is not "
                         "installed here (Debian: libpq5)");
    return NULL;
}

spry_status sp_postgres_ready(int *version)
{
    const sp_libpq *pq = sp_libpq_open();

    if (!pq)
        return SPRY_SYSTEM;
    if (version)
        *version = pq->PQlibVersion();
    return SPRY_OK;
}
