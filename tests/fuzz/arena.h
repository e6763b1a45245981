/* arena.h - memory for SQLite under the address sanitizer, whose malloc takes
 * longer than all that SQLite does: one block, taken from in order, begun
 * anew when nothing of it is in use. What is handed out ends where it says,
 * and what was given back is not to be read, as with malloc. */
#ifndef SPRY_FUZZ_ARENA_H
#define SPRY_FUZZ_ARENA_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_ARENA 1
#endif
#endif

#ifdef FUZZ_ARENA

#include <sanitizer/asan_interface.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA = 64 << 20, ARENA_LINE = 16 };

static _Alignas(ARENA_LINE) char arena[ARENA];
static size_t arena_at, arena_from; /* the next; behind what always stays */
static int64_t arena_used;          /* blocks behind arena_from */

/* Its length stands before a block. */
static int arena_size(void *p)
{
    int size = 0;

    if (p)
        memcpy(&size, (char *)p - ARENA_LINE, sizeof size);
    return size;
}

static void *arena_take(int size)
{
    size_t lines = ((size_t)size / ARENA_LINE + 3) * ARENA_LINE;
    char *p = arena + arena_at + ARENA_LINE;

    if (lines > ARENA - arena_at)
        return NULL;
    ASAN_UNPOISON_MEMORY_REGION(p - ARENA_LINE, (size_t)size + ARENA_LINE);
    memcpy(p - ARENA_LINE, &size, sizeof size);
    arena_at += lines;
    arena_used++;
    return p;
}

static void arena_give(void *p)
{
    if (!p)
        return;
    ASAN_POISON_MEMORY_REGION(p, (size_t)arena_size(p));
    if ((char *)p - arena >= (ptrdiff_t)arena_from && --arena_used == 0)
        arena_at = arena_from;
}

static void *arena_change(void *p, int size)
{
    void *more = arena_take(size);
    int old = arena_size(p);

    if (!more)
        return NULL;
    memcpy(more, p, (size_t)(old < size ? old : size));
    arena_give(p);
    return more;
}

static int arena_round(int size)
{
    return (size + 7) & ~7;
}

static int arena_begin(void *unused)
{
    (void)unused;
    return SQLITE_OK;
}

static void arena_end(void *unused)
{
    (void)unused;
}

/* Once, before anybody else calls SQLite. */
static inline void arena_use(void)
{
    static const sqlite3_mem_methods own = {
        arena_take,  arena_give,  arena_change, arena_size,
        arena_round, arena_begin, arena_end,    NULL};

    ASAN_POISON_MEMORY_REGION(arena, sizeof arena);
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &own) != SQLITE_OK ||
        sqlite3_initialize() != SQLITE_OK)
        abort();
    arena_from = arena_at;
    arena_used = 0;
}

/* Nothing is left of what an input took. */
static inline int arena_is_empty(void)
{
    return arena_used == 0;
}

#else

static inline void arena_use(void) {}

static inline int arena_is_empty(void)
{
    return 1;
}

#endif
#endif
