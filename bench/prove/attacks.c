/* attacks.c - the folder of kept kernels, tampered with in every way we know.
 *
 * Each attack begins with a kept kernel, does its worst and asks for the
 * kernel: it must answer 42, and the planted library, whose constructor would
 * leave a file behind, must not have run. */
#define _GNU_SOURCE /* nftw */
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/figures.h"
#include "jit/internal.h"
#include "jit/jit.h"
#include "prove/prove.h"

#define KERNEL "int answer(void) { return 42; }"
#define OTHER  "int answer(void) { return 7; }"
enum { STRANGER = 65534, ROOM = PATH_MAX + 128 };
enum { HELD, BROKE, UNTRIED };

static char home[PATH_MAX], folder_path[ROOM], kept[ROOM], secret[ROOM],
    owned[ROOM], evil_path[ROOM];
static uint8_t key[SP_SHA256];
static sp_bytes good, evil;

static int answer_of(const char *source)
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

static int put(const char *path, const void *data, size_t n, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, mode);
    int ok = fd >= 0 && sp_bytes_write(fd, data, n) && fchmod(fd, mode) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

static int put_kept(size_t n)
{
    return put(kept, good.data, n, 0600);
}

static int flip(size_t at)
{
    int ok;

    good.data[at] ^= 1;
    ok = put_kept(good.len);
    good.data[at] ^= 1;
    return ok;
}

static int seal_evil(int with_wrong_secret)
{
    sp_cache cache;
    int ok;

    sp_cache_open(&cache, 0);
    ok = cache.fd >= 0;
    if (ok && with_wrong_secret)
        cache.secret[0] ^= 1;
    if (ok)
        sp_cache_put(&cache, key, &evil);
    sp_cache_close(&cache);
    return ok;
}

static int plant_raw(void)
{
    return put(kept, evil.data, evil.len, 0600);
}
static int forge_seal(void)
{
    return seal_evil(1);
}
static int keep_seal_change_code(void)
{
    return flip(good.len / 2);
}
static int change_seal(void)
{
    return flip(good.len - 1);
}
static int change_head(void)
{
    return flip(0);
}
static int change_length(void)
{
    return flip(40);
}
static int empty_it(void)
{
    return put_kept(0);
}
static int cut_it(void)
{
    return put_kept(good.len / 2);
}
static int cut_a_byte(void)
{
    return put_kept(good.len - 1);
}
static int add_a_byte(void)
{
    return truncate(kept, (off_t)good.len + 1) == 0;
}
static int head_before_evil(void)
{
    size_t head = good.len > 256 ? 256 : good.len, n = head + evil.len;
    char *both = malloc(n);
    int ok = both != NULL;

    if (ok) {
        memcpy(both, good.data, head);
        memcpy(both + head, evil.data, evil.len);
        ok = put(kept, both, n, 0600);
    }
    free(both);
    return ok;
}
static int other_kernel(void)
{
    spry_jit_entries *all;
    char path[ROOM];
    int ok = 0;

    if (answer_of(OTHER) != 7 || spry_jit_list(&all) != SPRY_OK)
        return 0;
    for (int64_t i = 0; i < all->count; i++) {
        snprintf(path, sizeof path, "%.4000s/%s", folder_path,
                 all->entry[i].key);
        if (strcmp(path, kept) != 0)
            ok = rename(path, kept) == 0;
    }
    spry_jit_entries_free(all);
    return ok;
}
static int link_to_evil(void)
{
    return unlink(kept) == 0 && symlink(evil_path, kept) == 0;
}
static int second_name(void)
{
    return unlink(kept) == 0 && link(evil_path, kept) == 0;
}
static int group_writes(void)
{
    return plant_raw() && chmod(kept, 0660) == 0;
}
static int all_write(void)
{
    return plant_raw() && chmod(kept, 0666) == 0;
}
static int a_pipe(void)
{
    return unlink(kept) == 0 && mkfifo(kept, 0600) == 0;
}
static int a_folder(void)
{
    return unlink(kept) == 0 && mkdir(kept, 0700) == 0;
}
static int stranger_owns_it(void)
{
    return plant_raw() && chown(kept, STRANGER, STRANGER) == 0;
}
/* With the right seal even: the second user was handed the folder. */
static int stranger_owns_folder(void)
{
    return seal_evil(0) && chown(folder_path, STRANGER, STRANGER) == 0;
}
static int folder_is_open(void)
{
    return seal_evil(0) && chmod(folder_path, 0777) == 0;
}
static int folder_is_a_link(void)
{
    char away[ROOM];

    snprintf(away, sizeof away, "%.4000s/away", home);
    return seal_evil(0) && rename(folder_path, away) == 0 &&
           symlink(away, folder_path) == 0;
}
/* Who can read the secret can seal: it is changed as soon as that is seen. */
static int secret_is_read(void)
{
    return seal_evil(0) && chmod(secret, 0644) == 0;
}
static int secret_is_a_strangers(void)
{
    return seal_evil(0) && chown(secret, STRANGER, STRANGER) == 0;
}
static int secret_is_a_link(void)
{
    char away[ROOM];

    snprintf(away, sizeof away, "%.4000s/secret", home);
    return seal_evil(0) && rename(secret, away) == 0 &&
           symlink(away, secret) == 0;
}
static int secret_is_short(void)
{
    return seal_evil(0) && truncate(secret, 4) == 0;
}
/* Sealed with the user's own secret, but for another key or by another version
 * of the frame: what is left of a spry whose kernels are called in another
 * way. Its version is part of every key. */
