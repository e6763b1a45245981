/* misuse.c - each bad call in a child of its own: it must come back, a status
 * as SPRY_USAGE with a sentence that names the function or the argument, and
 * what it should have made as NULL. */
#include "misuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 10, SAMPLE_BYTES = 1 << 20 };

static _Alignas(4096) char samples[SAMPLES][SAMPLE_BYTES];

typedef struct {
    int status, came_back, cleared;
    char message[400];
} outcome;

void *sample(int i)
{
    return samples[i];
}

void *sized(int which)
{
    static const size_t sizes[] = {0, 13, 1000000000};

    memcpy(samples[SAMPLES - 1], &sizes[which], sizeof sizes[which]);
    return samples[SAMPLES - 1];
}

void look_at(const char *text)
{
    if (text && strlen(text) > SAMPLE_BYTES)
        abort();
}

void visited(void)
{
    abort();
}

static void call(const misuse *m, outcome *out)
{
    void *first;

    memset(samples[0], m->makes ? 0xff : 0, sizeof first);
    m->call(&out->status);
    memcpy(&first, samples[0], sizeof first);
    out->cleared = !m->makes || !first;
    snprintf(out->message, sizeof out->message, "%s", spry_message());
    out->came_back = 1;
}

/* What is wrong with how it ended; NULL: nothing. */
static const char *fault(const misuse *m, const outcome *o)
{
    if (!o->came_back)
        return "did not come back";
    if (m->refuses && o->status != SPRY_USAGE)
        return spry_status_name((spry_status)o->status);
    if (m->refuses && !*o->message)
        return "without a sentence";
    if (!o->cleared)
        return "left its result as it was";
    return NULL;
}

static int check(const misuse *m, outcome *o)
{
    const char *why;
    pid_t child;

    memset(o, 0, sizeof *o);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(20);
        call(m, o);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        return 0;
    why = fault(m, o);
    if (why)
        printf("%s, %s: %s%s%s\n", m->function, m->what, why,
               *o->message ? ": " : "", o->message);
    return !why;
}

int main(void)
{
    outcome *o = mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int calls = 0, bad = 0;
    char folder[] = "/tmp/spry-misuse-XXXXXX";

    if (o == MAP_FAILED || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    for (const misuse *m = misuses; m->function; m++, calls++)
        bad += !check(m, o);
    printf("%d calls, %d not refused as they should be\n", calls, bad);
    if (chdir("/") != 0 || rmdir(folder) != 0)
        printf("something was written into %s\n", folder);
    return bad > 0;
}
