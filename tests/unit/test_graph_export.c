/* Dense operators and operator graphs as C: compiled with nothing of spry
 * beside it, they compute what the plan computes. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "check.h"
#include "dense/dense.h"
#include "folder.h"
#include "machine/isa.h"
#include "spry/graph.h"

static char dir[TEST_FOLDER];

/* Compile what lies in the folder; 0: it went well. */
static int compile(const char *folder)
{
    const sp_isa *isa;
    spry_machine m;
    char command[4096];
    int at;

    assert_int_equal(spry_machine_detect(&m), SPRY_OK);
    isa = sp_isa_of(m.isa);
    at = snprintf(command, sizeof command,
                  "cc -std=c11 -Wall -Wextra -Wpedantic -Wno-psabi -Werror -O1 "
                  "-ffp-contract=fast");
    for (int i = 0; i < SP_ISA_FLAGS && isa->flags[i]; i++)
        at += snprintf(command + at, sizeof command - (size_t)at, " %s",
                       isa->flags[i]);
    snprintf(command + at, sizeof command - (size_t)at,
             " %s/*.c %s/kernels/*.c -lm -o %s/a.out", folder, folder, folder);
    return system(command);
}

static int has_compiler(void)
{
    char command[TEST_FOLDER + 64];

    snprintf(command, sizeof command, "cc --version >%s/version 2>&1", dir);
    return system(command) == 0;
}

