/* remote.c - libraries that live in Python, as contestants like the others.
 *
 * serve.py runs in a process of its own for as long as the benchmark does and
 * answers one line with one line: open FOLDER ..., run TIMES, save, close.
 * Operands and results travel as raw arrays in files of a temporary folder.
 *
 * It times itself, the median of many runs, so that neither the pipe nor the
 * interpreter's start counts. A race asks for one run at a time; that many
 * runs are answered from one batch of at least a millisecond, and the race's
 * clock is set as if they had happened here. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../contest/talk.h"
#include "base/base.h"
#include "peers.h"

static const double PATIENCE = 60; /* seconds for one answer */
static const double BATCH = 1e-3;  /* seconds of one batch, at least */
static const double SETTLE = 4e-3; /* for the spinning threads to sleep */

typedef struct {
    const char *library; /* what serve.py shall import */
    bench_talk talk;
    char hello[64]; /* name and version, its first line */
    char folder[64];
    const bench_operands *o;
    int times;      /* runs in a batch */
    int left;       /* runs of the last batch not yet asked for */
    double seconds; /* of each of them */
    int sample;     /* of the race, that they were made for */
} remote;

/* ---- talking ---- */

static int ask(remote *r, const char *question, char *answer, size_t size)
{
    return bench_talk_ask(&r->talk, question, answer, size, PATIENCE);
}

static int start(remote *r)
{
    char python[] = BENCH_PYTHON, script[] = BENCH_SERVE, library[16];
    char *argv[] = {python, script, library, NULL};

    if (r->talk.pid != 0)
        return r->talk.pid > 0;
    snprintf(library, sizeof library, "%s", r->library);
    return bench_talk_start(&r->talk, argv, 0) &&
           bench_talk_hear(&r->talk, r->hello, sizeof r->hello, PATIENCE);
}

static const char *version(remote *r)
{
    return start(r) ? r->hello : "does not start";
}

/* ---- files ---- */

static const char *const files[] = {"start", "col", "val", "B", "D", "C"};
enum { FILES = sizeof files / sizeof files[0] };

static void file_path(char path[128], const remote *r, const char *name)
{
    snprintf(path, 128, "%s/%s", r->folder, name);
}

static int write_array(const remote *r, const char *name, const void *data,
                       int64_t count, size_t size)
{
    char path[128];
    FILE *f;
    int good;

    file_path(path, r, name);
    f = fopen(path, "wb");
    if (!f)
        return 0;
    good = fwrite(data, size, (size_t)count, f) == (size_t)count;
    return fclose(f) == 0 && good;
}

/* In memory, if the system has such a place: hundreds of megabytes go by. */
static int make_folder(remote *r)
{
    const char *const places[] = {getenv("TMPDIR"), "/dev/shm", "/tmp"};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (!places[i])
            continue;
        snprintf(r->folder, sizeof r->folder, "%.40s/spry-peer-XXXXXX",
                 places[i]);
        if (mkdtemp(r->folder))
            return 1;
    }
    return 0;
}

static int write_operands(remote *r)
{
    const bench_operands *o = r->o;
    int64_t b = spry_problem_input_size(o->p, 0);
    int64_t d = spry_problem_input_size(o->p, 1);

    return make_folder(r) &&
           write_array(r, "start", o->start, o->rows + 1, 4) &&
           write_array(r, "col", o->col, o->nnz, 4) &&
           write_array(r, "val", o->val, o->nnz, o->c.type) &&
           write_array(r, "B", o->B, b, o->c.type) &&
           write_array(r, "D", o->D, d, o->c.type);
}

static void remove_files(const remote *r)
{
    for (int i = 0; i < FILES; i++) {
        char path[128];

        file_path(path, r, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(r->folder);
}

/* ---- the four functions ---- */

static void *open_remote(remote *r, const bench_operands *o,
                         char why[BENCH_WHY])
{
    char question[256], answer[BENCH_WHY];
    int good;

    r->o = o;
    r->left = 0;
    r->times = 1;
    snprintf(why, BENCH_WHY, "no answer from the %s process", r->library);
    if (!start(r))
        return NULL;
    good = write_operands(r);
    snprintf(question, sizeof question, "open %s %s %s %lld %lld %lld %d\n",
             r->folder, spry_op_name(o->c.op), spry_type_name(o->c.type),
             (long long)o->rows, (long long)o->cols, (long long)o->c.n,
             o->c.threads);
    if (good && ask(r, question, answer, sizeof answer)) {
        snprintf(why, BENCH_WHY, "%s", answer);
        good = strncmp(answer, "ok", 2) == 0;
    }
    remove_files(r);
    return good && r->talk.pid > 0 ? r : NULL;
}

static void settle(void)
{
    struct timespec t = {0, (long)(SETTLE * 1e9)};

    (void)nanosleep(&t, NULL);
}

/* So many runs in a row, that they last as long as a sample should. */
static void run_batch(remote *r)
{
    char question[32], answer[64];

    snprintf(question, sizeof question, "run %d\n", r->times);
    settle();
    r->seconds = PATIENCE; /* who does not answer has lost */
    if (ask(r, question, answer, sizeof answer))
        r->seconds = strtod(answer, NULL);
    settle();
    r->left = r->times;
    if (r->seconds > 1e-9 && r->seconds * r->times < BATCH)
        r->times = (int)(BATCH / r->seconds) + 1;
}

static void run_remote(void *handle)
{
    remote *r = handle;
    double begun = sp_seconds();

    if (r->left == 0 || r->sample != bench_peers_sample())
        run_batch(r);
    r->sample = bench_peers_sample();
    r->left--;
    bench_peers_shift(r->seconds - (sp_seconds() - begun));
}

static void fetch(void *handle, void *C)
{
    remote *r = handle;
    char question[160], answer[64], path[128];
    size_t count = (size_t)spry_problem_output_size(r->o->p);
    FILE *f;

    if (!make_folder(r))
        return;
    file_path(path, r, "C");
    snprintf(question, sizeof question, "save %s\n", path);
    f = ask(r, question, answer, sizeof answer) ? fopen(path, "rb") : NULL;
    if (f) {
        if (fread(C, r->o->c.type, count, f) != count)
            bench_talk_end(&r->talk);
        fclose(f);
    }
    remove_files(r);
}

static void close_remote(void *handle)
{
    char answer[64];

    (void)ask(handle, "close\n", answer, sizeof answer);
}

/* ---- the rows ---- */

static remote scipy = {.library = "scipy"}, torch = {.library = "torch"};

static const char *scipy_version(void)
{
    return version(&scipy);
}

static const char *torch_version(void)
{
    return version(&torch);
}

static void *open_scipy(const bench_operands *o, char why[BENCH_WHY])
{
    return open_remote(&scipy, o, why);
}

static void *open_torch(const bench_operands *o, char why[BENCH_WHY])
{
    return open_remote(&torch, o, why);
}

const bench_peer bench_scipy = {.name = "scipy",
                                .ops = BENCH_SPMV | BENCH_SPMM,
                                .types = BENCH_F32 | BENCH_F64,
                                .copies = 1,
                                .version = scipy_version,
                                .open = open_scipy,
                                .run = run_remote,
                                .fetch = fetch,
                                .close = close_remote};

const bench_peer bench_torch = {.name = "torch",
                                .ops = BENCH_SPMV | BENCH_SPMM | BENCH_SDDMM,
                                .types = BENCH_F32 | BENCH_F64,
                                .parallel = 1,
                                .copies = 1,
                                .version = torch_version,
                                .open = open_torch,
                                .run = run_remote,
                                .fetch = fetch,
                                .close = close_remote};
