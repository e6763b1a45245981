/* test_jit.c - C text to running code: loading, sharing, failing well. */
#define _GNU_SOURCE /* nftw, usleep */
#include "jit_fixture.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "measure/measure.h"

static void text_becomes_a_function(void **state)
{
    const char *flags[] = {"-DK=7", NULL};
    sp_jit_code *code;
    double (*scale)(double);

    (void)state;
    check_ok(sp_jit_load(&code, "double scale(double x) { return K * x; }",
                         flags, "cpu"));
    *(void **)&scale = sp_jit_symbol(code, "scale");
    assert_non_null(scale);
    assert_true(scale(6) == 42);
    assert_null(sp_jit_symbol(code, "absent"));
    sp_jit_free(code);
    sp_jit_free(NULL);
}

static void equal_keys_share_one_object(void **state)
{
    const char *flags[] = {"-DX", NULL}, *split[] = {"-D", "X", NULL};
    sp_jit_code *a, *b, *c, *d, *e;

    (void)state;
    check_ok(sp_jit_load(&a, ANSWER_42, flags, "cpu"));
    check_ok(sp_jit_load(&b, ANSWER_42, flags, "cpu"));
    check_ok(sp_jit_load(&c, ANSWER_42, flags, "other cpu"));
    check_ok(sp_jit_load(&d, ANSWER_42 "\n", flags, "cpu"));
    check_ok(sp_jit_load(&e, ANSWER_42, split, "cpu"));
    assert_ptr_equal(a, b);
    assert_true(a != c && a != d && a != e && c != d && d != e);
    assert_int_equal(compiles(), 4);
    sp_jit_free(a);
    assert_non_null(sp_jit_symbol(b, "answer"));
    sp_jit_free(b);
    sp_jit_free(c);
    sp_jit_free(d);
    sp_jit_free(e);
}

static void a_kept_kernel_is_not_compiled_again(void **state)
{
    (void)state;
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_equal(compiles(), 1);
}

/* dlopen takes equal paths for one library: different kernels must
 * not be mistaken for one another, whatever descriptors they reuse. */
static void many_kernels_stay_apart(void **state)
{
    enum { MANY = 12 };
    sp_jit_code *code[MANY];
    char source[64];

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            snprintf(source, sizeof source, "int answer(void) { return %d; }",
                     i);
            check_ok(sp_jit_load(&code[i], source, NULL, "cpu"));
        }
        for (int i = 0; i < MANY; i++) {
            int (*answer)(void);

            *(void **)&answer = sp_jit_symbol(code[i], "answer");
            assert_int_equal(answer(), i);
            sp_jit_free(code[i]);
        }
    }
    assert_int_equal(compiles(), MANY);
}

static void a_compile_error_is_a_sentence(void **state)
{
    sp_jit_code *code;

    (void)state;
    assert_int_equal(
        sp_jit_load(&code, "int f(void) {\n return x; }", NULL, ""), SPRY_FAIL);
    assert_null(code);
    assert_non_null(strstr(spry_message(), "kernel.c:2:"));
    assert_non_null(strstr(spry_message(), "error"));
    assert_null(strstr(spry_message(), "\n"));
    assert_int_equal(
        sp_jit_load(&code, "void g(void); void f(void) { g(); }", NULL, ""),
        SPRY_SYSTEM); /* compiles, but g is nowhere */
    assert_null(code);
}

static void without_a_compiler_it_says_so(void **state)
{
    char *path = sp_strdup(getenv("PATH"));
    sp_jit_code *code;

    (void)state;
    unsetenv("SPRY_CC");
    unsetenv("CC");
    setenv("PATH", "", 1);
    assert_int_equal(sp_jit_load(&code, ANSWER_42, NULL, ""), SPRY_SYSTEM);
    assert_null(code);
    assert_non_null(strstr(spry_message(), "no C compiler"));
    assert_int_equal(spry_jit_available(), SPRY_SYSTEM);
    assert_string_equal(spry_jit_compiler(), "");
    setenv("PATH", path, 1);
    free(path);
    check_ok(spry_jit_available());
    assert_true(strlen(spry_jit_compiler()) > 0);
}

