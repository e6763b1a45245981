/* predict.c - problem, schedule and machine become seconds. */
#include "model/features.h"
#include "model/internal.h"

#include <math.h>

/* What cores of the last ten years have in common, fitted to runs of the
 * benchmark classes. */
static const sp_core usual_core = {.issue = 4,
                                   .window = 200,
                                   .wrong = 15,
                                   .ahead = 14,
                                   .plain = 1.5,
                                   .chunk = 1e-7,
                                   .order = 0.1};

/* Weight of a row beside its entries, about as pack cuts: models have learned
 * with this one. */
static const double unit = 2;

sp_speeds sp_model_speeds(const sp_ask *q)
{
    return (sp_speeds){sp_model_rates(q), usual_core};
}

/* ---- the terms ---- */

static double compute_seconds(const sp_work *w, const sp_speeds *at)
{
    const sp_rates *r = &at->rates;
    double loop = w->units > 0 ? (w->inner + w->ends) / w->units : 1;
    double overlap = fmax(1, fmin(8, at->core.window / fmax(1, loop)));
    double cycles =
        fmax(w->inner / at->core.issue, fmax(w->fma / 2, w->chain / overlap));

    return fmax(cycles * r->cycle, w->gathers * r->gather) / r->cores;
}

static double loop_seconds(const sp_work *w, const sp_speeds *at)
{
    double cycles = w->ends / at->core.issue + w->wrong * at->core.wrong;

    return cycles * at->rates.cycle / at->rates.cores;
}

/* Lines that are fetched side by side: what fits between two wrong guesses,
 * or what prefetching asks for. */
static double side_by_side(const sp_counted *c, const sp_core *core,
                           double lines)
{
    const sp_ask *q = c->q;
    const sp_storage *k = &c->storage;
    const sp_work *w = &c->work;
    double entries = fmax(1, k->entries), per = fmax(1, lines / entries);
    double each = fmax(1, w->inner / entries);
    double run = fmax(1, entries / fmax(1, w->wrong));
    const sp_operation *d = sp_operation_of(q->p->op);
    int plain = q->x->tile == 0 && d->dense >= 0 && !d->sampled;
    double most = plain ? core->plain : d->in_flight;
    double found = fmin(most, fmin(core->window / each, run) * per);
    double asked = fmin(core->ahead, q->x->prefetch * fmin(per, 2));

    return fmax(1, fmax(found, asked));
}

/* More random lines than that memory does not give, however many are asked
 * for at a time. */
static double gather_seconds(const sp_traffic *f, const sp_rates *r)
{
    return r->lines > 0 ? f->misses[SPRY_CACHES] / r->lines : 0;
}

static double latency_seconds(const sp_counted *c, const sp_speeds *at)
{
    const sp_traffic *f = &c->traffic;
    const sp_rates *r = &at->rates;
    double wait = 0, lines = 0;

    for (int i = 0; i < SP_LEVELS; i++)
        lines += f->misses[i];
    for (int i = 2; i < SP_LEVELS; i++) /* the second level's wait is hidden */
        wait += f->misses[i] * (r->latency[i] - r->latency[1]);
    wait /= side_by_side(c, &at->core, lines) * r->cores;
    return fmax(wait, gather_seconds(f, r));
}

static double bandwidth_seconds(const sp_traffic *f, const sp_rates *r)
{
    double sum = f->stored / r->store;

    for (int i = 1; i < SP_LEVELS; i++)
        sum += f->bytes[i] / r->bandwidth[i];
    return sum;
}

static void fill_limits(spry_prediction *out, const sp_ask *q,
                        const sp_traffic *f, const sp_rates *r)
{
    double flops = spry_problem_flops(&q->p->head);

    out->least_flops = r->flops > 0 ? flops / r->flops : 0;
    out->least_cache = 0;
    for (int i = 0; i < SPRY_CACHES; i++)
        if (q->m->cache_read[i] > 0)
            out->least_cache =
                fmax(out->least_cache, f->bytes[i] / r->bandwidth[i]);
    out->least_memory =
        q->m->probed ? f->bytes[SPRY_CACHES] / r->bandwidth[SPRY_CACHES] +
                           f->stored / r->store
                     : 0;
    out->least_gathers = gather_seconds(f, r);
}

