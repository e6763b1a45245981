/* network_specs.h - networks of every kind, small. */
#ifndef SPRY_NETWORK_SPECS_H
#define SPRY_NETWORK_SPECS_H

#include "check.h"

#include "spry.h"

/* Several of each kind, small. */
static const char *const specs[] = {
    "gen:radix,depth=7",
    "gen:mixed",
    "gen:mixed,radices=2x3x4,copies=1x2x3x4",
    "gen:mixed,radices=2x3x6x2,classes=6,copies=2",
    "gen:random,width=60,depth=5,density=0.2",
    "gen:random,width=7,density=0",
    "gen:random,width=7,density=1",
    "gen:pruned,widths=40x30x20x10,sparsity=0.8,bias=-0.1",
    "gen:pruned,widths=5x4,sparsity=0,activation=sigmoid",
    "gen:smallworld,width=50,degree=6",
    "gen:smallworld,width=4,degree=4,rewire=1,activation=tanh",
    "gen:skip,width=20,depth=6,degree=5",
};
enum { SPECS = sizeof specs / sizeof *specs };

static inline spry_network *read_net(const char *path)
{
    spry_network *n;

    check_ok(spry_network_read(&n, path, NULL));
    return n;
}

#endif
