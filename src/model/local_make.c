/* local_make.c - what was learned on one machine: put together and kept. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "model/local.h"

/* What is not known, in a file that holds numbers only. */
static const float NOTHING = 1e30F;

spry_status sp_local_new(sp_local **out, const sp_local_card *card)
{
    sp_local *l = sp_alloc(1, sizeof *l);
    time_t now = time(NULL);
    struct tm utc;
    spry_status s;

    *out = NULL;
    if (!l)
        return sp_fail_memory(sizeof *l);
    s = sp_nn_new(&l->nn, 1);
    if (s != SPRY_OK) {
        sp_free(l);
        return s;
    }
    l->card = *card;
    gmtime_r(&now, &utc);
    strftime(l->card.date, sizeof l->card.date, "%Y-%m-%d", &utc);
    *out = l;
    return SPRY_OK;
}

spry_status sp_local_set_nets(sp_local *l, const sp_nn *from)
{
    const char *name, *other;
    sp_tensor *a, *b;

    for (int k = 0; k < SP_LOCAL_NETS; k++) {
        char net[16];

        snprintf(net, sizeof net, "net%d", k);
        sp_resnet_make(&l->net[k], l->nn, net);
    }
    for (int i = 0; (a = sp_nn_at(l->nn, i, &name)); i++)
        for (int k = 0; (b = sp_nn_at(from, k, &other)); k++)
            if (!strcmp(name, other) && a->size == b->size)
                memcpy(a->value, b->value, (size_t)a->size * sizeof *a->value);
    l->nets = SP_LOCAL_NETS;
    return sp_nn_status(l->nn);
}

spry_status sp_local_set_trees(sp_local *l, const sp_trees *t)
{
    spry_status s = sp_trees_keep(l->nn, "residual", t);

    if (s == SPRY_OK)
        s = sp_trees_copy(&l->trees, t);
    l->trees_in = s == SPRY_OK;
    return s;
}

spry_status sp_local_set_linear(sp_local *l, const sp_scaler *all,
                                const sp_linear *linear)
{
    const int first = SP_PATTERN + SP_MACHINE;

    l->scaler = sp_scaler_make(l->nn, "linear", SP_LOCAL_WIDTH);
    l->weight = sp_nn_weights(l->nn, "linear.weight", SP_SHAPE(SP_LOCAL_WIDTH),
                              sp_init_constant(0));
    l->opinion =
        sp_nn_weights(l->nn, "opinion.weight", SP_SHAPE(SP_LOCAL_OPINIONS),
                      sp_init_constant(0));
    l->elastic = sp_nn_weights(l->nn, "elastic.weight",
                               SP_SHAPE(SP_ELASTICITIES), sp_init_constant(0));
    if (!l->weight || !l->opinion || !l->elastic)
        return sp_nn_status(l->nn);
    for (int k = 0; k < SP_LOCAL_OPINIONS; k++)
        l->opinion->value[k] = (float)linear->opinion[k];
    for (int k = 0; k < SP_ELASTICITIES; k++)
        l->elastic->value[k] = (float)linear->elastic[k];
    for (int k = 0; k < SP_LOCAL_WIDTH; k++) {
        l->scaler.mean->value[k] = all->mean->value[first + k];
        l->scaler.scale->value[k] = all->scale->value[first + k];
        l->weight->value[k] = (float)linear->weight[k];
    }
    l->linear = 1;
    return SPRY_OK;
}

spry_status sp_local_set_seen(sp_local *l, const sp_dataset *t)
{
    int64_t first = 0, rows;

    while (first < t->e->subjects && t->rows - t->start[first] > SP_LOCAL_ROWS)
        first++;
    rows = t->rows - t->start[first];
    if (rows <= 0)
        return SPRY_OK;
    l->seen = sp_nn_weights(l->nn, "seen.x", SP_SHAPE(rows, SP_FEATURES),
                            sp_init_constant(0));
    l->label = sp_nn_weights(l->nn, "seen.label", SP_SHAPE(rows, 4),
                             sp_init_constant(0));
    l->seen_elastic =
        sp_nn_weights(l->nn, "seen.elastic", SP_SHAPE(rows, SP_ELASTICITIES),
                      sp_init_constant(0));
    if (!l->seen || !l->label || !l->seen_elastic)
        return sp_nn_status(l->nn);
    for (int64_t s = first; s < t->e->subjects; s++)
        for (int64_t i = t->start[s]; i < t->start[s + 1]; i++) {
            int64_t at = i - t->start[first];
            float *x = l->seen->value + at * SP_FEATURES;
            float *label = l->label->value + at * 4;

            for (int k = 0; k < SP_FEATURES; k++) {
                x[k] = t->x[i * SP_FEATURES + k];
                x[k] = isfinite(x[k]) ? x[k] : NOTHING;
            }
            memcpy(l->seen_elastic->value + at * SP_ELASTICITIES,
                   sp_row_elastic(t, i), SP_ELASTICITIES * sizeof *x);
            label[0] = t->slower[i];
            label[1] = t->bound[i];
            label[2] = t->noise[i];
            label[3] = (float)(s - first);
        }
    return SPRY_OK;
}

void sp_local_seen_row(float out[SP_FEATURES], const sp_local *l, int64_t i)
{
    const float *x = l->seen->value + i * SP_FEATURES;

    for (int k = 0; k < SP_FEATURES; k++)
        out[k] = x[k] < NOTHING ? x[k] : nanf("");
}

spry_status sp_local_save(const sp_local *l, const char *path)
{
    const sp_local_card *c = &l->card;
    sp_buf b = {0};
    sp_json j = {.out = &b, .first = 1};
    spry_status s;

    sp_json_open(&j, NULL, '{');
    sp_json_text(&j, "kind", "local");
    sp_json_text(&j, "op", c->op);
    sp_json_integer(&j, "features", SP_FEATURES_VERSION);
    sp_json_text(&j, "source", c->source);
    sp_json_text(&j, "machine", c->machine);
    sp_json_text(&j, "method", c->method);
    sp_json_text(&j, "date", c->date);
    sp_json_integer(&j, "records", c->records);
    sp_json_integer(&j, "problems", c->problems);
    sp_json_number(&j, "before", c->before);
    sp_json_number(&j, "after", c->after);
    sp_json_close(&j, '}');
    s = b.failed ? sp_fail_memory(b.len) : sp_nn_save(l->nn, b.data, path);
    sp_buf_free(&b);
    return s;
}
