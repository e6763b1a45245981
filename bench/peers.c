/* peers.c - spry beside the libraries people use, problem by problem.
 *
 * Each problem is tuned; then the tuned plan, the plain loop and every peer
 * that can do it run in turns, in one race, after their results were held
 * against the reference. Every class meets every operation; types and
 * threads rotate; files fill the rest of the time. QUICK=1 takes a few.
 * PEERS_SVG=file writes the means as a picture, PEERS_CSV=file as a table. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "classes.h"
#include "contest/figures.h"
#include "contest/matrices.h"
#include "peers/peers.h"
#include "report/report.h"

/* Seconds from the start: no new problem of a class, no new file, no new
 * growth after that. */
typedef struct {
    double classes, files, growth;
    double tuning; /* of one problem, at most */
} limits;

/* Who is so many seconds behind tunes for less. */
static const double LATE = 30, LATE_TUNING = 1.5;

static const limits FULL = {860, 1000, 1105, 6}, QUICK = {75, 90, 105, 1};

static const double NOT_BELOW = 0.98;
static const double RACE_SHARE = 0.3; /* of the tuning, for each race */
static const double SHORT = 1.5;      /* a class takes second turns below */
static const double MEMORY = 2.5e9;   /* bytes of dense operands */
static const double COPIES = 6e8;     /* the same, for peers that copy them */
static const double SLOW = 4;         /* times the plain loop: run once */
static const double LONG_RUN = 0.3;   /* seconds: the first run counts */

typedef struct {
    bench_report report;
    spry_machine machine[2]; /* limited to 1 and to 2 threads */
    limits until;
    double begun;
    double tuning; /* seconds for one problem now */
    int quick;
} bench;

/* ---- peers of one problem ---- */

typedef struct {
    const bench_peer *peer;
    void *handle;
    int who;
} opened;

static double clocked(const bench_peer *peer, void *handle)
{
    double start = bench_peers_clock();

    peer->run(handle);
    return bench_peers_clock() - start;
}

/* Its first result, which must be right. */
static spry_status first_run(const opened *x, bench_match *m, double *seconds)
{
    size_t bytes = (size_t)spry_problem_output_size(m->p) * m->o.c.type;

    memset(m->o.C, 0xff, bytes);
    (void)bench_peers_between(NULL);
    *seconds = clocked(x->peer, x->handle);
    if (x->peer->fetch)
        x->peer->fetch(x->handle, m->o.C);
    return bench_verify(&m->o, m->o.C);
}

static int open_peer(bench *b, opened *x, bench_match *m)
{
    char why[BENCH_WHY] = "";
    double begun = sp_seconds(), seconds;

    x->handle = x->peer->open(&m->o, why);
    if (!x->handle) {
        printf("%s: %s\n", x->peer->name, why);
        return 0;
    }
    b->report.setup[x->who] += sp_seconds() - begun;
    b->report.opened[x->who]++;
    if (first_run(x, m, &seconds) != SPRY_OK) {
        printf("%s is wrong: %s\n", x->peer->name, spry_message());
        b->report.wrong[x->who]++;
        x->peer->close(x->handle);
        return 0;
    }
    if (seconds < SLOW * m->entrant[1].once && seconds < LONG_RUN)
        seconds = clocked(x->peer, x->handle);
    bench_match_add(m, x->peer->name, (sp_contestant){x->peer->run, x->handle},
                    seconds);
    return 1;
}

static int open_peers(bench *b, opened list[WHOS], bench_match *m,
                      const spry_matrix *A)
{
    int n = 0;

    for (int i = 0; i < bench_peer_count; i++) {
        const bench_peer *peer = bench_peers[i].peer;
        opened x = {peer, NULL, WHO_PEERS + i};

        if (!peer || !bench_peer_wanted(peer) || !bench_peer_can(peer, &m->o.c))
            continue;
        if (peer->copies * bench_dense_bytes(A, &m->o.c) > COPIES)
            b->report.too_large[x.who]++;
        else if (open_peer(b, &x, m))
            list[n++] = x;
    }
    return n;
}

/* ---- one problem ---- */

static double vector_bytes(const bench_match *m)
{
    return (double)(m->o.rows + m->o.cols) * (double)m->o.c.n *
           (double)m->o.c.type;
}

