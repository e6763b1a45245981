/* curves.c - few-shot curves on a machine that was held out, with matrices that
 * nobody has seen: who learns from what. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "few.h"

enum { EACH = 40, FEW = 16 };

/* ---- who learns from what ---- */

/* The suite of one machine teaches, that of the other gives the shots, and
 * real matrices there are the test. Where none were measured the suite is
 * parted in two, shots and test, and what is tested does not teach. One matrix
 * in seven says when to stop. */
typedef struct {
    int parted, part;
    int threads; /* of the machine, where a store has several; 0: any */
} side;
enum { LEARN, STOP, POOL, TEST, SECOND, HOME, IMAGINE };

static int is_tested(const machine_task *m, int op, int64_t k)
{
    return part_of_group(m->d[op].group[k], 2) == 1;
}

static int wanted(const machine_task *m, int op, int64_t k, void *payload)
{
    const side *s = payload;
    int stops = part_of_group(m->d[op].group[k], 7) == 3;
    int tested = s->parted && is_tested(m, op, k);

    if (s->threads && (!m->d[op].m[k] || m->d[op].m[k]->threads != s->threads))
        return 0;
    switch (s->part) {
    case LEARN:
    case IMAGINE:
    case SECOND: return !tested && !stops;
    case STOP: return !tested && stops;
    case POOL: return !tested;
    default: return !s->parted || tested;
    }
}

static void take_part(sp_slice *out, const machine_task *m, int op, side s,
                      int part)
{
    int teaches = part != POOL && part != TEST && part != HOME;

    s.part = part;
    take_rows(out, m, op, wanted, &s,
              part == IMAGINE ? FEW
              : teaches       ? EACH
                              : 1000,
              part == TEST || part == HOME ? HUGE_VAL : LOUD);
}

static void curve_open(curve *c, const bench *b, int to_zen, int op)
{
    const machine_task *source = &b->task[to_zen ? XEON_FMA : ZEN];
    const machine_task *pool = &b->task[to_zen ? ZEN : XEON];
    const machine_task *real = b->task + ZEN_REAL, *xeon = b->task + XEON_REAL;
    const machine_task *test = !to_zen         ? xeon
                               : real->present ? real
                                               : &b->task[ZEN];
    const machine_task *home = to_zen          ? xeon
                               : real->present ? real
                                               : &b->task[ZEN];
    side s = {.parted = !real->present};

    *c = (curve){.from = source->name,
                 .to = to_zen ? "zen" : "xeon",
                 .op = bench_ops[op],
                 .b = b};
    take_part(&c->learn, source, op, s, LEARN);
    take_part(&c->imagine, source, op, s, IMAGINE);
    take_part(&c->stop, source, op, s, STOP);
    take_part(&c->pool, pool, op, s, POOL);
    take_part(&c->test, test, op, s, TEST);
    take_part(&c->home, home, op, s, HOME);
    if (to_zen && b->task[XEON].present)
        take_part(&c->second, &b->task[XEON], op, s, SECOND);
    for (int kind = 0; kind < KINDS; kind++)
        c->kind[kind] = sp_alloc(c->test.e.subjects + 1, sizeof(value));
}

/* A machine and the same limited to one thread. */
static void curve_limited(curve *c, const bench *b, int to_one, int op)
{
    const machine_task *m = &b->task[LIMITED];
    side from = {.parted = 1, .threads = to_one ? 2 : 1};
    side to = {.parted = 1, .threads = to_one ? 1 : 2};

    *c = (curve){.from = to_one ? "two threads" : "one thread",
                 .to = to_one ? "one thread" : "two threads",
                 .op = bench_ops[op],
                 .b = b,
                 .brief = 1};
    take_part(&c->learn, m, op, from, LEARN);
    take_part(&c->imagine, m, op, from, IMAGINE);
    take_part(&c->stop, m, op, from, STOP);
    take_part(&c->home, m, op, from, HOME);
    take_part(&c->pool, m, op, to, POOL);
    take_part(&c->test, m, op, to, TEST);
}

/* Models that have not seen a machine, there. */
static void curve_given(curve *c, const bench *b, const char *folder, int to,
                        int op)
{
    side s = {.parted = 0};

    *c = (curve){.from = "given",
                 .to = b->task[to].name,
                 .op = bench_ops[op],
                 .b = b,
                 .given = folder,
                 .before = getenv("TRANSFER_BEFORE")};
    take_part(&c->pool, &b->task[to], op, s, POOL);
    take_part(&c->test, &b->task[to == ZEN ? ZEN_REAL : XEON_REAL], op, s,
              TEST);
}

/* The machine whose stores are named, both of them, else the Xeon; -1: neither
 * has records here. */
