/* figures.h - what the benchmarks print alike. */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include "spry/machine.h"

/* The machine's name, bandwidth, peak and noise. */
void bench_print_machine(const spry_machine *m);

/* Detect and probe; out[0] limited to one thread, out[1] to at most two. */
spry_status bench_machines(spry_machine out[2]);

/* "aim NAME VALUE GOAL met|short". */
void bench_aim(const char *name, double value, double goal, int met);
/* "aim NAME - GOAL not measured: WHY", where there was nothing to hold it
 * against. */
void bench_aim_unknown(const char *name, double goal, const char *why);
void bench_aim_least(const char *name, double value, double goal);
void bench_aim_most(const char *name, double value, double goal);

/* QUICK=1 in the environment. */
int bench_quick(void);

/* Is `name` one of variable=name,name in the environment, or that not set? */
int bench_listed(const char *variable, const char *name);

#endif
