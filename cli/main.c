/* main.c - the table of commands, and the one that was asked for. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_command cli_commands[] = {
    {"probe", cmd_probe, "measure this machine and describe it"},
    {"generate", cmd_generate, "make a matrix of a known kind"},
    {"inspect", cmd_inspect, "show the statistics and the shape of a matrix"},
    {"tune", cmd_tune, "find the fastest kernel, checked and measured"},
    {"predict", cmd_predict, "rank schedules by the model, without measuring"},
    {"run", cmd_run, "compute with a matrix and .npy operands"},
    {"bench", cmd_bench, "race schedules against each other"},
    {"verify", cmd_verify, "check kernels against the reference"},
    {"explain", cmd_explain,
     "say what bounds a kernel, and what tuning changed"},
    {"export", cmd_export, "write a kernel as C that runs without spry"},
    {"net", cmd_net, "make, order and run sparse networks"},
    {"collect", cmd_collect, "measure many schedules as training data"},
    {"train", cmd_train, "train a model on what was measured"},
    {"evaluate", cmd_evaluate, "grade models on problems they have not seen"},
    {"adapt", cmd_adapt, "adapt a model to a machine it has not seen"},
    {"machine", cmd_machine, "compare machines by how they order schedules"},
    {"model", cmd_model, "show what a model is and how good it is"},
    {"fleet", cmd_fleet, "measure with many machines for one store"},
    {"schedules", cmd_schedules, "list points of WACO's space and their sizes"},
    {"report", cmd_report, "write what was measured as an HTML page"},
    {"records", cmd_records, "list, show, move and check what was measured"},
    {"freeze", cmd_freeze, "pin what tunes decided, in a lock file"},
    {"cache", cmd_cache, "manage the cache of compiled kernels"},
    {"doctor", cmd_doctor, "check the installation"},
    {"completion", cmd_completion, "print a completion script for a shell"},
    {0}};

static void print_help(FILE *out)
{
    fprintf(out, "usage: spry <command> [argument...]\n\n"
                 "Finds the fastest way to compute with your sparse data.\n\n");
    for (const cli_command *e = cli_commands; e->name; e++)
        fprintf(out, "  %-11s%s\n", e->name, e->line);
    fprintf(out, "\nspry <command> --help says more; --json gives a document. "
                 "A matrix is a file\n(.mtx .mtx.gz .csr .npz .smtx .tsv .rb) "
                 "or gen:KIND,key=value.\n");
}

static spry_status unknown(const char *name)
{
    const char *near = opt_nearest(name, cli_commands, sizeof *cli_commands);

    if (near)
        return say_fail(SPRY_USAGE, "there is no command '%s'; is it '%s'?",
                        name, near);
    return say_fail(SPRY_USAGE, "there is no command '%s'; see spry --help",
                    name);
}

static spry_status run(int argc, char **argv)
{
    static char help[] = "--help";

    if (argc > 1 && strcmp(argv[0], "help") == 0) {
        for (int i = 1; i < argc; i++)
            argv[i - 1] = argv[i];
        argv[argc - 1] = help;
    }
    for (const cli_command *e = cli_commands; e->name; e++)
        if (strcmp(argv[0], e->name) == 0)
            return e->run(argc - 1, argv + 1);
    return unknown(argv[0]);
}

/* user:password@ in front of the host, or a parameter by that name; what
 * follows a colon behind the @ is a port. */
static int has_password(const char *authority)
{
    const char *at = strrchr(authority, '@'), *colon = strchr(authority, ':');

    return (at && colon && colon < at) || strstr(authority, "password");
}

/* What a command line says can be seen by everybody on the machine: of URIs
 * with a password, only until here. */
static void hide_passwords(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *uri = strstr(argv[i], "postgres"), *copy, *rest;

        rest = uri ? strstr(uri, "://") : NULL;
        if (!rest || !has_password(rest + 3))
            continue;
        copy = malloc(strlen(argv[i]) + 1);
        if (!copy)
            continue;
        strcpy(copy, argv[i]);
        memset(rest + 3, 'x', strlen(rest + 3));
        argv[i] = copy; /* lives as long as we do */
        say_note("a password on the command line was there for others to "
                 "read; ~/.pgpass and PGPASSWORD are not");
    }
}

/* Descriptors that the shell closed are taken, so that no file of ours becomes
 * the place where output goes; who reads or writes them is told. */
static void take_closed(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            exit(SPRY_SYSTEM);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    spry_status s = SPRY_OK;

    take_closed();
    hide_passwords(argc, argv);
    signal(SIGPIPE, SIG_IGN); /* `| head` is answered in say_finish */
    if (argc < 2) {
        print_help(stderr);
        return SPRY_USAGE;
    }
    if (strcmp(word, "--version") == 0)
        printf("spry %s\n", spry_version());
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
             (argc == 2 && strcmp(word, "help") == 0))
        print_help(stdout);
    else
        s = run(argc - 1, argv + 1);
    s = say_finish(s);
    return stop_asked() ? stop_asked() : (int)s;
}
