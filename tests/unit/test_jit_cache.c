/* test_jit_cache.c - kept kernels under attack, under load, and kept tidy.
 *
 * Every attack ends the same way: what was planted does not run, and the
 * work goes on with a kernel compiled anew. */
#define _GNU_SOURCE /* nftw */
#include "jit_fixture.h"

#include <sys/wait.h>

#include "jit/internal.h"

#define FOLDER "home/cache/k"

static char kept_key[SP_KEY_HEX]; /* of ANSWER_42, once it was loaded */

/* The kept file of ANSWER_42. */
static char *kept(void)
{
    char name[SP_KEY_HEX + 32];

    snprintf(name, sizeof name, FOLDER "/%s", kept_key);
    return in_dir(name);
}

static int set_up_kept(void **state)
{
    spry_jit_entries *all;

    set_up(state);
    assert_int_equal(answer_of(ANSWER_42), 42);
    check_ok(spry_jit_list(&all));
    assert_int_equal(all->count, 1);
    memcpy(kept_key, all->entry[0].key, sizeof kept_key);
    spry_jit_entries_free(all);
    return 0;
}

/* The kept file was tampered with: verify must name the flaw, loading must
 * compile anew, and what is then kept must be good again. */
static void check_heals(const char *flaw)
{
    spry_jit_entries *all;
    int before = compiles();

    check_ok(spry_jit_verify(&all));
    assert_int_equal(all->count, 1);
    assert_int_equal(all->flawed, 1);
    assert_string_equal(all->entry[0].flaw, flaw);
    spry_jit_entries_free(all);
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_equal(compiles(), before + 1);
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_equal(compiles(), before + 1);
    assert_int_not_equal(access(in_dir("owned"), F_OK), 0);
}

static sp_bytes read_kept(void)
{
    int fd = open(kept(), O_RDONLY);
    sp_bytes b = {0};

    assert_true(fd >= 0 && sp_bytes_read(&b, fd, 1 << 24));
    close(fd);
    return b;
}

static void write_kept(const void *data, size_t n)
{
    int fd = open(kept(), O_WRONLY | O_TRUNC);

    assert_true(fd >= 0 && sp_bytes_write(fd, data, n));
    close(fd);
}

/* A library whose constructor leaves a trace, compiled beside the cache. */
static sp_bytes evil_library(void)
{
    char source[PATH_MAX + 256];
    sp_compiler cc;
    sp_bytes object;

    snprintf(source, sizeof source,
             "#include <fcntl.h>\n"
             "__attribute__((constructor)) static void own(void)"
             "{ open(\"%s\", O_CREAT | O_WRONLY, 0600); }"
             "int answer(void) { return 666; }",
             in_dir("owned"));
    check_ok(sp_compiler_find(&cc));
    check_ok(sp_compile(&object, &cc, source, NULL, kept_key, NULL));
    return object;
}

static void a_planted_library_does_not_run(void **state)
{
    sp_bytes evil = evil_library();

    (void)state;
    write_kept(evil.data, evil.len);
    check_heals("not a kept kernel");
    sp_free(evil.data);
}

/* The right frame around it, sealed with a secret that is not the user's. */
static void a_library_sealed_with_another_secret_does_not_run(void **state)
{
    sp_bytes evil = evil_library();
    uint8_t key[SP_SHA256];
    sp_cache cache;

    (void)state;
    for (int i = 0; i < SP_SHA256; i++) {
        unsigned byte;

        assert_int_equal(sscanf(kept_key + 2 * i, "%2x", &byte), 1);
        key[i] = (uint8_t)byte;
    }
    sp_cache_open(&cache, 0);
    assert_true(cache.fd >= 0);
    cache.secret[0] ^= 1;
    sp_cache_put(&cache, key, &evil);
    sp_cache_close(&cache);
    check_heals("seal broken");
    sp_free(evil.data);
}

