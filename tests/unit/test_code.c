/* test_code.c - what compilers make of kernels, read as assembly.
 *
 * Every set of this processor's architecture that has fused multiply-adds,
 * whether this CPU runs it or not: kernels that multiply use them, and no
 * arithmetic is masked, since no text asks for that. */
#include "check.h"
#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "jit/internal.h"
#include "machine/isa.h"

enum { MOST = 96, PER_KIND = 2 };

static sp_compiler compiler;

/* ---- which kernels ---- */

typedef struct {
    sp_spec k[MOST];
    int count;
} kernels;

/* Not every width and index of everything: some of each kind, and all whose
 * columns are known, where loops vanish. Sums alone multiply nothing. */
static int is_chosen(const kernels *list, const sp_spec *k)
{
    int like = 0;

    if (k->plain || k->palette == 1 || k->index != 32 || k->prefetch)
        return 0;
    for (int i = 0; i < list->count; i++)
        like += list->k[i].op == k->op && list->k[i].format == k->format;
    return like < PER_KIND || (k->op == SPRY_SDDMM && k->n);
}

/* Widths that nothing is built in for. */
static void add_widths(kernels *list, const sp_spec *k)
{
    static const int64_t width[] = {5, 24, 48, 96};

    for (int i = 0; i < 4 && list->count < MOST; i++) {
        list->k[list->count] = *k;
        list->k[list->count++].n = width[i];
    }
}

static int is_usual(const sp_spec *k)
{
    return !k->plain && !k->n && k->format == SPRY_CSR && k->index == 32 &&
           !k->prefetch;
}

static void choose(kernels *list, spry_isa isa)
{
    sp_spec k, spmm = {0}, sddmm = {0};

    list->count = 0;
    for (int i = 0; sp_codegen_builtin(&k, isa, i); i++) {
        if (list->count < MOST && is_chosen(list, &k))
            list->k[list->count++] = k;
        if (is_usual(&k) && k.op == SPRY_SPMM)
            spmm = k;
        if (is_usual(&k) && k.op == SPRY_SDDMM)
            sddmm = k;
    }
    add_widths(list, &sddmm);
    add_widths(list, &spmm);
}

/* ---- compiling ---- */

static void write_text(const char *path, const kernels *list, const char *level)
{
    const char *room[SP_FLAGS];
    sp_buf text = {0}, all = {0};

    for (int i = 0; i < list->count; i++)
        if (strcmp(sp_codegen_flags(room, &list->k[i])[0], level) == 0)
            sp_codegen_kernel(&text, &list->k[i], "");
    sp_codegen_around(&all, list->k[0].isa, &text);
    assert_false(all.failed);
    check_ok(sp_file_write(path, all.data, strlen(all.data)));
    sp_buf_free(&text);
    sp_buf_free(&all);
}

/* With the flags of kernel k, and then with `level` instead of its own. */
static void compile(sp_file *out, const char *dir, const sp_spec *k,
                    const char *level)
{
    char source[512], target[512];
    const char *argv[64], *room[SP_FLAGS];
    const char *const *flag = sp_codegen_flags(room, k);
    sp_buf said = {0};
    int n = 0, code;

    snprintf(source, sizeof source, "%s/k.c", dir);
    snprintf(target, sizeof target, "%s/k.s", dir);
    argv[n++] = compiler.path;
    for (int i = 0; sp_compile_flags[i]; i++)
        argv[n++] = sp_compile_flags[i];
    for (int i = 0; flag[i]; i++)
        argv[n++] = flag[i];
    argv[n++] = level;
    argv[n++] = "-S";
    argv[n++] = source;
    argv[n++] = "-o";
    argv[n++] = target;
    argv[n] = NULL;
    check_ok(sp_run(&code, &said, argv, NULL, 200));
    if (code)
        print_message("%s\n", said.data ? said.data : "");
    assert_int_equal(code, 0);
    check_ok(sp_file_read(out, target, (size_t)1 << 28));
    sp_buf_free(&said);
}

/* ---- reading ---- */

static int is_fused(const char *line)
{
    return strstr(line, "fmadd") || strstr(line, "fnmadd") ||
           strstr(line, "fmla");
}

static int is_arithmetic(const char *line)
{
    static const char *const word[] = {"vfm",  "vfnm", "vadd",
                                       "vsub", "vmul", "vdiv"};

    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
        if (strncmp(line, word[i], strlen(word[i])) == 0)
            return 1;
    return 0;
}

