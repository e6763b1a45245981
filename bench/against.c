/* against.c - is this build slower than another one?
 *
 *   bench-against OTHER-SERVE     bench-serve of the other build
 *
 * Both builds tune each problem in a process of their own, with nothing
 * remembered; then what they found runs in turns. A third process, of this
 * build again, is the control: how far two tunes of one build differ. Ratios
 * are the other's time / ours. Matrices and networks are tuned; of networks
 * the loops alone race, too: the same way in every build. QUICK=1 takes three
 * minutes; ONLY=name,name leaves out all other problems, GROUP=loops all other
 * groups; the last lines are the aims. */
#define _DEFAULT_SOURCE /* setenv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "classes.h"
#include "contest/figures.h"
#include "contest/folder.h"
#include "contest/talk.h"
#include "measure/measure.h"

enum { OURS, OTHER, AGAIN, BUILDS, MOST = 200, LINE = 4096 };
enum { MATRICES, NETWORKS, LOOPS, GROUPS };
static const char *const group_name[GROUPS] = {"matrices", "networks", "loops"};

static const double PATIENCE = 300;     /* seconds for one answer */
static const double RACE_SECONDS = 1.5; /* and as long once more in doubt */
static const double WHOLE = 1080, QUICK = 150;
static const double DOUBT = 0.97;
static const char *const build_name[BUILDS] = {"ours", "other", "again"};

/* Threads that wait for more work keep their cores busy for a while: before a
 * build runs, those of the others have gone to sleep, and a run that does not
 * count has woken its own. */
static const double SLEEP = 4e-3, SAMPLE = 3e-3;
enum { MOST_RUNS = 1000 };

typedef struct {
    bench_talk talk;
    char folder[BENCH_FOLDER]; /* its SPRY_HOME */
    char schedule[LINE];
    int runs; /* of a sample, the same for all builds */
} build;

typedef struct {
    build b[BUILDS];
    double deadline;
    double other[MOST], again[MOST]; /* time / ours */
    int group[MOST];
    int count, failed;
} contest;

/* What the processes say they ran for, since the pipe must not count. */
static double ran;

static double clock_of_runs(void)
{
    return ran;
}

/* Seconds that so many runs take together; PATIENCE: no answer. */
static double run_times(build *b, int times)
{
    char question[32], answer[LINE] = "";

    snprintf(question, sizeof question, "run %d\n", times);
    if (bench_talk_ask(&b->talk, question, answer, sizeof answer, PATIENCE) &&
        strncmp(answer, "ran ", 4) == 0)
        return strtod(answer + 4, NULL);
    return PATIENCE; /* who does not answer has lost */
}

static void let_others_sleep(void)
{
    struct timespec t = {.tv_nsec = (long)(1e9 * SLEEP)};

    nanosleep(&t, NULL);
}

static void run_once(void *ctx)
{
    build *b = ctx;

    let_others_sleep();
    (void)run_times(b, 1);
    ran += run_times(b, b->runs);
}

/* As many runs as make a sample worth its sleep. */
static int runs_of_a_sample(build *b)
{
    double one;

    let_others_sleep();
    (void)run_times(b, 1);
    one = fmax(run_times(b, 1), SAMPLE / MOST_RUNS);
    return one < SAMPLE ? (int)(SAMPLE / one) + 1 : 1;
}

/* ---- the builds ---- */

static int open_build(build *b, const char *program)
{
    char path[LINE];
    char *argv[] = {path, NULL};

    snprintf(path, sizeof path, "%s", program);
    if (!bench_folder(b->folder))
        return 0;
    setenv("SPRY_HOME", b->folder, 1);
    if (bench_talk_start(&b->talk, argv, 0))
        return 1;
    fprintf(stderr, "bench-against: %s does not start\n", program);
    return 0;
}

static void close_build(build *b)
{
    bench_talk_close(&b->talk);
    if (b->folder[0])
        bench_folder_remove(b->folder);
}

/* Every build makes its plan of the problem; 0 when one of them cannot. */
static int tune(contest *c, const char *name, const char *question)
{
    char answer[LINE];

    for (int i = 0; i < BUILDS; i++) {
        build *b = &c->b[i];

        if (!bench_talk_ask(&b->talk, question, answer, sizeof answer,
                            PATIENCE)) {
            printf("%-24s %s: no answer\n", name, build_name[i]);
            return 0;
        }
        if (strncmp(answer, "ok ", 3) != 0) {
            printf("%-24s %s: %s\n", name, build_name[i], answer);
            return 0;
        }
        snprintf(b->schedule, sizeof b->schedule, "%s", answer + 3);
    }
    c->b[OURS].runs = runs_of_a_sample(&c->b[OURS]);
    for (int i = 0; i < BUILDS; i++)
        c->b[i].runs = c->b[OURS].runs;
    return 1;
}

/* ---- one problem ---- */

static spry_status race(contest *c, sp_racer *out, double seconds)
{
    sp_contestant who[BUILDS];
    sp_race_options o = SP_RACE_DEFAULTS;

    for (int i = 0; i < BUILDS; i++)
        who[i] = (sp_contestant){run_once, &c->b[i]};
    o.seconds = seconds;
    o.pairs = SP_RACE_PAIRS;
    o.clock = clock_of_runs;
    return sp_race(out, who, BUILDS, &o);
}

