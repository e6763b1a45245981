/* challenge.c - the Graph Challenge: networks made smaller, and 60 000 inputs
 * through 1024 x 120 and 1024 x 1920, with all passes and with none, raced
 * interleaved. The inputs are the 1200 published images over and over, whose
 * categories are known; without the data, pen strokes. Reading, compiling and
 * laying out are not in the times, as in the challenge's own measure. Rates
 * are nominal: edges of the whole network times inputs, over seconds. */
#include "challenge.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "measure/measure.h"
#include "spry.h"

enum { INPUTS = 60000, WIDTH = 1024 };

static void must(spry_status s)
{
    if (s == SPRY_OK)
        return;
    fprintf(stderr, "bench-challenge: %s\n", spry_message());
    exit(1);
}

/* ---- inputs ---- */

typedef struct {
    spry_matrix *rows;  /* INPUTS of them */
    spry_matrix *right; /* a row for each input before repeating, with an
                           entry where it has a category; NULL: not known */
} images;

static void path_of(char *out, size_t size, const char *name)
{
    const char *data = getenv("SPRY_DATA");

    snprintf(out, size, "%s/networks/graphchallenge/%s",
             data ? data : BENCH_DATA, name);
}

static images read_images(void)
{
    images im = {NULL, NULL};
    spry_matrix *drawn;
    char path[4096];

    path_of(path, sizeof path, "sparse-drawn-1024_subset.mtx");
    if (spry_matrix_read(&drawn, path) == SPRY_OK) {
        path_of(path, sizeof path, "neuron1024-l120-categories_subset.mtx");
        must(spry_matrix_read(&im.right, path));
    } else {
        printf("the published images are not there (SPRY_DATA): pen strokes "
               "instead, categories unchecked\n");
        must(spry_inputs_strokes(&drawn, 1200, WIDTH, 1));
    }
    must(spry_inputs_repeat(&im.rows, drawn, INPUTS));
    spry_matrix_free(drawn);
    return im;
}

/* ---- smaller ---- */

static void compile_one(int width, int depth, double *seconds)
{
    spry_graph_report r = {.size = sizeof r};
    spry_layers *layers;
    spry_network *n;
    unsigned all;
    char spec[64];

    snprintf(spec, sizeof spec, "gen:radix,width=%d,depth=%d", width, depth);
    must(spry_passes_parse(&all, NULL));
    must(spry_layers_open(&layers, spec, NULL));
    must(spry_layers_compile(&n, layers, all, &r));
    printf("%6d x %-5d %13.0f %11.0f %7.1f %9.2f s\n", width, depth,
           (double)r.nominal_edges, (double)r.edges,
           (double)r.nominal_edges / (double)r.edges, r.seconds);
    *seconds = r.seconds;
    spry_network_free(n);
    spry_layers_close(layers);
}

/* Seconds for the widest of 120 layers. */
static double compile_all(int quick)
{
    double seconds = 0;

    printf("%-14s %13s %11s %7s %11s\n", "network", "nominal edges", "executed",
           "share", "compiled in");
    compile_one(1024, 120, &seconds);
    compile_one(1024, 1920, &seconds);
    compile_one(4096, 120, &seconds);
    compile_one(16384, 120, &seconds);
    if (!quick)
        compile_one(65536, 480, &seconds);
    compile_one(65536, 120, &seconds);
    printf("\n");
    return seconds;
}

/* ---- faster ---- */

typedef struct {
    spry_problem *problem;
    spry_plan *plan;
    const images *im;
    uint8_t *any; /* [INPUTS] */
} runner;

static void run_once(void *arg)
{
    const runner *r = arg;

    must(spry_run_categories(r->plan, r->any, r->im->rows, 0, INPUTS));
}

/* Are the categories those that are known? */
static int is_right(runner *r)
{
    const spry_matrix *m = r->im->right;

    run_once(r);
    for (int64_t i = 0; m && i < INPUTS; i++) {
        int64_t at = i % m->rows;

        if (r->any[i] != (m->start[at] < m->start[at + 1]))
            return 0;
    }
    return 1;
}

static runner make_runner(const spry_network *n, const images *im,
                          const char *text)
{
    runner r = {NULL, NULL, im, sp_alloc(INPUTS, sizeof *r.any)};

    must(r.any ? SPRY_OK : sp_fail_memory(INPUTS));
    must(spry_problem_network(&r.problem, n, INPUTS));
    must(spry_plan_from(&r.plan, r.problem, text, NULL));
    if (!is_right(&r)) {
        fprintf(stderr, "bench-challenge: %s: wrong categories\n", text);
        exit(1);
    }
    return r;
}

static void print_rate(const char *way, sp_racer *r, double edges)
{
    sp_interval t = sp_median_interval(r->samples, r->pairs);

    printf("    %-18s %9.1f ms  %9.3g nominal edges/s (95 %%: %.3g..%.3g)\n",
           way, 1e3 * t.mid, edges / t.mid, edges / t.high, edges / t.low);
}

/* The nominal rate with all passes. */
static double race_one(const images *im, int depth, int quick)
{
    static const char *const ways[] = {"rows", "passes=all rows tile=16"};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[2];
    sp_racer *racer = sp_alloc(2, sizeof *racer);
    runner r[2];
    spry_network *n;
    char spec[64];
    double edges, rate;

    if (!racer)
        exit(1);
    snprintf(spec, sizeof spec, "gen:radix,width=%d,depth=%d", WIDTH, depth);
    must(spry_network_read(&n, spec, NULL));
    for (int i = 0; i < 2; i++) {
        r[i] = make_runner(n, im, ways[i]);
        c[i] = (sp_contestant){run_once, &r[i]};
    }
    edges = (double)n->edges * INPUTS;
    o.seconds = quick ? 10 : 60;
    o.least = 3;
    must(sp_race(racer, c, 2, &o));
    printf("%d x %d, %d inputs, %d threads, categories right:\n", WIDTH, depth,
           INPUTS, omp_get_max_threads());
    print_rate("passes off", &racer[0], edges);
    print_rate("passes on", &racer[1], edges);
    printf("    %.1f times as fast (95 %%: %.1f..%.1f)\n", racer[1].speedup,
           racer[1].low, racer[1].high);
    rate = edges / racer[1].seconds;
    for (int i = 0; i < 2; i++) {
        spry_plan_free(r[i].plan);
        spry_problem_free(r[i].problem);
        sp_free(r[i].any);
    }
    spry_network_free(n);
    sp_free(racer);
    return rate;
}

static void aim(const char *name, double value, double target, int met)
{
    printf("aim %s %.3g %.3g %s\n", name, value, target, met ? "met" : "short");
}

void bench_challenge(int quick)
{
    images im = read_images();
    double compiled = compile_all(quick);
    double shallow = race_one(&im, 120, quick);
    double deep = race_one(&im, 1920, quick);

    aim("challenge_1024x120_nominal_edges_per_second", shallow, 5e12,
        shallow >= 5e12);
    aim("challenge_1024x1920_nominal_edges_per_second", deep, 5e12,
        deep >= 5e12);
    aim("compile_65536x120_seconds", compiled, 10, compiled <= 10);
    spry_matrix_free(im.rows);
    spry_matrix_free(im.right);
}
