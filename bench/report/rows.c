/* rows.c - which rows count, and one number of each. */
#include <math.h>
#include <string.h>

#include "report.h"

const struct bench_operation bench_operations[OPERATIONS] = {
    {SPRY_SPMV, 1, "spmv"},       {SPRY_SPMM, 32, "spmm-32"},
    {SPRY_SPMM, 128, "spmm-128"}, {SPRY_SPMM, 256, "spmm-256"},
    {SPRY_SDDMM, 32, "sddmm-32"}, {SPRY_SDDMM, 128, "sddmm-128"}};

const struct bench_combination bench_combinations[COMBINATIONS] = {
    {SPRY_F32, 1}, {SPRY_F64, 2}, {SPRY_F64, 1}, {SPRY_F32, 2}};

/* ---- numbers ---- */

static double triad(const spry_machine *m, int threads)
{
    double bytes = m->points > 0 ? m->triad[0] : 0;

    for (int i = 0; i < m->points; i++)
        if (m->at[i] <= threads)
            bytes = m->triad[i];
    return bytes;
}

double bench_last_cache(const spry_machine *m)
{
    double last = 0;

    for (int i = 0; i < SPRY_CACHES; i++)
        last = fmax(last, (double)spry_machine_cache(m, i));
    return last;
}

double bench_base_ratio(const bench_report *r, const bench_row *row, int who)
{
    (void)r;
    (void)who;
    return row->base.mid;
}

double bench_peer_ratio(const bench_report *r, const bench_row *row, int who)
{
    (void)r;
    (void)who;
    return row->peer.mid;
}

double bench_who_ratio(const bench_report *r, const bench_row *row, int who)
{
    (void)r;
    return row->ratio[who];
}

double bench_memory_fraction(const bench_report *r, const bench_row *row,
                             int who)
{
    double bytes = who == WHO_SPRY ? row->plan_bytes : row->csr_bytes;
    int threads = bench_combinations[row->combination].threads;
    double limit = row->limit > 0 ? row->limit : triad(&r->machine, threads);

    if (row->ratio[who] == 0)
        return 0;
    return bytes / (row->seconds * row->ratio[who]) / limit;
}

double bench_compute_fraction(const bench_report *r, const bench_row *row,
                              int who)
{
    const struct bench_combination *k = &bench_combinations[row->combination];
    double peak = k->type == SPRY_F32 ? r->machine.fma_f32 : r->machine.fma_f64;
    double limit = row->limit > 0 ? row->limit : peak * k->threads;

    if (row->ratio[who] == 0)
        return 0;
    return row->flops / (row->seconds * row->ratio[who]) / limit;
}

/* ---- which rows ---- */

/* What must be read does not fit into the last cache. */
static int memory_resident(const bench_report *r, const bench_row *row)
{
    return row->plan_bytes > bench_last_cache(&r->machine);
}

static int agrees(int wanted, int value)
{
    return wanted == ANY || wanted == value;
}

static int passes(const bench_report *r, const bench_filter *f,
                  const bench_row *row)
{
    const struct bench_combination *k = &bench_combinations[row->combination];

    return agrees(f->generated, row->generated) &&
           agrees(f->operation, row->operation) &&
           agrees(f->op, (int)bench_operations[row->operation].op) &&
           agrees(f->type, (int)k->type) && agrees(f->threads, k->threads) &&
           (!f->name || strcmp(f->name, row->name) == 0) &&
           (f->memory_resident == ANY || memory_resident(r, row));
}

sp_interval bench_mean(const bench_report *r, const bench_filter *f,
                       bench_number *number, int who, int *count)
{
    static double x[MOST_ROWS];
    int n = 0;

    for (int i = 0; i < r->rows; i++) {
        double v = passes(r, f, &r->row[i]) ? number(r, &r->row[i], who) : 0;

        if (v > 0)
            x[n++] = v;
    }
    *count = n;
    return n ? sp_geomean(x, n)
             : (sp_interval){(double)NAN, (double)NAN, (double)NAN};
}
