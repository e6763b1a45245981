/* boost.c - trees grown by XGBoost, opened when a model is fitted.
 *
 * XGBoost is never linked: who only uses models does without it. Losses are
 * ours, round by round, so that ranks and times can be learned together; the
 * round that chose best on the test is where the trees are cut off.
 * SPRY_XGBOOST names another file, or "none". */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "model/trees.h"

/* XGBoost's C interface, as much as is used. */
typedef unsigned long long count_t;
typedef void *handle;
static struct {
    const char *(*last_error)(void);
    int (*matrix_new)(const float *, count_t, count_t, float, handle *);
    int (*matrix_set)(handle, const char *, const float *, count_t);
    int (*matrix_free)(handle);
    int (*booster_new)(const handle *, count_t, handle *);
    int (*booster_set)(handle, const char *, const char *);
    int (*booster_step)(handle, handle, float *, float *, count_t);
    int (*booster_predict)(handle, handle, int, unsigned, int, count_t *,
                           const float **);
    int (*booster_save)(handle, const char *, count_t *, const char **);
    int (*booster_free)(handle);
    int ready;
} xgb;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    const char *file = sp_library_file("SPRY_XGBOOST", "libxgboost.so.0");
    void *l = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;

    xgb.ready =
        l && sp_library_function(&xgb.last_error, l, "XGBGetLastError") &&
        sp_library_function(&xgb.matrix_new, l, "XGDMatrixCreateFromMat") &&
        sp_library_function(&xgb.matrix_set, l, "XGDMatrixSetFloatInfo") &&
        sp_library_function(&xgb.matrix_free, l, "XGDMatrixFree") &&
        sp_library_function(&xgb.booster_new, l, "XGBoosterCreate") &&
        sp_library_function(&xgb.booster_set, l, "XGBoosterSetParam") &&
        sp_library_function(&xgb.booster_step, l, "XGBoosterBoostOneIter") &&
        sp_library_function(&xgb.booster_predict, l, "XGBoosterPredict") &&
        sp_library_function(&xgb.booster_save, l,
                            "XGBoosterSaveModelToBuffer") &&
        sp_library_function(&xgb.booster_free, l, "XGBoosterFree");
}

int sp_boost_ready(void)
{
    pthread_once(&once, open_library);
    return xgb.ready;
}

static spry_status check(int code)
{
    return code == 0 ? SPRY_OK
                     : sp_fail(SPRY_FAIL, "XGBoost: %.400s", xgb.last_error());
}

/* ---- one fit ---- */

typedef struct {
    const sp_growing *g;
    handle train, test, booster; /* test NULL: none */
    float *slope, *curve;        /* [train.rows] */
    int best_round;
    double best, smooth; /* one lucky round means nothing */
} growth;

static spry_status make_matrix(handle *out, const sp_boost_data *f,
                               int features)
{
    spry_status s = check(xgb.matrix_new(f->x, (count_t)f->rows,
                                         (count_t)features, nanf(""), out));

    if (s == SPRY_OK && f->margin)
        s = check(
            xgb.matrix_set(*out, "base_margin", f->margin, (count_t)f->rows));
    return s;
}

static spry_status set_up(growth *w)
{
    const sp_growing *g = w->g;
    char number[24];
    handle known[2];
    spry_status s = make_matrix(&w->train, &g->train, g->features);

    if (s == SPRY_OK && g->test.rows > 0)
        s = make_matrix(&w->test, &g->test, g->features);
    known[0] = w->train;
    known[1] = w->test;
    if (s == SPRY_OK)
        s = check(xgb.booster_new(known, w->test ? 2 : 1, &w->booster));
    for (int i = 0; s == SPRY_OK && g->setting[i][0]; i++)
        s = check(
            xgb.booster_set(w->booster, g->setting[i][0], g->setting[i][1]));
    snprintf(number, sizeof number, "%d", g->threads > 0 ? g->threads : 1);
    if (s == SPRY_OK)
        s = check(xgb.booster_set(w->booster, "nthread", number));
    snprintf(number, sizeof number, "%d", (int)(g->seed & 0x7fffffff));
    if (s == SPRY_OK)
        s = check(xgb.booster_set(w->booster, "seed", number));
    if (s == SPRY_OK)
        s = check(xgb.booster_set(w->booster, "base_score", "0"));
    if (s == SPRY_OK)
        s = check(xgb.booster_set(w->booster, "verbosity", "0"));
    return s;
}

static spry_status sums_of(const float **out, growth *w, handle matrix,
                           int training)
{
    enum { MARGIN = 1 };
    count_t n;

    return check(
        xgb.booster_predict(w->booster, matrix, MARGIN, 0, training, &n, out));
}

/* Another tree; *stop when it is enough. */
static spry_status grow_one(growth *w, int round, int *stop)
{
    const sp_growing *g = w->g;
    const float *sum;
    spry_status s = sums_of(&sum, w, w->train, 1);
    double loss, grade;

    if (s != SPRY_OK)
        return s;
    loss = g->slopes(w->slope, w->curve, sum, g->payload);
    s = check(xgb.booster_step(w->booster, w->train, w->slope, w->curve,
                               (count_t)g->train.rows));
    if (s == SPRY_OK && w->test)
        s = sums_of(&sum, w, w->test, 0);
    if (s != SPRY_OK)
        return s;
    grade = g->judge(w->test ? sum : NULL, round, loss, stop, g->payload);
    w->smooth = round == 1 ? grade : 0.8 * w->smooth + 0.2 * grade;
    if (!w->test || round <= g->least || w->smooth < w->best) {
        w->best = w->smooth;
        w->best_round = round;
    }
    if (w->test && round - w->best_round >= g->patience)
        *stop = 1;
    return SPRY_OK;
}

static spry_status grow_all(sp_trees *out, growth *w)
{
    count_t len;
    const char *json;
    spry_status s = set_up(w);
    int stop = 0;

    for (int round = 1; round <= w->g->rounds && s == SPRY_OK && !stop; round++)
        s = grow_one(w, round, &stop);
    if (s == SPRY_OK)
        s = check(
            xgb.booster_save(w->booster, "{\"format\":\"json\"}", &len, &json));
    if (s == SPRY_OK)
        s = sp_trees_read(out, json, (size_t)len, w->g->features,
                          w->best_round);
    return s;
}

spry_status sp_trees_grow(sp_trees *out, const sp_growing *g)
{
    growth w = {.g = g, .best = HUGE_VAL, .best_round = 1};
    spry_status s;

    *out = (sp_trees){0};
    if (!sp_boost_ready())
        return sp_fail(SPRY_SYSTEM,
                       "fitting trees needs XGBoost, which is not here "
                       "(Debian: libxgboost0)");
    w.slope = sp_alloc(g->train.rows, sizeof *w.slope);
    w.curve = sp_alloc(g->train.rows, sizeof *w.curve);
    s = w.slope && w.curve ? grow_all(out, &w)
                           : sp_fail_memory((size_t)g->train.rows * 8);
    if (w.booster)
        xgb.booster_free(w.booster);
    if (w.test)
        xgb.matrix_free(w.test);
    if (w.train)
        xgb.matrix_free(w.train);
    sp_free(w.slope);
    sp_free(w.curve);
    return s;
}
