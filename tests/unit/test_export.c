/* test_export.c - exported C compiles alone and computes the same. */
#include "check.h"
#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "machine/isa.h"
#include "spry.h"

enum { N = 5 };

/* Reads B from standard input, writes C; the dense sizes are arguments. */
static const char driver[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include \"mine.h\"\n"
    "int main(int argc, char **argv)\n{\n"
    "    size_t b = (size_t)atol(argv[2]), c = (size_t)atol(argv[3]);\n"
    "    float *B = malloc(b * 4), *C = malloc(c * 4);\n"
    "    mine *m = mine_load(argv[1]);\n"
    "    (void)argc;\n"
    "    if (!m || fread(B, 4, b, stdin) != b) return 1;\n"
    "    mine_run(m, 1, B, SAMPLED ? B : NULL, 0, C);\n"
    "    mine_free(m);\n"
    "    return fwrite(C, 4, c, stdout) != c;\n}\n";

/* What the header says to compile with: one -O, and the set's flags. */
static void flags_of_header(char *out, size_t size, const char *dir)
{
    static const char before[] = "mine.c with: cc ";
    char path[512], *line, *end, *level;
    sp_file header;

    snprintf(path, sizeof path, "%s/mine.h", dir);
    check_ok(sp_file_read(&header, path, 1 << 20));
    line = strstr((char *)header.data, before);
    assert_non_null(line);
    line += strlen(before);
    end = strchr(line, '\n');
    assert_in_range(end - line, 1, size - 1);
    snprintf(out, size, "%.*s", (int)(end - line), line);
    sp_file_free(&header);
    level = strstr(out, " -O");
    assert_non_null(level);
    assert_null(strstr(level + 1, " -O"));
}

static void compile(const char *dir, const char *what)
{
    char command[2048], flags[512];

    flags_of_header(flags, sizeof flags, dir);
    snprintf(command, sizeof command, "cd %s && cc -w %s %s", dir, flags, what);
    assert_int_equal(system(command), 0);
}

static void build_and_run(const char *dir, long b, long c)
{
    char command[1024];
    int ended;

    compile(dir, "-o mine mine.c driver.c");
    snprintf(command, sizeof command,
             "cd %s && ./mine mine.bin %ld %ld < B > C", dir, b, c);
    ended = system(command);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 126)
        skip_because("an emulated machine cannot run what it compiles");
    assert_int_equal(ended, 0);
}

static void compare(const spry_plan *plan, const char *dir, const float *B,
                    int64_t b)
{
    const spry_problem *p = spry_plan_problem(plan);
    int64_t c = spry_problem_output_size(p);
    float *want = calloc((size_t)c, 4);
    char path[512];
    sp_file got;

    check_ok(spry_run_scaled(plan, 1, B, B, 0, want));
    snprintf(path, sizeof path, "%s/B", dir);
    check_ok(sp_file_write(path, B, (size_t)b * 4));
    build_and_run(dir, (long)b, (long)c);
    snprintf(path, sizeof path, "%s/C", dir);
    check_ok(sp_file_read(&got, path, 1 << 24));
    assert_int_equal(got.len, c * 4);
    assert_memory_equal(got.data, want, got.len);
    sp_file_free(&got);
    free(want);
}

static void run_exported(const spry_plan *plan, const char *dir)
{
    const spry_problem *p = spry_plan_problem(plan);
    int64_t b = spry_problem_input_size(p, 0);
    float *B = malloc((size_t)b * 4);
    char path[512], source[4096];

    snprintf(source, sizeof source, "#define SAMPLED %d\n%s",
             spry_problem_op(p) == SPRY_SDDMM, driver);
    snprintf(path, sizeof path, "%s/driver.c", dir);
    check_ok(sp_file_write(path, source, strlen(source)));
    for (int64_t k = 0; k < b; k++)
        B[k] = (float)(k % 19) - 9;
    compare(plan, dir, B, b);
    free(B);
}

