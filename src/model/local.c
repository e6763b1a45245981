/* local.c - what was learned on one machine: read, checked, used. */
#include "model/local.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- use ---- */

/* The row's part that the linear correction sees, on its scale. */
static void linear_row(float out[SP_LOCAL_WIDTH], const sp_scaler *c,
                       const float row[SP_FEATURES])
{
    sp_scaler_apply(out, c, row + SP_PATTERN + SP_MACHINE, 1, SP_FEATURES);
}

static double linear(const sp_local *l, const float *row)
{
    float x[SP_LOCAL_WIDTH];
    double sum = 0;

    linear_row(x, &l->scaler, row);
    for (int k = 0; k < SP_LOCAL_WIDTH; k++)
        sum += (double)(x[k] * l->weight->value[k]);
    return sum;
}

static double elastic(const sp_local *l, const float *row)
{
    double sum = 0;

    for (int k = 0; k < SP_ELASTICITIES; k++)
        sum += (double)(row[k] * l->elastic->value[k]);
    return sum;
}

void sp_local_add(double *trees, double *nets, const sp_local *l,
                  const sp_trees *settled, const sp_local_table *r)
{
    enum { FEW = 64 };
    const float *row = r->x;
    int64_t rows = r->rows;

    for (int64_t at = 0; at < rows; at += FEW) {
        int64_t n = rows - at < FEW ? rows - at : FEW;
        double sum[FEW] = {0};

        if (l->trees_in)
            sp_trees_add(sum, settled ? settled : &l->trees,
                         row + at * SP_FEATURES, n);
        for (int64_t i = 0; i < n; i++) {
            const float *x = row + (at + i) * SP_FEATURES;

            if (l->linear)
                sum[i] += linear(l, x);
            if (l->elastic && r->elastic)
                sum[i] += elastic(l, r->elastic + (at + i) * SP_ELASTICITIES);
            if (l->opinion)
                sum[i] += (double)l->opinion->value[0] * trees[at + i] +
                          (double)l->opinion->value[1] * nets[at + i] +
                          (double)(l->opinion->value[2] * sp_row_bound(x)) +
                          (double)l->opinion->value[3];
            trees[at + i] += sum[i];
            nets[at + i] += sum[i];
        }
    }
}

/* ---- which model ---- */

void sp_cost_hash(char out[SP_LOCAL_TEXT], const sp_cost *c)
{
    sp_hash h = sp_hash_begin();
    const char *name;
    char hex[33];
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(c->nn, i, &name)); i++) {
        sp_hash_add(&h, name, strlen(name));
        sp_hash_add(&h, t->value, (size_t)t->size * sizeof *t->value);
    }
    sp_hash_hex(hex, h);
    snprintf(out, SP_LOCAL_TEXT, "%s", hex);
}

int sp_local_path(char *out, size_t size, spry_op op, const char *machine)
{
    const char *named = getenv("SPRY_MODELS");
    char data[4096 - 8], folder[4096];
    int n;

    if (named && *named)
        snprintf(folder, sizeof folder, "%s", named);
    else if (sp_user_dir(data, sizeof data, "data"))
        snprintf(folder, sizeof folder, "%s/models", data);
    else
        return 0;
    n = snprintf(out, size, "%s/local-%s-%s.spry", folder, spry_op_name(op),
                 machine);
    return n > 0 && (size_t)n < size;
}

/* ---- reading ---- */

static void take_text(char *out, size_t size, const sp_json_doc *d,
                      const char *key)
{
    snprintf(out, size, "%s", sp_json_get_text(d, d->value, key, ""));
}

static int is_kind(const sp_json_doc *d)
{
    return strcmp(sp_json_get_text(d, d->value, "kind", ""), "local") == 0;
}

int sp_local_claims(const sp_nn *nn)
{
    sp_json_doc d;
    int claims =
        sp_json_parse(&d, sp_nn_card(nn), strlen(sp_nn_card(nn))) == SPRY_OK &&
        is_kind(&d);

    sp_json_free(&d);
    return claims;
}

static spry_status read_card(sp_local_card *c, const char *card)
{
    sp_json_doc d;
    spry_status s = sp_json_parse(&d, card, strlen(card));
    int features;

    if (s != SPRY_OK)
        return s;
    take_text(c->op, sizeof c->op, &d, "op");
    take_text(c->source, sizeof c->source, &d, "source");
    take_text(c->machine, sizeof c->machine, &d, "machine");
    take_text(c->method, sizeof c->method, &d, "method");
    take_text(c->date, sizeof c->date, &d, "date");
    c->records = (int64_t)sp_json_get_number(&d, d.value, "records", 0);
    c->problems = (int64_t)sp_json_get_number(&d, d.value, "problems", 0);
    c->before = sp_json_get_number(&d, d.value, "before", nan(""));
    c->after = sp_json_get_number(&d, d.value, "after", nan(""));
    features = (int)sp_json_get_number(&d, d.value, "features", 0);
    if (!is_kind(&d))
        s = sp_fail(SPRY_INPUT, "holds nothing that was learned locally");
    else if (features != SP_FEATURES_VERSION)
        s = sp_fail(SPRY_INPUT, "was fitted to other features than this "
                                "spry's; spry adapt makes it again");
    sp_json_free(&d);
    return s;
}

/* The tensor `name` if the file has it. */
static sp_tensor *tensor(const sp_nn *nn, const char *name)
{
    const char *at;
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(nn, i, &at)); i++)
        if (!strcmp(at, name))
            return t;
    return NULL;
}