/* $CC is one program or nothing: no words, no shell. */
static void an_evil_compiler_variable_is_not_obeyed(void **state)
{
    char evil[PATH_MAX + 64];
    sp_jit_code *code;

    (void)state;
    unsetenv("SPRY_CC");
    snprintf(evil, sizeof evil, "cc; touch %s", in_dir("owned"));
    setenv("CC", evil, 1);
    assert_int_equal(answer_of(ANSWER_42), 42);
    setenv("CC", "cc -DEVIL", 1);
    assert_int_equal(answer_of("int answer(void) {\n#ifdef EVIL\nreturn 0;\n"
                               "#else\nreturn 1;\n#endif\n}"),
                     1);
    snprintf(evil, sizeof evil, "$(touch %s)", in_dir("owned"));
    setenv("SPRY_CC", evil, 1);
    assert_int_equal(sp_jit_load(&code, ANSWER_42, NULL, ""), SPRY_SYSTEM);
    assert_non_null(strstr(spry_message(), "SPRY_CC"));
    setenv("SPRY_CC", test_dir, 1); /* a directory */
    assert_int_equal(sp_jit_load(&code, ANSWER_42, NULL, ""), SPRY_SYSTEM);
    assert_int_not_equal(access(in_dir("owned"), F_OK), 0);
    unsetenv("CC");
}

static void a_compiler_below_the_working_directory_is_not_found(void **state)
{
    char *path = sp_strdup(getenv("PATH")), mixed[PATH_MAX];
    char here[PATH_MAX];

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(test_dir), 0);
    write_text("cc", "#!/bin/sh\ntouch owned\nexit 1\n", 0700);
    unsetenv("SPRY_CC");
    snprintf(mixed, sizeof mixed, ".::%s", path);
    setenv("PATH", mixed, 1);
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_not_equal(access("owned", F_OK), 0);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(chdir(here), 0);
}

/* The script leaves a child of its own that must end with it. */
static void a_hanging_compiler_is_ended(void **state)
{
    char script[2 * PATH_MAX];
    sp_jit_code *code;
    FILE *f;
    long child = 0;

    (void)state;
    snprintf(script, sizeof script,
             "#!/bin/sh\n[ \"$1\" = --version ] && echo slow && exit\n"
             "sleep 1000 & echo $! > '%s'\nwait\n",
             in_dir("child"));
    write_text(in_dir("slow"), script, 0700);
    setenv("SPRY_CC", in_dir("slow"), 1);
    sp_jit_limit(unless_emulated(4, 10)); /* enough for it to begin */
    assert_int_equal(sp_jit_load(&code, ANSWER_42, NULL, ""), SPRY_TIMEOUT);
    assert_null(code);
    sp_jit_limit(20);
    f = fopen(in_dir("child"), "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld", &child), 1);
    fclose(f);
    for (int i = 0; i < 1000 && kill((pid_t)child, 0) == 0; i++)
        usleep(10000); /* init may take a moment to bury it */
    assert_int_equal(kill((pid_t)child, 0), -1);
}

static void a_broken_compiler_is_a_sentence(void **state)
{
    sp_jit_code *code;

    (void)state;
    write_text(in_dir("liar"), "#!/bin/sh\necho liar\n", 0700);
    setenv("SPRY_CC", in_dir("liar"), 1); /* says it worked, made nothing */
    assert_int_equal(sp_jit_load(&code, ANSWER_42, NULL, ""), SPRY_SYSTEM);
    write_text(in_dir("mute"), "#!/bin/sh\nexit 3\n", 0700);
    setenv("SPRY_CC", in_dir("mute"), 1);
    assert_int_equal(sp_jit_load(&code, ANSWER_42, NULL, ""), SPRY_SYSTEM);
    assert_non_null(strstr(spry_message(), "--version"));
    write_text(in_dir("chatty"),
               "#!/bin/sh\n[ \"$1\" = --version ] && echo c && exit\n"
               "i=0; while [ $i -lt 5000 ]; do echo 'note: nothing at all' >&2;"
               " i=$((i+1)); done; exit 1\n",
               0700);
    setenv("SPRY_CC", in_dir("chatty"), 1);
    assert_int_equal(sp_jit_load(&code, ANSWER_42, NULL, ""), SPRY_FAIL);
    assert_non_null(strstr(spry_message(), "note: nothing at all"));
}

