/* collect.c - what the store lacks of a problem is drawn, compiled in
 * batches, verified, raced and kept. */
#include "spry/collect.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "codegen/codegen.h"
#include "collect/internal.h"
#include "dense/dense.h"
#include "jit/jit.h"
#include "problem/sparse.h"
#include "spry/jit.h"
#include "tune/budget.h"

/* Trials whose kernels are compiled together, and that race together. */
enum { BATCH = 128, SIDE_BY_SIDE = SP_HEAT_WIDEST };

/* Drawn for each that is chosen. */
enum { CANDIDATES = 8 };

/* Where time is short: seconds of a kernel as long as none was compiled, and
 * the share of what is left that a batch of them may take. */
static const double KERNEL_SECONDS = 0.15, COMPILE_SHARE = 0.4;

/* A trial this many times slower than the baseline need not race. */
static const double CUT = 8;

/* One heat: a few rounds tell the middle to a few percent. */
static const sp_race_options HEAT = {
    .seconds = 0.2, .least = 6, .pairs = 11, .precision = 0.03};

/* Our claim on a problem, and how often it is renewed. */
static const double LEASE = 90, RENEW = 20;

typedef struct {
    spry_records *db;
    const spry_problem *p;
    spry_machine m;
    const sp_family *family;
    spry_collect_options opt;
    spry_collected *out;
    sp_schedule_list known, list;
    sp_names named; /* of a dense operator: ways that are known */
    sp_kernels *kernels;
    void *oracle;
    sp_shared shared; /* sp_result[list.count] */
    int baselines, count, recorded, compiled;
    double begun, deadline, renewed;
    char claim[192];
    spry_status stored; /* whether the last trial could be kept */
} collection;

static sp_result *results(const collection *c)
{
    return c->shared.data;
}

/* ---- what is known ---- */

static int recall(const spry_record *r, void *payload)
{
    collection *c = payload;
    spry_schedule x;

    if (strcmp(r->problem, c->p->key) != 0)
        return 0;
    if (!sp_sparse_of(c->p))
        c->stored = sp_names_add(&c->named, r->schedule);
    else if (spry_schedule_parse(&x, r->schedule) == SPRY_OK)
        sp_schedule_list_add(&c->known, &x);
    return c->stored != SPRY_OK;
}

static int is_known(const collection *c, int i)
{
    return sp_sparse_of(c->p) ? sp_schedule_list_has(&c->known, &c->list.x[i])
                              : sp_names_has(&c->named, results(c)[i].x.text);
}

/* ---- keeping ---- */

static int plain_ways_done(const collection *c)
{
    for (int i = 0; i < c->baselines; i++)
        if (!results(c)[i].done)
            return 0;
    return 1;
}

/* Finished trials, in one transaction. */
static spry_status keep(collection *c)
{
    sp_result r;
    spry_status s = SPRY_OK;

    if (c->recorded == c->count || !results(c)[c->recorded].done ||
        !plain_ways_done(c))
        return s;
    s = spry_records_batch(c->db);
    while (s == SPRY_OK && c->recorded < c->count &&
           results(c)[c->recorded].done) {
        int i = c->recorded++;

        sp_result_scaled(&r, results(c), i, c->baselines);
        if (!is_known(c, i))
            s = sp_result_add(c->db, c->p, &c->m, &r);
        c->out->verdict[r.verdict & 7]++;
    }
    return s == SPRY_OK ? spry_records_commit(c->db) : s;
}

/* ---- while a child measures ---- */

static int watch(void *arg)
{
    collection *c = arg;
    double now = sp_seconds();
    int got;

    if (c->stored == SPRY_OK)
        c->stored = keep(c);
    if (c->stored == SPRY_OK && now - c->renewed > RENEW) {
        c->stored = spry_records_claim(c->db, c->claim, LEASE, &got);
        c->renewed = now;
    }
    c->out->seconds = now - c->begun;
    if (now >= c->deadline ||
        (c->opt.progress && c->opt.progress(c->out, c->opt.payload)))
        c->out->stopped = 1;
    return c->out->stopped || c->stored != SPRY_OK;
}

/* ---- one batch ---- */

/* The kernels of results [from, to) in one go. Without them each would be
 * compiled by itself, so failing here is no failure. */