static int is_masked(const char *line)
{
    return is_arithmetic(line) && strstr(line, "{%k");
}

/* Lines of the function that a test holds of; the text ends up in lines. */
static int count(const char *text, const char *function,
                 int (*holds)(const char *line))
{
    char label[SP_KERNEL_NAME + 4], end[SP_KERNEL_NAME + 16], line[256];
    const char *at, *stop;
    int n = 0;

    snprintf(label, sizeof label, "\n%s:", function);
    snprintf(end, sizeof end, ".size\t%s,", function);
    at = strstr(text, label);
    assert_non_null(at);
    stop = strstr(at, end);
    assert_non_null(stop);
    for (at++; at < stop; at = strchr(at, '\n') + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        n += holds(line) != 0;
    }
    return n;
}

static int look(const sp_file *text, const sp_spec *k, const char *how)
{
    char name[SP_KERNEL_NAME];
    int fused, masked;

    sp_codegen_name(name, k);
    fused = count(text->data, name, is_fused);
    masked = count(text->data, name, is_masked);
    if (!fused)
        print_message("%s %s: no fused multiply-add\n", name, how);
    if (masked)
        print_message("%s %s: %d masked\n", name, how, masked);
    return !fused + masked;
}

/* Kernels that share an -O are one file, compiled with theirs, as built-in
 * ones are, and as someone may who has exported one. */
static int look_at_level(const kernels *list, const char *dir,
                         const char *level)
{
    const char *const how[] = {level, "-O2", "-O3"};
    const char *room[SP_FLAGS];
    const sp_spec *first = NULL;
    char path[512];
    int bad = 0;

    snprintf(path, sizeof path, "%s/k.c", dir);
    write_text(path, list, level);
    for (int i = list->count; i-- > 0;)
        if (strcmp(sp_codegen_flags(room, &list->k[i])[0], level) == 0)
            first = &list->k[i];
    for (int h = 0; first && h < 3; h++) {
        sp_file text;

        if (h > 0 && strcmp(how[h], level) == 0)
            continue;
        compile(&text, dir, first, how[h]);
        for (int i = 0; i < list->count; i++)
            if (strcmp(sp_codegen_flags(room, &list->k[i])[0], level) == 0)
                bad += look(&text, &list->k[i], how[h]);
        sp_file_free(&text);
    }
    return bad;
}

static int has_compiler(void)
{
    return spry_jit_available() == SPRY_OK &&
           sp_compiler_find(&compiler) == SPRY_OK;
}

static void kernels_are_what_the_text_says(void **state)
{
    static kernels list;
    const char *arch = sp_isa_of(sp_isa_here())->arch;
    char dir[TEST_FOLDER], remove[TEST_FOLDER + 16];
    int bad = 0, sets = 0;

    (void)state;
    if (!has_compiler())
        skip_because("there is no compiler");
    assert_non_null(make_folder(dir));
    for (int isa = 0; isa < sp_isa_count; isa++) {
        if (strcmp(sp_isas[isa].arch, arch) != 0 || !sp_isas[isa].fused)
            continue;
        choose(&list, (spry_isa)isa);
        assert_in_range(list.count, 20, MOST);
        bad += look_at_level(&list, dir, "-O1");
        bad += look_at_level(&list, dir, "-O2");
        sets++;
    }
    snprintf(remove, sizeof remove, "rm -r %s", dir);
    assert_int_equal(system(remove), 0);
    assert_int_equal(bad, 0);
    if (!sets)
        skip_because("no instruction set here has fused multiply-adds");
}

static void lines_are_told_apart(void **state)
{
    (void)state;
    assert_true(is_fused("\tvfmadd231ps\t(%rax), %ymm1, %ymm0"));
    assert_true(is_fused("\tfmla\tv0.4s, v1.4s, v2.s[0]"));
    assert_false(is_fused("\tvmulps\t(%rax), %ymm1, %ymm0"));
    assert_true(is_masked("\tvfmadd231ps\t(%rcx), %xmm5, %xmm0{%k1}"));
    assert_true(is_masked("\tvaddpd\t%zmm1, %zmm2, %zmm2{%k2}{z}"));
    assert_false(is_masked("\tvgatherdps\t(%rdi,%zmm0,4), %zmm1{%k1}"));
    assert_false(is_masked("\tvmovdqa32\t%zmm1, %zmm2{%k1}{z}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_told_apart),
        cmocka_unit_test(kernels_are_what_the_text_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
