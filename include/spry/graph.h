/* graph.h - operator graphs: networks as frameworks export them.
 *
 * A graph is read from an ONNX file or is one of the built-in networks. It is
 * immutable once created, so threads may share it. */
#ifndef SPRY_GRAPH_H
#define SPRY_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "spry/machine.h"
#include "spry/status.h"
#include "spry/tune.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

typedef struct spry_graph spry_graph;

enum { SPRY_GRAPH_DIMS = 8 };

/* One input or output. */
typedef struct {
    size_t size; /* sizeof (spry_graph_value) */
    const char *name;
    int whole; /* int64_t elements, else float */
    int dims;
    int64_t dim[SPRY_GRAPH_DIMS];
    int64_t count; /* elements */
} spry_graph_value;

typedef struct {
    size_t size;     /* sizeof (spry_graph_options) */
    int64_t unknown; /* the size of dimensions that the file leaves open, such
                        as a batch; 0: 1 */
    /* Shapes of the first inputs, from which such dimensions are taken instead:
     * only dims and dim count. NULL: none. */
    const spry_graph_value *input;
    int inputs;
} spry_graph_options;

/* Read an ONNX file, or make one of the built-in networks with random weights:
 * "net:NAME", for instance "net:resnet50,size=224,seed=1". options NULL: the
 * defaults. SPRY_INPUT for a malformed file or an unknown operator, which the
 * message names. */
spry_status spry_graph_read(spry_graph **out, const char *source,
                            const spry_graph_options *options);
void spry_graph_free(spry_graph *g);

/* Write an ONNX file of opset 13, with the weights inside. */
spry_status spry_graph_write(const spry_graph *g, const char *path);

/* "resnet50", ...; NULL behind the last. */
const char *spry_graph_builtin(int i);

int spry_graph_inputs(const spry_graph *g);
int spry_graph_outputs(const spry_graph *g);
/* SPRY_USAGE when there is no input, or output, i. */
spry_status spry_graph_input(const spry_graph *g, int i, spry_graph_value *out);
spry_status spry_graph_output(const spry_graph *g, int i,
                              spry_graph_value *out);

/* Operators, parameters (without means and variances of batch norms) and
 * multiply-adds of one run. */
int spry_graph_nodes(const spry_graph *g);
int64_t spry_graph_params(const spry_graph *g);
int64_t spry_graph_macs(const spry_graph *g);

/* An operator whose weights are constants: Conv, Gemm, MatMul. */
typedef struct {
    size_t size;      /* sizeof (spry_graph_layer) */
    const char *name; /* of its output */
    const char *op;
    int dims; /* of the weights */
    int64_t dim[SPRY_GRAPH_DIMS];
    int64_t weights, zeros, macs;
} spry_graph_layer;

int spry_graph_layers(const spry_graph *g);
/* SPRY_USAGE when there is no layer i. */
spry_status spry_graph_layer_of(const spry_graph *g, int i,
                                spry_graph_layer *out);

/* The correct result, computed slowly by summing in double: input[i] and
 * output[i] hold the elements of input and output i, float or int64_t. */
spry_status spry_graph_reference(const spry_graph *g, const void *const *input,
                                 void *const *output);

/* ---- running ----
 *
 * An executor runs a graph as a list of plans over one block of memory, the
 * arena. It borrows the graph. A run allocates nothing if every stage has a
 * plan. An executor runs once at a time: threads that run side by side need one
 * each. A forked child may run its parent's, with threads of its own. */

typedef struct spry_executor spry_executor;

/* Which operator is tuned next. */
typedef enum {
    SPRY_BY_PAYOFF,   /* that may save most for a second of tuning */
    SPRY_BY_GRADIENT, /* by rounds, as Ansor does */
    SPRY_BY_FLOPS     /* that has most operations */
} spry_tuning_order;
/* "payoff", "gradient", "flops"; SPRY_USAGE when it is none. */
const char *spry_tuning_order_name(spry_tuning_order order);
spry_status spry_tuning_order_parse(spry_tuning_order *out, const char *text);

