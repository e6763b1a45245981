/* slab.h - many arrays that are freed together, side by side on huge pages:
 * pages of usual size are found one by one, which takes longer than to fill
 * them. */
#ifndef SP_SLAB_H
#define SP_SLAB_H

#include <stddef.h>
#include <stdint.h>

typedef struct sp_slab sp_slab;

sp_slab *sp_slab_open(void); /* NULL: no memory */
/* On 64 bytes, not zeroed, from any thread; NULL: no memory. */
void *sp_slab_get(sp_slab *s, int64_t count, size_t size);
void sp_slab_free(sp_slab *s);

#endif
