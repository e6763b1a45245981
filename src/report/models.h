/* models.h - what a page about models is made from: how each chose on
 * problems that were held out. */
#ifndef SP_REPORT_MODELS_H
#define SP_REPORT_MODELS_H

#include "report/report.h"
#include "spry/train.h"

enum { SP_CURVE = 20 }; /* choices that a model is given at most */

/* One problem, in seconds. */
typedef struct {
    int problem; /* a text of the report's */
    int64_t choices;
    double best, first, last; /* of all, of one choice, of SP_CURVE */
    double baseline;          /* NAN: not known */
} sp_model_row;

typedef struct {
    double regret[SP_CURVE];  /* sum of log(best of k over best) */
    sp_model_row *row;        /* [rows] */
    double *predicted, *time; /* [points] over the mean of their problem */
    int64_t rows, row_room, points, point_room;
} sp_model_seen;

typedef struct {
    sp_report texts; /* names of problems, nothing else */
    const char *const *name;
    const spry_grades *grades; /* [models] */
    sp_model_seen *seen;       /* [models] */
    int models;
    const char *subject, *split;
} sp_models;

int sp_model_is_chance(const sp_models *m, int i);
void sp_models_page(sp_buf *out, const sp_models *m, const char *title);

#endif