typedef struct {
    size_t size;        /* sizeof (spry_executor_options) */
    int threads;        /* 0: all that may be used */
    spry_effort effort; /* SPRY_PREDICT: what the store knows, else what is
                           expected to be fastest; SPRY_MEASURE: tune */
    double seconds;     /* of all tuning; 0: 60 */
    const char *store;  /* NULL: the user's; ":memory:": none */
    const spry_machine *machine; /* NULL: this one */
    /* Called during tuning; nonzero asks to stop with what was found. */
    int (*progress)(double elapsed, double budget, int task, int tasks,
                    double saved, void *payload);
    void *payload;
    spry_tuning_order order;
    int transfer; /* tuning begins with what the store knows of equal and near
                     operators, of whatever network and machine; 0: it begins
                     from nothing */
} spry_executor_options;

#define SPRY_EXECUTOR_DEFAULTS                                               \
    {                                                                        \
        sizeof(spry_executor_options), 0, SPRY_PREDICT, 0, NULL, NULL, NULL, \
            NULL, SPRY_BY_PAYOFF, 1                                          \
    }

spry_status spry_executor_make(spry_executor **out, const spry_graph *g,
                               const spry_executor_options *options);
/* Both in one call: an ONNX file or "net:NAME", read as usual, as an executor
 * that owns its graph. */
spry_status spry_network_onnx(spry_executor **out, const char *source,
                              const spry_executor_options *options);
/* The graph that it runs. */
const spry_graph *spry_executor_graph(const spry_executor *e);
/* As spry_graph_reference, in float and fast. */
spry_status spry_executor_run(spry_executor *e, const void *const *input,
                              void *const *output);
void spry_executor_free(spry_executor *e);

/* What was asked for and is not there: a site's store, or a SPRY_WEIGHTS that
 * is no number; "" if all was. Lives as long as the executor. */
const char *spry_executor_note(const spry_executor *e);

/* What tuning won: runs in pairs with the executor that the model alone would
 * make, and the 95 % interval of their ratio. Were it slower, tuning would
 * have left things as they were. pairs 0: it computes as the model alone
 * would, speedup 1, or was not tuned to the end, speedup 0. */
typedef struct {
    size_t size;           /* sizeof (spry_executor_gain) */
    double untuned, tuned; /* seconds of a run */
    double speedup, low, high;
    int pairs;
} spry_executor_gain;
spry_status spry_executor_gain_of(const spry_executor *e,
                                  spry_executor_gain *out);

/* One stage of a run. */
typedef struct {
    size_t size;          /* sizeof (spry_executor_stage) */
    const char *name;     /* of its output */
    char task[256];       /* the operator, or "move", "gather", "plain ..." */
    const char *way;      /* how it is computed; "" when nothing was chosen */
    double density;       /* of its weights; 1 when it has none */
    double macs, seconds; /* seconds: of the last profile, 0: none */
} spry_executor_stage;

int spry_executor_stages(const spry_executor *e);
spry_status spry_executor_stage_of(const spry_executor *e, int i,
                                   spry_executor_stage *out);
/* Run `runs` times and keep the least seconds of every stage. */
spry_status spry_executor_profile(spry_executor *e, const void *const *input,
                                  void *const *output, int runs);
/* Write C that needs no spry into the folder DIR: NAME.c, NAME.h, NAME.bin with
 * the weights, the kernels that the plans use, a CMakeLists.txt and an
 * example. It computes as the executor does, on as many threads (OpenMP).
 * SPRY_USAGE when a stage has no kernel. */
spry_status spry_executor_export(const spry_executor *e, const char *dir,
                                 const char *name);
/* Packed weights are cached in the user's cache folder, so that opening a
 * network again takes no longer than a few of its runs; at most $SPRY_WEIGHTS
 * bytes (2G; 0: none), the least recently used removed first. An executor whose
 * store is ":memory:" does not use the cache. */
typedef struct {
    size_t size;          /* sizeof (spry_graph_kept) */
    int64_t count, bytes; /* networks */
} spry_graph_kept;
spry_status spry_graph_kept_of(spry_graph_kept *out);
/* Remove the least recently used until at most `keep` bytes remain. removed may
 * be NULL. */
spry_status spry_graph_kept_trim(spry_graph_kept *removed, int64_t keep);

/* Bytes of the arena, and the most that must be held at once. */
int64_t spry_executor_arena(const spry_executor *e);
int64_t spry_executor_live(const spry_executor *e);

#ifdef __cplusplus
}
#endif
#endif