static void meet(contest *c, const char *name, const char *question, int group)
{
    sp_racer out[BUILDS] = {0};
    spry_status s;

    if (c->count == MOST || sp_seconds() > c->deadline ||
        !bench_listed("ONLY", name) ||
        !bench_listed("GROUP", group_name[group]))
        return;
    if (!tune(c, name, question)) {
        c->failed++;
        return;
    }
    s = race(c, out, RACE_SECONDS);
    if (s == SPRY_OK && 1 / out[OTHER].speedup < DOUBT)
        s = race(c, out, 2 * RACE_SECONDS);
    if (s != SPRY_OK)
        return;
    c->other[c->count] = 1 / out[OTHER].speedup;
    c->again[c->count] = 1 / out[AGAIN].speedup;
    c->group[c->count++] = group;
    printf("%-24s %8.3g ms %6.3f [%.3f, %.3f] control %6.3f\n", name,
           1e3 * out[OURS].seconds / c->b[OURS].runs, 1 / out[OTHER].speedup,
           1 / out[OTHER].high, 1 / out[OTHER].low, 1 / out[AGAIN].speedup);
    for (int i = 0; i < BUILDS; i++)
        printf("    %-6s %s\n", build_name[i], c->b[i].schedule);
    fflush(stdout);
}

/* ---- the problems ---- */

static const struct {
    const char *name, *text;
} kinds[] = {{"spmm128", "spmm 128 f32"},
             {"spmv", "spmv 1 f64"},
             {"sddmm", "sddmm 128 f32"},
             {"spmm32", "spmm 32 f32"}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Class i in every operation, one operation a turn, so that time that runs
 * out leaves all of them. */
static void meet_matrices(contest *c, int turn)
{
    for (int i = 0; i < BENCH_CLASSES; i++) {
        int kind = (i + turn) % KINDS;
        char name[64], spec[128], question[LINE];

        snprintf(spec, sizeof spec, "%s", bench_classes[i].spec);
        for (char *at = spec; *at; at++)
            *at = *at == ' ' ? ',' : *at;
        snprintf(name, sizeof name, "%s-%s", bench_classes[i].name,
                 kinds[kind].name);
        snprintf(question, sizeof question, "matrix gen:%s %s\n", spec,
                 kinds[kind].text);
        meet(c, name, question, MATRICES);
    }
}

static const char *const networks[] = {
    "gen:radix,width=1024,depth=120", "gen:random,width=1024,depth=4",
    "gen:smallworld,width=1024,depth=4", "gen:pruned,widths=784x300x100x10",
    "gen:skip,width=256,depth=8"};
static const int batches[] = {1, 64, 1024};

static void meet_networks(contest *c, int which)
{
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        char name[64], question[LINE];

        snprintf(name, sizeof name, "%.*s-%d",
                 (int)strcspn(networks[i] + 4, ","), networks[i] + 4,
                 batches[which]);
        snprintf(question, sizeof question, "network %s %d\n", networks[i],
                 batches[which]);
        meet(c, name, question, NETWORKS);
    }
}

/* The same loops in every build: forms of networks, each named. */
static const struct {
    const char *name, *text;
    int batch;
} ways[] = {
    {"gather", "gather threads=1", 1},
    {"plain", "plain threads=1", 64},
    {"rows8", "rows tile=8 threads=1", 64},
    {"rows16", "rows tile=16 threads=1", 64},
    {"rows32", "rows tile=32 threads=2", 1024},
    {"edges", "edges order=destination", 64},
};

static void meet_loops(contest *c)
{
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
            char name[64], question[LINE];

            snprintf(name, sizeof name, "%.*s-%s",
                     (int)strcspn(networks[i] + 4, ","), networks[i] + 4,
                     ways[w].name);
            snprintf(question, sizeof question, "way %s %d %s\n", networks[i],
                     ways[w].batch, ways[w].text);
            meet(c, name, question, LOOPS);
        }
}

/* ---- in the end ---- */

/* The mean of one group, and of its control, as an aim: not below 1 but for
 * what its interval leaves open. */
static void sum_up(const contest *c, int group)
{
    const char *name = group_name[group];
    double other[MOST], again[MOST];
    sp_interval mean, control;
    char aim[64];
    int n = 0;

    for (int i = 0; i < c->count; i++)
        if (c->group[i] == group) {
            other[n] = c->other[i];
            again[n++] = c->again[i];
        }
    if (n < 2) {
        printf("%s: %d problems, too few for a mean\n", name, n);
        return;
    }
    mean = sp_geomean(other, n);
    control = sp_geomean(again, n);
    printf("%s: %d problems, other / ours %.3f [%.3f, %.3f], control %.3f "
           "[%.3f, %.3f]\n",
           name, n, mean.mid, mean.low, mean.high, control.mid, control.low,
           control.high);
    snprintf(aim, sizeof aim, "not-slower-%s", name);
    bench_aim(aim, mean.mid, 1, mean.high >= 1);
}

int main(int argc, char **argv)
{
    contest c = {0};
    char ours[LINE];
    const char *slash = strrchr(argv[0], '/');

    if (argc != 2) {
        fprintf(stderr, "usage: bench-against OTHER-SERVE\n");
        return SPRY_USAGE;
    }
    snprintf(ours, sizeof ours, "%.*sbench-serve",
             slash ? (int)(slash - argv[0] + 1) : 0, argv[0]);
    c.deadline = sp_seconds() + (bench_quick() ? QUICK : WHOLE);
    if (!open_build(&c.b[OURS], ours) || !open_build(&c.b[OTHER], argv[1]) ||
        !open_build(&c.b[AGAIN], ours))
        return SPRY_SYSTEM;
    for (int turn = 0; turn < KINDS; turn++) {
        meet_matrices(&c, turn);
        if (turn < (int)(sizeof batches / sizeof batches[0]))
            meet_networks(&c, turn);
        if (turn == 0)
            meet_loops(&c);
    }
    for (int i = 0; i < BUILDS; i++)
        close_build(&c.b[i]);
    if (c.failed)
        printf("%d problems that not all could tune\n", c.failed);
    for (int group = 0; group < GROUPS; group++)
        sum_up(&c, group);
    return 0;
}
