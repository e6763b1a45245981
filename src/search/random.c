/* random.c - points drawn by chance: what any other strategy must beat. */
#include "search/internal.h"

enum { DRAWS = 2000 };

spry_status sp_search_random(sp_candidate *out, int *count, int most,
                             const sp_space *s)
{
    sp_rng r = sp_rng_seed(s->seed);
    spry_schedule x = spry_schedule_baseline(1);
    sp_keep keep;
    spry_status status = sp_keep_open(&keep);

    *count = 0;
    for (int i = 0; status == SPRY_OK && i < DRAWS; i++) {
        status = sp_keep_add(&keep, &x, sp_point_score(s, &x));
        if (!sp_point_random(&x, s, &r))
            break;
    }
    if (status == SPRY_OK)
        status = sp_keep_best(out, count, most, &keep);
    sp_keep_close(&keep);
    return status;
}
