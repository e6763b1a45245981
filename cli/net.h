/* net.h - what the actions of `spry net` share. */
#ifndef CLI_NET_H
#define CLI_NET_H

#include "cli.h"

command net_bench, net_compile, net_explain, net_export, net_generate,
    net_inspect, net_order, net_predict, net_run, net_simulate, net_train_order,
    net_tune, net_verify;

/* Operator graphs, MODEL.onnx or net:NAME, have actions of their own
 * (net_graph.c). */
int net_is_graph(int argc, char **argv);
command net_graph;

/* How to read a network, which order to make of it and how: options of
 * several actions. */
extern const opt net_reading[];
extern const opt net_ordering[];
extern const opt net_shaping[];

/* Each says its own failure on stderr. */
spry_status net_read_options(spry_network_options *out, const char *path);
spry_status net_open(spry_network **out, const char *path);
spry_status net_open_layers(spry_layers **out, const char *path);

/* Which passes to run over it (net_compile.c): bits, as shrink.h has them. */
extern const opt net_passing[];
extern const char *net_passes_text; /* of --passes; NULL: not said */
/* With `usual` when --passes does not say. */
spry_status net_passes(unsigned *out, const char *usual);
/* What the passes leave of a network; the network itself need not fit. */
spry_status net_open_compiled(spry_network **out, spry_graph_report *report,
                              const char *path, const char *usual);

/* The name of --order. */
const char *net_order_name(void);
/* --order, --memory and --moves make sense, also where no order is made. */
spry_status net_check_order(void);
/* The edges in the order called `name`, for a memory of so many neurons; 0:
 * of --memory. free() it. */
spry_status net_make_order(int32_t **out, const spry_network *n,
                           const char *name, int64_t room);

/* The words of "a,b,c", at most NET_LIST (net_words.c). */
enum { NET_LIST = 16 };
typedef struct {
    char text[512];
    const char *word[NET_LIST];
    int count;
} net_words;
spry_status net_split(net_words *out, const char *option, const char *text);
/* The same as numbers of --memory. */
spry_status net_memories(int64_t out[NET_LIST], int *count, const char *text);

/* The whole number, from 1 on, of an option; `usual` if it was not said: -1. */
spry_status net_count(int64_t *out, const char *option, double said,
                      int64_t usual);

/* A batch of inputs: a file (.npy, or any matrix, a row for each), or
 * strokes when path is NULL; at most `count` when that is above 0. Rows wrap
 * around, so there may be more of them than in the file. */
typedef struct {
    spry_matrix *rows;
    int64_t count;
    int not_finite; /* some value is NaN or infinite */
} net_batch;
spry_status net_batch_open(net_batch *out, const char *path, int64_t width,
                           int64_t count, int enlarge);
void net_batch_close(net_batch *b);
/* Inputs first .. first + count - 1 as x[count][width]. */
spry_status net_batch_load(float *x, const net_batch *b, int64_t first,
                           int64_t count, int64_t width);

/* How to run a network: --mode, --way, --stream. */
typedef enum { NET_AUTO, NET_EDGE, NET_LAYERS, NET_REFERENCE } net_mode;
typedef struct {
    int mode; /* net_mode */
    const char *way;
    int stream;
} net_how;

/* A network ready to run, one way or another. Opened, told how many inputs
 * will come, run on some of them at a time (net_runner.c). */
typedef struct {
    spry_layers *layers;
    spry_network *net;
    spry_problem *problem;
    spry_plan *plan; /* NULL: by layers or plainly */
    int compiled;    /* net is what the passes left */
    int64_t inputs, outputs;
    int64_t nominal, executed; /* edges */
} net_runner;
spry_status net_runner_open(net_runner *r, const char *path,
                            const net_how *how);
spry_status net_runner_prepare(net_runner *r, const net_batch *b,
                               const net_how *how);
spry_status net_runner_run(const net_runner *r, float *y, const float *x,
                           int64_t count);
void net_runner_close(net_runner *r);

/* ---- a network and a batch as a job (net_job.c) ---- */

extern const opt net_batching[];
spry_status net_do_job(const opt_page *page, int argc, char **argv,
                       job_machine need, job_body *body);

/* The plans of the ways "a; b", or of a handful that stands for all forms. */
enum { NET_WAYS = 32 };
spry_status net_ways(spry_plan *plan[NET_WAYS], int *count, const job *j,
                     char *texts);
void net_ways_free(spry_plan *plan[NET_WAYS], int count);

/* Inputs, counted from 1, that any output is not 0 for. */
typedef struct {
    int64_t *category; /* [count], ascending */
    int64_t count;
} net_categories;
/* SPRY_WRONG when they are not those of the file (net_expect.c): one to a
 * line, or the rows of an .mtx that hold an entry. */
spry_status net_expect(const net_categories *c, const char *expected);

/* Names with a line about each, as text or as JSON (net_words.c); NULL ends
 * them. */
typedef const char *net_word(int i);
spry_status net_print_names(const char *schema, const char *key, net_word *name,
                            net_word *help);

#endif