static int given_target(const bench *b)
{
    if (b->task[ZEN].present && b->task[ZEN_REAL].present)
        return ZEN;
    return b->task[XEON].present && b->task[XEON_REAL].present ? XEON : -1;
}

/* One draw of records after another, each of all curves, until the time of the
 * whole is over; how many draws that were, one at least. */
enum { MINUTES_OF_DRAWS = 18 };
static int run_draws(curve *const *c, int count, const bench *b)
{
    int seed = 0;

    while (seed < b->seeds &&
           (seed == 0 || elapsed(b) < 60 * MINUTES_OF_DRAWS)) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
        for (int i = 0; i < count; i++)
            curve_run(c[i], seed);
        seed++;
    }
    if (seed < b->seeds)
        printf("\n%d draws of records instead of %d: time is over\n", seed,
               b->seeds);
    return seed;
}

void given_models(bench *b)
{
    static curve c[OPS];
    curve *list[OPS];
    const char *folder = getenv("TRANSFER_MODELS");
    int failed = 0, seeds = b->seeds, to = given_target(b);

    if (!folder || !*folder || to < 0) {
        printf(
            "\nmodels that are given are not tried: TRANSFER_MODELS names no "
            "folder, or records are absent\n");
        return;
    }
    for (int op = 0; op < b->ops; op++)
        curve_given(&c[op], b, folder, to, op);
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
    for (int op = 0; op < b->ops; op++)
        curve_fit(&c[op]);
    for (int op = 0; op < b->ops; op++)
        list[op] = &c[op];
    b->seeds = run_draws(list, b->ops, b);
    for (int op = 0; op < b->ops; op++)
        failed |= c[op].failed;
    if (!failed)
        print_curves(c, 1, b->ops);
    b->seeds = seeds;
    for (int op = 0; op < b->ops; op++)
        curve_free(&c[op]);
}

/* ---- all of it ---- */

/* Pairs of machines: real ones in both directions, and one that is whole or
 * limited. */
enum { REAL_WAYS = 2, WAYS = 4 };

static int is_there(const bench *b, int way)
{
    const machine_task *t = b->task;

    return way == 0 ? t[ZEN].present && t[XEON].present && t[XEON_REAL].present
           : way == 1 ? t[ZEN].present && t[XEON_FMA].present
                      : t[LIMITED].present;
}

/* What a direction needs, in words. */
static const char *needs(int way)
{
    return way < REAL_WAYS
               ? "it takes the Xeon's records of the data folder and a store "
                 "of another machine's, TRANSFER_STORE"
               : "it takes a store TRANSFER_LIMITED, collected with "
                 "--limits 1,2";
}

static void print_way(curve *c, four_values *f, int ops, int four, int few)
{
    int failed = 0;

    for (int o = 0; o < ops; o++)
        failed |= c[o].failed;
    if (four && !failed)
        four_print(f, c, ops);
    if (few && !failed && !c->brief)
        print_curves(c, 1, ops);
}

void few_shots(bench *b, int four, int few)
{
    static curve c[WAYS][OPS];
    static four_values f[WAYS][OPS];
    static const char *const names[WAYS] = {"zen -> xeon", "xeon -> zen",
                                            "two threads -> one",
                                            "one thread -> two"};
    int ways = four ? WAYS : REAL_WAYS, units = ways * b->ops, count = 0;
    int seeds = b->seeds;
    curve *list[REAL_WAYS * OPS];

    for (int i = 0; i < units; i++) {
        int way = i / b->ops, op = i % b->ops;

        if (is_there(b, way) && way < REAL_WAYS)
            curve_open(&c[way][op], b, way, op);
        else if (is_there(b, way))
            curve_limited(&c[way][op], b, way == REAL_WAYS, op);
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
    for (int i = 0; i < units; i++)
        if (is_there(b, i / b->ops)) {
            curve_fit(&c[i / b->ops][i % b->ops]);
            if (four)
                four_run(&f[i / b->ops][i % b->ops],
                         &c[i / b->ops][i % b->ops]);
        }
    printf("\nfitted after %.0f s\n", elapsed(b));
    for (int i = 0; i < REAL_WAYS * b->ops * few; i++)
        if (is_there(b, i / b->ops))
            list[count++] = &c[i / b->ops][i % b->ops];
    if (count)
        b->seeds = run_draws(list, count, b);
    for (int way = 0; way < ways; way++) {
        if (is_there(b, way))
            print_way(c[way], f[way], b->ops, four, few);
        else
            printf("\n%s is not measured: %s\n", names[way], needs(way));
        for (int o = 0; o < b->ops && is_there(b, way); o++) {
            curve_free(&c[way][o]);
            four_free(&f[way][o]);
        }
    }
    b->seeds = seeds;
}
