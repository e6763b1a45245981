/* make_kernels.c - write the built-in kernels at build time.
 *
 *   make_kernels plain|tuned ISA    a file of kernels
 *   make_kernels table ISA...       the table that finds them */
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"

static void write_kernels(sp_buf *out, spry_isa isa, int plain)
{
    sp_spec k;

    sp_codegen_prelude(out, isa);
    sp_codegen_intrinsics(out, isa);
    for (int i = 0; sp_codegen_builtin(&k, isa, i); i++)
        if (k.plain == plain)
            sp_codegen_kernel(out, &k, "");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Names in order, so that they can be found by halving. */
static int write_set(sp_buf *out, spry_isa isa)
{
    static char names[8192][SP_KERNEL_NAME];
    sp_spec k;
    int count = 0;

    while (count < 8192 && sp_codegen_builtin(&k, isa, count))
        sp_codegen_name(names[count++], &k);
    qsort(names, (size_t)count, sizeof names[0], by_text);
    for (int i = 0; i < count; i++)
        sp_buf_printf(out, "sp_kernel %s;\n", names[i]);
    sp_buf_printf(out, "static const sp_builtin %s_kernels[] = {\n",
                  spry_isa_name(isa));
    for (int i = 0; i < count; i++)
        sp_buf_printf(out, "    {\"%s\", %s},\n", names[i], names[i]);
    sp_buf_add(out, "};\n");
    return count;
}

static void write_table(sp_buf *out, int count, char **names)
{
    sp_buf sets = {0};
    spry_isa isa;

    sp_buf_add(out, "#include \"codegen/codegen.h\"\n"
                    "extern const sp_builtin_set sp_builtin_sets[];\n"
                    "extern const int sp_builtin_set_count;\n");
    for (int i = 0; i < count; i++)
        if (spry_isa_parse(&isa, names[i]) == SPRY_OK)
            sp_buf_printf(&sets, "    {%d, %s_kernels, %d},\n", (int)isa,
                          names[i], write_set(out, isa));
    sp_buf_printf(out,
                  "const sp_builtin_set sp_builtin_sets[] = {\n%s};\n"
                  "const int sp_builtin_set_count = %d;\n",
                  sets.data, count);
    sp_buf_free(&sets);
}

int main(int argc, char **argv)
{
    sp_buf out = {0};
    spry_isa isa;

    if (argc < 3 || spry_isa_parse(&isa, argv[2]) != SPRY_OK)
        return 2;
    if (strcmp(argv[1], "table") == 0)
        write_table(&out, argc - 2, argv + 2);
    else
        write_kernels(&out, isa, strcmp(argv[1], "plain") == 0);
    if (out.failed || fputs(out.data, stdout) < 0 || fclose(stdout) != 0)
        return 1;
    sp_buf_free(&out);
    return 0;
}
