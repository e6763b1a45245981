/* faults.h - the mistakes that are put into kernels. */
#ifndef BENCH_FAULTS_H
#define BENCH_FAULTS_H

#include "base/base.h"

/* What matches `find`, a POSIX extended regular expression over lines, is
 * replaced by `put`, in which \1 .. \9 stand for its groups. */
typedef struct {
    const char *name;
    const char *find, *put;
    int racy; /* it may show in one run and not in the next */
} bench_fault;

extern const bench_fault bench_faults[];
extern const int bench_fault_count;

/* How many places of the text have room for the fault. */
int bench_fault_places(const char *text, const bench_fault *f);

/* Append the text with the fault at one of these places; returns where that
 * is, -1 when there is no such place. */
long bench_fault_apply(sp_buf *out, const char *text, const bench_fault *f,
                       int place);

#endif
