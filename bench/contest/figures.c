/* figures.c - numbers -> the lines that all benchmarks share. */
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_print_machine(const spry_machine *m)
{
    printf("%s, %d threads, noise %c\n", m->name, m->threads,
           spry_machine_grade(m));
    for (int i = 0; i < m->points; i++)
        printf("triad, threads %d: %.1f GB/s\n", m->at[i], m->triad[i] / 1e9);
    printf("fma, threads 1: %.0f GFLOP/s f32, %.0f f64\n\n", m->fma_f32 / 1e9,
           m->fma_f64 / 1e9);
}

spry_status bench_machines(spry_machine out[2])
{
    spry_status s = spry_machine_detect(&out[1]);

    if (s == SPRY_OK)
        s = spry_machine_probe(&out[1]);
    if (s != SPRY_OK)
        return s;
    bench_print_machine(&out[1]);
    out[0] = out[1];
    if (out[1].threads > 2)
        s = spry_machine_limit(&out[1], 2, out[1].isa);
    return s == SPRY_OK ? spry_machine_limit(&out[0], 1, out[0].isa) : s;
}

void bench_aim(const char *name, double value, double goal, int met)
{
    printf("aim %s %.3g %.3g %s\n", name, value, goal, met ? "met" : "short");
}

void bench_aim_unknown(const char *name, double goal, const char *why)
{
    printf("aim %s - %.3g not measured: %s\n", name, goal, why);
}

void bench_aim_least(const char *name, double value, double goal)
{
    bench_aim(name, value, goal, value >= goal);
}

void bench_aim_most(const char *name, double value, double goal)
{
    bench_aim(name, value, goal, value <= goal);
}

int bench_quick(void)
{
    const char *quick = getenv("QUICK");

    return quick && strcmp(quick, "0") != 0;
}

int bench_listed(const char *variable, const char *name)
{
    const char *list = getenv(variable);
    size_t n = strlen(name);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == 0))
            return 1;
    }
    return list == NULL;
}
