/* learned.h - models of which way to compute an operator is fast. */
#ifndef SP_DENSE_LEARNED_H
#define SP_DENSE_LEARNED_H

#include "adapt/adapt.h"
#include "dense/internal.h"

/* Operators that are learned, each by a model of its own. */
typedef enum {
    SP_LEARN_CONV2D,
    SP_LEARN_DEPTHWISE,
    SP_LEARN_MATMUL,
    SP_LEARN_NONE /* pools, rows, chains: there is little to choose */
} sp_dense_class;
sp_dense_class sp_dense_class_of(const spry_operator *op);
const char *sp_dense_class_name(sp_dense_class c);
/* SPRY_USAGE: there is none of that name. */
spry_status sp_dense_class_parse(sp_dense_class *out, const char *name);

/* ---- rows (features.c) ---- */

enum { SP_DENSE_FEATURES_VERSION = 1 };

void sp_dense_row(float out[SP_FEATURES], const sp_dense_problem *p,
                  const sp_dense_way *x, const spry_machine *m);

/* ---- files (learned.c) ---- */

/* Data only; `card` is a JSON object. */
spry_status sp_dense_model_save(const sp_pretrained *s, sp_dense_class c,
                                const char *card, const char *path);
/* SPRY_INPUT and a sentence for any other bytes. */
spry_status sp_dense_model_load(sp_pretrained *out, sp_dense_class *c,
                                const char *path);
/* What the file held: out owns it from then on, also on failure. */
spry_status sp_dense_model_open(sp_pretrained *out, sp_dense_class *c,
                                sp_nn *nn, const char *path);

/* ---- use ---- */

/* Seconds that each way should take, by the model that is found for the
 * operator (cost-conv2d.spry and so on, where models are looked for), or by
 * arithmetic alone where there is none. Returns who said so. */
const char *sp_dense_expect(double *seconds, const sp_dense_problem *p,
                            const sp_dense_way *x, int count,
                            const spry_machine *m);
/* Models that were read are kept; where nobody asks any more they may go. */
void sp_dense_forget(void);

#endif
