/* guarded.c - whole pages, the array at their end, then a guard page. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "base/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

void *sp_guarded_alloc(int64_t count, size_t size)
{
    size_t bytes, room;
    char *p;

    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > (size_t)PTRDIFF_MAX - 2 * page_bytes())
        return NULL;
    room = whole_pages(bytes);
    p = mmap(NULL, room + page_bytes(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (mprotect(p + room, page_bytes(), PROT_NONE) != 0) {
        munmap(p, room + page_bytes());
        return NULL;
    }
    return p + room - bytes;
}

void sp_guarded_free(void *p, int64_t count, size_t size)
{
    size_t bytes = (size_t)count * size, room = whole_pages(bytes);

    if (p)
        munmap((char *)p + bytes - room, room + page_bytes());
}
