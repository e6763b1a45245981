/* cmd_doctor.c - does everything work here, and if not, what helps. */
#include "cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const opt_page page = {
    "doctor",
    "",
    "Check machine, kernels, compiler, BLAS, store, libpq and folders. Each line is\n"
    "ok or a problem with its remedy. Exit 7 when something essential is broken.",
    {NULL},
    0,
    0};

typedef enum { FINE, PROBLEM, BROKEN } health;
static const char *const health_name[] = {"ok", "problem", "broken"};

typedef struct {
    char found[512];
    char remedy[256];
} finding;

static health answer(finding *f, health h, const char *remedy, const char *fmt,
                     ...) CLI_PRINTF_LIKE(4, 5);

static health answer(finding *f, health h, const char *remedy, const char *fmt,
                     ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(f->found, sizeof f->found, fmt, args);
    va_end(args);
    snprintf(f->remedy, sizeof f->remedy, "%s", remedy);
    return h;
}

/* ---- the checks ---- */

static health check_version(finding *f)
{
    return answer(f, FINE, "", "%s", spry_version());
}

static health check_machine(finding *f)
{
    spry_machine m;

    if (spry_machine_detect(&m) != SPRY_OK)
        return answer(f, BROKEN, "report it with the output of lscpu", "%s",
                      spry_message());
    return answer(f, FINE, "", "%s, %d of %d cores usable, %s", m.name,
                  m.threads, m.cores, spry_isa_name(m.isa));
}

/* A small product through the whole library, on built-in kernels. */
static health check_kernels(finding *f)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *m = NULL;
    spry_problem *p = NULL;
    spry_plan *plan = NULL;
    int builtin = 0;
    spry_status s = spry_matrix_generate(&m, "uniform rows=200 nnz=2000", 1);

    if (s == SPRY_OK)
        s = spry_problem_spmv(&p, m, SPRY_F64);
    if (s == SPRY_OK)
        s = spry_plan_make(&plan, p, &x, NULL);
    if (s == SPRY_OK)
        s = spry_plan_check(plan, 1);
    if (s == SPRY_OK)
        builtin = spry_plan_builtin(plan);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(m);
    if (s != SPRY_OK)
        return answer(f, BROKEN, "reinstall spry", "%s", spry_message());
    if (!builtin)
        return answer(f, PROBLEM, "reinstall spry", "right, but none built in");
    return answer(f, FINE, "", "built in, and right");
}

static health check_compiler(finding *f)
{
    char version[200];

    snprintf(version, sizeof version, "%s", spry_jit_compiler());
    if (spry_jit_available() == SPRY_OK)
        return answer(f, FINE, "", "%s", version);
    return answer(f, PROBLEM,
                  "install gcc, or set SPRY_CC; built-in kernels work without",
                  "%s", spry_message());
}

/* Of a core's multiply-adds: less, and its kernels are for another CPU. */
static const double SLOW_BLAS = 0.3;

static health check_blas(finding *f)
{
    const char *blas = spry_model_blas();
    double share = spry_model_blas_share();

    if (strcmp(blas, "own loops") == 0)
        return answer(f, PROBLEM,
                      "install OpenBLAS (Debian: libopenblas0); learned "
                      "models are slower without",
                      "%s", blas);
    if (share == 0)
        return answer(f, FINE, "", "%s", blas);
    return answer(f, share < SLOW_BLAS ? PROBLEM : FINE,
                  share < SLOW_BLAS ? "set OPENBLAS_CORETYPE to kernels that "
                                      "suit this CPU, or unset it"
                                    : "",
                  "%s, at %.0f %% of the peak of a core", blas, 100 * share);
}

/* Models in use, each read whole; and whether more can be trained. */
static health check_models(finding *f)
{
    const char *trees = spry_train_trees() ? "trained with XGBoost"
                                           : "trained without trees: XGBoost "
                                             "(Debian: libxgboost0) is absent";
    char path[4096], found[64] = "";
    spry_model_facts facts = {.size = sizeof facts};

    for (int op = 0; op < SPRY_OPS; op++) {
        size_t n = strlen(found);

        if (!spry_model_default(path, sizeof path, (spry_op)op))
            continue;
        if (spry_model_info(&facts, path) != SPRY_OK)
            return answer(f, PROBLEM, "train it again, or remove it", "%.480s",
                          spry_message());
        snprintf(found + n, sizeof found - n, "%s%s", n ? ", " : "",
                 spry_op_name((spry_op)op));
    }
    return answer(f, FINE, "", "of %s; others can be %s",
                  *found ? found : "nothing: the analytic one ranks", trees);
}

static health check_cache(finding *f)
{
    char path[4096];

    if (spry_jit_path(path, sizeof path) != SPRY_OK)
        return answer(f, PROBLEM, "set SPRY_HOME to a folder of yours", "%s",
                      spry_message());
    if (*spry_jit_note())
        return answer(f, PROBLEM, "set SPRY_HOME to a folder of yours", "%s",
                      spry_jit_note());
    return answer(f, FINE, "", "%.480s", path);
}