/* A new compiler under the old name is another compiler. */
static void a_changed_compiler_compiles_anew(void **state)
{
    FILE *f;

    (void)state;
    assert_int_equal(answer_of(ANSWER_42), 42);
    f = fopen(in_dir("counting cc"), "a");
    assert_non_null(f);
    fputs("# changed\n", f);
    fclose(f);
    assert_int_equal(answer_of(ANSWER_42), 42);
    assert_int_equal(compiles(), 2);
}

static void *load_and_free(void *arg)
{
    long wrong = 0;

    (void)arg;
    for (int i = 0; i < 50; i++)
        wrong += answer_of(ANSWER_42) != 42;
    return (void *)wrong;
}

static void threads_share(void **state)
{
    pthread_t thread[8];
    void *wrong;

    (void)state;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, load_and_free, NULL),
                         0);
    for (int i = 0; i < 8; i++) {
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(compiles(), 1);
}

/* From here on this process gets EPERM from memfd_create. */
static int forbid_memory_files(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void without_memory_files_a_private_file_serves(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0) {
        if (!forbid_memory_files())
            _exit(77);
        _exit(answer_of(ANSWER_42) == 42 && answer_of(ANSWER_42) == 42 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip_because("the kernel has no seccomp");
    assert_int_equal(status, 0);
    assert_int_equal(compiles(), 1);
}

static void compile_on_trial(sp_shared *s, void *arg)
{
    (void)arg;
    *(int *)s->data = answer_of(ANSWER_42);
}

/* A trial makes the kernels that it needs, though nothing in it may begin a
 * process group. */
static void a_trial_can_compile(void **state)
{
    sp_child_job job = {.work = compile_on_trial, .seconds = 100};
    sp_child_verdict v;
    sp_shared shared;

    (void)state;
    check_ok(sp_shared_open(&shared, sizeof(int)));
    check_ok(sp_child_run(&v, &job, &shared));
    assert_int_equal(v.end, SP_CHILD_OK);
    assert_int_equal(*(int *)shared.data, 42);
    assert_int_equal(compiles(), 1);
    sp_shared_close(&shared);
}

static void refused_memory_fails_and_leaks_nothing(void **state)
{
    int64_t before = sp_alloc_live();
    spry_status s = SPRY_FAIL;
    sp_jit_code *code;
    int tries = 0;

    (void)state;
    for (int n = 1; s != SPRY_OK && n < 100; n++, tries++) {
        sp_alloc_refuse(n, 0);
        s = sp_jit_load(&code, ANSWER_42, NULL, "");
        sp_alloc_refuse(0, 0);
        if (s != SPRY_OK)
            assert_null(code);
        sp_jit_free(code);
        assert_int_equal(sp_alloc_live(), before);
    }
    check_ok(s);
    assert_true(tries > 2);
}

/* A thread loads all the time while others fork: the children must be able
 * to load too, whatever the thread was doing. */
static atomic_int forking;

static void *load_meanwhile(void *unused)
{
    while (forking)
        (void)answer_of(ANSWER_42);
    return unused;
}

static int child_answers(void)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        alarm((unsigned)unless_emulated(20,
                                        300)); /* a deadlock ends as a signal */
        _exit(answer_of(ANSWER_42) == 42 ? 0 : 1);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void a_fork_may_happen_at_any_time(void **state)
{
    pthread_t thread[2];
    int answered = 0, forks = unless_emulated(200, 20);

    (void)state;
    assert_int_equal(answer_of(ANSWER_42), 42);
    forking = 1;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, load_meanwhile, NULL),
                         0);
    for (int i = 0; i < forks; i++)
        answered += child_answers();
    forking = 0;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(answered, forks);
}

#define jit_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        jit_test(text_becomes_a_function),
        jit_test(equal_keys_share_one_object),
        jit_test(a_kept_kernel_is_not_compiled_again),
        jit_test(many_kernels_stay_apart),
        jit_test(a_compile_error_is_a_sentence),
        jit_test(without_a_compiler_it_says_so),
        jit_test(an_evil_compiler_variable_is_not_obeyed),
        jit_test(a_compiler_below_the_working_directory_is_not_found),
        jit_test(a_hanging_compiler_is_ended),
        jit_test(a_broken_compiler_is_a_sentence),
        jit_test(a_changed_compiler_compiles_anew),
        jit_test(threads_share),
        jit_test(a_fork_may_happen_at_any_time),
        jit_test(without_memory_files_a_private_file_serves),
        jit_test(a_trial_can_compile),
        jit_test(refused_memory_fails_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
