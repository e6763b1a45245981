/* guarded.h - arrays that end at a guard page: a read or write past their end
 * is a signal, not whatever lies there. */
#ifndef SP_GUARDED_H
#define SP_GUARDED_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed; aligned to an element only. NULL when memory is short or
 * count * size overflows. Freed with the same count and size. */
void *sp_guarded_alloc(int64_t count, size_t size);
void sp_guarded_free(void *p, int64_t count, size_t size);

#endif
