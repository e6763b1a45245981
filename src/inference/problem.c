/* problem.c - a network and a batch become a problem with a key. */
#include <string.h>

#include "base/unconst.h"
#include "inference/internal.h"

/* Races are with as many inputs as some seconds of them are worth and as fit
 * in this much memory, but with full tiles on several threads. */
static const double RACE_EDGES = 2e9;
enum { RACE_BYTES = 1 << 26, RACE_LEAST = 256 };

static void make_key(sp_inference *p)
{
    char key[33];
    unsigned all;

    (void)spry_passes_parse(&all, NULL);
    spry_network_key(key, p->net);
    snprintf(p->head.key, sizeof p->head.key, "net-%s-%lld", key,
             (long long)p->batch);
    if (p->passes != all) {
        size_t at = strlen(p->head.key);

        snprintf(p->head.key + at, sizeof p->head.key - at, "-%x", p->passes);
    }
}

spry_status spry_problem_network(spry_problem **out, const spry_network *n,
                                 int64_t batch)
{
    SP_NEED_NEW(out, n);

    sp_inference *p;
    int64_t cells;

    if (batch < 1 ||
        __builtin_mul_overflow(n->inputs + n->outputs, batch, &cells) ||
        cells > INT64_MAX / 16)
        return sp_fail(SPRY_USAGE, "a batch of %lld inputs makes no sense",
                       (long long)batch);
    p = sp_alloc(1, sizeof *p);
    if (!p)
        return sp_no_memory(sizeof *p);
    p->head.kind = &sp_inference_kind;
    p->net = n;
    p->batch = batch;
    (void)spry_passes_parse(&p->passes, NULL);
    pthread_mutex_init(&p->lock, NULL);
    make_key(p);
    *out = &p->head;
    return SPRY_OK;
}

const sp_inference *sp_inference_of(const spry_problem *p)
{
    return p && p->kind == &sp_inference_kind ? (const sp_inference *)p : NULL;
}

static spry_status need(sp_inference **out, spry_problem *p)
{
    *out = (sp_inference *)p;
    return sp_inference_of(p)
               ? SPRY_OK
               : sp_fail(SPRY_USAGE, "the problem is none of a network");
}

static void forget_smaller(sp_inference *p)
{
    spry_network_free(p->smaller);
    p->smaller = NULL;
}

spry_status spry_problem_set_passes(spry_problem *problem, const char *passes)
{
    SP_NEED(problem);

    sp_inference *p;
    spry_status s = need(&p, problem);

    if (s == SPRY_OK)
        s = spry_passes_parse(&p->passes, passes);
    if (s == SPRY_OK) {
        forget_smaller(p);
        make_key(p);
    }
    return s;
}

spry_status spry_problem_set_inputs(spry_problem *problem, const float *x)
{
    SP_NEED(problem);

    sp_inference *p;
    spry_status s = need(&p, problem);
    int64_t count;

    if (s != SPRY_OK)
        return s;
    sp_free(p->x);
    p->x = NULL;
    if (!x)
        return SPRY_OK;
    count = spry_problem_raced(problem) * p->net->inputs;
    p->x = sp_alloc_raw(count, sizeof *p->x);
    if (!p->x)
        return sp_no_memory((size_t)count * sizeof *p->x);
    memcpy(p->x, x, (size_t)count * sizeof *p->x);
    return SPRY_OK;
}

/* ---- asked of any problem ---- */

const spry_network *spry_problem_net(const spry_problem *p)
{
    SP_NEED_OR(NULL, p);
    return sp_inference_of(p) ? sp_inference_of(p)->net : NULL;
}

int64_t spry_problem_batch(const spry_problem *p)
{
    SP_NEED_OR(0, p);
    return sp_inference_of(p) ? sp_inference_of(p)->batch : 0;
}

int64_t spry_problem_raced(const spry_problem *problem)
{
    SP_NEED_OR(0, problem);

    const sp_inference *p = sp_inference_of(problem);
    int64_t most, worth;

    if (!p)
        return 0;
    most = RACE_BYTES / (4 * (p->net->inputs + p->net->outputs) + 1);
    worth = (int64_t)(RACE_EDGES / (double)(p->net->edges + 1));
    worth = worth < RACE_LEAST ? RACE_LEAST : worth;
    most = worth < most ? worth : most;
    most = most < 1 ? 1 : most;
    return p->batch < most ? p->batch : most;
}

