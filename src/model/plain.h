/* plain.h - how long the plain loop takes: its bound, and what was learned
 * about where that is wrong. */
#ifndef SP_PLAIN_H
#define SP_PLAIN_H

#include "model/dataset.h"
#include "model/trees.h"

enum { SP_PLAIN_FEATURES = SP_PATTERN + SP_MACHINE };

/* Logarithm of the seconds of its bound. */
double sp_plain_log(const sp_subject *s);

/* Trees over pattern and machine: what to add to that. */
spry_status sp_plain_grow(sp_trees *out, const sp_fitting *l);

#endif
