/* compiler.c - the environment to one compiler and its identity.
 *
 * $SPRY_CC, else $CC, else cc, gcc, clang. A variable holds one program, by
 * path or by name; it is never split into words, so "cc; rm x" is only a
 * program that does not exist. Relative folders in PATH are passed over:
 * what a kernel is made with does not depend on where we stand. */
#define _GNU_SOURCE /* secure_getenv */
#include "jit/internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION_SECONDS = 5 };

static int is_program(const char *path, struct stat *st)
{
    return stat(path, st) == 0 && S_ISREG(st->st_mode) &&
           access(path, X_OK) == 0;
}

/* The first PATH folder that has `name`. */
static int search_path(char *out, const char *name, struct stat *st)
{
    const char *at = secure_getenv("PATH");

    while (at && *at) {
        size_t n = strcspn(at, ":");
        int len = snprintf(out, SP_PATH, "%.*s/%s", (int)n, at, name);

        if (n > 0 && at[0] == '/' && len < SP_PATH && is_program(out, st))
            return 1;
        at += n + (at[n] == ':');
    }
    return 0;
}

static int find_program(char *out, const char *name, struct stat *st)
{
    if (!name || !name[0])
        return 0;
    if (!strchr(name, '/'))
        return search_path(out, name, st);
    return name[0] == '/' && snprintf(out, SP_PATH, "%s", name) < SP_PATH &&
           is_program(out, st);
}

static spry_status find_any(char *out, struct stat *st)
{
    const char *wish = secure_getenv("SPRY_CC");
    const char *name[] = {secure_getenv("CC"), "cc", "gcc", "clang"};

    if (wish && wish[0])
        return find_program(out, wish, st)
                   ? SPRY_OK
                   : sp_fail(SPRY_SYSTEM,
                             "no compiler: SPRY_CC names '%s', which is not a "
                             "program (a name in PATH or an absolute path)",
                             wish);
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        if (find_program(out, name[i], st))
            return SPRY_OK;
    return sp_fail(SPRY_SYSTEM,
                   "no C compiler: neither cc, gcc nor clang is in PATH; "
                   "install one or name it in SPRY_CC");
}

/* The first line of `--version`. */
static spry_status ask_version(sp_compiler *c)
{
    const char *argv[] = {c->path, "--version", NULL};
    sp_buf said = {0};
    int code;
    spry_status s = sp_run(&code, &said, argv, NULL, VERSION_SECONDS);

    if (s == SPRY_OK && (code != 0 || !said.len))
        s = sp_fail(SPRY_SYSTEM, "%s --version fails, so it is no compiler",
                    c->path);
    if (s == SPRY_OK)
        snprintf(c->version, sizeof c->version, "%.*s",
                 (int)strcspn(said.data, "\n"), said.data);
    sp_buf_free(&said);
    return s == SPRY_TIMEOUT ? SPRY_SYSTEM : s;
}

/* The compiler asked last: asking takes a process, and it rarely changes. */
static sp_compiler last;

spry_status sp_compiler_find(sp_compiler *out)
{
    char real[PATH_MAX];
    struct stat st;
    spry_status s;
    int known;

    memset(out, 0, sizeof *out);
    s = find_any(out->path, &st);
    if (s != SPRY_OK)
        return s;
    if (!realpath(out->path, real))
        return sp_fail_errno(SPRY_SYSTEM, "%s", out->path);
    snprintf(out->identity, sizeof out->identity, "%s %lld %lld.%09ld", real,
             (long long)st.st_size, (long long)st.st_mtim.tv_sec,
             st.st_mtim.tv_nsec);
    sp_jit_lock();
    known = strcmp(last.identity, out->identity) == 0 &&
            strcmp(last.path, out->path) == 0;
    if (known)
        *out = last;
    sp_jit_unlock();
    if (known)
        return SPRY_OK;
    s = ask_version(out);
    if (s == SPRY_OK) {
        sp_jit_lock();
        last = *out;
        sp_jit_unlock();
    }
    return s;
}

const char *spry_jit_compiler(void)
{
    static _Thread_local char version[sizeof last.version];
    sp_compiler c;

    if (sp_compiler_find(&c) != SPRY_OK)
        return "";
    memcpy(version, c.version, sizeof version);
    return version;
}
