/* check.h - cmocka with what it needs before it. */
#ifndef SPRY_CHECK_H
#define SPRY_CHECK_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <stdlib.h>

#include "spry/status.h"

/* Skip this case and say why: `make check` lists every reason, so there is no
 * way to skip without one. */
static inline void skip_because(const char *why)
{
    print_message("SKIPPED: %s\n", why);
    skip();
}
#undef skip

/* How much of a test is done: all of it; `few` on an emulated processor, which
 * takes 10 to 30 times as long (make check-arm). */
static inline int unless_emulated(int all, int few)
{
    return getenv("SPRY_EMULATOR") ? few : all;
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||       \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define TEST_IS_SANITIZED 1
#else
#define TEST_IS_SANITIZED 0
#endif

/* The same, where sanitizers make it slow, too. */
static inline int unless_slow(int all, int few)
{
    return TEST_IS_SANITIZED ? few : unless_emulated(all, few);
}

/* s must be SPRY_OK; if not, show the sentence. */
#define check_ok(s)                         \
    do {                                    \
        if ((s) != SPRY_OK)                 \
            fail_msg("%s", spry_message()); \
    } while (0)

#endif
