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

#include "spry/status.h"

/* Skip this case and say why: `make check` lists every reason, so there is no
 * way to skip without one. */
static inline void skip_because(const char *why)
{
    print_message("SKIPPED: %s\n", why);
    skip();
}
#undef skip

/* s must be SPRY_OK; if not, show the sentence. */
#define check_ok(s)                         \
    do {                                    \
        if ((s) != SPRY_OK)                 \
            fail_msg("%s", spry_message()); \
    } while (0)

#endif