/* By a claim, which is given back at once. */
static spry_status try_to_write(spry_records *db)
{
    int got;
    spry_status s = spry_records_claim(db, "doctor", 1, &got);

    return s == SPRY_OK && got ? spry_records_claim(db, "doctor", 0, &got) : s;
}

static health check_store(finding *f)
{
    spry_records *db = NULL;
    int64_t bad = 0, records = 0, answers = 0, machines = 0;
    health h;

    if (spry_records_open(&db, cli.store) != SPRY_OK)
        return answer(f, PROBLEM,
                      "set SPRY_HOME or --store; tuning works "
                      "without, but forgets",
                      "%s", spry_message());
    if (spry_records_check(db, &bad) != SPRY_OK)
        h = answer(f, PROBLEM, "spry records export saves what is whole", "%s",
                   spry_message());
    else if (spry_records_count(db, &records, &answers, &machines) != SPRY_OK)
        h = answer(f, PROBLEM, "see spry records check", "%s", spry_message());
    else if (try_to_write(db) != SPRY_OK)
        h = answer(f, PROBLEM,
                   "set SPRY_HOME or --store; what is known is "
                   "used, what is new forgotten",
                   "%s", spry_message());
    else
        h = answer(f, FINE, "",
                   "%.300s: %" PRId64 " records, %" PRId64 " answers, %" PRId64
                   " machines",
                   spry_records_path(db), records, answers, machines);
    spry_records_close(db);
    return h;
}

static health check_libpq(finding *f)
{
    const char *about = spry_fleet_library();

    if (about)
        return answer(f, FINE, "", "%s", about);
    return answer(f, PROBLEM,
                  "install libpq (Debian: libpq5); only spry fleet and "
                  "--store postgresql:// need it",
                  "%.480s", spry_message());
}

static health check_temporary(finding *f)
{
    const char *dir = getenv("TMPDIR");

    dir = dir && *dir ? dir : "/tmp";
    if (access(dir, W_OK | X_OK) != 0)
        return answer(f, PROBLEM, "set TMPDIR to a folder of yours",
                      "%s cannot be written", dir);
    return answer(f, FINE, "", "%s", dir);
}

static health check_noise(finding *f)
{
    spry_machine m;
    char grade;

    if (spry_machine_detect(&m) != SPRY_OK || spry_machine_probe(&m) != SPRY_OK)
        return answer(f, PROBLEM, "", "%s", spry_message());
    grade = spry_machine_grade(&m);
    if (grade > 'B')
        return answer(f, PROBLEM, "stop other work, or give tune more time",
                      "%.1f %% (grade %c): small gains will not be proven",
                      100 * m.noise, grade);
    return answer(f, FINE, "", "%.1f %% (grade %c)", 100 * m.noise, grade);
}

static const struct {
    const char *name;
    health (*check)(finding *f);
} checks[] = {
    {"spry", check_version},       {"machine", check_machine},
    {"kernels", check_kernels},    {"compiler", check_compiler},
    {"blas", check_blas},          {"models", check_models},
    {"kernel cache", check_cache}, {"store", check_store},
    {"postgresql", check_libpq},   {"temporary", check_temporary},
    {"noise", check_noise},
};
enum { CHECKS = sizeof checks / sizeof *checks };

/* ---- the report ---- */

static void print_one(const char *name, health h, const finding *f)
{
    printf("%-8s %-13s %s\n", health_name[h], name, f->found);
    if (*f->remedy)
        printf("%-8s %-13s -> %s\n", "", "", f->remedy);
    fflush(stdout);
}

static void json_one(json *j, const char *name, health h, const finding *f)
{
    json_open(j, NULL, '{');
    json_text(j, "name", name);
    json_text(j, "health", health_name[h]);
    json_text(j, "found", f->found);
    json_text(j, "remedy", *f->remedy ? f->remedy : NULL);
    json_close(j, '}');
}

spry_status cmd_doctor(int argc, char **argv)
{
    health worst = FINE;
    json j = {0};
    spry_status s;

    if (!opt_parse(&s, &page, &argc, argv))
        return s;
    if (cli.json) {
        j = json_begin("spry.doctor/1");
        json_open(&j, "checks", '[');
    }
    for (int i = 0; i < CHECKS; i++) {
        finding f = {0};
        health h = checks[i].check(&f);

        worst = h > worst ? h : worst;
        if (cli.json)
            json_one(&j, checks[i].name, h, &f);
        else
            print_one(checks[i].name, h, &f);
    }
    if (cli.json) {
        json_close(&j, ']');
        json_bool(&j, "ok", worst < BROKEN);
        json_end(&j);
    }
    return worst == BROKEN ? say_fail(SPRY_SYSTEM, "spry cannot work here")
                           : SPRY_OK;
}