static void every_flipped_byte_of_the_frame_is_seen(void **state)
{
    sp_bytes good = read_kept();
    spry_jit_entries *all;

    (void)state;
    for (size_t i = 0; i < good.len; i += i < 64 ? 1 : good.len / 50) {
        good.data[i] ^= 1;
        write_kept(good.data, good.len);
        good.data[i] ^= 1;
        check_ok(spry_jit_verify(&all));
        assert_int_equal(all->flawed, 1);
        spry_jit_entries_free(all);
    }
    good.data[good.len - 1] ^= 128;
    write_kept(good.data, good.len);
    check_heals("seal broken");
    sp_free(good.data);
}

static void a_cut_or_grown_file_is_seen(void **state)
{
    sp_bytes good = read_kept();

    (void)state;
    write_kept(good.data, good.len / 2);
    check_heals("cut off or grown");
    write_kept(good.data, 0);
    check_heals("too short");
    write_kept(good.data, 40);
    check_heals("too short");
    write_kept(good.data, good.len);
    assert_int_equal(truncate(kept(), (off_t)good.len + 1), 0);
    check_heals("cut off or grown");
    sp_free(good.data);
}

/* Two good files under each other's names; a stale ABI is the same case: a
 * file that was made for another key. */
static void a_swapped_file_is_seen(void **state)
{
    char other[PATH_MAX], name[SP_KEY_HEX + 32];
    spry_jit_entries *all;
    int which;

    (void)state;
    assert_int_equal(answer_of("int answer(void) { return 7; }"), 7);
    check_ok(spry_jit_list(&all));
    assert_int_equal(all->count, 2);
    which = strcmp(all->entry[0].key, kept_key) == 0;
    snprintf(name, sizeof name, FOLDER "/%s", all->entry[which].key);
    spry_jit_entries_free(all);
    snprintf(other, sizeof other, "%s", in_dir(name));
    assert_int_equal(rename(other, kept()), 0);
    check_heals("sealed for another key");
}

static void links_are_not_followed(void **state)
{
    (void)state;
    assert_int_equal(rename(kept(), in_dir("moved")), 0);
    assert_int_equal(symlink(in_dir("moved"), kept()), 0);
    check_heals("not a file we can open");
    assert_int_equal(link(kept(), in_dir("second")), 0);
    check_heals("has a second name");
}

static void a_file_that_others_may_write_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(chmod(kept(), 0620), 0);
    check_heals("can be written by others");
    assert_int_equal(chmod(kept(), 0602), 0);
    check_heals("can be written by others");
}

static void odd_things_under_the_name_do_no_harm(void **state)
{
    spry_jit_removed removed = {.size = sizeof removed};

    (void)state;
    assert_int_equal(unlink(kept()), 0);
    assert_int_equal(mkfifo(kept(), 0600), 0); /* must not block */
    check_heals("not a regular file");
    assert_int_equal(unlink(kept()), 0);
    assert_int_equal(mkdir(kept(), 0700), 0); /* cannot be replaced */
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_equal(answer_of(ANSWER_42), 42);
    check_ok(spry_jit_clear(&removed));
    assert_int_equal(removed.count, 1);
    assert_int_not_equal(access(kept(), F_OK), 0);
}

static void what_someone_else_owns_is_not_used(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("only root can give files away");
    assert_int_equal(chown(kept(), 12345, 0), 0);
    check_heals("belongs to someone else");
    assert_int_equal(chown(in_dir(FOLDER), 12345, 0), 0);
    assert_non_null(strstr(spry_jit_note(), "belongs to someone else"));
    assert_int_equal(answer_of(ANSWER_42), 42);
}

/* A folder we cannot trust is left alone: nothing read, nothing written. */
static void check_unused(const char *why)
{
    spry_jit_entries *all;
    int before = compiles();

    assert_non_null(strstr(spry_jit_note(), why));
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_equal(compiles(), before + 2);
    assert_int_equal(spry_jit_list(&all), SPRY_SYSTEM);
    assert_null(all);
    check_ok(spry_jit_available());
}

