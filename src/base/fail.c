/* fail.c - the sentence behind the last failure on this thread. */
#include "base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static _Thread_local char sentence[2048];

const char *spry_message(void)
{
    return sentence;
}

void sp_message_clear(void)
{
    sentence[0] = 0;
}

spry_status sp_fail(spry_status s, const char *fmt, ...)
{
    char text[sizeof sentence]; /* an argument may be the old sentence */
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    memcpy(sentence, text, sizeof text);
    return s;
}

spry_status sp_fail_errno(spry_status s, const char *fmt, ...)
{
    int why = errno;
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return sp_fail(s, "%s: %s", text, strerror(why));
}

spry_status sp_fail_in(spry_status s, const char *name)
{
    return s == SPRY_INPUT ? sp_fail(s, "%s: %s", name, sentence) : s;
}

spry_status sp_fail_memory(size_t bytes)
{
    return sp_fail(SPRY_SYSTEM, "not enough memory for %zu bytes", bytes);
}

const char *spry_status_name(spry_status s)
{
    switch (s) {
    case SPRY_OK: return "ok";
    case SPRY_FAIL: return "failure";
    case SPRY_USAGE: return "bad argument";
    case SPRY_INPUT: return "bad input";
    case SPRY_WRONG: return "wrong answer";
    case SPRY_NO_GAIN: return "no improvement";
    case SPRY_BUDGET: return "out of time";
    case SPRY_SYSTEM: return "environment";
    case SPRY_STORE: return "store";
    case SPRY_TIMEOUT: return "timeout";
    case SPRY_STOPPED: return "stopped";
    }
    return "unknown";
}

const char *spry_version(void)
{
    return SPRY_VERSION;
}
