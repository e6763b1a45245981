/* fence.h - arrays that end at a page which nobody may touch: who walks past
 * their end dies there, instead of reading what happens to lie behind. */
#ifndef SP_FENCE_H
#define SP_FENCE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed; on no boundary but that of an element. NULL when memory is short or
 * count * size overflows. Freed by the numbers it was made with. */
void *sp_fenced_alloc(int64_t count, size_t size);
void sp_fenced_free(void *p, int64_t count, size_t size);

#endif
