/* propose.c - which schedules are worth a race. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "tune/internal.h"

/* A learned model needs fewer tries. */
enum {
    FEW = 24,
    LEARNED = 20,
    FAVOURITES = 3, /* of the learned model's, before any of another's */
    OPINIONS = 4,
    MANY = 72,
    FEW_NESTS = 3,
    NESTS = 9,
    REMEMBERED = 3,
    GENERATION = 8,
    AT_A_TIME = 256
};

/* What earlier runs found out about this problem on this machine. */
typedef struct {
    spry_schedule failed[64], liked[REMEMBERED];
    double speedup[REMEMBERED];
    int failures, likes;
} memory;

static void like(memory *known, const spry_schedule *x, double speedup)
{
    int at = known->likes < REMEMBERED ? known->likes++ : REMEMBERED - 1;

    if (at == REMEMBERED - 1 && known->likes == REMEMBERED &&
        known->speedup[at] > speedup)
        return;
    for (; at > 0 && known->speedup[at - 1] < speedup; at--) {
        known->liked[at] = known->liked[at - 1];
        known->speedup[at] = known->speedup[at - 1];
    }
    known->liked[at] = *x;
    known->speedup[at] = speedup;
}

static int recall_one(const spry_record *r, void *payload)
{
    memory *known = payload;
    spry_schedule x;

    if (spry_schedule_parse(&x, r->schedule) != SPRY_OK)
        return 0;
    for (int i = 0; i < known->likes; i++)
        if (sp_schedule_equal(&known->liked[i], &x))
            return 0;
    if (r->verdict == SPRY_VERDICT_OK && r->low > 1)
        like(known, &x, r->speedup);
    else if (r->verdict != SPRY_VERDICT_OK && known->failures < 64)
        known->failed[known->failures++] = x;
    return 0;
}

static int contains(const spry_schedule *list, int count,
                    const spry_schedule *x)
{
    for (int i = 0; i < count; i++)
        if (sp_schedule_equal(&list[i], x))
            return 1;
    return 0;
}

/* ---- scoring for the search ---- */

typedef struct {
    sp_tuner *t;
    const memory *known;
} scoring;

/* Can x be had, and has it not failed before? Nests are always compiled;
 * whoever proposes one has a reason. */
static int is_open(const scoring *g, const spry_schedule *x)
{
    int compile = x->format == SPRY_SUPER && g->t->compile ? SP_COMPILE_ALL
                                                           : g->t->compile;

    return g->t->family->available(g->t->p, x, &g->t->m,
                                   (sp_compiling)compile) &&
           !contains(g->known->failed, g->known->failures, x);
}

static void score(double *out, const spry_schedule *x, int n, void *payload)
{
    const scoring *g = payload;
    spry_schedule open[AT_A_TIME];
    double seconds[AT_A_TIME];

    for (int from = 0, to; from < n; from = to) {
        int count = 0, next = 0;

        to = n - from < AT_A_TIME ? n : from + AT_A_TIME;
        for (int i = from; i < to; i++) {
            out[i] = is_open(g, &x[i]) ? 0 : HUGE_VAL;
            if (out[i] == 0)
                open[count++] = x[i];
        }
        sp_tune_seconds(seconds, g->t, open, count);
        for (int i = from; i < to; i++)
            if (out[i] == 0)
                out[i] = seconds[next++];
    }
}

static double score_one(scoring *g, const spry_schedule *x)
{
    double seconds;

    score(&seconds, x, 1, g);
    return seconds;
}

/* Is there a kernel of this shape, for any dense width or for this one? */
static int worth(const spry_schedule *x, void *payload)
{
    const scoring *g = payload;
    spry_schedule fixed = *x;

    fixed.fixed = 1;
    return g->t->family->available(g->t->p, x, &g->t->m, g->t->compile) ||
           g->t->family->available(g->t->p, &fixed, &g->t->m, g->t->compile);
}

/* Who measures may search long, and wants choices that are unlike each
 * other; who only predicts is in a hurry. */
static const sp_strategy *strategy_of(const sp_tuner *t)
{
    return sp_strategy_find(t->opt.effort == SPRY_PREDICT ? "descent"
                                                          : "exhaustive");
}

static void add(sp_tuner *t, const spry_schedule *x, double predicted)
{
    sp_result *r = &sp_results(t)[t->count];

    for (int i = 0; i < t->count; i++)
        if (sp_schedule_equal(&sp_results(t)[i].x, x))
            return;
    if (t->count == SP_RESULTS - SP_FINALISTS)
        return;
    *r = (sp_result){.x = *x, .predicted = predicted};
    t->count++;
}

static sp_space space_of(sp_tuner *t, scoring *g)
{
    return (sp_space){.p = t->p,
                      .m = &t->m,
                      .score = score,
                      .worth = worth,
                      .payload = g,
                      .seed = t->opt.seed,
                      .compile = 1}; /* score knows what can be had */
}

/* To score nests, blocks of many sizes are counted, each in a walk over all
 * entries: of a large matrix that would cost trials. */
