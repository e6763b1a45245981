/* inert.c - every byte of kept files changed, each bit of it and to 0 and 255:
 * it is noticed, or it does no harm. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "prove/kept.h"
#include "prove/prove.h"

enum { CHANGES = 10, CHUNK = 64, TIME = 120 };

static const struct {
    const char *name;
    int sealed; /* the checksum at its end is made to fit again */
    spry_status (*make)(sp_file *out, const char *folder);
    int (*survives)(const sp_file *changed, const sp_file *good,
                    const char *folder);
} files[] = {
    {"a lock file", 0, prove_make_lock, prove_lock_survives},
    {"an export of records", 0, prove_make_export, prove_export_survives},
    {"a model", 0, prove_make_model, prove_model_survives},
    {"a model, its checksum made to fit", 1, prove_make_model,
     prove_model_survives},
};
enum { FILES = sizeof files / sizeof files[0] };

static void seal(sp_file *f)
{
    sp_sha256((uint8_t *)f->data + f->len - SP_SHA256, f->data,
              f->len - SP_SHA256);
}

/* Byte `at` after change c; equal to what it was: no change. */
static char changed(char byte, int c)
{
    unsigned char now = (unsigned char)byte;

    now = c < 8 ? (unsigned char)(now ^ 1U << c) : c == 8 ? 0 : 255;
    memcpy(&byte, &now, 1);
    return byte;
}

/* How many changes of the bytes from..to are not survived. */
static int try_bytes(int kind, const sp_file *good, size_t from, size_t to,
                     const char *folder)
{
    sp_file f = {malloc(good->len + 1), good->len};
    int harmed = 0;

    for (size_t at = from; f.data && at < to; at++)
        for (int c = 0; c < CHANGES; c++) {
            memcpy(f.data, good->data, good->len);
            f.data[good->len] = 0;
            f.data[at] = changed(good->data[at], c);
            if (f.data[at] == good->data[at])
                continue;
            if (files[kind].sealed)
                seal(&f);
            if (!files[kind].survives(&f, good, folder)) {
                printf("%s: byte %zu, %d to %d\n", files[kind].name, at,
                       good->data[at], f.data[at]);
                harmed++;
            }
        }
    fflush(stdout);
    free(f.data);
    return harmed;
}

/* In a child, since it may crash; that counts as one. */
static int try_chunk(int kind, const sp_file *good, size_t from, size_t to,
                     const char *folder)
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        int harmed;

        alarm(TIME);
        harmed = try_bytes(kind, good, from, to, folder);
        _exit(harmed < 255 ? harmed : 255);
    }
    if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
        return WEXITSTATUS(status);
    printf("%s: bytes %zu to %zu: a crash\n", files[kind].name, from, to);
    return 1;
}

void prove_inert(const char *folder)
{
    size_t step = (size_t)prove_count(64, 1);
    int harmed = 0;

    for (int k = 0; k < FILES; k++) {
        sp_file good = {0};
        int here = 0;
        size_t end;

        if (files[k].make(&good, folder) != SPRY_OK ||
            !files[k].survives(&good, &good, folder)) {
            printf("%s: cannot be made: %s\n", files[k].name, spry_message());
            harmed++;
            continue;
        }
        end = files[k].sealed ? good.len - SP_SHA256 : good.len;
        for (size_t at = 0; at < end; at += step * CHUNK) {
            size_t to = at + CHUNK < end ? at + CHUNK : end;

            here += try_chunk(k, &good, at, to, folder);
        }
        printf("%s, %zu bytes, %s changed: %d not survived\n", files[k].name,
               good.len, step > 1 ? "some" : "each", here);
        harmed += here;
        free(good.data);
    }
    bench_aim_most("files_flipped_not_survived", harmed, 0);
}
