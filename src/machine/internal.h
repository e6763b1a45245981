/* internal.h - what the files of machine share.
 *
 * `root` arguments stand before every absolute path that is read: "" on a
 * live system, a directory with a made-up /proc and /sys in the tests. */
#ifndef SP_MACHINE_INTERNAL_H
#define SP_MACHINE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "spry/machine.h"

/* ---- what the system says ---- */

/* The tightest limits of our control groups, v1 or v2, and of the groups
 * above them; 0: no limit. */
typedef struct {
    double cpus;
    int64_t memory;
} sp_cgroup;
sp_cgroup sp_cgroup_read(const char *root);

/* Sockets, cores, caches, line and name of *m, by /sys and /proc, which may
 * not tell all: 0. */
int sp_topology_sysfs(spry_machine *m, const char *root);
/* The same by hwloc. */
int sp_topology_hwloc(spry_machine *m);

/* The first line of root/path into out; 0 when it cannot be read. */
int sp_read_line(char *out, size_t size, const char *root, const char *path);

/* Name the machine after everything that a tuned schedule depends on. */
void sp_fingerprint(spry_machine *m);

/* ---- what a stopwatch says ---- */

/* The loops of the probe, compiled once per instruction set. */
typedef struct sp_lanes {
    /* Multiply-adds in independent chains, n rounds. Returns the FLOPs;
     * what was computed goes to *sink. */
    double (*fma_f32)(int64_t n, double *sink);
    double (*fma_f64)(int64_t n, double *sink);
    /* The sum of x[0..n), n a multiple of 128. */
    double (*sum)(const double *x, int64_t n);
    /* a = b + s c, n a multiple of 128. */
    void (*triad)(double *a, const double *b, const double *c, double s,
                  int64_t n);
} sp_lanes;
const sp_lanes *sp_lanes_of(spry_isa isa);

/* A probe at work: a large region of memory that all stages share. */
typedef struct {
    spry_machine *m;
    const sp_lanes *lanes;
    double *region; /* on huge pages where there are */
    double *small;  /* half as large, on usual pages; NULL: no memory for it */
    int64_t words;  /* of region, a multiple of 1024 */
    double sink;    /* results go here so that nothing is optimised away */
} sp_probe;

/* Seconds of one run: the fastest of at least three samples, each long
 * enough for the clock, within about `budget` seconds. */
double sp_fastest(void (*run)(void *ctx), void *ctx, double budget);

void sp_probe_bandwidth(sp_probe *p);  /* read, triad, cache_read */
void sp_probe_latency(sp_probe *p);    /* latency, measured, gather */
void sp_probe_points(spry_machine *m); /* points, at */
void sp_probe_lines(sp_probe *p);      /* lines, lines_small */
void sp_probe_compute(sp_probe *p);    /* fma_f32, fma_f64, fork */
void sp_probe_noise(sp_probe *p);      /* noise */

/* Seconds per dependent load over the working set. */
enum { SP_CURVE = 64 };
typedef struct {
    int count;
    int64_t bytes[SP_CURVE];  /* [count] rising */
    double seconds[SP_CURVE]; /* [count] */
    double memory;            /* seconds per load that no cache has */
} sp_curve;

/* The sizes that the curve shows, 0 for a level that saves nothing. */
void sp_curve_caches(int64_t out[SPRY_CACHES], const sp_curve *c,
                     const spry_cache reported[SPRY_CACHES]);

/* Words of the working set that stays inside cache `level`; 0: no cache. */
int64_t sp_probe_level_words(const sp_probe *p, int level);

#endif
