/* dag.h - a graph as its file tells it, before it is sorted. */
#ifndef SP_NETWORK_DAG_H
#define SP_NETWORK_DAG_H

#include "network/read.h"

typedef enum { SP_EDGE, SP_INPUT, SP_OUTPUT, SP_BIAS } sp_fact_kind;

/* One statement of the file. Neurons are the numbers that the file uses. */
typedef struct {
    const char *at; /* where it stands */
    sp_fact_kind kind;
    int32_t neuron; /* of an edge: its target */
    int32_t source; /* of an edge */
    float value;    /* weight or bias */
} sp_fact;

typedef struct {
    sp_fact *fact; /* [count] in the file's order */
    int64_t count;
    int64_t numbers; /* all neurons' numbers lie below */
    spry_activation activation;
    int bias_on_nonzero;
} sp_facts;

/* The facts of a text; SPRY_INPUT names the line that is none. */
spry_status sp_facts_read(sp_facts *out, const sp_text *t,
                          const spry_network_options *o);
void sp_facts_free(sp_facts *f);

#endif
