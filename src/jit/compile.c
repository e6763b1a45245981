/* compile.c - C text to the bytes of a shared object, in a directory of our
 * own that is gone afterwards. */
#include "jit/internal.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OBJECT_MAX = 64 << 20 };

#define SOURCE "kernel.c"

/* Ours first, so that the caller's win. -w: the text is generated, and only
 * an error is worth a sentence. */
const char *const sp_compile_flags[] = {
    "-std=gnu11",
    "-O2",
    "-ffp-contract=fast",
    "-falign-functions=64",
    "-falign-loops=64",
    "-fPIC",
    "-shared",
    "-w",
    NULL,
};
enum { OUR_FLAGS = sizeof sp_compile_flags / sizeof sp_compile_flags[0] - 1 };

static atomic_int limit_ms = 20000;

void sp_jit_limit(double seconds)
{
    atomic_store(&limit_ms, (int)(seconds * 1000));
}

static _Atomic double until;

void sp_jit_until(double moment)
{
    atomic_store(&until, moment);
}

double sp_compile_limit(void)
{
    double seconds = atomic_load(&limit_ms) / 1000.0;
    double end = atomic_load(&until), left = end - sp_seconds();

    return end > 0 && left < seconds ? left : seconds;
}

static spry_status write_source(const char *path, const char *source,
                                const char *key_hex)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    char tail[SP_KEY_HEX + 64];
    int ok;

    snprintf(tail, sizeof tail,
             "\nconst char " SP_JIT_KEY_SYMBOL "[] = \"%s\";\n", key_hex);
    ok = fd >= 0 && sp_bytes_write(fd, source, strlen(source)) &&
         sp_bytes_write(fd, tail, strlen(tail));
    if (!ok)
        sp_fail_errno(SPRY_SYSTEM, "cannot write %s", path);
    if (fd >= 0 && close(fd) != 0 && ok)
        return sp_fail_errno(SPRY_SYSTEM, "cannot write %s", path);
    return ok ? SPRY_OK : SPRY_SYSTEM;
}

/* The line that says what is wrong: the first with "error", else the first;
 * without the name of our vanished directory before "kernel.c". */
static const char *first_error(char *said)
{
    char *rest = NULL, *best = NULL, *name;

    for (char *line = said ? strtok_r(said, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        int is_error = strstr(line, "error") != NULL;

        if (!best || is_error)
            best = line;
        if (is_error)
            break;
    }
    name = best ? strstr(best, SOURCE) : NULL;
    return name ? name : best ? best : "it said nothing";
}

/* compiler, our flags, the caller's, source, -o object. NULL: no memory. */
static const char **arguments(const sp_compiler *cc, const char *const flags[],
                              const char *source, const char *object)
{
    int64_t count = 0, n = 0;
    const char **argv;

    while (flags && flags[count])
        count++;
    argv = sp_alloc(count + OUR_FLAGS + 5, sizeof *argv);
    if (!argv)
        return NULL;
    argv[n++] = cc->path;
    for (int i = 0; i < OUR_FLAGS; i++)
        argv[n++] = sp_compile_flags[i];
    for (int64_t i = 0; i < count; i++)
        argv[n++] = flags[i];
    argv[n++] = source;
    argv[n++] = "-o";
    argv[n++] = object;
    return argv;
}

static spry_status call(const sp_compiler *cc, const char *const argv[],
                        const char *temp)
{
    sp_buf said = {0};
    int code;
    spry_status s = sp_run(&code, &said, argv, temp, sp_compile_limit());

    if (s == SPRY_OK && code > 128)
        s = sp_fail(SPRY_SYSTEM, "%s was ended by signal %d", cc->path,
                    code - 128);
    else if (s == SPRY_OK && code != 0)
        s = sp_fail(SPRY_FAIL, "%s refuses the kernel: %s", cc->path,
                    first_error(said.data));
    sp_buf_free(&said);
    return s;
}

static spry_status read_object(sp_bytes *out, const sp_compiler *cc,
                               const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int ok = fd >= 0 && sp_bytes_read(out, fd, OBJECT_MAX);

    if (fd >= 0)
        close(fd);
    if (ok && out->len > 0)
        return SPRY_OK;
    sp_free(out->data);
    *out = (sp_bytes){0};
    return sp_fail(SPRY_SYSTEM, "%s left no object that can be read", cc->path);
}

spry_status sp_compile(sp_bytes *out, const sp_compiler *cc, const char *source,
                       const char *const flags[], const char *key_hex,
                       const char *first)
{
    char dir[SP_PATH], text[SP_PATH + 16], object[SP_PATH + 16];
    const char **argv;
    spry_status s;

    *out = (sp_bytes){0};
    if (!sp_place_temp(dir, first, &(int){0}))
        return sp_fail(SPRY_SYSTEM, "no directory to compile in: /dev/shm, "
                                    "TMPDIR and /tmp cannot be written");
    snprintf(text, sizeof text, "%s/" SOURCE, dir);
    snprintf(object, sizeof object, "%s/kernel.so", dir);
    argv = arguments(cc, flags, text, object);
    s = argv ? write_source(text, source, key_hex)
             : sp_fail_memory(sizeof *argv);
    if (s == SPRY_OK)
        s = call(cc, argv, dir);
    if (s == SPRY_OK)
        s = read_object(out, cc, object);
    sp_free(argv);
    sp_place_remove(dir);
    return s;
}
