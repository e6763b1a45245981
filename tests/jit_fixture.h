/* jit_fixture.h - a home of its own for each jit test, and a compiler that
 * writes one letter into a file whenever it makes an object. */
#ifndef SPRY_JIT_FIXTURE_H
#define SPRY_JIT_FIXTURE_H

#include "check.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "jit/jit.h"

static char test_dir[PATH_MAX];

/* "<test_dir>/<name>"; four at a time. */
static inline char *in_dir(const char *name)
{
    static char path[4][PATH_MAX + 256];
    static int turn;
    char *p = path[turn = (turn + 1) % 4];

    snprintf(p, sizeof path[0], "%s/%s", test_dir, name);
    return p;
}

static inline void write_text(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static inline off_t file_size(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_size : 0;
}

/* How often the counting compiler made an object. */
static inline int compiles(void)
{
    return (int)file_size(in_dir("count"));
}

static inline int set_up(void **state)
{
    const char *temp = getenv("TMPDIR");
    char script[2 * PATH_MAX];

    (void)state;
    snprintf(test_dir, sizeof test_dir, "%s/spry-test.XXXXXX",
             temp && temp[0] ? temp : "/tmp");
    assert_non_null(mkdtemp(test_dir));
    snprintf(script, sizeof script,
             "#!/bin/sh\n"
             "case \"$*\" in *-shared*) printf x >> '%s/count';; esac\n"
             "exec cc \"$@\"\n",
             test_dir);
    write_text(in_dir("counting cc"), script, 0700);
    setenv("SPRY_HOME", in_dir("home"), 1);
    setenv("SPRY_CC", in_dir("counting cc"), 1);
    return 0;
}

static inline int remove_one(const char *path, const struct stat *st, int kind,
                             struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline int tear_down(void **state)
{
    (void)state;
    nftw(test_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

/* Load source, call its `int answer(void)`, let it go. -1 on failure. */
static inline int answer_of(const char *source)
{
    sp_jit_code *code;
    int (*answer)(void);
    int result;

    if (sp_jit_load(&code, source, NULL, "cpu") != SPRY_OK)
        return -1;
    *(void **)&answer = sp_jit_symbol(code, "answer");
    result = answer ? answer() : -2;
    sp_jit_free(code);
    return result;
}

#define ANSWER_42 "int answer(void) { return 42; }"

#endif