static void compile(collection *c, const sp_urn *u, int from, int to)
{
    static sp_spec spec[BATCH];
    double begun = sp_seconds();
    int n = 0;

    for (int i = from; i < to; i++) {
        const spry_schedule *x = &c->list.x[i];

        if (sp_urn_can(u, x))
            spec[n++] =
                sp_codegen_spec(x, u->p, c->m.isa, x->index ? x->index : 32);
    }
    sp_jit_until(isfinite(c->deadline) ? c->deadline : 0);
    if (u->compile)
        (void)sp_kernels_add(c->kernels, spec, n, c->m.fingerprint,
                             c->m.threads);
    sp_jit_until(0);
    c->compiled += n;
    c->out->compile_seconds += sp_seconds() - begun;
}

/* The end of the batch that begins with result `from`: compiling ends in time,
 * as far as can be told from what was compiled before. */
static int batch_end(const collection *c, int from)
{
    double each = c->compiled > 0 ? c->out->compile_seconds / c->compiled
                                  : KERNEL_SECONDS;
    double fit =
        COMPILE_SHARE * (c->deadline - sp_seconds()) / fmax(each, 1e-6);
    int most = fit < 1 ? 1 : fit < BATCH ? (int)fit : BATCH;

    if (c->compiled == 0 && most < BATCH && most > c->m.threads)
        most = c->m.threads; /* to find out */
    return from + most < c->count ? from + most : c->count;
}

/* Of the thread that asks, which is the one that runs. */
static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* u NULL: nothing is to be compiled. */
static spry_status measure(collection *c, const sp_urn *u)
{
    sp_heats h = {.p = c->p,
                  .family = c->family,
                  .m = &c->m,
                  .oracle = c->oracle,
                  .whole = sp_family_whole(c->family, c->oracle),
                  .shared = &c->shared,
                  .baselines = c->baselines,
                  .tools = c->kernels,
                  .least = c->family->least(c->p, &c->m),
                  .deadline = c->deadline,
                  .seed = c->opt.seed,
                  .wide = SIDE_BY_SIDE,
                  .o = HEAT,
                  .patience = 20,
                  .cut = CUT,
                  .watch = watch,
                  .arg = c};
    spry_status s;

    if (c->opt.processor_time)
        h.o.clock = processor_time;
    s = sp_heats_run(&h, 0, c->baselines);
    h.cpu =
        c->m.threads *
        (1 + 100 * sp_heats_baseline(results(c), c->baselines)->racer.seconds);
    h.patience += 10 * h.cpu;
    for (int from = c->baselines, to;
         s == SPRY_OK && plain_ways_done(c) && from < c->count && !watch(c);
         from = to) {
        to = u ? batch_end(c, from) : c->count;
        if (u)
            compile(c, u, from, to);
        s = sp_heats_run(&h, from, to);
    }
    watch(c);
    return s == SPRY_OK ? c->stored : s;
}

/* ---- kernels from problem to problem ---- */

spry_status spry_kernels_open(spry_kernels **out)
{
    SP_NEED_NEW(out);
    return sp_kernels_open(out);
}

void spry_kernels_close(spry_kernels *k)
{
    sp_kernels_free(k);
}

/* ---- one problem ---- */

static uint64_t mix(uint64_t seed, const char *key)
{
    for (; *key; key++)
        seed = (seed ^ (unsigned char)*key) * 0x100000001b3u;
    return seed;
}

static void take_listed(collection *c)
{
    for (int i = 0; i < c->opt.listed; i++)
        if (!sp_schedule_list_has(&c->known, &c->opt.list[i]))
            sp_schedule_list_add(&c->list, &c->opt.list[i]);
}

static void set_candidate(collection *c, int i)
{
    sp_proposal *x = &results(c)[i].x;

    spry_schedule_text(x->text, &c->list.x[i]);
    x->threads = c->list.x[i].threads;
}

