/* cmd_generate.c - a matrix of a known kind, into a file. */
#include "cli.h"

#include <string.h>

static const char *file;
static int list;
static const opt options[] = {
    {"out", OPT_TEXT, &file, "FILE",
     "where to: .mtx, .mtx.gz, .csr or .npz; .tns makes a tensor"},
    {"list", OPT_FLAG, &list, NULL, "show every kind and its parameters"},
    {0}};
static const opt_page page = {
    "generate",
    "KIND [key=value...]",
    "Make a matrix: the same arguments and seed give the same one anywhere.\n"
    "  spry generate rmat scale=14 degree=8 --out graph.mtx",
    {options},
    0,
    64};

static spry_status print_list(void)
{
    if (cli.json) {
        json j = json_begin("spry.generators/1");

        json_open(&j, "generators", '[');
        for (int i = 0; spry_generator_name(i); i++)
            kind_list(&j, "", spry_generator_name(i), spry_generator_help(i),
                      spry_generator_params(i));
        json_close(&j, ']');
        json_open(&j, "tensors", '[');
        for (int i = 0; spry_tensor_generator_name(i); i++)
            kind_list(&j, "", spry_tensor_generator_name(i),
                      spry_tensor_generator_help(i),
                      spry_tensor_generator_params(i));
        json_close(&j, ']');
        json_end(&j);
        return SPRY_OK;
    }
    for (int i = 0; spry_generator_name(i); i++)
        kind_list(NULL, "", spry_generator_name(i), spry_generator_help(i),
                  spry_generator_params(i));
    printf("\ntensors, into a .tns file:\n");
    for (int i = 0; spry_tensor_generator_name(i); i++)
        kind_list(NULL, "  ", spry_tensor_generator_name(i),
                  spry_tensor_generator_help(i),
                  spry_tensor_generator_params(i));
    return SPRY_OK;
}

static void print_made(const spry_matrix *m, const char *spec)
{
    char key[33];

    spry_matrix_key(key, m);
    if (cli.json) {
        json j = json_begin("spry.generate/1");

        json_text(&j, "spec", spec);
        json_integer(&j, "seed", (int64_t)cli.seed);
        json_text(&j, "file", file);
        json_integer(&j, "rows", m->rows);
        json_integer(&j, "cols", m->cols);
        json_integer(&j, "nnz", m->nnz);
        json_text(&j, "key", key);
        json_end(&j);
        return;
    }
    printf("%s: %s x %s, %s entries\n", file, say_count((double)m->rows),
           say_count((double)m->cols), say_count((double)m->nnz));
}

spry_status cmd_generate(int argc, char **argv)
{
    char spec[1024];
    spry_matrix *m = NULL;
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (list)
        return print_list();
    if (argc == 0)
        return say_fail(SPRY_USAGE, "generate needs a kind; spry generate "
                                    "--list shows them");
    if (!file)
        return say_fail(SPRY_USAGE, "generate needs --out FILE");
    s = kind_join(spec, sizeof spec, "", argc, argv);
    if (s == SPRY_OK && is_tensor(file))
        return generate_tensor(spec, file);
    if (s == SPRY_OK)
        s = say_status(spry_matrix_generate(&m, spec, cli.seed));
    if (s == SPRY_OK)
        s = say_status(spry_matrix_write(m, file));
    if (s == SPRY_OK)
        print_made(m, spec);
    spry_matrix_free(m);
    return s;
}
