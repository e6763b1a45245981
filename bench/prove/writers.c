/* writers.c - many processes, one store: nothing lost, nothing twice, nobody
 * waits long. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "prove/prove.h"
#include "spry.h"

enum { WRITERS = 16 };

typedef struct {
    int failed;
    double longest;
} outcome;

static void write_records(outcome *out, const char *path, int who, int count)
{
    spry_records *db;
    double sample = 1e-3;
    char key[64];

    if (spry_records_open(&db, path) != SPRY_OK) {
        out->failed = count;
        return;
    }
    for (int i = 0; i < count; i++) {
        spry_record r = {.problem = key,
                         .about = "",
                         .schedule = "csr threads=1",
                         .machine = "0011223344556677",
                         .compiler = "built-in",
                         .noise = 'A',
                         .seconds = 1e-3,
                         .when = 1700000000 + i,
                         .samples = 1,
                         .sample = &sample};
        double begun = sp_seconds();

        snprintf(key, sizeof key, "spmv-1-f32-%d-%d", who, i);
        out->failed += spry_records_add(db, &r) != SPRY_OK;
        out->longest = fmax(out->longest, sp_seconds() - begun);
    }
    spry_records_close(db);
}

void prove_writers(const char *folder)
{
    int each = prove_count(40, 1000), failed = 0;
    outcome *all = mmap(NULL, WRITERS * sizeof *all, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t records = -1, answers, machines, bad = -1;
    double longest = 0;
    spry_records *db;
    char path[4096];

    if (all == MAP_FAILED)
        return;
    snprintf(path, sizeof path, "%s/writers.db", folder);
    fflush(stdout);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            write_records(&all[i], path, i, each);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    for (int i = 0; i < WRITERS; i++) {
        failed += all[i].failed;
        longest = fmax(longest, all[i].longest);
    }
    munmap(all, WRITERS * sizeof *all);
    if (spry_records_open(&db, path) == SPRY_OK) {
        (void)spry_records_count(db, &records, &answers, &machines);
        (void)spry_records_check(db, &bad);
        spry_records_close(db);
    }
    printf("%d writers x %d: %lld records, %d failed, %lld damaged\n", WRITERS,
           each, (long long)records, failed, (long long)bad);
    bench_aim_most(
        "writers_lost_or_twice",
        fabs((double)(WRITERS * each - records)) + failed + (double)bad, 0);
    bench_aim_most("writers_longest_wait_seconds", longest, 5);
}