spry_status sp_inference_smaller(const spry_network **out,
                                 const sp_inference *p)
{
    sp_inference *own = sp_unconst(p);
    double begun = sp_seconds();
    spry_status s = SPRY_OK;

    *out = own->net;
    if (!(own->passes & ~sp_way_rest()))
        return SPRY_OK;
    pthread_mutex_lock(&own->lock);
    if (!own->smaller) {
        s = spry_network_compile(&own->smaller, own->net, own->passes, NULL);
        own->compile_seconds = sp_seconds() - begun;
    }
    if (s == SPRY_OK)
        *out = own->smaller;
    pthread_mutex_unlock(&own->lock);
    return s;
}

/* ---- the kind ---- */

static void about(char *out, size_t size, const spry_problem *problem)
{
    const sp_inference *p = sp_inference_of(problem);

    snprintf(out, size, "network of %lld layers, %lld edges, batch %lld",
             (long long)p->net->layers, (long long)p->net->edges,
             (long long)p->batch);
}

static void origin(spry_origin *out, const spry_problem *problem)
{
    const sp_inference *p = sp_inference_of(problem);

    out->op = "network";
    out->type = "f32";
    out->n = p->batch;
    out->rows = p->net->outputs;
    out->cols = p->net->inputs;
    out->nnz = p->net->edges;
}

static void fields(sp_json *j, const spry_problem *problem, const char *source)
{
    const sp_inference *p = sp_inference_of(problem);

    sp_json_text(j, "network", source);
    sp_json_text(j, "op", "network");
    sp_json_integer(j, "inputs", p->net->inputs);
    sp_json_integer(j, "outputs", p->net->outputs);
    sp_json_integer(j, "layers", p->net->layers);
    sp_json_integer(j, "edges", p->net->edges);
    sp_json_integer(j, "batch", p->batch);
    sp_json_integer(j, "raced", spry_problem_raced(problem));
}

static int nothing(const spry_problem *p)
{
    return sp_inference_of(p)->net->edges == 0;
}

static double given_bytes(const spry_problem *p)
{
    return 8 * (double)sp_inference_of(p)->net->edges;
}

static double flops(const spry_problem *p)
{
    return 2 * (double)sp_inference_of(p)->net->edges *
           (double)sp_inference_of(p)->batch;
}

static int64_t input_size(const spry_problem *p, int which)
{
    return which ? 0
                 : sp_inference_of(p)->net->inputs * sp_inference_of(p)->batch;
}

static int64_t output_size(const spry_problem *p)
{
    return sp_inference_of(p)->net->outputs * sp_inference_of(p)->batch;
}

static double bytes(const spry_problem *p)
{
    return given_bytes(p) + 4 * (double)(input_size(p, 0) + output_size(p));
}

static spry_status reference(const spry_problem *problem, const sp_operands *f)
{
    const sp_inference *p = sp_inference_of(problem);
    const float *x = f->B;
    float *y = f->C;
    double *row = sp_alloc_raw(p->net->outputs, sizeof *row);
    spry_status s = row ? SPRY_OK : sp_no_memory(sizeof *row);

    if (s == SPRY_OK && (f->alpha != 1 || f->beta != 0))
        s = sp_fail(SPRY_USAGE, "a network has no alpha and beta");
    for (int64_t b = 0; s == SPRY_OK && b < p->batch; b++) {
        s = spry_network_reference(row, p->net, x + b * p->net->inputs, 1);
        for (int64_t i = 0; s == SPRY_OK && i < p->net->outputs; i++)
            y[b * p->net->outputs + i] = (float)row[i];
    }
    sp_free(row);
    return s;
}

static void free_inference(spry_problem *problem)
{
    sp_inference *p = (sp_inference *)problem;

    forget_smaller(p);
    pthread_mutex_destroy(&p->lock);
    sp_free(p->x);
    sp_free(p);
}

const sp_problem_kind sp_inference_kind = {.name = "network",
                                           .about = about,
                                           .origin = origin,
                                           .fields = fields,
                                           .nothing = nothing,
                                           .given_bytes = given_bytes,
                                           .flops = flops,
                                           .bytes = bytes,
                                           .input_size = input_size,
                                           .output_size = output_size,
                                           .reference = reference,
                                           .free = free_inference};
