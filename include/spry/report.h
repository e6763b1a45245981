/* report.h - what was measured, as one page to look at and to pass on.
 *
 * The page is a single file of HTML: it asks for nothing from anywhere, can
 * be read without script, and the same input gives the same bytes. */
#ifndef SPRY_REPORT_H
#define SPRY_REPORT_H

#include <stddef.h>

#include "spry/plan.h"
#include "spry/records.h"
#include "spry/status.h"
#include "spry/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

typedef struct {
    size_t size;         /* of this struct */
    const char *title;   /* NULL: "What spry found" */
    const char *problem; /* only keys that begin so; NULL: all */
} spry_report_options;
#define SPRY_REPORT_DEFAULTS                    \
    {                                           \
        sizeof(spry_report_options), NULL, NULL \
    }

/* A page about a store, written whole or not at all; "-" is standard output.
 * SPRY_INPUT when nothing in it matches. options NULL: the defaults. */
spry_status spry_report_store(const char *path, spry_records *db,
                              const spry_report_options *options);

/* A page about the tune that made this plan; SPRY_USAGE when none did.
 * source: where the problem came from, as the page shall name it; may be
 * NULL. */
spry_status spry_report_plan(const char *path, const spry_plan *plan,
                             const char *source,
                             const spry_report_options *options);

/* spry_evaluate, and a page about it: how near the best the choices of each
 * model come, predicted against measured times, problem by problem. The title
 * is "How well models choose" when there is none; `problem` says nothing here.
 */
spry_status spry_report_models(const char *path, spry_grades *out,
                               const char *const *model, int count,
                               spry_records *db, const spry_train_options *opt,
                               const spry_report_options *options);

#ifdef __cplusplus
}
#endif
#endif