static float *numbers(int64_t count, uint64_t seed)
{
    float *x = sp_alloc_raw(count + 1, sizeof *x);
    sp_rng r = sp_rng_seed(seed);

    assert_non_null(x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(sp_rng_unit(&r) - 0.5);
    return x;
}

static void save(const char *folder, const char *name, const float *x,
                 int64_t count)
{
    char path[TEST_FOLDER + 64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(sp_file_write(path, x, (size_t)count * sizeof *x),
                     SPRY_OK);
}

/* Run the example on the inputs and compare bit for bit, or nearly. */
static void compare(const char *folder, const char *inputs, const float *right,
                    int64_t count)
{
    char command[1024], path[TEST_FOLDER + 64];
    sp_file got;

    snprintf(command, sizeof command,
             "cd %s && $SPRY_EMULATOR ./a.out op.bin %s >said", folder, inputs);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/output0.raw", folder);
    assert_int_equal(sp_file_read(&got, path, 1 << 28), SPRY_OK);
    assert_int_equal(got.len, (size_t)count * sizeof *right);
    for (int64_t i = 0; i < count; i++) {
        float y;

        memcpy(&y, got.data + i * 4, 4);
        if (!(y - right[i] <= 1e-5f * (1 + right[i] * right[i]) &&
              right[i] - y <= 1e-5f * (1 + right[i] * right[i])))
            fail_msg("%s: number %d is %g, not %g", folder, (int)i, (double)y,
                     (double)right[i]);
    }
    sp_file_free(&got);
}

static void export_one(const char *op_text, const char *way, int number)
{
    spry_operator op;
    spry_problem *p = NULL;
    spry_plan *plan = NULL;
    char folder[TEST_FOLDER + 16];
    const char *inputs = "in.raw";
    spry_tensors t = {0};
    float *in, *b = NULL, *add = NULL, *out;

    snprintf(folder, sizeof folder, "%s/op%d", dir, number);
    assert_int_equal(sp_make_dirs(folder, 0700), SPRY_OK);
    assert_int_equal(spry_operator_parse(&op, op_text), SPRY_OK);
    assert_int_equal(spry_problem_dense(&p, &op), SPRY_OK);
    assert_int_equal(spry_dense_plan(&plan, p, way, NULL), SPRY_OK);
    op = *spry_problem_operator(p);
    assert_int_equal(spry_plan_export(plan, folder, "op"), SPRY_OK);
    t.in = in = numbers(sp_dense_in(&op), 1);
    t.out = out = numbers(sp_dense_out(&op), 2);
    save(folder, "in.raw", in, sp_dense_in(&op));
    if (sp_dense_b(&op)) {
        t.b = b = numbers(sp_dense_b(&op), 3);
        save(folder, "more.raw", b, sp_dense_b(&op));
        inputs = "in.raw more.raw";
    }
    if (sp_dense_add(&op)) {
        t.add = add = numbers(sp_dense_add(&op), 4);
        save(folder, "more.raw", add, sp_dense_add(&op));
        inputs = "in.raw more.raw";
    }
    assert_int_equal(spry_dense_run(plan, &t), SPRY_OK);
    assert_int_equal(compile(folder), 0);
    compare(folder, inputs, out, sp_dense_out(&op));
    sp_free(in);
    sp_free(b);
    sp_free(add);
    sp_free(out);
    spry_plan_free(plan);
    spry_problem_free(p);
}

static void operators_compute_the_same(void **state)
{
    static const char *const cases[][2] = {
        {"conv2d,h=13,w=11,c=20,k=41,r=3,pad=1,act=relu",
         "wino2 tile=3x2 block=8"},
        {"conv2d,h=13,w=11,c=7,k=21,r=5,stride=2,pad=2,act=hswish,bias=1",
         "direct tile=4x2"},
        {"conv2d,h=9,w=14,c=19,k=19,r=3,pad=1,groups=19", "dw tile=4x1"},
        {"matmul,batch=3,m=9,n=17,k=8,b=given,transposed=1", "direct tile=3x2"},
        {"matmul,batch=2,m=9,n=70,k=21,b=given,transposed=1",
         "direct tile=3x2"},
        {"conv2d,h=9,w=14,c=19,k=70,r=3,pad=1,stride=2,sparsity=0.8,bias=1,"
         "act=relu",
         "sparse tile=2x3 block=40"},
        {"matmul,m=9,n=33,k=50,sparsity=0.9,add=before", "sparse tile=1x1"},
        {"matmul,m=5,n=9,k=30", "plain"},
        {"softmax,m=7,n=19", "rows"},
        {"layernorm,m=7,n=19", "rows"},
        {"pool,h=9,w=9,c=10,r=3,stride=2", "rows"}};

    (void)state;
    if (!has_compiler())
        skip_because("there is no C compiler");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        export_one(cases[i][0], cases[i][1], (int)i);
}

/* B of each run is turned in whole vectors, as by the plan: the loops that do
 * so come along, and only where they are needed. */
static void loops_that_turn_come_along(void **state)
{
    static const char *const text[] = {
        "matmul,m=9,n=70,k=21,b=given,transposed=1",
        "matmul,m=9,n=70,k=21,b=given"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        char folder[TEST_FOLDER + 16], path[TEST_FOLDER + 64];
        spry_problem *p = NULL;
        spry_plan *plan = NULL;
        spry_operator op;
        sp_file file;

        snprintf(folder, sizeof folder, "%s/turn%d", dir, i);
        assert_int_equal(sp_make_dirs(folder, 0700), SPRY_OK);
        assert_int_equal(spry_operator_parse(&op, text[i]), SPRY_OK);
        assert_int_equal(spry_problem_dense(&p, &op), SPRY_OK);
        assert_int_equal(spry_dense_plan(&plan, p, "direct tile=3x2", NULL),
                         SPRY_OK);
        assert_int_equal(spry_plan_export(plan, folder, "op"), SPRY_OK);
        snprintf(path, sizeof path, "%s/kernels/pruned.c", folder);
        if (sp_file_read(&file, path, 1 << 20) == SPRY_OK) {
            assert_int_equal(i, 0);
            sp_file_free(&file);
        } else {
            assert_int_equal(i, 1);
        }
        spry_plan_free(plan);
        spry_problem_free(p);
    }
}

static void misuse_is_refused(void **state)
{
    spry_graph *g = NULL;
    spry_executor *e = NULL;
    spry_executor_options o = SPRY_EXECUTOR_DEFAULTS;

    (void)state;
    o.store = ":memory:";
    assert_int_equal(spry_executor_export(NULL, dir, "x"), SPRY_USAGE);
    assert_int_equal(spry_graph_read(&g, "net:mobilenetv3,size=75", NULL),
                     SPRY_OK);
    assert_int_equal(spry_executor_make(&e, g, &o), SPRY_OK);
    assert_int_equal(spry_executor_export(e, NULL, "x"), SPRY_USAGE);
    assert_int_equal(spry_executor_export(e, dir, "9 lives"), SPRY_USAGE);
    assert_int_equal(spry_executor_export(e, "/nowhere/at/all", "x"),
                     SPRY_USAGE);
    spry_executor_free(e);
    spry_graph_free(g);
}

static int open_folder(void **state)
{
    (void)state;
    return make_folder(dir) ? 0 : -1;
}

static int close_folder(void **state)
{
    char command[TEST_FOLDER + 16];

    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_compute_the_same),
        cmocka_unit_test(loops_that_turn_come_along),
        cmocka_unit_test(misuse_is_refused),
    };

    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