static void fill_row(bench_row *row, const bench_match *m, const opened *list,
                     int n)
{
    int first = m->count - n; /* of the peers among the entrants */

    row->seconds = m->entrant[BENCH_PLAN].seconds;
    row->base = m->entrant[m->base].ratio;
    row->ratio[WHO_SPRY] = 1;
    row->ratio[WHO_PLAIN] = row->base.mid;
    for (int i = 0; i < n; i++)
        row->ratio[list[i].who] = m->entrant[first + i].ratio.mid;
    if (m->peer >= 0) {
        row->peer = m->entrant[m->peer].ratio;
        row->best = list[m->peer - first].who;
    }
    row->flops = spry_problem_flops(m->p);
    row->plan_bytes = spry_plan_bytes(m->plan) + vector_bytes(m);
    row->csr_bytes = spry_problem_bytes(m->p);
    row->limit = bench_match_limit(m);
}

/* The limit that spmm, and spmv from memory, are held against. */
static void enter_bound(const bench *b, bench_bound *bound, bench_match *m)
{
    const spry_machine *here = &b->machine[1];

    if (m->o.c.op == SPRY_SPMM)
        bench_peak_open(bound, here, m->o.c.type, m->o.c.threads);
    else if (m->o.c.op != SPRY_SPMV ||
             spry_problem_bytes(m->p) < bench_last_cache(here) ||
             bench_triad_open(bound, here, m->o.c.threads) != SPRY_OK)
        return;
    bench_match_bound(m, bound);
}

/* Threads that OpenMP starts when it is not told a number. */
static void use_threads(int threads)
{
    omp_set_num_threads(threads);
}

static spry_status contest(bench *b, bench_row *row, const spry_matrix *A,
                           const bench_case *c)
{
    double budget = bench_budget(A, c, b->tuning);
    opened list[WHOS];
    bench_bound bound = {0};
    bench_match m;
    int n;
    spry_status s =
        bench_match_open(&m, A, c, &b->machine[c->threads - 1], budget);

    if (s != SPRY_OK)
        return s;
    use_threads(c->threads);
    m.clock = bench_peers_clock;
    m.between = bench_peers_between;
    enter_bound(b, &bound, &m);
    n = open_peers(b, list, &m, A);
    s = bench_match_race(&m, RACE_SHARE * budget, NOT_BELOW);
    if (s == SPRY_OK) {
        fill_row(row, &m, list, n);
        bench_print_row(&b->report, row, spry_plan_text(m.plan));
    }
    for (int i = 0; i < n; i++)
        list[i].peer->close(list[i].handle);
    use_threads(b->machine[1].threads);
    bench_bound_close(&bound);
    bench_match_close(&m);
    return s;
}

static bench_case case_of(int o, int k)
{
    return (bench_case){bench_operations[o].op, bench_operations[o].n,
                        bench_combinations[k].type,
                        bench_combinations[k].threads};
}

static void one_problem(bench *b, const bench_matrix *m, int o, int k)
{
    bench_report *r = &b->report;
    bench_case c = case_of(o, k);
    bench_row row = {.generated = m->generated, .operation = o};

    if (bench_dense_bytes(m->A, &c) > MEMORY && c.type == SPRY_F64) {
        k = (k + 2) % COMBINATIONS; /* as many threads, half the bytes */
        c = case_of(o, k);
    }
    if (c.threads > b->machine[1].threads || r->rows == MOST_ROWS ||
        bench_dense_bytes(m->A, &c) > MEMORY) {
        r->skipped++;
        return;
    }
    row.combination = k;
    snprintf(row.name, sizeof row.name, "%s", m->name);
    if (contest(b, &row, m->A, &c) == SPRY_OK) {
        r->row[r->rows++] = row;
    } else {
        printf("%s %s failed: %s\n", m->name, bench_operations[o].name,
               spry_message());
        r->failed++;
    }
}

/* ---- which problems ---- */

static double elapsed(const bench *b)
{
    return sp_seconds() - b->begun;
}

/* Each class has its share of the time. */
static int is_late(bench *b, int turn)
{
    int late = elapsed(b) > b->until.classes * turn / BENCH_CLASSES + LATE;

    b->tuning = fmin(late ? LATE_TUNING : HUGE_VAL, b->until.tuning);
    return late;
}

