/* alloc.c - arrays on cache lines, on huge pages when large.
 *
 * Every block of the library that can grow with its input comes from here,
 * so the tests can refuse the n-th allocation and count what is left. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE = 2 << 20 };

static atomic_llong live, own_count;
static atomic_llong *refuse_at = &own_count;
static atomic_int refuse_on;

void sp_alloc_refuse(int64_t n, int on)
{
    atomic_store(&refuse_on, on);
    atomic_store(refuse_at, n);
}

void sp_alloc_count_in(_Atomic(long long) *count)
{
    refuse_at = count ? count : &own_count;
}

int64_t sp_alloc_live(void)
{
    return atomic_load(&live);
}

static int refused(void)
{
    long long n = atomic_load_explicit(refuse_at, memory_order_relaxed);

    while (n > 0) {
        int on = atomic_load(&refuse_on);

        if (n == 1 && on)
            return 1;
        if (atomic_compare_exchange_weak(refuse_at, &n, n - 1))
            return n == 1;
    }
    return 0;
}

void *sp_alloc_raw(int64_t count, size_t size)
{
    size_t bytes, align;
    void *p;

    sp_fork_watch();
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > (size_t)PTRDIFF_MAX - HUGE || refused())
        return NULL;
    align = bytes >= HUGE ? HUGE : LINE;
    bytes = (bytes + align) & ~(align - 1); /* never zero, whole lines */
    p = aligned_alloc(align, bytes);
    if (!p)
        return NULL;
    if (align == HUGE)
        madvise(p, bytes, MADV_HUGEPAGE); /* a wish; refusal is fine */
    atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return p;
}

void *sp_alloc(int64_t count, size_t size)
{
    void *p = sp_alloc_raw(count, size);

    if (p)
        memset(p, 0, (size_t)count * size);
    return p;
}

void *sp_grow(void *old, int64_t old_count, int64_t count, size_t size)
{
    void *p = sp_alloc_raw(count, size);

    if (!p)
        return NULL;
    if (old)
        memcpy(p, old, (size_t)old_count * size);
    sp_free(old);
    return p;
}

void sp_free(void *p)
{
    if (p)
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(p);
}

char *sp_strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *p = refused() ? NULL : malloc(n);

    return p ? memcpy(p, text, n) : NULL;
}
