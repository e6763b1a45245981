/* status.h - how every function answers.
 *
 * A status is also the exit code of the command line: what the library
 * returns is what the shell sees. The sentence behind the last failure of
 * this thread is in spry_message().
 *
 * Structs may get more members, and programs that were compiled before go on
 * working: options, and what the library fills for a caller, begin with their
 * size (spry_stats s = {.size = sizeof s}) and are read and filled so far; what
 * lies in arrays or goes both ways ends with `reserved`, which is 0; what the
 * library makes is handed out by pointer. */
#ifndef SPRY_STATUS_H
#define SPRY_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* ==== simple ==== */

typedef enum {
    SPRY_OK = 0,
    SPRY_FAIL = 1,      /* something else went wrong; the message says what */
    SPRY_USAGE = 2,     /* an argument makes no sense */
    SPRY_INPUT = 3,     /* a file is not what it claims to be */
    SPRY_WRONG = 4,     /* a kernel's answer differs from the reference */
    SPRY_NO_GAIN = 5,   /* nothing beat the baseline, and that was required */
    SPRY_BUDGET = 6,    /* time ended before any result */
    SPRY_SYSTEM = 7,    /* no compiler, no permission, no memory, no space */
    SPRY_STORE = 8,     /* the record store is locked or damaged */
    SPRY_TIMEOUT = 124, /* a step did not end in time */
    SPRY_STOPPED = 130  /* the caller asked to stop */
} spry_status;

/* The element type of values and dense operands. */
typedef enum { SPRY_F32 = 4, SPRY_F64 = 8 } spry_type; /* = bytes */

/* The width of indices handed in or out. */
typedef enum { SPRY_I32 = 4, SPRY_I64 = 8 } spry_index; /* = bytes */

/* One sentence about this thread's last failure; "" if there was none. */
const char *spry_message(void);

/* "ok", "bad input", ...: a static string, never NULL. */
const char *spry_status_name(spry_status s);

/* "0.1.0" */
const char *spry_version(void);

#ifdef __cplusplus
}
#endif
#endif