/* Fill the results with plain ways and with what was drawn or named. */
static spry_status draw(collection *c, const sp_urn *u)
{
    spry_schedule plain[SP_BASELINES];
    int wanted =
        c->opt.list ? c->opt.listed : c->opt.schedules - c->known.count;
    int chosen = c->opt.choose && !c->opt.list ? wanted : 0;
    int supers = c->opt.draw == SPRY_DRAW_SUPER  ? wanted
                 : c->opt.draw == SPRY_DRAW_BOTH ? wanted / 2
                                                 : 0;
    spry_status s;

    if (chosen) { /* from so many more */
        wanted *= CANDIDATES;
        supers *= CANDIDATES;
    }
    s = sp_schedule_list_open(&c->list, SP_BASELINES + wanted);

    c->baselines = sp_sparse_baselines(plain, u->p, &c->m);
    for (int i = 0; s == SPRY_OK && i < c->baselines; i++)
        sp_schedule_list_add(&c->list, &plain[i]);
    if (s == SPRY_OK && c->opt.list)
        take_listed(c);
    else if (s == SPRY_OK)
        s = sp_urn_draw(&c->list, &c->known, u, wanted - supers, supers);
    if (s == SPRY_OK && chosen)
        s = sp_urn_choose(&c->list, c->baselines, chosen, u);
    if (s == SPRY_OK)
        s = sp_shared_open(&c->shared,
                           (size_t)c->list.count * sizeof(sp_result));
    if (s != SPRY_OK)
        return s;
    for (c->count = 0; c->count < c->list.count; c->count++)
        set_candidate(c, c->count);
    c->out->planned = c->count;
    return s;
}

/* SPRY_BUDGET where right answers and the first race take longer than there
 * is. */
static spry_status check_budget(const collection *c)
{
    sp_proposal way[SP_BASELINES];
    double plain, need;

    if (!(c->opt.seconds > 0) || !c->family->baselines(way, c->p, &c->m))
        return SPRY_OK;
    plain = c->family->estimate(c->p, way[0].text, &c->m);
    need = sp_budget_least(plain);
    if (!isfinite(need) ||
        need <= c->opt.seconds + sp_budget_more(c->opt.seconds))
        return SPRY_OK;
    return sp_fail(SPRY_BUDGET,
                   "a run takes about %.2g s, so that a first trial takes "
                   "%.2g s; %.2g s are left of the budget",
                   plain, need, c->opt.seconds);
}

/* The same for a dense operator: plain ways, then those that were drawn. */
static spry_status draw_ways(collection *c)
{
    sp_proposal plain[SP_BASELINES];
    sp_names drawn = {0};
    spry_status s = sp_draw_ways(&drawn, &c->named, c->p, &c->m,
                                 c->opt.schedules - c->named.count,
                                 mix(c->opt.seed, c->p->key));

    c->baselines = c->family->baselines(plain, c->p, &c->m);
    if (s == SPRY_OK)
        s = sp_shared_open(&c->shared, (size_t)(c->baselines + drawn.count) *
                                           sizeof(sp_result));
    for (int i = 0; s == SPRY_OK && i < c->baselines; i++)
        results(c)[c->count++].x = plain[i];
    for (int i = 0; s == SPRY_OK && i < drawn.count; i++) {
        sp_proposal *x = &results(c)[c->count].x;

        snprintf(x->text, sizeof x->text, "%s", drawn.name[i]);
        x->threads = sp_way_threads(drawn.name[i]);
        c->count++;
    }
    c->out->planned = c->count;
    sp_names_free(&drawn);
    return s;
}

static spry_status collect_ways(collection *c)
{
    spry_status s =
        spry_records_each(c->db, c->p->key, c->m.fingerprint, recall, c);

    if (s == SPRY_OK)
        s = c->stored;
    c->out->known = c->named.count;
    if (s != SPRY_OK || c->named.count >= c->opt.schedules)
        return s;
    s = check_budget(c);
    if (s == SPRY_OK)
        s = draw_ways(c);
    if (s == SPRY_OK)
        s = c->family->ask(&c->oracle, c->p, c->opt.seed, SP_TO_CHECK);
    return s == SPRY_OK ? measure(c, NULL) : s;
}

