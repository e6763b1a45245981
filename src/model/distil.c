/* distil.c - the trees as a teacher.
 *
 * The factored head sees less than the trees, and few schedules of a problem
 * were measured. But the trees score any number of them: what they say of
 * points all over the space is a dataset without noise. */
#include "model/distil.h"

#include <string.h>

#include "schedule/schedule.h"
#include "spry/space.h"

enum { NESTS = 96, RELATIVES = 96 };

static float taught(const float *x, const sp_trees *trees)
{
    return sp_row_bound(x) + (float)sp_trees_sum(trees, x);
}

/* Where the rows of a subject go. */
typedef struct {
    sp_dataset *out;
    const sp_trees *trees;
    int64_t at;
} pen;

static void write_row(pen *w, const float *x, float slower)
{
    float *to = w->out->x + w->at * SP_FEATURES;

    if (to != x)
        memcpy(to, x, SP_FEATURES * sizeof *x);
    w->out->slower[w->at++] = slower;
}

/* A point nobody measured, if it can be had. */
static void write_point(pen *w, const sp_subject *s, const spry_schedule *x)
{
    float *to = w->out->x + w->at * SP_FEATURES;

    if (sp_subject_row(to, s, x))
        write_row(w, to, taught(to, w->trees));
}

static void write_nests(pen *w, const sp_subject *s, uint64_t seed)
{
    int threads = s->m->threads > 1 ? s->m->threads : 1;
    spry_space space = spry_space_of(&s->p->head, threads);
    spry_schedule x[NESTS];

    spry_space_sample(x, NESTS, &space, SPRY_SAMPLE_WACO, seed);
    for (int i = 0; i < NESTS; i++)
        write_point(w, s, &x[i]);
}

static void write_relatives(pen *w, const sp_subject *s, const sp_examples *e,
                            int64_t subject, uint64_t seed)
{
    int64_t rows = e->start[subject + 1] - e->start[subject];
    sp_rng r = sp_rng_seed(seed);

    for (int i = 0; i < RELATIVES && rows > 0; i++) {
        int64_t from = (int64_t)sp_rng_below(&r, (uint64_t)rows);
        spry_schedule x = e->row[e->start[subject] + from].x;

        if (sp_schedule_mutate(&x, s->p, s->m, &r))
            write_point(w, s, &x);
    }
}

/* All rows of a subject from `at` on; how many. */
static int64_t write_subject(sp_dataset *out, const sp_dataset *t,
                             const sp_trees *trees, int64_t subject, int64_t at,
                             uint64_t seed)
{
    const sp_subject *s = &t->e->subject[subject];
    pen w = {out, trees, at};

    for (int64_t i = t->start[subject]; i < t->start[subject + 1]; i++) {
        const float *x = t->x + i * SP_FEATURES;

        write_row(&w, x, (taught(x, trees) + t->slower[i]) / 2);
    }
    if (s->p && s->m && w.at > at) {
        seed += (uint64_t)subject * 7919;
        write_nests(&w, s, seed);
        write_relatives(&w, s, t->e, subject, seed);
    }
    return w.at - at;
}

static void close_gaps(sp_dataset *out, const int64_t *begin,
                       const int64_t *used)
{
    for (int64_t s = 0; s < out->e->subjects; s++) {
        int64_t to = out->start[s];

        memmove(out->x + to * SP_FEATURES, out->x + begin[s] * SP_FEATURES,
                (size_t)used[s] * SP_FEATURES * sizeof *out->x);
        memmove(out->slower + to, out->slower + begin[s],
                (size_t)used[s] * sizeof *out->slower);
        out->start[s + 1] = to + used[s];
    }
    out->rows = out->start[out->e->subjects];
}

spry_status sp_distil(sp_dataset *out, const sp_dataset *t,
                      const sp_trees *trees, uint64_t seed, int threads)
{
    int64_t subjects = t->e->subjects;
    int64_t most = t->rows + subjects * (NESTS + RELATIVES) + 1;
    int64_t *begin = sp_alloc(2 * subjects + 2, sizeof *begin);
    int64_t *used = begin ? begin + subjects + 1 : NULL;

    *out = (sp_dataset){.e = t->e};
    out->start = sp_alloc(subjects + 1, sizeof *out->start);
    out->x = sp_alloc_raw(most, SP_FEATURES * sizeof *out->x);
    out->slower = sp_alloc_raw(most, sizeof *out->slower);
    if (!begin || !out->start || !out->x || !out->slower) {
        sp_free(begin);
        sp_dataset_free(out);
        return sp_fail_memory((size_t)most * SP_FEATURES * sizeof(float));
    }
    for (int64_t s = 0; s < subjects; s++)
        begin[s] = t->start[s] + s * (NESTS + RELATIVES);
#pragma omp parallel for schedule(dynamic, 1) \
    num_threads(threads) if (threads > 1)
    for (int64_t s = 0; s < subjects; s++)
        used[s] = write_subject(out, t, trees, s, begin[s], seed);
    close_gaps(out, begin, used);
    sp_free(begin);
    return SPRY_OK;
}
