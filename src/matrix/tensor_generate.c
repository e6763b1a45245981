/* tensor_generate.c - tensors of known kinds, slice by slice.
 *
 * A kind is the same here as for matrices: a function from a row of the
 * unfolded tensor, a slice, to its columns. */
#include "matrix/generate.h"
#include "matrix/internal.h"

#include <math.h>

#define SHAPE "i=1000 k=i l=i nnz=100*i"

enum { SORT_CLUSTER = 48 };

/* dims i, k, l become rows and cols; nnz is cut to what fits. */
static spry_status shape(sp_gen *g, int64_t *nnz)
{
    static const char *const name[] = {"i", "k", "l"};
    int64_t dim[3] = {0};
    double wanted;
    spry_status s = SPRY_OK;

    for (int mode = 0; s == SPRY_OK && mode < 3; mode++) {
        s = sp_gen_whole(g, name[mode], 1, 0x1p31);
        dim[mode] = sp_gen_count(g, name[mode]);
    }
    if (s == SPRY_OK)
        s = sp_tensor_columns(&g->cols, dim);
    if (s != SPRY_OK)
        return s;
    g->rows = dim[0];
    wanted = floor(sp_gen_real(g, "nnz"));
    if (sp_gen_origin(g, "nnz") == SP_GIVEN)
        s = sp_gen_whole(g, "nnz", 0, (double)g->rows * (double)g->cols);
    if (s == SPRY_OK)
        s = sp_gen_entries(g, wanted);
    *nnz = (int64_t)fmin(wanted, (double)g->rows * (double)g->cols);
    return s;
}

/* ---- uniform ---- */

static spry_status uniform_prepare(sp_gen *g)
{
    int64_t nnz;
    spry_status s = shape(g, &nnz);

    if (s == SPRY_OK)
        s = sp_gen_quota_new(g, g->rows);
    if (s == SPRY_OK) {
        sp_gen_quota_even(g, nnz);
        sp_gen_quota_cap(g, g->cols);
    }
    return s;
}

static int64_t uniform_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    sp_gen_choose(w, g->cols, g->quota[i], NULL);
    return g->quota[i];
}

static const sp_generator uniform = {
    "uniform",           "entries anywhere, every cell alike",
    SHAPE SP_GEN_COMMON, uniform_prepare,
    uniform_row,         1,
};

/* ---- zipf: few indices of every mode hold most entries ---- */

/* A stride coprime to n spreads the popular indices over the whole mode. */
static int64_t stride_of(int64_t n)
{
    int64_t stride = (int64_t)((double)n * 0.6180339887) | 1;

    for (;; stride += 2) {
        int64_t a = n, b = stride;

        while (b) {
            int64_t rest = a % b;

            a = b;
            b = rest;
        }
        if (a == 1)
            return stride % n ? stride % n : 1;
    }
}

static spry_status zipf_prepare(sp_gen *g)
{
    int64_t nnz;
    spry_status s = shape(g, &nnz);

    if (s == SPRY_OK)
        s = sp_gen_range(g, "skew", 1, 8);
    if (s == SPRY_OK)
        s = sp_gen_quota_new(g, g->rows);
    if (s != SPRY_OK)
        return s;
    g->tables = 2;
    g->table = sp_alloc(g->tables, sizeof *g->table);
    if (!g->table)
        return sp_fail_memory(2 * sizeof *g->table);
    g->table[0] = stride_of(sp_gen_count(g, "k"));
    g->table[1] = stride_of(sp_gen_count(g, "l"));
    sp_gen_quota_power(g, nnz, 1 - 1 / sp_gen_real(g, "skew"));
    sp_gen_quota_cap(g, g->cols);
    return SPRY_OK;
}

/* u^skew leans to 0: half of all draws fall below n / 2^skew. */
static int64_t popular(sp_rng *r, int64_t n, double skew, int64_t stride)
{
    int64_t at = (int64_t)((double)n * sp_gen_power(sp_rng_unit(r), skew));

    at = at < n ? at : n - 1;
    return at * stride % n; /* both below 2^31 */
}

static int64_t zipf_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t k = sp_gen_count(g, "k"), l = sp_gen_count(g, "l");
    double skew = sp_gen_real(g, "skew");

    for (int64_t e = 0; e < g->quota[i]; e++) {
        int64_t at = popular(&w->rng, k, skew, g->table[0]);

        w->col[e] = at * l + popular(&w->rng, l, skew, g->table[1]);
    }
    return sp_gen_sort_unique(w, g->quota[i]);
}

static const sp_generator zipf = {
    "zipf",
    "few indices of every mode hold most entries; repeats fall together",
    SHAPE " skew=3" SP_GEN_COMMON,
    zipf_prepare,
    zipf_row,
    0,
};

/* ---- clusters: dense cubes ---- */

static int64_t cubes_along(const sp_gen *g, const char *mode)
{
    int64_t side = sp_gen_count(g, "side"), n = sp_gen_count(g, mode);

    return n / side + (n % side != 0);
}