static int stale_abi(void)
{
    uint8_t today = key[SP_SHA256 - 1];
    char name[SP_KEY_HEX], path[ROOM];
    int ok;

    key[SP_SHA256 - 1] ^= 1;
    sp_hex(name, key, SP_SHA256);
    ok = seal_evil(0);
    key[SP_SHA256 - 1] = today;
    snprintf(path, sizeof path, "%.4000s/%s", folder_path, name);
    return ok && rename(path, kept) == 0;
}
static int stale_frame(void)
{
    sp_bytes file = {0};
    sp_cache cache;
    size_t body;
    int fd, ok = seal_evil(0);

    fd = open(kept, O_RDONLY);
    sp_cache_open(&cache, 0);
    ok = ok && fd >= 0 && cache.fd >= 0 && sp_bytes_read(&file, fd, 1 << 24);
    if (ok) {
        body = file.len - SP_SHA256;
        memcpy(file.data, "spry kernel 0", 13);
        sp_hmac_sha256(file.data + body, cache.secret, SP_SHA256, file.data,
                       body);
        ok = put(kept, file.data, file.len, 0600);
    }
    sp_free(file.data);
    sp_cache_close(&cache);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Whatever another user may do to the kept kernel and the secret: 1 if there is
 * something. */
static int stranger_reaches(void)
{
    char mine[ROOM];
    int fd;

    snprintf(mine, sizeof mine, "%.4000s/planted", folder_path);
    fd = open(secret, O_RDONLY);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || put(kept, evil.data, evil.len, 0600) ||
           put(mine, evil.data, evil.len, 0600) || rename(mine, kept) == 0 ||
           unlink(kept) == 0 || chmod(kept, 0666) == 0 ||
           chmod(folder_path, 0777) == 0 || unlink(secret) == 0;
}

static int stranger_at(const char *door)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        if (setgroups(0, NULL) != 0 || setgid(STRANGER) != 0 ||
            setuid(STRANGER) != 0 || access(door, X_OK) != 0)
            _exit(UNTRIED);
        _exit(stranger_reaches() ? BROKE : HELD);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : UNTRIED;
}

/* As that user, from the first folder that spry made on: each in turn is
 * opened, so that the modes of what is in it are what he meets. */
static int second_user_comes(const char *folder)
{
    char cache[ROOM], data[ROOM];
    const char *const doors[] = {folder, home, cache, data, folder_path};
    int end = HELD;

    snprintf(cache, sizeof cache, "%.4000s/cache", home);
    snprintf(data, sizeof data, "%.4000s/data", home);
    for (int i = 0; end == HELD && i < 5; i++) {
        struct stat st;

        if (stat(doors[i], &st) != 0 || chmod(doors[i], 0711) != 0)
            return UNTRIED;
        end = stranger_at(doors[i]);
    }
    return end;
}

/* No attack: who has the secret is the user. It must run, or the others prove
 * nothing. */
static int right_seal(void)
{
    return seal_evil(0);
}
static int evil_compiler(void)
{
    char words[2 * ROOM];

    snprintf(words, sizeof words, "cc; cp /dev/null %s", owned);
    return unlink(kept) == 0 && setenv("SPRY_CC", words, 1) == 0;
}

