/* form.h - networks laid out and run, as the rooms that choose how see it.
 *
 * A form says how a network is laid out and run: a name from the table of
 * forms and what it can be told, one line of text:
 *
 *     plain threads=2         neuron by neuron, as anyone would write it
 *     edges order=blocked     Algorithm 1
 *     gather threads=2        one input at a time, sums held in registers
 *     rows tile=8 threads=2   inputs side by side in vectors */
#ifndef SP_FORM_H
#define SP_FORM_H

#include "spry/form.h"
#include "spry/machine.h"
#include "spry/order.h"
#include "spry/shrink.h"

enum { SP_FORM_NAME = 16, SP_FORM_TEXT = 96 };

typedef struct {
    char name[SP_FORM_NAME];
    char order[SP_FORM_NAME]; /* of edges; "": the fastest plain one */
    int tile;    /* inputs side by side: 8, 16, 32, 64; 0: as fits the cache */
    int threads; /* 0: as many as OpenMP would start */
    int rest;    /* of rows: inputs whose values no later layer changes stop
                     there (shrink.h) */
    /* No part of the text: */
    double bytes; /* of what was laid out */
    int limited;  /* only loops that `isa` includes are used; 0: any */
    spry_isa isa;
} sp_form_options;

/* SPRY_USAGE when the text is no form. */
spry_status sp_form_parse(sp_form_options *out, const char *text);
/* The text that parses to the same; parameters that are not set are left
 * out. */
void sp_form_text(char out[SP_FORM_TEXT], const sp_form_options *f);
/* The one that suits a batch of so many inputs. */
sp_form_options sp_form_for(const spry_network *n, int64_t batch);

/* How many outputs of a layer read the same sources, on average; and how many
 * of them `rows` computes together, at most. */
spry_status sp_form_sharing(double *outputs, const spry_network *n);
int sp_form_together(int tile);
/* Tiles that `rows` takes through the layers in step, at most. */
int sp_form_tiles(int64_t slots, int tile);

typedef struct sp_runner sp_runner;

/* Lays the network out in this form; borrows n. */
spry_status sp_runner_make(sp_runner **out, const spry_network *n,
                           const sp_form_options *form);
/* Algorithm 1, the edges in this order, which is checked. */
spry_status sp_runner_ordered(sp_runner **out, const spry_network *n,
                              const int32_t *edge);
/* In float; x is [batch][inputs], y is [batch][outputs]. Any number of
 * threads may run one runner. */
spry_status sp_runner_run(const sp_runner *r, float *y, const float *x,
                          int64_t batch);
/* spry_run_categories. */
spry_status sp_runner_categories(const sp_runner *r, uint8_t *any,
                                 const spry_matrix *m, int64_t first,
                                 int64_t count);
/* The form it has, what was left open filled in. */
const sp_form_options *sp_runner_form(const sp_runner *r);
void sp_runner_free(sp_runner *r);

/* ---- a way to run: which passes, then which form ----
 *
 *     rows tile=8 threads=2
 *     passes=all gather threads=1
 *     passes=merge,dead edges order=blocked threads=2 */

typedef struct {
    unsigned passes;
    sp_form_options form; /* its `rest` is one of the passes */
} sp_way;

enum { SP_WAY_TEXT = 160 };
spry_status sp_way_parse(sp_way *out, const char *text);
const char *sp_way_text(char out[SP_WAY_TEXT], const sp_way *w);
/* The bit of the pass that is done while running. */
unsigned sp_way_rest(void);

/* The C text of a network, allocated with malloc. */
spry_status sp_export_source(char **out, const spry_network *n);

#endif
