/* kept.h - small files as spry keeps them, and whether a change to one is
 * noticed or does no harm. */
#ifndef BENCH_PROVE_KEPT_H
#define BENCH_PROVE_KEPT_H

#include "base/base.h"

spry_status prove_make_lock(sp_file *out, const char *folder);
spry_status prove_make_export(sp_file *out, const char *folder);
spry_status prove_make_model(sp_file *out, const char *folder);

/* Refused, or the same answer as of the good one. */
int prove_lock_survives(const sp_file *changed, const sp_file *good,
                        const char *folder);
/* Lines are refused or are taken as they were; the store is sound. */
int prove_export_survives(const sp_file *changed, const sp_file *good,
                          const char *folder);
/* Refused, or its predictions are numbers. */
int prove_model_survives(const sp_file *changed, const sp_file *good,
                         const char *folder);

#endif
