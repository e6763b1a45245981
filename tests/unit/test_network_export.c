/* test_network_export.c - exported networks compile alone and compute the
 * same. */
#include "check.h"
#include "folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "spry.h"

enum { BATCH = 19 }; /* two times eight, and three */

static const char driver[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include \"mine.h\"\n"
    "int main(void)\n{\n"
    "    size_t a = 19 * mine_INPUTS, b = 19 * mine_OUTPUTS;\n"
    "    float *x = malloc(a * 4), *y = malloc(b * 4);\n"
    "    float *room = malloc(mine_ROOM * 4);\n"
    "    if (fread(x, 4, a, stdin) != a) return 1;\n"
    "    mine_run(y, x, 19, room);\n"
    "    return fwrite(y, 4, b, stdout) != b;\n}\n";

static void write_in(const char *dir, const char *name, const void *data,
                     size_t bytes)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    check_ok(sp_file_write(path, data, bytes));
}

static void build_and_run(const char *dir)
{
    char command[1024];

    snprintf(
        command, sizeof command,
        "cd %s && cc -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 -o mine "
        "mine.c driver.c -lm && $SPRY_EMULATOR ./mine < x > y",
        dir);
    assert_int_equal(system(command), 0);
}

static void compare(const spry_network *n, const char *dir, const float *x)
{
    int64_t count = BATCH * n->outputs;
    double *right = malloc((size_t)count * sizeof *right);
    char path[512];
    sp_file got;

    check_ok(spry_network_reference(right, n, x, BATCH));
    snprintf(path, sizeof path, "%s/y", dir);
    check_ok(sp_file_read(&got, path, 1 << 26));
    assert_int_equal(got.len, count * 4);
    for (int64_t i = 0; i < count; i++) {
        float y;

        memcpy(&y, got.data + 4 * i, sizeof y);
        if (isnan(right[i]))
            assert_true(isnan(y));
        else
            assert_true(fabs((double)y - right[i]) <=
                        1e-4 * (1 + fabs(right[i])));
    }
    sp_file_free(&got);
    free(right);
}

static void export_one(const char *spec, const char *passes)
{
    char dir[TEST_FOLDER], command[TEST_FOLDER + 16];
    spry_network *whole, *n;
    unsigned which;
    float *x;
    sp_rng r = sp_rng_seed(5);

    assert_non_null(make_folder(dir));
    check_ok(spry_network_read(&whole, spec, NULL));
    check_ok(spry_passes_parse(&which, passes));
    check_ok(spry_network_compile(&n, whole, which, NULL));
    check_ok(spry_network_export(n, dir, "mine"));
    x = malloc((size_t)(BATCH * n->inputs) * sizeof *x);
    for (int64_t i = 0; i < BATCH * n->inputs; i++)
        x[i] = sp_rng_below(&r, 3) ? 0 : (float)sp_rng_unit(&r);
    if (which == 0) /* in one of eight side by side, and in one alone */
        x[5 * n->inputs + 1] = x[17 * n->inputs + 2] = NAN;
    write_in(dir, "driver.c", driver, strlen(driver));
    write_in(dir, "x", x, (size_t)(BATCH * n->inputs) * sizeof *x);
    build_and_run(dir);
    compare(whole, dir, x);
    free(x);
    spry_network_free(whole);
    spry_network_free(n);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void exported_networks_compute_the_same(void **state)
{
    (void)state;
    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    export_one("gen:radix,depth=8", "none");
    export_one("gen:radix,depth=8", "all");
    export_one("gen:random,width=60,depth=5,density=0.2,bias=-0.1", "none");
    export_one("gen:random,width=7,density=0", "none");
    export_one("gen:pruned,widths=40x30x20x10,sparsity=0.8,activation=sigmoid",
               "all");
    export_one("gen:smallworld,width=50,degree=6,activation=tanh", "none");
    export_one("gen:skip,width=20,depth=6,degree=5", "all");
    export_one("gen:mixed,radices=3x4,copies=4,activation=linear", "factor");
}

static void bad_names_are_refused(void **state)
{
    static const char *const bad[] = {"", "9lives", "a-b", "a b", "\xc3\xa4"};
    spry_network *n;

    (void)state;
    check_ok(spry_network_read(&n, "gen:random,width=7,density=1", NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(spry_network_export(n, "/tmp", bad[i]), SPRY_USAGE);
    assert_int_equal(spry_network_export(n, "/dev/null/x", "good"), SPRY_USAGE);
    spry_network_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exported_networks_compute_the_same),
        cmocka_unit_test(bad_names_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