/* ---- threads ---- */

static double before(const spry_matrix *A, int64_t row)
{
    return (double)A->start[row] + unit * (double)row;
}

/* Share of the work that the unluckiest of `threads` has, times threads. */
static double heaviest(const spry_matrix *A, int threads)
{
    double all = before(A, A->rows), most = 0, last = 0;

    for (int t = 1; t <= threads; t++) {
        int64_t low = 0, high = A->rows;

        while (low < high) {
            int64_t middle = low + (high - low) / 2;

            if (before(A, middle) < all * t / threads)
                low = middle + 1;
            else
                high = middle;
        }
        most = fmax(most, before(A, low) - last);
        last = before(A, low);
    }
    return all > 0 ? most * threads / all : 1;
}

/* How much longer than its share the last thread works. */
static double imbalance(const sp_ask *q, const sp_storage *k)
{
    const spry_schedule *x = q->x;
    double uneven = 0;

    if (x->threads == 1)
        return 0;
    if (x->threads > q->m->threads && q->m->threads > 0)
        uneven = 0.5; /* threads wait for each other's time slices */
    if (x->chunk)     /* the last chunk is waited for */
        uneven += fmin(1, 0.5 * x->chunk * x->threads / fmax(1, k->units));
    else if (x->threads <= 256)
        uneven += heaviest(q->p->A, x->threads) - 1;
    return uneven;
}

/* ---- packing ---- */

static double pack_seconds(const sp_ask *q, const sp_storage *k,
                           const sp_rates *r)
{
    double rows = (double)q->t->rows, nnz = (double)q->t->nnz;
    double sorted = sp_schedule_sorts(q->x);
    double cycles = sp_format_of(q->x)->cycles * nnz + 6 * k->units;

    cycles += sorted * rows * 8 * log2(fmax(2, fmin(rows, 1e9)));
    cycles += (q->x->order > SPRY_ORDER_LENGTH) * 12 * nnz;
    cycles += (k->parts > 1) * k->parts * rows * 4;
    if (sp_has_tensor(q->p->op)) /* indices are split, entries sorted */
        cycles +=
            (40 + 60 * (q->x->modes != SPRY_MODES_IKL) + 30 * (k->parts > 1)) *
            nnz;
    return cycles * r->cycle + 2 * k->bytes / r->store;
}

/* ---- the door ---- */

/* Work and waiting overlap, but never quite. */
static double together(double work, double wait)
{
    return sqrt(work * work + wait * wait);
}

/* Rows far from where they were lose neighbours that shared columns: in an
 * order of their own, or sorted in windows of more than a few thousand. */
static int far_apart(const sp_ask *q)
{
    enum { FAR = 4096 };

    return q->x->order || (q->x->sigma > FAR && q->t->rows > FAR);
}

/* What no speed changes. */
static spry_status count(sp_counted *out, const sp_ask *q, const sp_rates *r)
{
    spry_status s = sp_model_storage(&out->storage, q);

    if (s != SPRY_OK)
        return s;
    out->q = q;
    out->work = sp_model_work(q, &out->storage);
    out->traffic = sp_model_traffic(q, &out->storage, r);
    out->imbalance = imbalance(q, &out->storage);
    return SPRY_OK;
}

static void fill_terms(spry_prediction *out, const sp_counted *c,
                       const sp_speeds *at)
{
    const sp_ask *q = c->q;
    const sp_rates *r = &at->rates;
    double loops = loop_seconds(&c->work, at), busy;

    out->bandwidth = bandwidth_seconds(&c->traffic, r);
    out->latency = latency_seconds(c, at);
    out->compute = compute_seconds(&c->work, at);
    busy =
        together(out->compute + loops, together(out->bandwidth, out->latency));
    out->overhead =
        loops + r->fork + (far_apart(q) ? at->core.order * busy : 0);
    if (q->x->chunk)
        out->overhead +=
            at->core.chunk * c->storage.units / q->x->chunk / r->cores;
    out->imbalance = busy * c->imbalance;
    out->seconds = busy + out->overhead - loops + out->imbalance;
}