static void a_folder_that_is_not_ours_alone_is_not_used(void **state)
{
    (void)state;
    assert_string_equal(spry_jit_note(), "");
    assert_int_equal(chmod(in_dir(FOLDER), 0770), 0);
    check_unused("can be written by others");
    assert_int_equal(chmod(in_dir(FOLDER), 0700), 0);
    assert_int_equal(rename(in_dir(FOLDER), in_dir("moved")), 0);
    assert_int_equal(symlink(in_dir("moved"), in_dir(FOLDER)), 0);
    check_unused("is not a real directory");
    assert_int_equal(unlink(in_dir(FOLDER)), 0);
    write_text(in_dir(FOLDER), "", 0600);
    check_unused("is not a real directory");
}

static void without_a_home_it_works_in_memory(void **state)
{
    char *home = sp_strdup(getenv("HOME") ? getenv("HOME") : "");

    (void)state;
    write_text(in_dir("file"), "", 0600);
    setenv("SPRY_HOME", in_dir("file/below"), 1); /* cannot be made */
    check_unused("cannot make directory");
    unsetenv("SPRY_HOME");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    check_unused("neither SPRY_HOME nor HOME");
    setenv("HOME", home, 1);
    free(home);
}

static void an_unusable_temporary_directory_is_passed_over(void **state)
{
    const char *temp = getenv("TMPDIR");
    char *before = temp ? sp_strdup(temp) : NULL;

    (void)state;
    setenv("TMPDIR", in_dir("nowhere"), 1);
    assert_int_equal(answer_of("int answer(void) { return 3; }"), 3);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
}

/* Whatever is wrong with the secret, a fresh one takes its place, and what
 * the old one sealed is no longer believed. */
