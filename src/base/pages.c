/* pages.c - pages of results that the caller has just allocated.
 *
 * Large blocks come from the system without pages. A kernel that adds to a
 * result reads it first: each page is then found twice, once as the page of
 * zeros that all share and once more to be written, and threads wait for each
 * other in the kernel. Asked for beforehand, pages are huge where the system
 * has such, and found once. */
#define _DEFAULT_SOURCE /* madvise, mincore */
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"

#ifdef __linux__

enum { LARGE = 4 << 20 }; /* bytes, from which a look pays */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older ones refuse it */
#endif

/* Is the page that holds this byte there? */
static int is_there(uintptr_t at, uintptr_t page)
{
    unsigned char said = 1;

    return mincore((void *)(at & ~(page - 1)), 1, &said) != 0 || (said & 1);
}

int sp_pages_lack(const void *data, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)data;

    return bytes >= LARGE &&
           (!is_there(at + bytes / 2, page) || !is_there(at + bytes - 1, page));
}

/* Wishes; refusal is fine. */
void sp_pages_bring(void *data, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)data + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)data + bytes) & ~(page - 1);

    if (from >= to)
        return;
    (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
    (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

#else

int sp_pages_lack(const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    return 0;
}

void sp_pages_bring(void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
}

#endif