static const struct {
    const char *name;
    int (*attack)(void);
    int root; /* needs the right to give files away */
    int mute; /* no kernel need come of it */
} attacks[] = {
    {"a library in its place", plant_raw, 0, 0},
    {"a forged seal", forge_seal, 0, 0},
    {"changed code", keep_seal_change_code, 0, 0},
    {"a changed seal", change_seal, 0, 0},
    {"a changed head", change_head, 0, 0},
    {"a changed length", change_length, 0, 0},
    {"emptied", empty_it, 0, 0},
    {"cut in half", cut_it, 0, 0},
    {"a byte short", cut_a_byte, 0, 0},
    {"a byte long", add_a_byte, 0, 0},
    {"a good head before a library", head_before_evil, 0, 0},
    {"another kernel's file", other_kernel, 0, 0},
    {"a symbolic link", link_to_evil, 0, 0},
    {"a second name", second_name, 0, 0},
    {"writable by the group", group_writes, 0, 0},
    {"writable by all", all_write, 0, 0},
    {"a pipe", a_pipe, 0, 0},
    {"a folder", a_folder, 0, 0},
    {"another user's file", stranger_owns_it, 1, 0},
    {"another user's folder", stranger_owns_folder, 1, 0},
    {"a folder open to all", folder_is_open, 0, 0},
    {"a link for a folder", folder_is_a_link, 0, 0},
    {"a secret others can read", secret_is_read, 0, 0},
    {"another user's secret", secret_is_a_strangers, 1, 0},
    {"a link for a secret", secret_is_a_link, 0, 0},
    {"a short secret", secret_is_short, 0, 0},
    {"of another version", stale_abi, 0, 0},
    {"in another version's frame", stale_frame, 0, 0},
    {"an evil compiler variable", evil_compiler, 0, 1},
    {"the user's own seal", right_seal, 0, 0},
};
enum { ATTACKS = sizeof attacks / sizeof attacks[0] };

/* A fresh home with one kept kernel, and an evil library beside it. */
static int prepare(const char *folder, int i)
{
    char text[2 * ROOM];
    spry_jit_entries *all;
    sp_compiler cc;
    int fd;

    snprintf(home, sizeof home, "%.3000s/attack%d", folder, i);
    snprintf(folder_path, sizeof folder_path, "%.4000s/cache/k", home);
    snprintf(secret, sizeof secret, "%.4000s/data/jit.secret", home);
    snprintf(owned, sizeof owned, "%.4000s/owned", home);
    snprintf(evil_path, sizeof evil_path, "%.4000s/evil.so", home);
    setenv("SPRY_HOME", home, 1);
    if (answer_of(KERNEL) != 42 || spry_jit_list(&all) != SPRY_OK)
        return 0;
    if (all->count != 1) {
        spry_jit_entries_free(all);
        return 0;
    }
    snprintf(kept, sizeof kept, "%.4000s/%s", folder_path, all->entry[0].key);
    for (int b = 0; b < SP_SHA256; b++) {
        unsigned byte = 0;

        (void)sscanf(all->entry[0].key + 2 * b, "%2x", &byte);
        key[b] = (uint8_t)byte;
    }
    fd = open(kept, O_RDONLY);
    snprintf(text, sizeof text,
             "#include <fcntl.h>\n"
             "__attribute__((constructor)) static void own(void)"
             "{ open(\"%s\", O_CREAT | O_WRONLY, 0600); }"
             "int answer(void) { return 666; }",
             owned);
    if (fd < 0 || !sp_bytes_read(&good, fd, 1 << 24) ||
        sp_compiler_find(&cc) != SPRY_OK ||
        sp_compile(&evil, &cc, text, NULL, all->entry[0].key, NULL) !=
            SPRY_OK ||
        !put(evil_path, evil.data, evil.len, 0700))
        return 0;
    close(fd);
    spry_jit_entries_free(all);
    return 1;
}

/* How it ended. In its own process: what is loaded once stays loaded. */
static int try_one(const char *folder, int i)
{
    int answer, status = 0;
    pid_t pid;

    if (!prepare(folder, i))
        return UNTRIED;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        alarm(60);
        if (!attacks[i].attack())
            _exit(UNTRIED);
        answer = answer_of(KERNEL);
        _exit(access(owned, F_OK) == 0 ||
                      (answer != 42 && !(attacks[i].mute && answer == -1))
                  ? BROKE
                  : HELD);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return UNTRIED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : BROKE;
}

static int try_second_user(const char *folder)
{
    if (geteuid() != 0 || !prepare(folder, ATTACKS))
        return UNTRIED;
    fflush(stdout);
    return second_user_comes(folder);
}

typedef struct {
    int tried, broke;
} tally;

static void count(tally *t, const char *name, int end)
{
    t->tried += end != UNTRIED;
    t->broke += end == BROKE;
    printf("%-32s %s\n", name,
           end == HELD    ? "held"
           : end == BROKE ? "DID NOT HOLD"
                          : "could not be tried");
}

void prove_attacks(const char *folder)
{
    tally t = {0};

    if (spry_jit_available() != SPRY_OK) {
        bench_aim_unknown("attacks_that_run", 0, "there is no compiler");
        return;
    }
    for (int i = 0; i < ATTACKS - 1; i++)
        count(&t, attacks[i].name,
              attacks[i].root && geteuid() != 0 ? UNTRIED : try_one(folder, i));
    count(&t, "another user at each folder", try_second_user(folder));
    if (try_one(folder, ATTACKS - 1) != BROKE) {
        printf("the planted library would not run at all\n");
        t.tried = 0;
    }
    bench_aim_least("attacks_tried", t.tried, 25);
    bench_aim_most("attacks_that_run", t.broke, 0);
}
