/* waconet.h - the network of WACO (Won, Mendis, Emer and Amarasinghe, ASPLOS
 * 2023), layer for layer, on the layers of nn. */
#ifndef SP_WACONET_H
#define SP_WACONET_H

#include "model/net.h"

enum {
    SP_WACO_CONVS = 14,
    SP_WACO_CHANNELS = 32,
    SP_WACO_TABLES = 9,
    SP_WACO_WIDTH = 128, /* of an embedding, and of the head's first layer */
    SP_WACO_ORDER = 36,  /* numbers of the largest permutation matrix */
    SP_WACO_FEW = 256,   /* schedules at a time, at most */
    SP_WACO_SITES = 8192 /* of a pattern, at most */
};

typedef struct {
    spry_op op;
    sp_scaler scaler; /* of rows, columns and entries */
    sp_conv conv[SP_WACO_CONVS];
    sp_dense scalar[2], matrix[2], order, schedule[2], head[3];
    sp_tensor *table[SP_WACO_TABLES];
    int tables;
} sp_waconet;

/* spmv, spmm and sddmm; SPRY_USAGE for others. */
spry_status sp_waconet_make(sp_waconet *w, sp_nn *nn, spry_op op);

/* Schedules in WACO's words: categories, and the order as a matrix. */
typedef struct {
    int32_t part[SP_WACO_TABLES];
    float order[SP_WACO_ORDER];
} sp_waco_words;
/* 0 when it has none for x. */
int sp_waconet_words(sp_waco_words *out, const sp_waconet *w,
                     const spry_schedule *x);

/* The images of a pattern that the convolutions see. */
typedef struct {
    sp_sites *at[SP_WACO_CONVS + 1];
} sp_waco_sites;
spry_status sp_waco_sites_new(sp_waco_sites *out, const spry_matrix *A);
void sp_waco_sites_free(sp_waco_sites *s);

/* [1, 128] and [count, 128], count <= SP_WACO_FEW */
sp_tensor *sp_waconet_matrix(sp_tape *t, const sp_waconet *w,
                             const sp_waco_sites *s, const sp_subject *subject);
sp_tensor *sp_waconet_schedules(sp_tape *t, const sp_waconet *w,
                                const sp_waco_words *x, int64_t count);
/* [count, 1] */
sp_tensor *sp_waconet_head(sp_tape *t, const sp_waconet *w, sp_tensor *matrix,
                           sp_tensor *schedules);

/* What a view of this model keeps. */
typedef struct {
    sp_tape *tape;
    float matrix[SP_WACO_WIDTH]; /* the matrix's embedding */
    float first[SP_WACO_WIDTH];  /* its half of the head's first layer */
} sp_waco_view;

/* ---- the factored head (waco_halves.c) ---- */

int sp_waco_width(const sp_cost *c);
spry_status sp_waco_halves(float *out, const sp_cost *c, const spry_schedule *x,
                           int64_t count);
void sp_waco_join(float *out, const sp_view *v, const float *half,
                  int64_t count);

#endif
