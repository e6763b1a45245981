/* status.h - what functions return when they succeed or fail.
 *
 * A status is also the exit code of the command line. spry_message() returns
 * a sentence that describes this thread's last failure.
 *
 * Later versions may add members to structs without breaking programs compiled
 * against this one. Options, and results that the library fills in, begin with
 * their size (spry_stats s = {.size = sizeof s}), and the library reads and
 * writes no more bytes than that. Structs in arrays, or passed in both
 * directions, end with `reserved`, which must be 0. Objects that the library
 * creates are handed out by pointer. */
#ifndef SPRY_STATUS_H
#define SPRY_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* ==== simple ==== */

typedef enum {
    SPRY_OK = 0,
    SPRY_FAIL = 1,      /* anything not listed below; see the message */
    SPRY_USAGE = 2,     /* an invalid argument or option */
    SPRY_INPUT = 3,     /* a malformed or unreadable input file */
    SPRY_WRONG = 4,     /* a kernel's answer differs from the reference */
    SPRY_NO_GAIN = 5,   /* nothing beat the baseline, and that was required */
    SPRY_BUDGET = 6,    /* time ran out before any result */
    SPRY_SYSTEM = 7,    /* no compiler, no permission, no memory, no space */
    SPRY_STORE = 8,     /* the record store is locked or damaged */
    SPRY_TIMEOUT = 124, /* a step exceeded its time limit */
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
