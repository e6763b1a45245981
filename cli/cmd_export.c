/* cmd_export.c - a kernel and its packed data, as C that needs no spry. */
#include "cli.h"

static const char *dir = ".", *name = "kernel", *schedule = "tuned";
static const opt options[] = {
    {"schedule", OPT_TEXT, &schedule, "TEXT", "this one, or 'tuned' (tuned)"},
    {"out", OPT_TEXT, &dir, "DIR", "the folder to write to (.)"},
    {"name", OPT_TEXT, &name, "NAME",
     "the name of files and functions (kernel)"},
    {0}};
static const opt_page page = {
    "export",
    "MATRIX|op:KIND,...",
    "Write NAME.c, NAME.h and NAME.bin: the kernel and the packed matrix,\n"
    "to be compiled without spry for the instruction set it was made for; the\n"
    "header names the flags. Of a dense operator also kernels/, a\n"
    "CMakeLists.txt and an example.",
    {options, cli_compute, cli_locking},
    1,
    1};

static void print_files(const spry_plan *plan)
{
    static const char *const ending[] = {"c", "h", "bin"};
    json j;

    progress_clear();
    if (!cli.json) {
        printf("%s\n", spry_plan_text(plan));
        for (int i = 0; i < 3; i++)
            printf("%s/%s.%s\n", dir, name, ending[i]);
        return;
    }
    j = json_begin("spry.export/1");
    json_text(&j, "schedule", spry_plan_text(plan));
    json_open(&j, "files", '[');
    for (int i = 0; i < 3; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s.%s", dir, name, ending[i]);
        json_text(&j, NULL, path);
    }
    json_close(&j, ']');
    json_end(&j);
}

static spry_status export(const job *j, const char *path)
{
    spry_plan *plan = NULL;
    spry_status s;

    (void)path;
    stop_watch();
    s = open_named(&plan, j, schedule, SPRY_MEASURE);
    if (s == SPRY_OK && !stop_asked()) {
        s = make_folder(dir);
        if (s == SPRY_OK)
            s = say_status(spry_plan_export(plan, dir, name));
        if (s == SPRY_OK)
            print_files(plan);
    }
    spry_plan_free(plan);
    return s;
}

spry_status cmd_export(int argc, char **argv)
{
    return do_job(&page, argc, argv, JOB_TUNED, export);
}