/* Run here, or compiled only for a machine that this one is not. */
static void export_for(const spry_machine *m, const char *spec,
                       const char *text, spry_op op)
{
    char dir[TEST_FOLDER], path[512];
    spry_schedule x;
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;

    assert_non_null(make_folder(dir));
    check_ok(spry_matrix_generate(&A, spec, 1));
    check_ok(op == SPRY_SPMV   ? spry_problem_spmv(&p, A, SPRY_F32)
             : op == SPRY_SPMM ? spry_problem_spmm(&p, A, N, SPRY_F32)
                               : spry_problem_sddmm(&p, A, N, SPRY_F32));
    check_ok(spry_schedule_parse(&x, text));
    check_ok(spry_plan_make(&plan, p, &x, m));
    check_ok(spry_plan_export(plan, dir, "mine"));
    if (!m || sp_isa_runs_here(m->isa))
        run_exported(plan, dir);
    else
        compile(dir, "-c mine.c");
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
    snprintf(path, sizeof path, "rm -r %s", dir);
    assert_int_equal(system(path), 0);
}

static void export_of(const char *spec, const char *text, spry_op op)
{
    export_for(NULL, spec, text, op);
}

static void export_one(const char *text, spry_op op)
{
    export_of("uniform rows=300 cols=300 nnz=2000 values=ones", text, op);
}

/* Partly blocks. */
static void export_mixed(const char *text, spry_op op)
{
    export_of("blocks rows=300 r=4 c=4 nnz=2000 scatter=0.3 values=ones", text,
              op);
}

static void exported_code_computes_the_same(void **state)
{
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    export_one("csr", SPRY_SPMV);
    export_one("sell slice=2 sigma=64", SPRY_SPMV);
    export_one("sell tile=2 slice=2 sigma=64", SPRY_SPMM);
    export_one("csr unroll=4 panel=64 index=16 threads=2", SPRY_SPMV);
    export_one("sell sigma=64 palette=1", SPRY_SPMV);
    export_one("sell slice=2 sigma=64 palette=256", SPRY_SPMV);
    export_one("sell palette=16", SPRY_SPMV);
    export_one("sell slice=2 index=8 palette=16", SPRY_SPMV);
    export_of("stencil5 nx=53 values=ones", "dia slice=4 symmetric=1 threads=2",
              SPRY_SPMV);
    export_mixed("bcsr r=2 c=2 rest=50 threads=2", SPRY_SPMV);
    export_mixed("bcsr r=4 c=4 tile=1 rest=50 threads=2", SPRY_SPMM);
    export_one("csr tile=2 threads=2", SPRY_SPMM);
    export_one("dcsr tile=1", SPRY_SPMM);
    export_one("csr tile=1 unroll=4 panel=128", SPRY_SDDMM);
    export_one("super k=8 loops=k1ik0 dense=k0 parallel=k1 threads=2",
               SPRY_SPMV);
    export_one("super i=4 k=8 j=4 loops=i1k1j1i0k0j0 dense=i1i0k0 "
               "parallel=i1 threads=2 chunk=32",
               SPRY_SPMM);
    export_one("super j=8 loops=j1ij0k dense=j0", SPRY_SDDMM);
}

/* Every set of this processor's architecture, with the flags it needs. */
static void every_set_compiles(void **state)
{
    static const char spec[] = "uniform rows=300 cols=300 nnz=2000 values=ones";
    spry_machine m;
    const char *arch;

    (void)state;
    check_ok(spry_machine_detect(&m));
    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    arch = sp_isa_of(m.isa)->arch;
    for (int isa = 0; isa < sp_isa_count; isa++) {
        if (strcmp(sp_isas[isa].arch, arch) != 0)
            continue;
        m.isa = (spry_isa)isa;
        export_for(&m, spec, "csr unroll=4", SPRY_SPMV);
        export_for(&m, spec, "csr tile=2 fixed=1", SPRY_SPMM);
        export_for(&m, spec, "csr tile=1 unroll=4 fixed=1", SPRY_SDDMM);
        if (sp_isas[isa].gathers)
            export_for(&m, spec, "sell gather=1", SPRY_SPMV);
        if (sp_isas[isa].streams)
            export_for(&m, spec, "csr tile=1 stream=1", SPRY_SPMM);
    }
}

static void a_bad_name_is_refused(void **state)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform rows=9 cols=9 nnz=9", 1));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    assert_int_equal(spry_plan_export(plan, "/tmp", "a;b"), SPRY_USAGE);
    assert_int_equal(spry_plan_export(plan, "/tmp", "../a"), SPRY_USAGE);
    assert_int_equal(spry_plan_export(plan, "/tmp/not/there", "a"), SPRY_USAGE);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exported_code_computes_the_same),
        cmocka_unit_test(every_set_compiles),
        cmocka_unit_test(a_bad_name_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