static spry_status open_seen(sp_local *l)
{
    sp_tensor *x = tensor(l->nn, "seen.x");
    sp_tensor *label = tensor(l->nn, "seen.label");
    sp_tensor *elastic = tensor(l->nn, "seen.elastic");
    int64_t rows = x ? sp_rows(x) : 0;

    if (!x)
        return SPRY_OK;
    if (!elastic && label) { /* of an older spry: measured anew, bit by bit */
        (void)sp_nn_weights(l->nn, "seen.x", x->shape, sp_init_constant(0));
        (void)sp_nn_weights(l->nn, "seen.label", label->shape,
                            sp_init_constant(0));
        return SPRY_OK;
    }
    if (!elastic || rows > SP_LOCAL_ROWS || sp_cols(x) != SP_FEATURES ||
        !label || sp_rows(label) != rows || sp_cols(label) != 4 ||
        sp_rows(elastic) != rows || sp_cols(elastic) != SP_ELASTICITIES)
        return sp_fail(SPRY_INPUT, "its records are not what they must be");
    l->seen = sp_nn_weights(l->nn, "seen.x", x->shape, sp_init_constant(0));
    l->label =
        sp_nn_weights(l->nn, "seen.label", label->shape, sp_init_constant(0));
    l->seen_elastic = sp_nn_weights(l->nn, "seen.elastic", elastic->shape,
                                    sp_init_constant(0));
    return sp_nn_status(l->nn) == SPRY_SYSTEM ? SPRY_SYSTEM : SPRY_OK;
}

static spry_status open_parts(sp_local *l)
{
    char name[16];
    spry_status s = SPRY_OK;

    if (tensor(l->nn, "linear.weight")) {
        l->scaler = sp_scaler_make(l->nn, "linear", SP_LOCAL_WIDTH);
        l->weight =
            sp_nn_weights(l->nn, "linear.weight", SP_SHAPE(SP_LOCAL_WIDTH),
                          sp_init_constant(0));
        l->linear = 1;
    }
    if (tensor(l->nn, "opinion.weight"))
        l->opinion =
            sp_nn_weights(l->nn, "opinion.weight", SP_SHAPE(SP_LOCAL_OPINIONS),
                          sp_init_constant(0));
    if (tensor(l->nn, "elastic.weight"))
        l->elastic =
            sp_nn_weights(l->nn, "elastic.weight", SP_SHAPE(SP_ELASTICITIES),
                          sp_init_constant(0));
    l->nets = sp_resnet_known(l->nn, "net0") ? SP_LOCAL_NETS : 0;
    for (int k = 0; k < l->nets; k++) {
        snprintf(name, sizeof name, "net%d", k);
        sp_resnet_make(&l->net[k], l->nn, name);
    }
    if (tensor(l->nn, "residual.node")) {
        s = sp_trees_open(&l->trees, l->nn, "residual", SP_FEATURES);
        l->trees_in = s == SPRY_OK;
    }
    if (s == SPRY_OK)
        s = open_seen(l);
    return s == SPRY_OK ? sp_nn_status(l->nn) : s;
}

static spry_status check_source(const sp_local *l, const sp_cost *c)
{
    char own[SP_LOCAL_TEXT];

    if (strcmp(l->card.op, spry_op_name(c->op)) != 0)
        return sp_fail(SPRY_INPUT, "is of %s, the model of %s", l->card.op,
                       spry_op_name(c->op));
    sp_cost_hash(own, c);
    if (strcmp(own, l->card.source) != 0)
        return sp_fail(SPRY_INPUT, "was learned on top of another model than "
                                   "the one in use");
    return SPRY_OK;
}

spry_status sp_local_load(sp_local **out, const char *path, const sp_cost *c)
{
    sp_nn *nn;
    spry_status s = sp_nn_load(&nn, path);

    *out = NULL;
    return s == SPRY_OK ? sp_local_open(out, nn, path, c) : s;
}

spry_status sp_local_open(sp_local **out, sp_nn *nn, const char *path,
                          const sp_cost *c)
{
    sp_local *l = sp_alloc(1, sizeof *l);
    spry_status s;

    *out = NULL;
    if (!l) {
        sp_nn_free(nn);
        return sp_fail_memory(sizeof *l);
    }
    l->nn = nn;
    s = read_card(&l->card, sp_nn_card(l->nn));
    if (s == SPRY_OK)
        s = open_parts(l);
    if (s == SPRY_OK && c)
        s = check_source(l, c);
    if (s == SPRY_OK) {
        *out = l;
        return SPRY_OK;
    }
    sp_local_free(l);
    return s == SPRY_SYSTEM
               ? s
               : sp_fail(SPRY_INPUT, "%s: %s", path, spry_message());
}

spry_status sp_local_find(sp_local **out, const sp_cost *c, const char *machine)
{
    char path[4096];
    sp_file f;
    spry_status s;

    *out = NULL;
    if (!sp_local_path(path, sizeof path, c->op, machine))
        return SPRY_OK;
    if (sp_file_read(&f, path, (size_t)1 << 26) != SPRY_OK) {
        sp_message_clear();
        return SPRY_OK;
    }
    sp_file_free(&f);
    s = sp_local_load(out, path, c);
    return s;
}

void sp_local_free(sp_local *l)
{
    if (l) {
        sp_trees_free(&l->trees);
        sp_nn_free(l->nn);
    }
    sp_free(l);
}
