/* internal.h - what the model's files hand each other.
 *
 *   storage   how much a schedule stores, or why it cannot
 *   rates     what one machine does in a second, on so many threads
 *   work      what the loops issue
 *   traffic   what moves between the caches
 *   super     loop nests, by counting their turns
 *   predict   all of these, as seconds
 *   elastic   how seconds change with a machine's numbers
 *   tensor    all of these for mttkrp
 *   features  problems and machines as rows of numbers
 *   point     schedules as rows of numbers
 */
#ifndef SP_MODEL_INTERNAL_H
#define SP_MODEL_INTERNAL_H

#include <math.h>

#include "base/base.h"
#include "matrix/matrix.h"
#include "model/rates.h"
#include "problem/sparse.h"
#include "schedule/schedule.h"
#include "spry/model.h"

/* One question and what is at hand to answer it. */
typedef struct {
    const sp_sparse *p;
    const spry_schedule *x;
    const spry_machine *m;
    const spry_stats *t;
    int lanes;          /* elements in a vector */
    const sp_fibers *f; /* of mttkrp, else NULL */
} sp_ask;

/* ---- features.c, point.c ---- */

/* Where the next number of a row goes. */
typedef struct {
    float *at;
} sp_feature_row;

static inline void sp_put(sp_feature_row *r, double value)
{
    *r->at++ = (float)value;
}

/* Sizes are logarithms; 0 stays 0. */
static inline double sp_size(double x)
{
    return log2(1 + x);
}

/* ---- storage.c, sell.c ---- */

typedef struct {
    double parts;   /* column panels; 1: not cut */
    double units;   /* loops over entries: rows, block rows, slices, groups */
    double entries; /* column numbers stored */
    double values;  /* values stored, zeros included */
    double rest;    /* entries that blocks leave, beside these, */
    double rest_units; /* and the rows they are in */
    double fibers;     /* of tensors: runs with a middle index of their own */
    double bytes;      /* of everything */
} sp_storage;

/* SPRY_USAGE and the reason when pack would refuse. */
spry_status sp_model_storage(sp_storage *out, const sp_ask *q);

/* Stored entries of sell over entries of the matrix, >= 1, and the columns
 * that the widest slice spans: from a sample of the rows. */
typedef struct {
    double growth;
    int64_t span;
} sp_sell;
sp_sell sp_model_sell(const sp_ask *q);

spry_status sp_tensor_storage(sp_storage *out, const sp_ask *q);
spry_status sp_check_index(const sp_ask *q, double entries, int64_t span);

/* ---- rates.c ---- */

sp_rates sp_model_rates(const sp_ask *q);

/* ---- work.c ---- */

typedef struct {
    double inner;   /* instructions inside the loops over entries */
    double ends;    /* instructions around them */
    double fma;     /* vector multiply-adds */
    double chain;   /* cycles if every multiply-add waits for the one before */
    double units;   /* loops: chains that may overlap */
    double wrong;   /* mispredicted loop ends */
    double gathers; /* elements taken by hardware gathers */
} sp_work;

sp_work sp_model_work(const sp_ask *q, const sp_storage *k);
sp_work sp_tensor_work(const sp_ask *q, const sp_storage *k);
/* The tiles one row of dense columns is walked in, and vectors in them. */
void sp_count_tiles(const sp_ask *q, double *tiles, double *vectors);

/* ---- traffic.c ---- */

typedef struct {
    double bytes[SP_LEVELS];  /* served by each level */
    double stored;            /* bytes that end in memory */
    double misses[SP_LEVELS]; /* scattered lines served by each level */
} sp_traffic;

sp_traffic sp_model_traffic(const sp_ask *q, const sp_storage *k,
                            const sp_rates *r);
sp_traffic sp_tensor_traffic(const sp_ask *q, const sp_storage *k,
                             const sp_rates *r);
/* Add `amount`, last touched `footprint` bytes ago, to the levels. */
void sp_serve(double to[SP_LEVELS], const sp_rates *r, double footprint,
              double amount);
/* Waits per visit of a dense row of `bytes`, tile by tile. */
double sp_waits(const sp_ask *q, const sp_rates *r, double bytes);
double sp_passes(const sp_ask *q);

/* ---- predict.c, super.c ---- */

/* What is taken for granted of a core, since nothing probes it. */
typedef struct {
    double issue;  /* instructions per cycle, sustained */
    double window; /* instructions in flight */
    double wrong;  /* cycles lost by a wrong guess */
    double ahead;  /* lines on their way at a time, asked for ahead, */
    double plain;  /* and by the plain loop over dense rows */
    double chunk;  /* seconds to hand out one dynamic chunk */
    double order;  /* share lost to a row order whose use is unknown */
} sp_core;

typedef struct {
    sp_rates rates;
    sp_core core;
} sp_speeds;

/* What a schedule of a format does, however fast. */
typedef struct {
    const sp_ask *q;
    sp_storage storage;
    sp_work work;
    sp_traffic traffic;
    double imbalance;
} sp_counted;

/* The statistics are looked up; SPRY_USAGE when x is not legal. */
spry_status sp_model_ask(sp_ask *out, const sp_sparse *p,
                         const spry_schedule *x, const spry_machine *m);
sp_speeds sp_model_speeds(const sp_ask *q);
/* Seconds at speeds that differ in anything but the sizes of caches, `times`
 * of them; what is not time goes into the first. */
spry_status sp_model_seconds(spry_prediction *out, const sp_ask *q,
                             const sp_speeds *at, int times);
/* The same of a loop nest. */
spry_status sp_model_super(spry_prediction *out, const sp_ask *q,
                           const sp_speeds *at, int times);

#endif