/* SpMV in both types, the others in one, so that all classes have their
 * turn. */
static int one_class(void *ctx, const bench_matrix *m)
{
    bench *b = ctx;

    for (int o = 0; o < OPERATIONS; o++) {
        int k = (m->turn + o) % COMBINATIONS;
        bench_case c = case_of(o, k);
        int quick = !is_late(b, m->turn) &&
                    bench_budget(m->A, &c, b->until.tuning) < SHORT;
        int sddmm = o == OP_SDDMM_32 || o == OP_SDDMM_128;

        if (sddmm && (b->quick || !quick) && (o + m->turn) % 2)
            continue; /* one of the two widths */
        if (elapsed(b) > b->until.classes) {
            b->report.skipped++;
            continue;
        }
        one_problem(b, m, o, k);
        if (o == OP_SPMV)
            one_problem(b, m, o, (k + 2) % COMBINATIONS);
    }
    return 0;
}

/* Two operations each; three files meet all of them, twelve in every type
 * and thread count. */
static int one_file(void *ctx, const bench_matrix *m)
{
    bench *b = ctx;

    b->tuning = b->until.tuning;
    for (int i = 0; i < 2; i++) {
        int o = (2 * m->turn + i) % OPERATIONS;
        int k = (m->turn / 3 + m->turn % 3 + i) % COMBINATIONS;

        if (elapsed(b) > b->until.files)
            b->report.skipped++;
        else
            one_problem(b, m, o, k);
    }
    return 0;
}

/* The class uniform-l2 fits L2 as a matrix; beside 128 columns it does not.
 * What a kernel makes of L2 shows on smaller ones, neither classes nor files. */
static void resident(bench *b, const char *name, const char *spec)
{
    bench_matrix m = {name, NULL, 0, BENCH_EXTRA, NULL};
    spry_matrix *A;

    b->tuning = b->until.tuning;
    if (!bench_listed("ONLY", m.name))
        return;
    if (spry_matrix_generate(&A, spec, BENCH_SEED) != SPRY_OK) {
        b->report.failed++;
        return;
    }
    m.A = A;
    one_problem(b, &m, OP_SPMM_128, 0);
    spry_matrix_free(A);
}

static void name_contestants(bench_report *r)
{
    r->who[WHO_SPRY] = "spry";
    r->who[WHO_PLAIN] = "plain";
    r->whos = WHO_PEERS + bench_peer_count;
    for (int i = 0; i < bench_peer_count; i++) {
        const bench_known *known = &bench_peers[i];

        r->who[WHO_PEERS + i] = known->name;
        if (known->peer && !bench_peer_wanted(known->peer))
            printf("peer %-12s not asked for\n", known->name);
        else if (known->peer)
            printf("peer %-12s %s\n", known->name, known->peer->version());
        else
            printf("peer %-12s absent: it needs %s\n", known->name,
                   known->needs);
    }
    printf("\n");
}

int main(void)
{
    static bench b;

    b.quick = bench_quick();
    b.until = b.quick ? QUICK : FULL;
    b.begun = sp_seconds();
    if (bench_machines(b.machine) != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    b.report.machine = b.machine[1];
    name_contestants(&b.report);
    printf("matrix, operation, type, threads; (time of the plain loop / "
           "spry's), (best peer's / spry's), share of the limit\n");
    b.report.failed += bench_walk_classes(
        one_class, &b, b.quick ? BENCH_SMALL_CLASSES : BENCH_ALL_CLASSES);
    resident(&b, "resident-l2", "uniform rows=400 nnz=6400");
    resident(&b, "resident-blocks", "blocks rows=400 r=8 c=8 nnz=12800");
    b.report.failed += bench_walk_files(one_file, &b, b.quick ? 16 : 1);
    bench_growth(&b.report, &b.machine[0], b.quick, b.begun + b.until.growth);
    printf("\n");
    bench_print_tables(&b.report);
    bench_write_chart(&b.report);
    bench_write_csv(&b.report);
    printf("%.0f s\n", elapsed(&b));
    bench_print_aims(&b.report);
    return 0;
}
