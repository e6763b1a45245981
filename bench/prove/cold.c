/* cold.c - many processes begin at once and need the same kernels, which nobody
 * has compiled yet: one compiles each, the others wait for it. */
#define _DEFAULT_SOURCE /* setenv, MAP_ANONYMOUS */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "jit/internal.h"
#include "jit/jit.h"
#include "prove/prove.h"

enum { PROCESSES = 32, KERNELS = 50, ROOM = 4096 };

typedef struct {
    int wrong;
    double longest; /* seconds until a kernel was there */
} outcome;

typedef struct {
    int processes, kernels, wrong, most;
    int64_t compiles;
    double longest;
} tally;

/* The compiler, but it notes which text it was given, by its checksum. */
static int write_compiler(const char *path, const char *notes,
                          const char *compiler)
{
    FILE *f = fopen(path, "w");
    int ok = f && fprintf(f,
                          "#!/bin/sh\n"
                          "for word; do case $word in\n"
                          "*.c) cksum <\"$word\" >>'%s';; esac; done\n"
                          "exec '%s' \"$@\"\n",
                          notes, compiler) > 0;

    if (f && fclose(f) != 0)
        ok = 0;
    return ok && chmod(path, 0700) == 0;
}

/* Kernel k adds k. */
static int load(int k)
{
    char source[96];
    sp_jit_code *code;
    int (*add)(int);
    int good;

    snprintf(source, sizeof source, "int add%d(int x) { return x + %d; }", k,
             k);
    if (sp_jit_load(&code, source, NULL, "cpu") != SPRY_OK)
        return 0;
    snprintf(source, sizeof source, "add%d", k);
    *(void **)&add = sp_jit_symbol(code, source);
    good = add && add(k) == 2 * k;
    sp_jit_free(code);
    return good;
}

/* Each begins with another kernel and goes round. */
static void load_all(outcome *out, int first, int kernels)
{
    for (int i = 0; i < kernels; i++) {
        double begun = sp_seconds();

        out->wrong += !load((first + i) % kernels);
        out->longest = fmax(out->longest, sp_seconds() - begun);
    }
}

/* All start when the gate is closed. What did not start is wrong, too. */
static void start_together(tally *t, outcome *all)
{
    pid_t pid[PROCESSES];
    int gate[2], status;
    char c;

    if (pipe(gate) != 0) {
        t->wrong++;
        return;
    }
    fflush(stdout);
    for (int i = 0; i < t->processes; i++) {
        all[i] = (outcome){0};
        pid[i] = fork();
        if (pid[i] == 0) {
            close(gate[1]);
            if (read(gate[0], &c, 1) == 0)
                load_all(&all[i], i, t->kernels);
            _exit(0);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < t->processes; i++) {
        if (pid[i] < 0 || waitpid(pid[i], &status, 0) != pid[i] || status != 0)
            t->wrong++;
        t->wrong += all[i].wrong;
        t->longest = fmax(t->longest, all[i].longest);
    }
}

/* Every line is a compile; equal ones are of one kernel. */
static void read_notes(tally *t, const char *notes)
{
    static char line[KERNELS * PROCESSES][64];
    FILE *f = fopen(notes, "r");
    int n = 0, different = 0;

    while (f && n < KERNELS * PROCESSES && fgets(line[n], sizeof line[n], f))
        n++;
    if (f)
        fclose(f);
    for (int i = 0; i < n; i++) {
        int same = 0, before = 0;

        for (int j = 0; j < n; j++)
            if (strcmp(line[i], line[j]) == 0) {
                same++;
                before += j < i;
            }
        different += before == 0;
        t->most = same > t->most ? same : t->most;
    }
    t->compiles += n;
    t->wrong += different != t->kernels;
}

void prove_cold(const char *folder)
{
    int rounds = prove_count(1, 10);
    tally t = {.processes = prove_count(8, PROCESSES),
               .kernels = prove_count(4, KERNELS)};
    outcome *all = mmap(NULL, PROCESSES * sizeof *all, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char home[ROOM], compiler[ROOM], notes[ROOM];
    const char *chosen = getenv("SPRY_CC");
    char *before = sp_strdup(chosen ? chosen : "");
    sp_compiler cc;

    if (sp_compiler_find(&cc) != SPRY_OK || spry_jit_available() != SPRY_OK ||
        all == MAP_FAILED) {
        free(before);
        bench_aim_unknown("compiles_of_each_kernel", 1.1, "no compiler");
        return;
    }
    snprintf(compiler, sizeof compiler, "%s/noting-cc", folder);
    setenv("SPRY_CC", compiler, 1);
    for (int r = 0; r < rounds; r++) {
        snprintf(home, sizeof home, "%s/cold%d", folder, r);
        snprintf(notes, sizeof notes, "%s/cold%d.notes", folder, r);
        setenv("SPRY_HOME", home, 1);
        if (write_compiler(compiler, notes, cc.path))
            start_together(&t, all);
        read_notes(&t, notes);
    }
    if (!chosen || !before || setenv("SPRY_CC", before, 1) != 0)
        unsetenv("SPRY_CC");
    free(before);
    setenv("SPRY_HOME", folder, 1);
    munmap(all, PROCESSES * sizeof *all);
    printf("%d rounds of %d processes that need %d kernels: %lld compiles, of "
           "one kernel at most %d; the longest wait was %.1f s\n",
           rounds, t.processes, t.kernels, (long long)t.compiles, t.most,
           t.longest);
    bench_aim_most("compiles_of_each_kernel",
                   (double)t.compiles / (rounds * t.kernels), 1.1);
    bench_aim_most("cold_starts_that_fail", t.wrong, 0);
}
