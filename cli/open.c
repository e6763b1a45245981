/* open.c - matrix, machine and store, from the words of a command line. */
#include "dense.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* With the folders above it. */
spry_status make_folder(const char *path)
{
    char part[4096];
    size_t n = strlen(path);

    if (n >= sizeof part)
        return say_fail(SPRY_USAGE, "the folder's name is too long");
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return say_fail(SPRY_SYSTEM, "cannot make the folder %s: %s", part,
                            strerror(errno));
    }
    return SPRY_OK;
}

int ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);

    return n > k && strcasecmp(path + n - k, ending) == 0;
}

static int is_network(const char *path)
{
    return strncmp(path, "net:", 4) == 0 || ends_in(path, ".onnx") ||
           ends_in(path, ".spnet");
}

static int is_recipe(const char *path)
{
    return strncmp(path, "gen:", 4) == 0;
}

/* ---- recipes of matrices and of tensors ---- */

static const char blanks[] = " ,#";

/* The parameters of the kind of "KIND,key=value"; NULL: there is none. */
static const char *params_of(const char *spec, const char *(*name)(int),
                             const char *(*params)(int))
{
    size_t n = strcspn(spec, blanks);

    for (int i = 0; name(i); i++)
        if (strlen(name(i)) == n && strncmp(spec, name(i), n) == 0)
            return params(i);
    return NULL;
}

/* Is key one of "rows=10k cols=rows"? */
static int takes(const char *params, const char *key, size_t n)
{
    for (; *params; params += strcspn(params, blanks)) {
        params += strspn(params, blanks);
        if (strncmp(params, key, n) == 0 && params[n] == '=')
            return 1;
    }
    return 0;
}

/* Of a kind that only tensors have, or with a parameter that only they have. */
static int makes_tensors(const char *spec)
{
    const char *matrix =
        params_of(spec, spry_generator_name, spry_generator_params);
    const char *tensor = params_of(spec, spry_tensor_generator_name,
                                   spry_tensor_generator_params);

    if (!matrix || !tensor)
        return tensor != NULL;
    for (const char *at = spec; *at; at += strcspn(at, blanks)) {
        size_t n;

        at += strspn(at, blanks);
        n = strcspn(at, "= ,#");
        if (takes(tensor, at, n) && !takes(matrix, at, n))
            return 1;
    }
    return 0;
}

/* ---- matrices and tensors ---- */

spry_status open_matrix(spry_matrix **out, const char *path)
{
    if (is_recipe(path) && makes_tensors(path + 4))
        return say_fail(SPRY_USAGE,
                        "%s is a tensor, for --op mttkrp, not a matrix", path);
    if (is_recipe(path))
        return say_status(spry_matrix_generate(out, path + 4, cli.seed));
    if (is_operator(path))
        return say_fail(SPRY_USAGE, "%s is a dense operator, not a matrix",
                        path);
    if (is_network(path))
        return say_fail(SPRY_USAGE,
                        "%s is a network, not a matrix; see spry net --help",
                        path);
    return say_status(spry_matrix_read(out, path));
}

int is_tensor(const char *path)
{
    if (is_recipe(path) && cli.op >= 0)
        return spry_op_modes((spry_op)cli.op) == 3;
    if (is_recipe(path))
        return makes_tensors(path + 4);
    return ends_in(path, ".tns") || ends_in(path, ".tns.gz");
}

spry_op usual_op(const char *path, int columns)
{
    return is_tensor(path) ? SPRY_MTTKRP : columns ? SPRY_SPMM : SPRY_SPMV;
}

spry_status open_tensor(spry_tensor **out, const char *path)
{
    spry_tensor *t = NULL;
    spry_status s;

    *out = NULL;
    if (is_recipe(path))
        s = spry_tensor_generate(&t, path + 4, cli.seed);
    else
        s = spry_tensor_read(&t, path);
    if (s == SPRY_OK && cli.mode > 0) {
        s = spry_tensor_turn(out, t, cli.mode);
        spry_tensor_free(t);
    } else if (s == SPRY_OK)
        *out = t;
    return say_status(s);
}

spry_status open_store(spry_records **out)
{
    return say_status(spry_records_open(out, cli.store));
}

spry_status open_store_of(spry_records **out, const char *path)
{
    *out = NULL;
    if (path && strcmp(path, ":memory:") != 0 &&
        !spry_records_is_server(path) && access(path, F_OK) != 0)
        return say_fail(SPRY_INPUT, "%s: there is no such store", path);
    return say_status(spry_records_open(out, path));
}

const char *store_to_name(void)
{
    if (!cli.store || strcmp(cli.store, ":memory:") == 0)
        return NULL;
    return spry_records_is_server(cli.store) ? "postgresql://..." : cli.store;
}

spry_status open_store_to_read(spry_records **out)
{
    return open_store_of(out, cli.store);
}

int machine_given(void)
{
    return cli.machine || cli.isa;
}

/* The limits of the command line; naming no instruction set limits none. */
static spry_status limit(spry_machine *m)
{
    spry_isa isa = m->isa;
    spry_status s = SPRY_OK;

    if (cli.isa)
        s = spry_isa_parse(&isa, cli.isa);
    if (s == SPRY_OK && (cli.isa || cli.threads))
        s = spry_machine_limit(m, cli.threads, isa);
    return s;
}

spry_status probe_well(spry_machine *m)
{
    enum { TIMES = 3 };
    spry_status s = SPRY_OK;

    for (int i = m->probed; i < TIMES && s == SPRY_OK; i++)
        if (!m->probed || spry_machine_grade(m) == 'D')
            s = spry_machine_probe(m);
    if (s == SPRY_OK && spry_machine_grade(m) == 'D')
        say_note("the machine has other work to do (noise %.0f %%): its "
                 "numbers are the best of several probes",
                 100 * m->noise);
    return s;
}

int machine_is_known(void)
{
    spry_records *db = NULL;
    spry_machine m, stored = {.probed = 0};
    int found = 0;

    if (cli.machine)
        return 1;
    if (spry_machine_detect(&m) == SPRY_OK && limit(&m) == SPRY_OK &&
        spry_records_open(&db, cli.store) == SPRY_OK)
        (void)spry_records_get_machine(db, &stored, &found, m.fingerprint);
    spry_records_close(db);
    return found && stored.probed;
}

/* Numbers from the store, else from a probe that the store then keeps. The
 * user's own store, when it cannot be used, costs two seconds, not the answer;
 * one that was named must be a store. */
static spry_status fill_in(spry_machine *m, int well)
{
    spry_records *db = NULL;
    spry_status s = spry_records_open(&db, cli.store);
    int found = 0, known;

    if (s != SPRY_OK && cli.store)
        return s;
    if (s == SPRY_OK) {
        spry_machine stored;

        if (spry_records_get_machine(db, &stored, &found, m->fingerprint) ==
                SPRY_OK &&
            found && stored.probed)
            *m = stored;
    }
    known = m->probed;
    s = well ? probe_well(m) : known ? SPRY_OK : spry_machine_probe(m);
    if (s == SPRY_OK && db && (!known || well))
        spry_records_put_machine(db, m);
    spry_records_close(db);
    return s;
}

spry_status open_machine(spry_machine *out, int probed)
{
    spry_status s;

    if (cli.machine)
        s = spry_machine_read(out, cli.machine);
    else
        s = spry_machine_detect(out);
    if (s == SPRY_OK)
        s = limit(out);
    if (s == SPRY_OK && probed && !cli.machine)
        s = fill_in(out, probed > 1);
    return say_status(s);
}
