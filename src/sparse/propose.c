/* propose.c - which schedules are worth a race. */
#include <math.h>

#include "base/base.h"
#include "matrix/matrix.h"
#include "sparse/internal.h"

/* A learned model needs fewer tries. */
enum {
    FEW = 24,
    LEARNED = 20,
    FAVOURITES = 3, /* of the learned model's, before any of another's */
    OPINIONS = 4,
    MANY = 72,
    FEW_NESTS = 3,
    NESTS = 9,
    GENERATION = 8,
    AT_A_TIME = 256
};

static int contains(const spry_schedule *list, int count,
                    const spry_schedule *x)
{
    for (int i = 0; i < count; i++)
        if (sp_schedule_equal(&list[i], x))
            return 1;
    return 0;
}

/* ---- scoring for the search ---- */

/* Can x be had, and has it not failed before? Nests are always compiled;
 * whoever proposes one has a reason. */
static int is_open(const sp_sparse_adviser *a, const spry_schedule *x)
{
    sp_compiling compile =
        x->format == SPRY_SUPER && a->compile ? SP_COMPILE_ALL : a->compile;

    return sp_sparse_available(a->p, x, a->q.m, compile) &&
           !contains(a->failed, a->failures, x);
}

/* Rows sorted in windows: learned models have met none, so that a search could
 * only be misled. They are proposed by rule, and searched around once one was
 * among the fastest. */
static int is_apart(const sp_sparse_adviser *a, const spry_schedule *x)
{
    return !a->windows && x->sigma > 1 && !sp_format_of(x)->slices;
}

static void score(double *out, const spry_schedule *x, int n, void *payload)
{
    sp_sparse_adviser *a = payload;
    spry_schedule open[AT_A_TIME];
    double seconds[AT_A_TIME];

    for (int from = 0, to; from < n; from = to) {
        int count = 0, next = 0;

        to = n - from < AT_A_TIME ? n : from + AT_A_TIME;
        for (int i = from; i < to; i++) {
            out[i] = !is_apart(a, &x[i]) && is_open(a, &x[i]) ? 0 : HUGE_VAL;
            if (out[i] == 0)
                open[count++] = x[i];
        }
        sp_guess_seconds(seconds, &a->guess, open, count);
        for (int i = from; i < to; i++)
            if (out[i] == 0)
                out[i] = seconds[next++];
    }
}

/* Of one that is there already, or proposed by rule. */
static double score_one(sp_sparse_adviser *a, const spry_schedule *x)
{
    double seconds = HUGE_VAL;

    if (is_open(a, x))
        sp_guess_seconds(&seconds, &a->guess, x, 1);
    return seconds;
}

void sp_sparse_predict(sp_adviser *head, sp_proposal *x, int n)
{
    sp_sparse_adviser *a = (sp_sparse_adviser *)head;
    spry_schedule point;

    for (int i = 0; i < n; i++) {
        x[i].predicted = HUGE_VAL;
        if (spry_schedule_parse_for(&point, x[i].text, a->p->op) != SPRY_OK)
            continue;
        x[i].threads = point.threads;
        x[i].barriers = sp_sparse_barriers(&point);
        if (sp_schedule_is_legal(&point, a->p, a->q.m))
            x[i].predicted = score_one(a, &point);
    }
}

/* Is there a kernel of this shape, for any dense width or for this one? */
static int worth(const spry_schedule *x, void *payload)
{
    const sp_sparse_adviser *a = payload;
    spry_schedule fixed = *x;

    fixed.fixed = 1;
    if (is_apart(a, x))
        return 0;
    return sp_sparse_available(a->p, x, a->q.m, a->compile) ||
           sp_sparse_available(a->p, &fixed, a->q.m, a->compile);
}

static int in_hurry(const sp_sparse_adviser *a)
{
    static const double SHORT_BUDGET = 1.5;

    return !a->q.measured || a->q.seconds < SHORT_BUDGET;
}

/* Who measures may search long, and wants choices that are unlike each
 * other; who only predicts, or has little time, is in a hurry. */
static const sp_strategy *strategy_of(const sp_sparse_adviser *a)
{
    if (a->search)
        return a->search;
    return sp_strategy_find(a->q.measured && !in_hurry(a) ? "exhaustive"
                                                          : "descent");
}

static void add(sp_proposals *l, const spry_schedule *x, double predicted)
{
    sp_proposal one = sp_sparse_proposal(x, predicted);

    (void)sp_proposals_add(l, &one);
}

static sp_space space_of(sp_sparse_adviser *a)
{
    return (sp_space){.p = a->p,
                      .m = a->q.m,
                      .score = score,
                      .worth = worth,
                      .payload = a,
                      .seed = a->q.seed,
                      .compile = 1}; /* score knows what can be had */
}

