/* test_base.c - memory, text, chance. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/guarded.h"

static void allocation_is_aligned_and_counted(void **state)
{
    int64_t before = sp_alloc_live();
    void *p = sp_alloc(3, 5), *q = sp_alloc(5 << 20, 1);

    (void)state;
    assert_int_equal((uintptr_t)p % 64, 0);
    assert_int_equal((uintptr_t)q % (2 << 20), 0);
    assert_int_equal(sp_alloc_live(), before + 2);
    sp_free(p);
    sp_free(q);
    assert_int_equal(sp_alloc_live(), before);
}

static void allocation_refuses_overflow_and_on_request(void **state)
{
    void *p;

    (void)state;
    assert_null(sp_alloc(INT64_MAX, 8));
    assert_null(sp_alloc(-1, 8));
    sp_alloc_refuse(2, 0);
    p = sp_alloc(1, 1);
    assert_non_null(p);
    assert_null(sp_alloc(1, 1));
    sp_free(p);
    p = sp_alloc(1, 1);
    assert_non_null(p);
    sp_free(p);
}

/* A child's allocations are of the same row. */
static void refusals_are_counted_across_a_fork(void **state)
{
    _Atomic(long long) *left = mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t pid;
    void *p;

    (void)state;
    assert_true(left != MAP_FAILED);
    sp_alloc_count_in(left);
    sp_alloc_refuse(3, 0);
    pid = fork();
    if (pid == 0)
        _exit(sp_alloc(1, 1) && sp_alloc(1, 1) ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(*left, 1);
    assert_null(sp_alloc(1, 1));
    p = sp_alloc(1, 1);
    assert_non_null(p);
    sp_free(p);
    sp_alloc_refuse(1, 1);
    assert_null(sp_alloc(1, 1));
    assert_null(sp_alloc(1, 1));
    sp_alloc_refuse(0, 0);
    sp_alloc_count_in(NULL);
}

/* Untouched pages are told from others where the system can tell, and what
 * is in a block stays when its pages are brought. */
static void pages_are_brought(void **state)
{
    enum { MANY = 9 << 20 };
    char *p = calloc(MANY, 1);

    (void)state;
    assert_non_null(p);
    assert_false(sp_pages_lack(p, 4096)); /* too small to look */
#ifdef __linux__
    assert_true(sp_pages_lack(p, MANY));
#endif
    p[0] = p[5000] = p[MANY - 1] = 7;
    sp_pages_bring(p + 1, MANY - 2);
    sp_pages_bring(p + 1, 1);
    for (int64_t i = 0; i < MANY; i++)
        assert_int_equal(p[i], i == 0 || i == 5000 || i == MANY - 1 ? 7 : 0);
    memset(p, 1, MANY);
    assert_false(sp_pages_lack(p, MANY));
    free(p);
}

/* Does a process that reads x[i] live on? */
static int can_read(const volatile float *x, int64_t i)
{
    int status = 1;
    pid_t child = fork();

    if (child == 0) {
        (void)x[i];
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

static void nobody_reads_past_a_guarded_end(void **state)
{
    static const int64_t counts[] = {1, 5, 1024, 5000};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        float *x = sp_guarded_alloc(counts[i], sizeof *x);

        assert_non_null(x);
        x[0] = x[counts[i] - 1] = 1;
        assert_true(can_read(x, counts[i] - 1));
        assert_false(can_read(x, counts[i]));
        sp_guarded_free(x, counts[i], sizeof *x);
    }
    assert_null(sp_guarded_alloc(INT64_MAX, 8));
    assert_null(sp_guarded_alloc(-1, 8));
    sp_guarded_free(NULL, 0, 8);
}

static void text_grows(void **state)
{
    sp_buf b = {0};
    char *text;

    (void)state;
    for (int i = 0; i < 1000; i++)
        sp_buf_printf(&b, "%d,", i % 10);
    assert_int_equal(b.len, 2000);
    text = sp_buf_steal(&b);
    assert_string_equal(text + 1994, "7,8,9,");
    free(text);
    text = sp_buf_steal(&b);
    assert_string_equal(text, "");
    free(text);
}

static void random_numbers_repeat_and_spread(void **state)
{
    sp_rng a = sp_rng_seed(7), b = sp_rng_seed(7), c = sp_rng_seed(8);
    int hits[10] = {0}, differ = 0;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        uint64_t x = sp_rng_below(&a, 10);

        assert_int_equal(x, sp_rng_below(&b, 10));
        differ += x != sp_rng_below(&c, 10);
        hits[x]++;
    }
    assert_true(differ > 8000);
    for (int i = 0; i < 10; i++)
        assert_in_range(hits[i], 850, 1150);
}

static void hash_sees_every_byte_and_the_split(void **state)
{
    char data[64] = {0}, first[33], other[33];

    (void)state;
    for (size_t n = 0; n < sizeof data; n++) {
        sp_hash h = sp_hash_begin(), g = sp_hash_begin();

        sp_hash_add(&h, data, sizeof data);
        data[n] = 1;
        sp_hash_add(&g, data, sizeof data);
        data[n] = 0;
        sp_hash_hex(first, h);
        sp_hash_hex(other, g);
        assert_memory_not_equal(first, other, 16); /* in both halves */
        assert_memory_not_equal(first + 16, other + 16, 16);
    }
}

static void failure_leaves_a_sentence(void **state)
{
    (void)state;
    assert_int_equal(sp_fail(SPRY_INPUT, "%s:%d: odd", "a.mtx", 3), SPRY_INPUT);
    assert_string_equal(spry_message(), "a.mtx:3: odd");
    sp_fail(SPRY_FAIL, "again: %s", spry_message());
    assert_string_equal(spry_message(), "again: a.mtx:3: odd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocation_is_aligned_and_counted),
        cmocka_unit_test(allocation_refuses_overflow_and_on_request),
        cmocka_unit_test(refusals_are_counted_across_a_fork),
        cmocka_unit_test(pages_are_brought),
        cmocka_unit_test(nobody_reads_past_a_guarded_end),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(random_numbers_repeat_and_spread),
        cmocka_unit_test(hash_sees_every_byte_and_the_split),
        cmocka_unit_test(failure_leaves_a_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
