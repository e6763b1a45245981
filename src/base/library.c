/* library.c - other people's libraries, opened when they are needed. */
#include "base/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const char *sp_library_file(const char *variable, const char *usual)
{
    const char *file = getenv(variable);

    if (!file || !*file)
        return usual;
    return strcmp(file, "none") == 0 ? NULL : file;
}

/* ISO C has no cast from object to function pointers; POSIX says they hold
 * the same bits. */
int sp_library_function(void *function, void *library, const char *name)
{
    void *p = dlsym(library, name);

    memcpy(function, &p, sizeof p);
    return p != NULL;
}
