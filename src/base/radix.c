/* radix.c - numbered keys into ascending order, on all threads.
 *
 * One pass per byte of the key, lowest first: threads count the digits of
 * their own stretch, the counts become places, each moves its stretch. */
#include <omp.h>

#include "base/base.h"

enum { DIGITS = 256, THREADS = 16, LARGE = 65536 };

static int ascending(const sp_keyed *a, int64_t n, int threads)
{
    int64_t falls = 0;

#pragma omp parallel for num_threads(threads) schedule(static) \
    reduction(+                                                \
              : falls) if (threads > 1)
    for (int64_t t = 1; t < n; t++)
        falls += a[t - 1].key > a[t].key;
    return falls == 0;
}

/* count[thread][digit] becomes where that thread's first one goes. */
static void place(int64_t count[][DIGITS], int threads)
{
    int64_t at = 0;

    for (int d = 0; d < DIGITS; d++)
        for (int t = 0; t < threads; t++) {
            int64_t here = count[t][d];

            count[t][d] = at;
            at += here;
        }
}

static void pass(sp_keyed *to, const sp_keyed *from, int64_t n, int shift,
                 int threads)
{
    int64_t count[THREADS][DIGITS] = {{0}};

#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int t = omp_get_thread_num(), all = omp_get_num_threads();
        int64_t first = n / all * t;
        int64_t last = t + 1 == all ? n : n / all * (t + 1);

        for (int64_t k = first; k < last; k++)
            count[t][from[k].key >> shift & (DIGITS - 1)]++;
#pragma omp barrier
#pragma omp single
        place(count, all);
        for (int64_t k = first; k < last; k++)
            to[count[t][from[k].key >> shift & (DIGITS - 1)]++] = from[k];
    }
}

sp_keyed *sp_radix_sort(sp_keyed *a, sp_keyed *room, int64_t n, int bits)
{
    int most = omp_get_max_threads(), threads = 1;

    if (n >= LARGE)
        threads = most < THREADS ? most : THREADS;
    if (ascending(a, n, threads))
        return a;
    for (int shift = 0; shift < bits; shift += 8) {
        sp_keyed *from = a;

        pass(room, a, n, shift, threads);
        a = room;
        room = from;
    }
    return a;
}