static int takes_too_long(const sp_tuner *t)
{
    static const double PER_ENTRY = 1.5e-7, SHARE = 0.04;

    return PER_ENTRY * (double)t->p->A->nnz > SHARE * t->opt.seconds;
}

/* Nests that a learned model expects to be about as fast as the best of the
 * families, `best` seconds: the analytic one knows too little of them. */
static spry_status propose_nests(sp_tuner *t, scoring *g, double best)
{
    sp_candidate found[NESTS];
    sp_space space = space_of(t, g);
    int patient = t->opt.effort == SPRY_PATIENT, count = 0;
    double within = patient ? 1.25 * best : best;
    spry_status s = SPRY_OK;

    if (!t->guess.view || !t->compile || (!patient && takes_too_long(t)))
        return SPRY_OK;
    space.domain = SP_NESTS;
    s = sp_strategy_find("evolve")->find(found, &count,
                                         patient ? NESTS : FEW_NESTS, &space);
    for (int i = 0; s == SPRY_OK && i < count; i++)
        if (found[i].predicted < within)
            add(t, &found[i].x, found[i].predicted);
    return s;
}

/* What the analytic model would try: the learned one may have seen nothing
 * like this problem. What it then says of them still counts. */
static spry_status second_opinion(sp_tuner *t, scoring *g)
{
    sp_candidate found[OPINIONS];
    sp_space space = space_of(t, g);
    sp_guess learned = t->guess;
    int count = 0;
    spry_status s;

    if (!learned.view || t->opt.effort == SPRY_PREDICT)
        return SPRY_OK;
    t->guess.view = NULL;
    s = sp_strategy_find("exhaustive")->find(found, &count, OPINIONS, &space);
    t->guess = learned;
    for (int i = 0; s == SPRY_OK && i < count; i++)
        add(t, &found[i].x, score_one(g, &found[i].x));
    return s;
}

spry_status sp_tune_propose(sp_tuner *t)
{
    sp_candidate found[MANY];
    spry_schedule plain[SP_BASELINES];
    memory known = {.likes = 0};
    scoring g = {t, &known};
    sp_space space = space_of(t, &g);
    int most = t->opt.effort == SPRY_PATIENT ? MANY
               : t->guess.view               ? LEARNED
                                             : FEW;
    int count = 0;
    spry_status s;

    if (t->db)
        (void)spry_records_each(t->db, t->p->key, t->m.fingerprint, recall_one,
                                &known);
    t->baselines = t->family->baselines(plain, t->p, &t->m);
    for (int i = 0; i < t->baselines; i++)
        add(t, &plain[i], score_one(&g, &plain[i]));
    for (int i = 0; i < known.likes; i++)
        if (spry_schedule_legal(&known.liked[i], t->p, &t->m) == SPRY_OK &&
            score_one(&g, &known.liked[i]) < HUGE_VAL)
            add(t, &known.liked[i], score_one(&g, &known.liked[i]));
    sp_guess_hurry(&t->guess, t->opt.effort == SPRY_PREDICT);
    s = strategy_of(t)->find(found, &count, most, &space);
    sp_guess_hurry(&t->guess, 0);
    for (int i = 0; s == SPRY_OK && i < count; i++) {
        if (i == FAVOURITES)
            s = second_opinion(t, &g);
        add(t, &found[i].x, found[i].predicted);
    }
    return s == SPRY_OK && count ? propose_nests(t, &g, found[0].predicted) : s;
}

/* ---- the next generation ---- */

/* The `most` fastest verified results, best first. */
static int leaders(const sp_tuner *t, spry_schedule *out, int most)
{
    int count = 0;
    double last = HUGE_VAL;

    while (count < most) {
        const sp_result *best = NULL;

        for (int i = 0; i < t->count; i++) {
            const sp_result *r = &sp_results(t)[i];

            if (r->done && r->verdict == SPRY_VERDICT_OK &&
                r->racer.speedup < last &&
                (!best || r->racer.speedup > best->racer.speedup))
                best = r;
        }
        if (!best)
            break;
        last = best->racer.speedup;
        out[count++] = best->x;
    }
    return count;
}

spry_status sp_tune_evolve(sp_tuner *t, int *added)
{
    sp_candidate found[GENERATION];
    spry_schedule known[SP_RESULTS], seed[3];
    memory none = {.likes = 0};
    scoring g = {t, &none};
    sp_space space = space_of(t, &g);
    int before = t->count, count = 0, seeds = leaders(t, seed, 3);
    spry_status s;

    *added = 0;
    if (seeds == 0)
        return SPRY_OK;
    for (int i = 0; i < t->count; i++)
        known[i] = sp_results(t)[i].x;
    space.seed += (uint64_t)t->count;
    s = sp_search_around(found, &count, GENERATION, &space, known, t->count,
                         seed, seeds);
    for (int i = 0; s == SPRY_OK && i < count; i++)
        add(t, &found[i].x, found[i].predicted);
    *added = t->count - before;
    return s;
}
