/* report.h - measurements as one HTML page.
 *
 * The page is a single self-contained file that loads nothing from elsewhere
 * and is readable without JavaScript; the same input gives the same bytes. */
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
    const char *problem; /* only keys that begin with it; NULL: all */
    const char *store;   /* where the page says that a missing probe belongs;
                            NULL: the store it is about; of a plan, the user's
                            own */
    const char *peers;   /* a file that bench-peers wrote (PEERS_CSV), to show
                            the speed of other libraries; NULL: none */
} spry_report_options;
#define SPRY_REPORT_DEFAULTS                                \
    {                                                       \
        sizeof(spry_report_options), NULL, NULL, NULL, NULL \
    }

/* A page about a store, written completely or not at all; path "-" is standard
 * output. SPRY_INPUT when no record matches. options NULL: the defaults. */
spry_status spry_report_store(const char *path, spry_records *db,
                              const spry_report_options *options);

/* A page about the tune that made this plan; SPRY_USAGE when none did.
 * source: how the page names the problem's origin; may be NULL. */
spry_status spry_report_plan(const char *path, const spry_plan *plan,
                             const char *source,
                             const spry_report_options *options);

/* spry_evaluate, and a page about it: how close to the best the choices of each
 * model come, and predicted against measured times, problem by problem. The
 * default title is "How well models choose"; options->problem is ignored. */
spry_status spry_report_models(const char *path, spry_grades *out,
                               const char *const *model, int count,
                               spry_records *db, const spry_train_options *opt,
                               const spry_report_options *options);

#ifdef __cplusplus
}
#endif
#endif
