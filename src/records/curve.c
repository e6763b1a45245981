/* curve.c - how models learned, kept beside what they learned from. */
#include "records/internal.h"

spry_status spry_records_put_round(spry_records *db, const spry_round *c)
{
    SP_NEED(db, c);

    sp_stored_row row = {.curve = *c};
    int added;

    return sp_row_add(db, sp_curve_shape, &row, NULL, &added);
}

typedef struct {
    spry_round_visit *visit;
    void *payload;
} visitor;

static spry_status visit_curve(const sp_table_shape *shape,
                               const sp_stored_row *row, const char *id,
                               void *payload)
{
    const visitor *v = payload;

    (void)shape;
    (void)id;
    return v->visit(&row->curve, v->payload) ? SPRY_STOPPED : SPRY_OK;
}

spry_status spry_records_each_round(spry_records *db, spry_round_visit *visit,
                                    void *payload)
{
    SP_NEED(db);
    SP_REFUSE(!visit, "spry_records_each_round: visit is NULL");

    visitor v = {visit, payload};

    return sp_walk_table(db, sp_curve_shape, visit_curve, &v);
}