static void a_bad_secret_is_replaced(void **state)
{
    char secret[PATH_MAX];
    struct stat st;

    (void)state;
    snprintf(secret, sizeof secret, "%s", in_dir("home/data/jit.secret"));
    assert_int_equal(stat(secret, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(st.st_size, SP_SHA256);
    write_text(secret, "01234567890123456789012345678901", 0600);
    check_heals("seal broken"); /* someone else's secret */
    assert_int_equal(chmod(secret, 0644), 0);
    check_heals("seal broken"); /* others could read it */
    write_text(secret, "short", 0600);
    check_heals("seal broken");
    assert_int_equal(rename(secret, in_dir("moved")), 0);
    assert_int_equal(symlink(in_dir("moved"), secret), 0);
    check_heals("seal broken");
    assert_int_equal(lstat(secret, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_home_with_an_evil_name_is_only_a_name(void **state)
{
    (void)state;
    setenv("SPRY_HOME", in_dir("a b; touch owned $(touch owned) 'q\" -x"), 1);
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_string_equal(spry_jit_note(), "");
    assert_int_not_equal(access("owned", F_OK), 0);
}

enum { PROCESSES = 8, KERNELS = 5 };

static int load_all(int first)
{
    char source[64];
    int wrong = 0;

    for (int i = 0; i < KERNELS; i++) {
        int k = (first + i) % KERNELS;

        snprintf(source, sizeof source, "int answer(void) { return %d; }", k);
        wrong += answer_of(source) != k;
    }
    return wrong;
}

static void processes_that_start_together_compile_once(void **state)
{
    pid_t pid[PROCESSES];
    spry_jit_entries *all;
    int gate[2], status;
    char c;

    (void)state;
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < PROCESSES; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            close(gate[1]); /* the read ends when the parent's end closes */
            _exit(read(gate[0], &c, 1) == 0 ? load_all(i) : 99);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    assert_in_range(compiles(), KERNELS, KERNELS * 6 / 5);
    check_ok(spry_jit_verify(&all));
    assert_int_equal(all->count, KERNELS);
    assert_int_equal(all->flawed, 0);
    spry_jit_entries_free(all);
}

static void collecting_keeps_what_was_used_last(void **state)
{
    const struct timespec old[2] = {{1000, 0}, {1000, 0}};
    spry_jit_removed removed = {.size = sizeof removed};
    spry_jit_entries *all;
    char newest[SP_KEY_HEX];
    int64_t one;

    (void)state;
    assert_int_equal(utimensat(AT_FDCWD, kept(), old, 0), 0);
    assert_int_equal(answer_of("int answer(void) { return 1; }"), 1);
    check_ok(spry_jit_list(&all));
    assert_int_equal(all->count, 2);
    memcpy(newest, all->entry[0].key, sizeof newest);
    assert_string_equal(all->entry[1].key, kept_key);
    assert_int_equal(all->bytes, all->entry[0].bytes + all->entry[1].bytes);
    one = all->entry[0].bytes;
    spry_jit_entries_free(all);
    check_ok(spry_jit_gc(&removed, INT64_MAX));
    assert_int_equal(removed.count, 0);
    check_ok(spry_jit_gc(&removed, one));
    assert_int_equal(removed.count, 1);
    check_ok(spry_jit_list(&all));
    assert_int_equal(all->count, 1);
    assert_string_equal(all->entry[0].key, newest);
    spry_jit_entries_free(all);
    assert_int_equal(spry_jit_gc(NULL, -1), SPRY_USAGE);
}

/* Using a kernel counts as use; a leftover goes once it is surely dead. */
static void use_is_remembered_and_leftovers_go(void **state)
{
    const struct timespec old[2] = {{1000, 0}, {1000, 0}};
    struct stat st;

    (void)state;
    assert_int_equal(utimensat(AT_FDCWD, kept(), old, 0), 0);
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_equal(stat(kept(), &st), 0);
    assert_true(st.st_mtime > 1000);
    assert_int_equal(mkdir(in_dir(FOLDER "/spry.dead01"), 0700), 0);
    assert_int_equal(mkdir(in_dir(FOLDER "/spry.live01"), 0700), 0);
    write_text(in_dir(FOLDER "/spry.dead01/kernel.c"), "", 0600);
    assert_int_equal(utimensat(AT_FDCWD, in_dir(FOLDER "/spry.dead01"), old, 0),
                     0);
    check_ok(spry_jit_gc(NULL, INT64_MAX));
    assert_int_not_equal(access(in_dir(FOLDER "/spry.dead01"), F_OK), 0);
    assert_int_equal(access(in_dir(FOLDER "/spry.live01"), F_OK), 0);
}

static void clearing_removes_all(void **state)
{
    spry_jit_removed removed = {.size = sizeof removed};
    spry_jit_entries *all;
    char path[PATH_MAX];

    (void)state;
    check_ok(spry_jit_path(path, sizeof path));
    assert_string_equal(path, in_dir(FOLDER));
    write_kept("", 0);
    check_ok(spry_jit_clear(&removed));
    assert_int_equal(removed.count, 1);
    check_ok(spry_jit_list(&all));
    assert_int_equal(all->count, 0);
    spry_jit_entries_free(all);
    spry_jit_entries_free(NULL);
}

#define fresh(f)  cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define filled(f) cmocka_unit_test_setup_teardown(f, set_up_kept, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        filled(a_planted_library_does_not_run),
        filled(a_library_sealed_with_another_secret_does_not_run),
        filled(every_flipped_byte_of_the_frame_is_seen),
        filled(a_cut_or_grown_file_is_seen),
        filled(a_swapped_file_is_seen),
        filled(links_are_not_followed),
        filled(a_file_that_others_may_write_is_not_used),
        filled(odd_things_under_the_name_do_no_harm),
        filled(what_someone_else_owns_is_not_used),
        filled(a_folder_that_is_not_ours_alone_is_not_used),
        fresh(without_a_home_it_works_in_memory),
        fresh(an_unusable_temporary_directory_is_passed_over),
        filled(a_bad_secret_is_replaced),
        fresh(a_home_with_an_evil_name_is_only_a_name),
        fresh(processes_that_start_together_compile_once),
        filled(collecting_keeps_what_was_used_last),
        filled(use_is_remembered_and_leftovers_go),
        filled(clearing_removes_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