static spry_status predict_format(spry_prediction *out, const sp_ask *q,
                                  const sp_speeds *at, int times)
{
    sp_counted c;
    spry_status s = count(&c, q, &at->rates);

    for (int i = 0; i < times && s == SPRY_OK; i++)
        fill_terms(&out[i], &c, &at[i]);
    if (s != SPRY_OK)
        return s;
    fill_limits(out, q, &c.traffic, &at->rates);
    out->bytes = c.storage.bytes;
    out->traffic = c.traffic.bytes[SPRY_CACHES] + c.traffic.stored;
    out->pack_seconds = pack_seconds(q, &c.storage, &at->rates);
    return SPRY_OK;
}

spry_status sp_model_ask(sp_ask *out, const sp_sparse *p,
                         const spry_schedule *x, const spry_machine *m)
{
    spry_status s = spry_schedule_legal(x, &p->head, m);

    *out = (sp_ask){p, x, m, NULL, spry_isa_bytes(m->isa) / (int)p->type, NULL};
    if (s != SPRY_OK)
        return s;
    out->t = sp_problem_sketch(p);
    if (sp_has_tensor(p->op))
        out->f = sp_problem_fibers(p);
    if (!out->t || (sp_has_tensor(p->op) && !out->f))
        return sp_fail_memory(sizeof *out->t);
    return SPRY_OK;
}

spry_status sp_model_seconds(spry_prediction *out, const sp_ask *q,
                             const sp_speeds *at, int times)
{
    return q->x->format == SPRY_SUPER ? sp_model_super(out, q, at, times)
                                      : predict_format(out, q, at, times);
}

spry_status sp_predict(spry_prediction *out, const sp_sparse *p,
                       const spry_schedule *x, const spry_machine *m)
{
    sp_ask q;
    sp_speeds at;
    spry_status s = sp_model_ask(&q, p, x, m);

    *out = (spry_prediction){0};
    if (s != SPRY_OK)
        return s;
    at = sp_model_speeds(&q);
    return sp_model_seconds(out, &q, &at, 1);
}

spry_status spry_predict(spry_prediction *out, const spry_problem *p,
                         const spry_schedule *x, const spry_machine *m)
{
    SP_NEED(out, p, x, m);
    SP_ROOM(out);

    spry_prediction whole = {0};
    const sp_sparse *a;
    spry_status s = sp_sparse_need(&a, p);

    if (s == SPRY_OK)
        s = sp_predict(&whole, a, x, m);
    SP_GIVE(out, &whole);
    return s;
}

const char *spry_prediction_bound(const spry_prediction *p)
{
    SP_NEED_OR("", p);
    const struct {
        const char *name;
        double seconds;
    } term[] = {
        {"bandwidth", p->bandwidth}, {"latency", p->latency},
        {"compute", p->compute},     {"overhead", p->overhead},
        {"imbalance", p->imbalance},
    };
    int most = 0;

    for (int i = 1; i < (int)(sizeof term / sizeof term[0]); i++)
        if (term[i].seconds > term[most].seconds)
            most = i;
    return term[most].name;
}

const char *spry_prediction_limit(const spry_prediction *p, double *seconds)
{
    SP_NEED_OR("", p);
    const struct {
        const char *name;
        double seconds;
    } limit[] = {
        {"nothing", 0},
        {"multiply-adds", p->least_flops},
        {"cache", p->least_cache},
        {"memory", p->least_memory},
        {"gathers", p->least_gathers},
    };
    int most = 0;

    for (int i = 1; i < (int)(sizeof limit / sizeof limit[0]); i++)
        if (limit[i].seconds > limit[most].seconds)
            most = i;
    *seconds = limit[most].seconds;
    return limit[most].name;
}