/* To score nests, blocks of many sizes are counted, each in a walk over all
 * entries: of a large matrix that would cost trials. */
static int takes_too_long(const sp_sparse_adviser *a)
{
    static const double PER_ENTRY = 1.5e-7, SHARE = 0.04;

    return PER_ENTRY * (double)a->p->A->nnz > SHARE * a->q.seconds;
}

/* Nests that a learned model expects to be about as fast as the best of the
 * families, `best` seconds: the analytic one knows too little of them. */
static spry_status propose_nests(sp_sparse_adviser *a, sp_proposals *l,
                                 double best)
{
    sp_candidate found[NESTS];
    sp_space space = space_of(a);
    int count = 0;
    double within = a->q.patient ? 1.25 * best : best;
    spry_status s = SPRY_OK;

    if (!a->guess.view || !a->compile ||
        (!a->q.patient && (takes_too_long(a) || in_hurry(a))))
        return SPRY_OK;
    space.domain = SP_NESTS;
    if (a->search)
        s = sp_sparse_table(a, &space);
    if (a->nests) {
        space.nests = a->nests;
        space.view = a->guess.view;
    }
    if (s == SPRY_OK)
        s = (a->search ? a->search : sp_strategy_find("evolve"))
                ->find(found, &count, a->q.patient ? NESTS : FEW_NESTS, &space);
    for (int i = 0; s == SPRY_OK && i < count; i++)
        if (found[i].predicted < within)
            add(l, &found[i].x, found[i].predicted);
    return s;
}

/* What the analytic model would try: the learned one may have seen nothing
 * like this problem. What it then says of them still counts. */
static spry_status second_opinion(sp_sparse_adviser *a, sp_proposals *l)
{
    sp_candidate found[OPINIONS];
    sp_space space = space_of(a);
    sp_guess learned = a->guess;
    int count = 0;
    spry_status s;

    if (!learned.view || in_hurry(a))
        return SPRY_OK;
    a->guess.view = NULL;
    s = sp_strategy_find("exhaustive")->find(found, &count, OPINIONS, &space);
    a->guess = learned;
    for (int i = 0; s == SPRY_OK && i < count; i++)
        add(l, &found[i].x, score_one(a, &found[i].x));
    return s;
}

/* The rows of B that half of the last cache holds, a power of two; 0: it holds
 * all of them, or so few that a row of A has less than an entry in a panel and
 * C would be moved more often than B. */
static int32_t panel_width(const sp_sparse_adviser *a)
{
    const spry_matrix *A = a->p->A;
    double row = (double)a->p->n * (double)a->p->type, last = 0;
    double length = (double)A->nnz / fmax(1, (double)A->rows);
    int32_t width = 1;

    for (int i = 0; i < SPRY_CACHES; i++)
        last = fmax(last, (double)spry_machine_cache(a->q.m, i));
    if (!sp_is_product(sp_operation_of(a->p->op)) ||
        row * (double)A->cols <= last)
        return 0;
    while (2 * width * row <= last / 2)
        width *= 2;
    return (double)A->cols <= length * width ? width : 0;
}

/* Panels so wide, else as `best`; compiled for this dense width if that can be
 * had, since rows are short in a panel, and what is once per row counts. */
static void propose_panel(sp_sparse_adviser *a, sp_proposals *l,
                          const spry_schedule *best, int32_t width)
{
    enum { AHEAD = 16, NARROW = 1 << 16 };
    spry_schedule x = sp_schedule_default(SPRY_CSR);

    x.panel = width;
    x.index = width <= NARROW ? 16 : 0;
    x.tile = best->tile;
    x.prefetch = AHEAD;
    x.threads = best->threads;
    for (x.fixed = 1; x.fixed >= 0; x.fixed--)
        if (sp_schedule_is_legal(&x, a->p, a->q.m) && is_open(a, &x)) {
            add(l, &x, score_one(a, &x));
            return;
        }
}

/* Large random patterns wait for rows of B from memory; the models have met few
 * of them. Half of the last cache for a panel, and a quarter: others may use
 * that cache as well. */
static void propose_panels(sp_sparse_adviser *a, sp_proposals *l,
                           const spry_schedule *best)
{
    int32_t width = a->q.measured ? panel_width(a) : 0;

    if (width > 0)
        propose_panel(a, l, best, width);
    if (width > 1)
        propose_panel(a, l, best, width / 2);
}

/* The first that holds rows in registers, or NULL. */
static const spry_schedule *first_tiled(const sp_candidate *found, int count)
{
    for (int i = 0; i < count; i++)
        if (found[i].x.format == SPRY_CSR && found[i].x.tile > 0)
            return &found[i].x;
    return NULL;
}

