/* random.c - points drawn by chance: what any other strategy must beat. */
#include "search/internal.h"

enum { DRAWS = 2000 };

spry_status sp_search_random(sp_candidate *out, int *count, int most,
                             const sp_space *s)
{
    sp_rng r = sp_rng_seed(s->seed);
    spry_schedule x = sp_point_first(s);
    sp_keep keep;
    sp_batch batch = {.s = s, .keep = &keep};
    spry_status status = sp_keep_open(&keep);

    *count = 0;
    for (int i = 0; status == SPRY_OK && i < DRAWS; i++) {
        status = sp_batch_add(&batch, &x);
        if (!sp_point_random(&x, s, &r))
            break;
    }
    if (status == SPRY_OK)
        status = sp_batch_end(&batch);
    if (status == SPRY_OK)
        status = sp_keep_best(out, count, most, &keep, s->p);
    sp_keep_close(&keep);
    return status;
}