static spry_status collect(collection *c)
{
    sp_urn u = {.p = sp_sparse_of(c->p),
                .m = &c->m,
                .compile = spry_jit_available() == SPRY_OK,
                .seed = mix(c->opt.seed, c->p->key)};
    spry_status s =
        sp_schedule_list_open(&c->known, 4 * c->opt.schedules + 1000);

    if (s == SPRY_OK)
        s = spry_records_each(c->db, c->p->key, c->m.fingerprint, recall, c);
    c->out->known = c->known.count;
    c->kernels = c->opt.kernels;
    if (s == SPRY_OK && !c->kernels)
        s = sp_kernels_open(&c->kernels);
    if (s != SPRY_OK || (!c->opt.list && c->known.count >= c->opt.schedules))
        return s;
    s = check_budget(c);
    if (s == SPRY_OK)
        s = draw(c, &u);
    if (s == SPRY_OK)
        s = c->family->ask(&c->oracle, c->p, c->opt.seed, SP_TO_CHECK);
    return s == SPRY_OK ? measure(c, &u) : s;
}

static spry_status begin(collection *c, spry_collected *out, spry_records *db,
                         const spry_problem *p, const spry_collect_options *opt)
{
    static const spry_collect_options defaults = SPRY_COLLECT_DEFAULTS;
    spry_status s;

    memset(c, 0, sizeof *c);
    *out = (spry_collected){.size = sizeof *out};
    c->opt = defaults;
    c->out = out;
    c->db = db;
    c->p = p;
    c->begun = sp_seconds();
    s = SP_TAKE_OPTIONS(&c->opt, opt);
    if (s != SPRY_OK)
        return s;
    c->family = sp_family_of(p);
    c->begun = c->renewed = sp_seconds();
    c->deadline = c->opt.seconds > 0 ? c->begun + c->opt.seconds : HUGE_VAL;
    if (!(c->opt.seconds >= 0) || c->opt.schedules < 1)
        return sp_fail(SPRY_USAGE, "a collection needs one schedule or more "
                                   "and seconds that are not negative");
    if (c->opt.machine)
        c->m = *c->opt.machine;
    else
        s = spry_machine_detect(&c->m);
    if (s == SPRY_OK && c->opt.processor_time && c->m.threads > 1)
        s = sp_fail(SPRY_USAGE,
                    "processor time tells how long something takes "
                    "on one thread only, not on %d",
                    c->m.threads);
    return s;
}

static void end(collection *c)
{
    int got;

    if (*c->claim)
        (void)spry_records_claim(c->db, c->claim, 0, &got);
    if (!c->opt.kernels)
        sp_kernels_free(c->kernels);
    if (c->family)
        c->family->forget(c->oracle);
    sp_shared_close(&c->shared);
    sp_schedule_list_close(&c->list);
    sp_schedule_list_close(&c->known);
    sp_names_free(&c->named);
    c->out->seconds = sp_seconds() - c->begun;
}

spry_status spry_collect(spry_collected *out, spry_records *db,
                         const spry_problem *p, const char *source,
                         const char *group, const spry_collect_options *opt)
{
    SP_NEED(out, db, p);
    SP_ROOM(out);

    spry_collected whole;
    collection c;
    int got = 0;
    spry_status s = begin(&c, &whole, db, p, opt);

    if (s == SPRY_OK && !sp_sparse_of(p) && !sp_dense_of(p))
        s = sp_fail(SPRY_USAGE, "matrices, tensors and dense operators can be "
                                "collected, networks cannot");
    if (s == SPRY_OK && !sp_sparse_of(p) && (c.opt.list || c.opt.choose))
        s = sp_fail(SPRY_USAGE, "ways of a dense operator are drawn, neither "
                                "listed nor chosen");
    if (s == SPRY_OK)
        s = spry_records_put_machine(db, &c.m);
    if (s == SPRY_OK)
        s = sp_origin_add(db, p, source, group);
    if (s == SPRY_OK) {
        snprintf(c.claim, sizeof c.claim, "collect %s %s", c.m.fingerprint,
                 p->key);
        s = spry_records_claim(db, c.claim, LEASE, &got);
    }
    whole.busy = s == SPRY_OK && !got;
    if (!got)
        *c.claim = 0;
    else if (!p->kind->nothing(p))
        s = sp_sparse_of(p) ? collect(&c) : collect_ways(&c);
    end(&c);
    SP_GIVE(out, &whole);
    return s;
}
