/* test_graph_random.c - random operator graphs: executors against the
 * reference. SPRY_RANDOM_GRAPHS=20000 asks for more of them, 1@4711 for the
 * one of seed 4711. */
#include "graph_hostile.h"
#include "graph_operands.h"
#include "random_moves.h"
#include "random_operators.h"
#include "random_windows.h"

#include <math.h>

/* ---- whole graphs ---- */

typedef int maker(random_graph *g, int x);

/* Those first that images of one size can have. */
static maker *const makers[] = {
    convolution, convolution,  convolution,   pool,      excitation,
    arithmetic,  arithmetic,   concatenation, split,     activation,
    activation,  gated,        concatenation, gelu,      batch_norm,
    convolution, arithmetic,   product,       product,   reduction,
    reduction,   softmax,      norm,          flattened, transposition,
    reshaped,    one_more_dim, slice,         padded,    global_pool,
    resized,     reversed};
enum { MAKERS = sizeof makers / sizeof *makers, OF_ONE_SIZE = 15 };

static sp_extent random_shape(random_graph *g)
{
    static const int64_t channels[] = {1, 2, 3, 4, 8, 16, 17, 20, 33};
    int64_t n = digit_of(g, "1123"), h = between(g, 1, 8);

    if (g->one_size || chance(g, 40)) {
        int64_t c = channels[below(g, 9)];

        return (sp_extent){4, {n, c, h, between(g, 1, 8)}};
    }
    if (chance(g, 50))
        return (sp_extent){3, {n, h, between(g, 1, 24)}};
    return matrix_of(h, between(g, 1, 34));
}

static void random_inputs(random_graph *g)
{
    sp_extent shape = random_shape(g);

    may_be_read(g, input_of(g, &shape));
    if (chance(g, 30))
        may_be_read(g, input_of(g, &shape));
}

static void random_nodes(random_graph *g)
{
    int64_t steps = between(g, 2, 14);

    for (int64_t i = 0; i < steps; i++) {
        int x = chance(g, 70) ? g->reads[g->readable - 1] : other_value(g);
        maker *make = makers[below(g, g->one_size ? OF_ONE_SIZE : MAKERS)];
        int y = make(g, x);

        if (y >= 0)
            may_be_read(g, y);
    }
}

/* The last value, and perhaps some that others read, too. */
static void random_outputs(random_graph *g)
{
    int out[3] = {g->reads[g->readable - 1]}, count = 1;

    while (count < 3 && chance(g, 35)) {
        int y = other_value(g), known = 0;

        for (int i = 0; i < count; i++)
            known |= out[i] == y;
        if (!known)
            out[count++] = y;
    }
    for (int i = 0; i < count; i++)
        declare(g, 12, out[i]);
}

static void make_random(random_graph *g, uint64_t seed)
{
    static const int opset[] = {11, 13, 17, 18, 20};
    sp_buf m = {0};

    *g = (random_graph){.rng = sp_rng_seed(seed)};
    g->opset = opset[below(g, 5)];
    g->one_size = chance(g, 40);
    sp_buf_printf(&g->text, "opset %d\n", g->opset);
    random_inputs(g);
    random_nodes(g);
    random_outputs(g);
    pb_model(&m, &g->bytes, (uint64_t)g->opset);
    assert_false(m.failed);
    save("m.onnx", m.data, m.len);
    sp_buf_free(&m);
}

/* ---- the comparison ---- */

static _Noreturn void blame(const random_graph *g, uint64_t seed,
                            const char *what)
{
    fputs(g->text.data, stderr); /* more than cmocka has room for */
    fail_msg("SPRY_RANDOM_GRAPHS=1@%llu: %s", (unsigned long long)seed, what);
    abort();
}

/* Which number is wrong, -1: none. Sums round by what their largest terms
 * are. */
static int64_t wrong_number(const graph_operands *a, const graph_operands *b,
                            int i)
{
    const float *want = a->out[i], *got = b->out[i];
    float most = 1;

    for (int64_t k = 0; k < a->to[i].count; k++)
        if (isfinite(want[k]))
            most = fmaxf(most, fabsf(want[k]));
    for (int64_t k = 0; k < a->to[i].count; k++)
        if (isnan(want[k]) ? !isnan(got[k])
                           : want[k] != got[k] &&
                                 !(fabsf(want[k] - got[k]) <= 1e-4F * most))
            return k;
    return -1;
}

static void check_run(const random_graph *r, uint64_t seed, const spry_graph *g,
                      const graph_operands *want, int threads)
{
    spry_executor_options how = SPRY_EXECUTOR_DEFAULTS;
    graph_operands b = make_operands(g, seed);
    spry_executor *e;
    char what[200];

    how.threads = threads;
    how.store = ":memory:";
    if (spry_executor_make(&e, g, &how) != SPRY_OK ||
        spry_executor_run(e, (const void *const *)b.in, b.out) != SPRY_OK)
        blame(r, seed, spry_message());
    for (int i = 0; i < spry_graph_outputs(g); i++) {
        int64_t k = wrong_number(want, &b, i);

        if (k < 0)
            continue;
        snprintf(what, sizeof what,
                 "number %lld of %s is %g, should be %g, on %d threads",
                 (long long)k, b.to[i].name, (double)((float *)b.out[i])[k],
                 (double)((float *)want->out[i])[k], threads);
        blame(r, seed, what);
    }
    spry_executor_free(e);
    free_operands(&b);
}

static void check_seed(uint64_t seed)
{
    random_graph r;
    graph_operands want;
    spry_graph *g;

    make_random(&r, seed);
    if (spry_graph_read(&g, "m.onnx", NULL) != SPRY_OK)
        blame(&r, seed, spry_message());
    want = make_operands(g, seed);
    run_reference(g, &want);
    check_run(&r, seed, g, &want, 1);
    check_run(&r, seed, g, &want, 2);
    spry_graph_free(g);
    free_operands(&want);
    free_random(&r);
}

static void random_graphs(void **state)
{
    const char *text = getenv("SPRY_RANDOM_GRAPHS"), *from;
    uint64_t count = (uint64_t)unless_slow(300, 60), first = 1;

    (void)state;
    if (text) {
        count = strtoull(text, NULL, 10);
        from = strchr(text, '@');
        first = from ? strtoull(from + 1, NULL, 10) : 1;
    }
    for (uint64_t i = 0; i < count; i++)
        check_seed(first + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs)};

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