static spry_status clusters_prepare(sp_gen *g)
{
    int64_t nnz, side;
    double cubes, most;
    spry_status s = shape(g, &nnz);

    if (s == SPRY_OK)
        s = sp_gen_whole(g, "side", 1, 1024);
    if (s == SPRY_OK)
        s = sp_gen_range(g, "fill", 0.001, 1);
    if (s == SPRY_OK)
        s = sp_gen_quota_new(g, cubes_along(g, "i"));
    if (s != SPRY_OK)
        return s;
    side = sp_gen_count(g, "side");
    most = (double)cubes_along(g, "k") * (double)cubes_along(g, "l");
    cubes = (double)nnz / (double)(side * side * side);
    cubes /= sp_gen_real(g, "fill");
    sp_gen_quota_even(g, llround(fmin(cubes, most * (double)g->quotas)));
    sp_gen_quota_cap(g, (int64_t)most);
    g->widest *= side * side;
    return SPRY_OK;
}

/* The slices of one layer of cubes draw the same places; each tosses its own
 * coins for the cells that stay. Places are spread out from behind. */
static int64_t clusters_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t side = sp_gen_count(g, "side"), K = sp_gen_count(g, "k");
    int64_t L = sp_gen_count(g, "l"), wide = cubes_along(g, "l");
    int64_t n = g->quota[i / side], cells = side * side, kept = 0;
    double fill = sp_gen_real(g, "fill");
    sp_rng own = w->rng;

    w->rng = sp_gen_stream(g, SORT_CLUSTER, i / side);
    sp_gen_choose(w, cubes_along(g, "k") * wide, n, NULL);
    w->rng = own;
    for (int64_t e = n * cells - 1; e >= 0; e--) {
        int64_t cube = w->col[e / cells], cell = e % cells;
        int64_t k = cube / wide * side + cell / side;
        int64_t l = cube % wide * side + cell % side;

        w->col[e] = k < K && l < L ? k * L + l : -1;
    }
    for (int64_t e = 0; e < n * cells; e++)
        if (w->col[e] >= 0 && (fill == 1 || sp_rng_unit(&w->rng) < fill))
            w->col[kept++] = w->col[e];
    return sp_gen_sort_unique(w, kept);
}

static const sp_generator clusters = {
    "clusters",
    "cubes of `side` anywhere on their grid, `fill` of their cells stored",
    SHAPE " side=8 fill=0.5" SP_GEN_COMMON,
    clusters_prepare,
    clusters_row,
    0,
};

/* ---- fibers: long runs along the last mode ---- */

static spry_status fibers_prepare(sp_gen *g)
{
    int64_t nnz, length;
    spry_status s = shape(g, &nnz);

    if (s == SPRY_OK)
        s = sp_gen_whole(g, "length", 1, (double)sp_gen_count(g, "l"));
    if (s == SPRY_OK)
        s = sp_gen_quota_new(g, g->rows);
    if (s != SPRY_OK)
        return s;
    length = sp_gen_count(g, "length");
    sp_gen_quota_even(g, nnz / length);
    sp_gen_quota_cap(g, sp_gen_count(g, "k"));
    g->widest *= length;
    return SPRY_OK;
}

static int64_t fibers_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t length = sp_gen_count(g, "length"), l = sp_gen_count(g, "l");
    int64_t n = g->quota[i];

    sp_gen_choose(w, sp_gen_count(g, "k"), n, NULL);
    for (int64_t e = n * length - 1; e >= 0; e--)
        w->col[e] = w->col[e / length] * l + sp_gen_below(&w->rng, l);
    return sp_gen_sort_unique(w, n * length);
}

static const sp_generator fibers = {
    "fibers",
    "fibers along l of about `length` entries; repeats fall together",
    SHAPE " length=32" SP_GEN_COMMON,
    fibers_prepare,
    fibers_row,
    0,
};

/* ---- the table ---- */

static const sp_generator *const kinds[] = {&uniform, &zipf, &clusters,
                                            &fibers};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const sp_generator *kind_at(int i)
{
    return i >= 0 && i < KINDS ? kinds[i] : NULL;
}

const char *spry_tensor_generator_name(int i)
{
    return kind_at(i) ? kind_at(i)->name : NULL;
}

const char *spry_tensor_generator_help(int i)
{
    return kind_at(i) ? kind_at(i)->help : NULL;
}

const char *spry_tensor_generator_params(int i)
{
    return kind_at(i) ? kind_at(i)->params : NULL;
}

spry_status spry_tensor_generate(spry_tensor **out, const char *spec,
                                 uint64_t seed)
{
    SP_NEED_NEW(out, spec);

    sp_gen g = {.seed = seed};
    spry_matrix *unfolded;
    spry_status s = sp_gen_make(&unfolded, &g, kinds, KINDS, spec);
    int64_t dim[3];

    if (s != SPRY_OK)
        return s;
    dim[0] = sp_gen_count(&g, "i");
    dim[1] = sp_gen_count(&g, "k");
    dim[2] = sp_gen_count(&g, "l");
    return sp_tensor_wrap(out, unfolded, dim);
}