static void propose_one(sp_sparse_adviser *a, sp_proposals *l,
                        const spry_schedule *x)
{
    if (sp_schedule_is_legal(x, a->p, a->q.m) && is_open(a, x))
        add(l, x, score_one(a, x));
}

/* Where the ends of uneven rows are guesses, rows sorted in windows, which stay
 * in the first cache, end alike. Few registers wait for each other's sums, so
 * that two entries at a time are tried as well. Learned models have met
 * neither. */
static void propose_windows(sp_sparse_adviser *a, sp_proposals *l,
                            const sp_candidate *found, int count)
{
    enum { WINDOW = 64, NARROW = 4 };
    static const double UNEVEN = 0.1;
    const spry_stats *t = sp_problem_sketch(a->p);
    const spry_schedule *rows = first_tiled(found, count);
    spry_schedule x;

    if (!a->q.measured || !t || !rows ||
        !sp_is_product(sp_operation_of(a->p->op)))
        return;
    x = *rows;
    x.order = SPRY_ORDER_NONE;
    x.panel = 0;
    if (t->row_deviation > UNEVEN * t->row_mean)
        x.sigma = WINDOW;
    propose_one(a, l, &x);
    if (x.tile <= NARROW) {
        x.unroll = 2;
        x.prefetch = 0; /* what is built in has none */
        propose_one(a, l, &x);
        /* As many entries for each thread, none to wait for; results of a
         * window are written close to each other, and stay in a cache. */
        x.chunk = x.stream = 0;
        propose_one(a, l, &x);
    }
}

/* Diagonals of one triangle: learned models have met none. */
static void propose_triangle(sp_sparse_adviser *a, sp_proposals *l,
                             const spry_schedule *best)
{
    enum { TALL = 4 };
    spry_schedule x = sp_schedule_default(SPRY_DIA);
    double seconds;

    x.symmetric = 1;
    x.slice = TALL;
    x.threads = best->threads;
    if (!a->q.measured || !sp_schedule_is_legal(&x, a->p, a->q.m) ||
        !is_open(a, &x))
        return;
    seconds = score_one(a, &x);
    if (seconds < HUGE_VAL)
        add(l, &x, seconds);
}

spry_status sp_sparse_propose(sp_adviser *head, sp_proposals *l)
{
    sp_sparse_adviser *a = (sp_sparse_adviser *)head;
    sp_candidate found[MANY];
    sp_space space = space_of(a);
    int most = a->q.patient ? MANY : a->guess.view ? LEARNED : FEW;
    int count = 0;
    spry_status s;

    sp_guess_hurry(&a->guess, in_hurry(a));
    s = strategy_of(a)->find(found, &count, most, &space);
    sp_guess_hurry(&a->guess, 0);
    for (int i = 0; s == SPRY_OK && i < count; i++) {
        if (i == 1) {
            propose_panels(a, l, &found[0].x);
            propose_windows(a, l, found, count);
            propose_triangle(a, l, &found[0].x);
        }
        if (i == FAVOURITES)
            s = second_opinion(a, l);
        add(l, &found[i].x, found[i].predicted);
    }
    return s == SPRY_OK && count ? propose_nests(a, l, found[0].predicted) : s;
}

/* ---- the next generation ---- */

/* Proposals as schedules; how many could be read. */
static int read_all(spry_schedule *out, const sp_proposal *x, int n)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += spry_schedule_parse(&out[count], x[i].text) == SPRY_OK;
    return count;
}

static spry_status search_around(sp_sparse_adviser *a, sp_proposals *l,
                                 const spry_schedule *known, int knowns,
                                 const spry_schedule *leader, int leaders)
{
    sp_candidate found[GENERATION];
    sp_space space = space_of(a);
    int count = 0;
    spry_status s;

    space.seed += (uint64_t)l->count;
    for (int i = 0; i < leaders; i++)
        a->windows |= is_apart(a, &leader[i]);
    s = sp_search_around(found, &count, GENERATION, &space, known, knowns,
                         leader, leaders);
    a->windows = 0;
    for (int i = 0; s == SPRY_OK && i < count; i++)
        add(l, &found[i].x, found[i].predicted);
    return s;
}

spry_status sp_sparse_around(sp_adviser *head, sp_proposals *l,
                             const sp_proposal *leader, int leaders)
{
    sp_sparse_adviser *a = (sp_sparse_adviser *)head;
    spry_schedule *x = sp_alloc(l->count + leaders, sizeof *x);
    int knowns, seeds;
    spry_status s;

    if (!x)
        return sp_fail_memory((size_t)(l->count + leaders) * sizeof *x);
    knowns = read_all(x, l->list, l->count);
    seeds = read_all(x + knowns, leader, leaders);
    s = search_around(a, l, x, knowns, x + knowns, seeds);
    sp_free(x);
    return s;
}
