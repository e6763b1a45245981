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

/* s must be SPRY_OK; if not, show the sentence. */
#define check_ok(s)                         \
    do {                                    \
        if ((s) != SPRY_OK)                 \
            fail_msg("%s", spry_message()); \
    } while (0)

#endif
