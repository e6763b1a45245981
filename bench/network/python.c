/* python.c - SciPy and PyTorch as entrants: layerwise.py in a process of its
 * own, told over a pipe to run. One call is several runs, so that the pipe
 * does not count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../contest/folder.h"
#include "../contest/talk.h"
#include "base/base.h"
#include "meet.h"

enum { TIMES = MEET_PYTHON_TIMES };

static const double PATIENCE = 600; /* seconds for one answer */

struct meet_python {
    bench_talk talk;
    char folder[BENCH_FOLDER], name[64];
};

static void write_array(const meet_python *p, const char *name,
                        const void *data, size_t size, int64_t count)
{
    char path[BENCH_FOLDER + 8];

    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    meet_must(sp_file_write(path, data, size * (size_t)count));
}

static void write_network(const meet_python *p, const spry_network *n,
                          const float *x, int64_t batch)
{
    int64_t own = n->neurons - n->inputs, before = n->inputs;
    sp_buf lines = {0};
    int32_t *source = sp_alloc(n->edges, sizeof *source);

    meet_must(source ? SPRY_OK : sp_fail_memory(4));
    for (int64_t l = 0; l < n->layers; l++) {
        int64_t first = n->first[l], last = n->first[l + 1];
        int64_t base = l ? n->first[l - 1] : 0;

        for (int64_t k = n->start[first]; k < n->start[last]; k++)
            source[k] = (int32_t)(n->source[k] - base);
        sp_buf_printf(&lines, "%lld %lld %lld %s\n", (long long)before,
                      (long long)(last - first),
                      (long long)(n->start[last] - n->start[first]),
                      n->activation[l].curve == SPRY_CLAMP ? "32" : "inf");
        before = last - first;
    }
    write_array(p, "layers", lines.data, 1, (int64_t)lines.len);
    write_array(p, "start", n->start + n->inputs, sizeof *n->start, own + 1);
    write_array(p, "source", source, sizeof *source, n->edges);
    write_array(p, "weight", n->weight, sizeof *n->weight, n->edges);
    write_array(p, "bias", n->bias + n->inputs, sizeof *n->bias, own);
    write_array(p, "x", x, sizeof *x, batch * n->inputs);
    sp_buf_free(&lines);
    sp_free(source);
}

static int start(meet_python *p, const char *library, int64_t batch)
{
    char count[32], word[32], python[] = "/usr/bin/python3";
    char script[] = BENCH_LAYERWISE;
    char *argv[] = {python, script, word, p->folder, count, NULL};

    snprintf(count, sizeof count, "%lld", (long long)batch);
    snprintf(word, sizeof word, "%s", library);
    return bench_talk_start(&p->talk, argv, 1) &&
           bench_talk_hear(&p->talk, p->name, sizeof p->name, PATIENCE);
}

meet_python *meet_python_open(const char *library, const spry_network *n,
                              const float *x, int64_t batch)
{
    meet_python *p = sp_alloc(1, sizeof *p);

    meet_must(p ? SPRY_OK : sp_fail_memory(sizeof *p));
    if (!bench_folder(p->folder)) {
        sp_free(p);
        return NULL;
    }
    write_network(p, n, x, batch);
    if (start(p, library, batch))
        return p;
    printf("%s is not there, or cannot hold this network: skipped\n", library);
    meet_python_close(p);
    return NULL;
}

void meet_python_run(void *ctx)
{
    meet_python *p = ctx;
    char question[32], line[64];

    snprintf(question, sizeof question, "run %d\n", TIMES);
    if (!bench_talk_ask(&p->talk, question, line, sizeof line, PATIENCE)) {
        fprintf(stderr, "bench-network: a Python process ended\n");
        exit(SPRY_SYSTEM);
    }
}

static double read_number(meet_python *p)
{
    char line[64];

    return bench_talk_hear(&p->talk, line, sizeof line, PATIENCE)
               ? strtod(line, NULL)
               : (double)NAN;
}

double meet_python_sum(meet_python *p)
{
    (void)bench_talk_say(&p->talk, "sum\n");
    return read_number(p);
}

void meet_python_layers(double *out, meet_python *p, int64_t layers)
{
    (void)bench_talk_say(&p->talk, "layers\n");
    for (int64_t l = 0; l < layers; l++)
        out[l] = read_number(p);
}

void meet_python_close(meet_python *p)
{
    if (!p)
        return;
    bench_talk_close(&p->talk);
    bench_folder_remove(p->folder);
    sp_free(p);
}
